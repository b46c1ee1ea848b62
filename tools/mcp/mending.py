"""Keeps one tool that breaks the protocol's shape from costing a server all of its tools.

Invariant: a tool of the right shape passes as it is, and nothing but lists of tools is touched. One
of another shape loses what is wrong: optional fields, arguments whose schema is none, or its whole
schema, for one that `vetting` refuses and tells of. Without a name it is left out. The SDK itself
gives up the list as a whole.
"""

from collections.abc import AsyncGenerator, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import replace
from types import TracebackType
from typing import Any, Self, cast

from mcp import types
from mcp.client import Transport
from mcp.shared.message import SessionMessage
from mcp.types.methods import validate_server_result

from prompt.values import Json, JsonObject
from tools.mcp.schemas import DROPPED

_VERSION = "2025-11-25"
"""The strictest shape: later versions of the protocol admit all that it does."""

_REFUSED: JsonObject = {"type": "object", "properties": {"unreadable": {"type": 0}}}
"""A schema of the right shape that is no valid JSON Schema."""


@asynccontextmanager
async def mending(transport: Transport) -> AsyncGenerator[tuple["_Mended", Any]]:
    """The transport, with every list of tools mended that comes in."""
    async with transport as (incoming, outgoing):
        yield _Mended(incoming), outgoing


def mended(result: JsonObject) -> JsonObject:
    """The result of a request, with tools of the protocol's shape if it is a list of tools."""
    tools = result.get("tools")
    if not isinstance(tools, list):
        return result
    found = [_mended(tool) for tool in cast("list[Json]", tools)]
    return {**result, "tools": [tool for tool in found if tool is not None]}


def _mended(tool: Json) -> Json:
    if _fits(tool):
        return tool
    if not isinstance(tool, Mapping):
        return None
    fields = cast("JsonObject", tool)
    named = {"name": fields.get("name"), "inputSchema": _REFUSED}
    bare = {key: fields[key] for key in ("name", "description", "inputSchema") if key in fields}
    schema = _with_schemas_alone(fields.get("inputSchema"))
    attempts: Sequence[JsonObject] = (
        {**fields, "inputSchema": schema},
        bare,
        {**bare, "inputSchema": schema},
        {**named, "description": fields.get("description")},
        named,
    )
    return next((attempt for attempt in attempts if _fits(attempt)), None)


def _with_schemas_alone(schema: Json) -> Json:
    """A schema whose properties are objects, with a note for `vetting` of those that were none.
    `true` and `false` are schemas, but not to the protocol."""
    if not isinstance(schema, Mapping):
        return schema
    fields = cast("JsonObject", schema)
    properties, required = fields.get("properties"), fields.get("required")
    if not isinstance(properties, Mapping):
        return fields
    named = cast("JsonObject", properties)
    kept: dict[str, Json] = {
        name: {} if field is True else field
        for name, field in named.items()
        if field is True or isinstance(field, Mapping)
    }
    dropped: list[Json] = [
        name for name, field in named.items() if name not in kept and field is not False
    ]
    mended_fields: dict[str, Json] = {**fields, "properties": kept, DROPPED: dropped}
    if isinstance(required, list):
        entries = cast("list[Json]", required)
        mended_fields["required"] = [name for name in entries if name not in named or name in kept]
    return mended_fields


def _fits(tool: Json) -> bool:
    try:
        validate_server_result("tools/list", _VERSION, {"tools": [tool]})
    except ValueError:
        return False
    return True


class _Mended:
    """A stream of messages over another one, whose protocol the SDK does not export."""

    def __init__(self, inner: Any) -> None:
        self._inner = inner

    @property
    def last_context(self) -> Any:
        """What the SDK asks streams for that know who sent a message."""
        return getattr(self._inner, "last_context", None)

    async def receive(self) -> SessionMessage | Exception:
        return _of(await self._inner.receive())

    async def aclose(self) -> None:
        await self._inner.aclose()

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> SessionMessage | Exception:
        return _of(await anext(self._inner))

    async def __aenter__(self) -> Self:
        await self._inner.__aenter__()
        return self

    async def __aexit__(
        self,
        exc_type: type[BaseException] | None,
        exc_val: BaseException | None,
        exc_tb: TracebackType | None,
    ) -> None:
        await self._inner.__aexit__(exc_type, exc_val, exc_tb)


def _of(message: SessionMessage | Exception) -> SessionMessage | Exception:
    if isinstance(message, Exception):
        return message
    answer = message.message
    if not isinstance(answer, types.JSONRPCResponse) or "tools" not in answer.result:
        return message
    result = dict(mended(answer.result))
    return replace(message, message=answer.model_copy(update={"result": result}))
