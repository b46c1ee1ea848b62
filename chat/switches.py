"""The table of switches that an admin sets for a guild and model.

Invariant: SWITCHES is the one list; panel, storage and what turns are run with all read it. Names,
values and defaults are those of the documentation and never reused for another meaning.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, TypeAlias

_SPELLINGS: Mapping[str, tuple[str, ...]] = {
    "yes": ("on",),
    "true": ("on", "yes"),
    "1": ("on", "yes"),
    "on": ("yes",),
    "no": ("off",),
    "false": ("off", "no"),
    "0": ("off", "no"),
    "off": ("no",),
}
"""What a word means where the switch does not have it among its values."""

_LONGEST_NUMBER = 9
"""Digits that are read; Python refuses to convert thousands of them."""

MAX_PARALLEL = "max_parallel"

Theme: TypeAlias = Literal["calls", "messages", "schema", "stream", "reply"]

THEMES: Mapping[Theme, str] = {
    "calls": "Tool calls",
    "messages": "Messages and roles",
    "schema": "Schemas and context window",
    "stream": "Stream, thinking and load",
    "reply": "Reply",
}
"""The pages on which switches stand together, in order."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchSpec:
    """A switch: its values, the first of which is the default, and its effect in one line.

    Where `numbers` is set, any whole number in it is a value too; those among `choices` are then
    only the ones to offer.
    """

    name: str
    theme: Theme
    choices: tuple[str, ...]
    help: str
    numbers: range | None = None

    @property
    def default(self) -> str:
        """What holds where nothing was set."""
        return self.choices[0]

    @property
    def values(self) -> str:
        """What may be set, in words."""
        if self.numbers is None:
            return f"one of: {', '.join(self.choices)}"
        words = [choice for choice in self.choices if not choice.isdecimal()]
        number = f"a number from {self.numbers[0]} to {self.numbers[-1]}"
        return f"{', '.join(words)} or {number}" if words else number

    def read(self, value: str) -> str | None:
        """`value` in the spelling that is stored, None if it is no value of this switch."""
        plain = value.strip().lower()
        if self.numbers is not None and plain.isascii() and plain.isdecimal():
            number = int(plain[:_LONGEST_NUMBER])
            return str(number) if number in self.numbers else None
        words = (plain, *_SPELLINGS.get(plain, ()))
        return next((word for word in words if word in self.choices), None)


