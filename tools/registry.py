"""Declares tools: a typed coroutine function becomes a spec with a generated schema.

Invariant: what the model is told about a tool and what the tool accepts come from one
signature, so they cannot drift apart.
"""

import inspect
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Protocol, TypeAlias, get_type_hints

from pydantic import BaseModel, ConfigDict, ValidationError, create_model

from data.facts import Facts
from prompt.values import USUAL_RATE, Attachment, Json, JsonObject, Rate, ToolSpec


class FileGone(Exception):
    """An attachment cannot be read any more, or is larger than allowed; the message, a sentence,
    says which."""


class FileSource(Protocol):
    """Reads the attachments of a conversation."""

    async def read_file(self, attachment: Attachment, *, most: int) -> bytes:
        """The bytes of an attachment. Raises FileGone, also where it has more than `most`."""
        ...


class Rights(Protocol):
    """What the asking member may do where they ask, looked up anew each time."""

    async def may(self, permission: str) -> bool:
        """Whether the member has a permission, named as Discord's API names it, in the channel
        where they ask."""
        ...

    async def can_read(self, channel_id: int) -> bool:
        """Whether the member may read the messages of a channel of the same guild."""
        ...

    async def can_all_read(self, channel_id: int) -> bool:
        """Whether everyone who sees the reply may read that channel. False where that is not
        certain."""
        ...


class NoFiles:
    """The FileSource of a place where nothing can be attached."""

    async def read_file(self, attachment: Attachment, *, most: int) -> bytes:
        """See FileSource."""
        raise FileGone(f"{attachment.name} cannot be read here.")


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """On whose behalf, where and when a tool runs. Guild 0 stands for direct messages.

    A tool acts for this member and in this guild only. `message_id` is the message that is
    answered. `attachments` are those of the conversation as the model sees it, oldest first;
    `files` reads them. `rights` tells what the member may do; None where
    there is no server to grant any.
    """

    guild_id: int
    channel_id: int
    member_id: int
    message_id: int
    now: datetime
    facts: Facts
    files: FileSource
    rights: Rights | None = None
    attachments: tuple[Attachment, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolFile:
    """A file for the member, such as a picture; the model is only told of it in words."""

    name: str
    data: bytes
    description: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolOutput:
    """What a tool returns: `text` for the model, `files` that go under the reply.

    `channels` are those whose messages the text repeats: it reaches the model only if everyone who
    sees the reply may read them, or a member has agreed. `posted` tells that the tool itself put
    its result before the members, so that the model need not add words.
    """

    text: str
    files: tuple[ToolFile, ...] = ()
    channels: tuple[int, ...] = ()
    posted: bool = False


ToolFunction: TypeAlias = Callable[..., Awaitable[str | ToolOutput]]
"""`async def tool(context, *, argument: type = default, ...) -> str`: what the model reads. A
ToolOutput where there are files too."""


class ToolFailure(Exception):
    """The tool could not do it; the message tells the model why and what would work.

    `code` is the error's name in the result.
    """

    code = "failed"


class ToolUnavailable(ToolFailure):
    """What the tool works with cannot be reached now; another call would not help."""

    code = "unavailable"


class Tool(Protocol):
    """A tool that can be offered and run, whatever it is made of."""

    @property
    def spec(self) -> ToolSpec:
        """What is told of it."""
        ...

    async def run(self, context: ToolContext, arguments: JsonObject) -> ToolOutput:
        """Run with arguments that satisfy the schema. Raises ToolFailure when the tool says no."""
        ...


@dataclass(frozen=True, slots=True)
class DeclaredTool:
    """A tool made from a coroutine function."""

    spec: ToolSpec
    _function: ToolFunction
    _arguments: type[BaseModel]

    async def run(self, context: ToolContext, arguments: JsonObject) -> ToolOutput:
        """See Tool; defaults are filled in.

        Raises ToolFailure also when the arguments pass the schema but not the signature's own
        types.
        """
        try:
            parsed = self._arguments.model_validate(dict(arguments))
        except ValidationError as error:
            first = error.errors()[0]
            where = "/".join(map(str, first["loc"]))
            raise ToolFailure(f"{where}: {first['msg']}") from error
        values = {name: getattr(parsed, name) for name in self._arguments.model_fields}
        output = await self._function(context, **values)
        return output if isinstance(output, ToolOutput) else ToolOutput(text=output)


def tool(
    *,
    read_only: bool = False,
    destructive: bool = False,
    egress: bool = False,
    foreign: bool = False,
    permission: str = "",
    rate: Rate = USUAL_RATE,
    seconds: float | None = None,
) -> Callable[[ToolFunction], DeclaredTool]:
    """Turn a coroutine function into a tool named after it; see ToolSpec for what it may say of
    itself.

    The docstring's first paragraph is the description; keyword parameters, annotated with
    types and pydantic Fields, are the arguments.
    """

    def declare(function: ToolFunction) -> DeclaredTool:
        name = function.__name__
        arguments = _arguments_of(function)
        description = " ".join((inspect.getdoc(function) or "").split("\n\n")[0].split())
        spec = ToolSpec(
            name=name,
            description=description,
            parameters=_schema(arguments),
            read_only=read_only,
            destructive=destructive,
            egress=egress,
            foreign=foreign,
            permission=permission,
            rate=rate,
            seconds=seconds,
        )
        return DeclaredTool(spec, function, arguments)

    return declare


def _arguments_of(function: ToolFunction) -> type[BaseModel]:
    hints = get_type_hints(function, include_extras=True)
    fields: dict[str, Any] = {
        parameter.name: (
            hints[parameter.name],
            ... if parameter.default is parameter.empty else parameter.default,
        )
        for parameter in inspect.signature(function).parameters.values()
        if parameter.kind is parameter.KEYWORD_ONLY
    }
    return create_model(function.__name__, __config__=ConfigDict(extra="forbid"), **fields)


def _schema(arguments: type[BaseModel]) -> JsonObject:
    """The JSON schema without pydantic's titles, which cost tokens and tell nothing."""
    schema = arguments.model_json_schema()
    properties: Mapping[str, Json] = schema.get("properties", {})
    plain: dict[str, Json] = {
        "type": "object",
        "properties": {
            name: {key: value for key, value in field.items() if key != "title"}
            for name, field in properties.items()
        },
    }
    if required := schema.get("required"):
        plain["required"] = required
    plain["additionalProperties"] = False
    return plain


class Registry:
    """All tools of this process, in the order in which they are offered."""

    def __init__(self, *tools: Tool) -> None:
        self._tools = {entry.spec.name: entry for entry in tools}
        if len(self._tools) != len(tools):
            raise ValueError("two tools share a name")

    def __iter__(self) -> Iterator[Tool]:
        return iter(self._tools.values())

    @property
    def tools(self) -> Mapping[str, Tool]:
        """The tools by their names."""
        return self._tools

    def get(self, name: str) -> Tool | None:
        """The tool of exactly this name."""
        return self._tools.get(name)
