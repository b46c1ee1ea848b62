"""How requests to one server are written and its answers read, where servers differ.

Invariant: values alone, with the names and values of `/config workarounds`; the defaults are what
most servers take. An adapter obeys them, and an error can name a Change to them.
"""

from dataclasses import dataclass, fields, replace
from typing import Literal, TypeAlias, cast

SystemLayout: TypeAlias = Literal["merge_first", "as_is", "fold_into_user"]
ReasoningEcho: TypeAlias = Literal["drop", "same_turn", "all"]
AnswerTool: TypeAlias = Literal["show_text", "ignore"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Wire:
    """The switches that an adapter obeys.

    Requests, their messages: `system_layout` says where system text goes; `merge_same_role` joins
    neighbours of one role; `tool_role` writes results as messages of their own or as text of the
    user; `empty_content` stands in an assistant message that only calls; `arguments_in_history` is
    the form of old calls' arguments; `reasoning_echo` sends thinking back, within the turn or
    always.

    Requests, their fields: `tool_choice` sends `"auto"` beside the tools; `stream_with_tools` asks
    for one whole reply where tools are offered; `usage_in_stream` asks for token counts;
    `parallel_calls` sends `parallel_tool_calls`, or lets the first call alone run; `thinking` is
    the field that switches thinking off.

    Answers: `template_opens_think` holds text until `</think>`; `server_answer_tool` shows what a
    server's own `answer` function says, or ignores the call; `text_calls` and `call_in_reasoning`
    as in ParserSettings.
    """

    system_layout: SystemLayout = "merge_first"
    merge_same_role: Literal["on", "off"] = "on"
    tool_role: Literal["native", "as_user"] = "native"
    empty_content: Literal["empty_string", "null"] = "empty_string"
    arguments_in_history: Literal["string", "object"] = "string"
    reasoning_echo: ReasoningEcho = "same_turn"
    tool_choice: Literal["omit", "string"] = "omit"
    stream_with_tools: Literal["stream", "whole"] = "stream"
    usage_in_stream: Literal["auto", "on", "off"] = "auto"
    parallel_calls: Literal["leave", "send_true", "one"] = "leave"
    thinking: Literal["server", "kwargs_off", "think_false", "effort_none"] = "server"
    template_opens_think: Literal["learn", "yes", "no"] = "learn"
    server_answer_tool: AnswerTool = "show_text"
    text_calls: Literal["on", "tagged_only", "off"] = "on"
    call_in_reasoning: Literal["if_silent", "never"] = "if_silent"

    def value(self, name: str) -> str:
        """The value of the switch `name`."""
        return cast("str", getattr(self, name))

    def changed(self, name: str, value: str) -> "Wire":
        """This with another value for one switch, which must be one that the switch has."""
        if name not in WIRE_NAMES:
            raise ValueError(f"{name} is no switch of an adapter")
        return replace(self, **{name: value})  # pyright: ignore[reportArgumentType]


WIRE_NAMES = frozenset(field.name for field in fields(Wire))


@dataclass(frozen=True, slots=True, kw_only=True)
class Change:
    """One switch, and the value that an error or an answer shows to be the right one."""

    name: str
    value: str