SWITCHES: tuple[SwitchSpec, ...] = (
    SwitchSpec(
        name="tool_mode",
        theme="calls",
        choices=("auto", "native", "verbatim", "verbatim_only", "off"),
        help="How tools reach the model: `native` uses the tools field alone, `verbatim` adds "
        "them to the prompt, `verbatim_only` leaves the field out, `off` offers none. `auto` is "
        "verbatim until the endpoint has shown that it can do better.",
    ),
    SwitchSpec(
        name="has_tools",
        theme="calls",
        choices=("on", "off"),
        help="Whether this model is able to use tools at all.",
    ),
    SwitchSpec(
        name="nudge",
        theme="calls",
        choices=("on", "off"),
        help="One line at the prompt's end that reminds of tools, in verbatim mode.",
    ),
    SwitchSpec(
        name=MAX_PARALLEL,
        theme="stream",
        choices=("auto", "1", "2", "3", "4", "6", "8", "12", "16"),
        numbers=range(1, 257),
        help="Requests to this endpoint at once; more of them wait in line. `auto`: as many as the "
        "server has slots if it tells (llama.cpp does), else 1 on a private network and 4 "
        "elsewhere.",
    ),
    SwitchSpec(
        name="text_calls",
        theme="calls",
        choices=("on", "tagged_only", "off"),
        help="Whether calls that the model writes as text run: in every form, only between "
        "explicit markers, or not at all.",
    ),
    SwitchSpec(
        name="call_in_reasoning",
        theme="calls",
        choices=("if_silent", "never"),
        help="Whether the last complete call in the model's thinking runs when its answer holds "
        "neither words nor a call.",
    ),
    SwitchSpec(
        name="system_layout",
        theme="messages",
        choices=("merge_first", "as_is", "fold_into_user"),
        help="Where system text goes: into one first message, as messages where they come up, or "
        "into the first message of the user for templates that refuse the role.",
    ),
    SwitchSpec(
        name="merge_same_role",
        theme="messages",
        choices=("on", "off"),
        help="Join neighbouring messages of one role; many templates insist on alternation.",
    ),
    SwitchSpec(
        name="tool_role",
        theme="messages",
        choices=("native", "as_user"),
        help="Tool results as `tool` messages, or as text of the user where the template refuses "
        "that role. Native mode only.",
    ),
    SwitchSpec(
        name="empty_content",
        theme="messages",
        choices=("empty_string", "null"),
        help="What stands as the content of an assistant message that only calls. Native mode "
        "only.",
    ),
    SwitchSpec(
        name="arguments_in_history",
        theme="messages",
        choices=("string", "object"),
        help="Arguments of earlier calls as a JSON string, as the API has it, or as an object for "
        "templates that look inside. Native mode only.",
    ),
    SwitchSpec(
        name="reasoning_echo",
        theme="messages",
        choices=("same_turn", "drop", "all"),
        help="Send the model's thinking back to it: between the tool calls of one turn, never, or "
        "in later turns too. Only thinking that came in a field of its own.",
    ),
    SwitchSpec(
        name="vision",
        theme="messages",
        choices=("learn", "on", "off"),
        help="Send the newest images to the model, or only name them in words. `learn` sends them "
        "once a test has shown that the model sees, and stops when the server refuses one.",
    ),
    SwitchSpec(
        name="schema_level",
        theme="schema",
        choices=("simple", "full", "names_only"),
        help="How much of a tool's schema is sent: `simple` leaves out what servers fail to "
        "compile, `names_only` leaves the arguments' names and types. Arguments are checked "
        "against the whole schema all the same.",
    ),
    SwitchSpec(
        name="tool_budget_percent",
        theme="schema",
        choices=("10", "5", "15", "20", "30", "50", "100"),
        numbers=range(1, 101),
        help="Percent of the context window that the tools' schemas may take. Beyond it, all but a "
        "few wait behind a search, if that saves at least half.",
    ),
    SwitchSpec(
        name="tool_choice",
        theme="calls",
        choices=("omit", "string"),
        help="`string` sends tool_choice as the word auto beside the tools.",
    ),
    SwitchSpec(
        name="stream_with_tools",
        theme="stream",
        choices=("stream", "whole"),
        help="`whole` asks for one whole reply when tools are offered, for servers that stream "
        "calls wrongly. The answer then appears all at once.",
    ),
    SwitchSpec(
        name="usage_in_stream",
        theme="stream",
        choices=("auto", "on", "off"),
        help="Ask for token counts. `auto` stops asking once the server has refused it.",
    ),
    SwitchSpec(
        name="parallel_calls",
        theme="calls",
        choices=("leave", "send_true", "one"),
        help="Several calls in one answer: as the server has it, asked for with "
        "parallel_tool_calls, or only the first one runs.",
    ),
    SwitchSpec(
        name="thinking",
        theme="stream",
        choices=("server", "kwargs_off", "think_false", "effort_none"),
        help="How thinking is switched off: not at all, with chat_template_kwargs (llama.cpp, "
        "vLLM, SGLang), with think (Ollama), or with reasoning_effort none.",
    ),
    SwitchSpec(
        name="template_opens_think",
        theme="stream",
        choices=("learn", "yes", "no"),
        help="Whether the chat template opens a thinking block, so that text counts as thinking "
        "until </think>. `learn` notices the first time.",
    ),
    SwitchSpec(
        name="server_answer_tool",
        theme="calls",
        choices=("show_text", "ignore"),
        help="A call of the `answer` function that LocalAI adds by itself: show its text, or "
        "ignore it.",
    ),
    SwitchSpec(
        name="context_window",
        theme="schema",
        choices=(
            "unknown",
            *("2048", "4096", "8192", "16384", "32768", "65536", "131072", "262144"),
        ),
        numbers=range(1024, 10_000_001),
        help="Tokens that the server holds, prompt and reply together. While unknown, what the "
        "operator set counts, else 8192.",
    ),
    SwitchSpec(
        name="time_in_prompt",
        theme="schema",
        choices=("tail", "off", "head"),
        help="The present minute: at the prompt's end, left out, or in the first message, where "
        "it costs the server's prompt cache every minute.",
    ),
    SwitchSpec(
        name="slot_hint",
        theme="stream",
        choices=("off", "per_channel"),
        help="`per_channel` asks llama.cpp to answer a channel in the same slot every time, whose "
        "cache then holds its conversation. Only where the server tells its slots.",
    ),
    SwitchSpec(
        name="warm_up",
        theme="stream",
        choices=("auto", "on", "off"),
        help="Have the server read what stays of the prompt when the bot starts and after a "
        "change: the first answer comes sooner. `auto`: in a private network only.",
    ),
    SwitchSpec(
        name="empty_reply",
        theme="reply",
        choices=("nudge_once", "silent", "line"),
        help="An answer with neither words nor a call: ask the model once more, say nothing, or "
        "say at once that it gave no answer.",
    ),
    SwitchSpec(
        name="repeat_limit",
        theme="reply",
        choices=("2", "1", "3", "4", "5", "10"),
        numbers=range(1, 101),
        help="How often the very same call runs in one turn.",
    ),
    SwitchSpec(
        name="follow_up",
        theme="reply",
        choices=("queue", "interrupt"),
        help="What becomes of an answer under way when its asker writes again: it is finished "
        "first, or stopped.",
    ),
    SwitchSpec(
        name="long_answers",
        theme="reply",
        choices=("10", "off", "1", "2", "3", "5", "20"),
        numbers=range(1, 101),
        help="Messages that one answer may fill. A longer one shows these and comes whole as a "
        "file. `off`: never as a file.",
    ),
    SwitchSpec(
        name="show_thinking",
        theme="reply",
        choices=("off", "on"),
        help="A button under replies with which members read what the model thought.",
    ),
)
