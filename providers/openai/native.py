"""Puts native tool calls together from deltas whose identity cannot be trusted.

Invariant: no fragment is lost and none is given to two calls. Servers send the index always 0,
counting up, or not at all; ids empty, repeated or new in each delta; names whole, in pieces or
in every delta. What a delta belongs to is therefore read from all of these together and from
whether the call under way is complete already.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from prompt.values import Json, JsonObject
from providers.openai.extent import JsonExtent
from providers.openai.fault import as_object
from providers.verbatim import NameIndex

MOST_CALLS = 64
"""Of one response: more than ever run. What a model in a loop writes after them is left out."""

_MOST_NAME = 256
"""Characters; no tool has a longer name."""

_Key = TypeVar("_Key")

_TEMPLATE_TOKEN = re.compile(r"[<\[({\s]|｜")


@dataclass(slots=True, kw_only=True)
class NativeCall:
    """One call under way: name and arguments as far as they have come."""

    index: int | None
    id: str
    ordinal: int = 0
    name: str = ""
    whole: str | None = None
    """Arguments that came as an object in place of a string, as JSON."""
    may_be_echo: bool = False
    """Nothing but the name of the call before came: a call only if arguments follow."""
    announced: bool = False
    _fragments: list[str] = field(default_factory=list[str])
    _extent: JsonExtent = field(default_factory=JsonExtent)
    _size: int = 0

    @property
    def begun(self) -> bool:
        """Whether any argument text has come."""
        return self._size > 0 or self.whole is not None

    @property
    def complete(self) -> bool:
        """Whether the arguments form a closed object already."""
        return self.whole is not None or self._extent.complete

    @property
    def size(self) -> int:
        """Characters of argument text so far."""
        return max(self._size, len(self.whole or ""))

    def add(self, arguments: Json) -> None:
        """Take the argument part of one delta."""
        if isinstance(arguments, str):
            self._fragments.append(arguments)
            self._size += len(arguments)
            self._extent.feed(arguments)
        elif arguments is not None:
            # As it came: what is no JSON is to be found out when the arguments are bound.
            self.whole = json.dumps(arguments, ensure_ascii=False, separators=(",", ":"))

    @property
    def arguments(self) -> str:
        """The arguments as text, empty where none came.

        Some servers end with the whole arguments after the fragments, or send the same call
        twice: text that is no JSON as it stands gives way to a last fragment that is.
        """
        if self.whole is not None:
            return self.whole
        text = "".join(self._fragments)
        last = self._fragments[-1] if self._fragments else ""
        if len(self._fragments) > 1 and last.lstrip().startswith("{") and not is_object(text):
            return last if is_object(last) else text
        return text

    @property
    def plain_name(self) -> str:
        """The name up to the first piece of a chat template that is glued to it."""
        return _TEMPLATE_TOKEN.split(self.name.strip(), maxsplit=1)[0]


def is_object(text: str) -> bool:
    """Whether `text` is a JSON object as it stands."""
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


class NativeCalls:
    """All native calls of one response, in the order in which they began."""

    def __init__(self, names: NameIndex, *, max_argument_chars: int) -> None:
        self._names = names
        self._max_argument_chars = max_argument_chars
        self._calls: list[NativeCall] = []
        # The latest call with an id, an index, or both.
        self._by_id: dict[str, NativeCall] = {}
        self._by_index: dict[int, NativeCall] = {}
        self._by_both: dict[tuple[str, int | None], NativeCall] = {}
        self._full = False
        self.taken = 0
        """Characters that came, of whatever became a call or not."""

    def __bool__(self) -> bool:
        return bool(self._calls)

    def feed(self, entries: Sequence[Json]) -> list[NativeCall]:
        """Take the `tool_calls` of one delta; the calls whose name has become certain."""
        touched: list[NativeCall] = []
        for entry in entries:
            if (fields := as_object(entry)) is None:
                continue
            function = as_object(fields.get("function")) or fields
            name, arguments = _text(function, "name"), function.get("arguments")
            self.taken += len(name) + (len(arguments) if isinstance(arguments, str) else 0)
            call = None if self._full else self._call_for(fields, name, arguments, touched)
            if call is None:
                continue
            touched.append(call)
            if not call.begun:
                call.name = self._joined_name(call.name, name)
            if call.size <= self._max_argument_chars:
                call.add(arguments)
                self.taken += len(call.whole or "")
        certain = [call for call in touched if call.name and call.begun and not call.announced]
        for call in certain:
            call.announced = True
        return certain

    def close(self) -> list[NativeCall]:
        """Every call once: a call delivered again under its own id is left out."""
        seen: set[tuple[str, str, str]] = set()
        calls: list[NativeCall] = []
        for call in self._calls:
            identity = (call.id, call.plain_name, call.arguments.strip())
            empty = not call.begun and (call.may_be_echo or not call.name)
            if not empty and not (call.id and identity in seen):
                seen.add(identity)
                calls.append(call)
        return calls

    def _call_for(
        self, fields: JsonObject, name: str, arguments: Json, touched: Sequence[NativeCall]
    ) -> NativeCall | None:
        """The call that a delta goes on with, or a new one; None where there are too many."""
        given: Json = fields.get("index")
        index = given if isinstance(given, int) else None
        delta = _Delta(id=_text(fields, "id"), index=index, name=name, arguments=arguments)
        call = self._candidate(delta)
        if call is None or self._opens(call, delta, touched):
            echo = call is not None and call.complete and call.name == name and not delta.id
            if len(self._calls) == MOST_CALLS:
                self._full = True
                return None
            ordinal = len(self._calls)
            call = NativeCall(index=index, id="", ordinal=ordinal, may_be_echo=echo)
            self._calls.append(call)
            if index is not None:
                self._by_index[index] = call
        if delta.id and not call.id:
            call.id = delta.id
            _keep_latest(self._by_id, call.id, call)
            _keep_latest(self._by_both, (call.id, call.index), call)
        return call

    def _candidate(self, delta: "_Delta") -> NativeCall | None:
        """The call that id, index or position point to, the best witness first."""
        if delta.id:
            named = self._by_both.get((delta.id, delta.index)) or self._by_id.get(delta.id)
            if named is not None:
                return named
        placed = None if delta.index is None else self._by_index.get(delta.index)
        return placed or (self._calls[-1] if self._calls else None)

    def _opens(self, call: NativeCall, delta: "_Delta", touched: Sequence[NativeCall]) -> bool:
        """Whether a delta that points to `call` begins another call all the same."""
        same_id = bool(delta.id) and delta.id == call.id
        foreign_id = bool(delta.id and call.id) and not same_id
        foreign_index = None not in {delta.index, call.index} and delta.index != call.index
        same_name = delta.name == call.name
        resumes = call.begun and not call.complete and not delta.empty and not delta.begins
        second = call.complete and delta.begins
        if not delta.name:
            # Servers make up a new id, or count the index up, in every delta of one call.
            return second and (foreign_id or foreign_index)
        if resumes and (same_name or same_id):
            return False
        if same_id:
            return second or (foreign_index and (delta.begins or delta.empty))
        if foreign_index or any(call is other for other in touched):
            return True
        if call.begun:
            return foreign_id or not same_name or second or (call.complete and delta.empty)
        if not call.name or same_name:
            return foreign_id and delta.empty
        return foreign_id or self._both_offered(call.name, delta.name)

    def _both_offered(self, first: str, second: str) -> bool:
        return (
            not second.startswith(first)
            and self._names.resolve(first) is not None
            and self._names.resolve(second) is not None
        )

    def _joined_name(self, so_far: str, piece: str) -> str:
        """Names come whole, whole in every delta, growing, or in pieces."""
        if not piece or len(so_far) > _MOST_NAME:
            return so_far
        for candidate in (so_far + piece, piece):
            if any(name.startswith(candidate) for name in self._names.offered):
                return candidate
        return piece if piece.startswith(so_far) else so_far + piece


@dataclass(frozen=True, slots=True, kw_only=True)
class _Delta:
    """What one entry of `tool_calls` says about the call that it belongs to."""

    id: str
    index: int | None
    name: str
    arguments: Json

    @property
    def empty(self) -> bool:
        return self.arguments is None or self.arguments == ""

    @property
    def begins(self) -> bool:
        """Whether the arguments can be the beginning of an object, not a middle part."""
        if not isinstance(self.arguments, str):
            return self.arguments is not None
        return self.arguments.lstrip().startswith(("{", "```"))


def _keep_latest(calls: dict[_Key, NativeCall], key: _Key, call: NativeCall) -> None:
    known = calls.get(key)
    if known is None or known.ordinal < call.ordinal:
        calls[key] = call


def _text(fields: JsonObject, key: str) -> str:
    value: Json = fields.get(key)
    return value if isinstance(value, str) else ""
