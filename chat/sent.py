"""Keeps the requests of recent turns, for those who ask what the model was sent.

Invariant: kept as chat.recent does. What several requests have in common is kept once: they share
most of their messages. Bytes of images are not kept, only their size.
"""

import hashlib
import json
import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeAlias, cast

from chat.ports import Place
from chat.recent import KEPT_FOR, MOST_TURNS, Recent
from prompt.events import Usage
from prompt.prompt import Prompt
from prompt.surface import canonical_json
from prompt.values import Json, JsonObject, PromptItem, Role, Zone
from prompt.verbatim import WireMode

MOST_BYTES = 8 * 1024 * 1024
"""Of all turns together, packed."""

_PACKED_FROM = 200
"""Bytes; what is shorter hardly packs."""

_Piece: TypeAlias = bytes
"""The digest under which a text is kept."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """One request: its prompt's items in sending order, the body without bytes of images, and what
    the endpoint reported of it, if anything."""

    items: tuple[PromptItem, ...]
    body: JsonObject
    mode: WireMode
    usage: Usage | None = None


def sent(prompt: Prompt, body: JsonObject, usage: Usage | None = None) -> Sent:
    """A request as it is kept."""
    items = tuple(replace(item, parts=()) for item in prompt.all_items)
    return Sent(items=items, body=without_bytes(body), mode=prompt.report.mode, usage=usage)


@dataclass(frozen=True, slots=True, kw_only=True)
class SentTurn:
    """The requests of one turn, in order, and the last one in the channel before them. `secrets`
    are keys that they may hold."""

    requests: Sequence[Sent]
    before: Sent | None
    secrets: Sequence[str] = field(default=(), repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class _KeptItem:
    tag: str
    role: Role
    zone: Zone
    source: str
    text: _Piece


@dataclass(frozen=True, slots=True, kw_only=True)
class _Kept:
    """A request in pieces. `body` are those of its JSON."""

    items: tuple[_KeptItem, ...]
    body: tuple[_Piece, ...]
    mode: WireMode
    usage: Usage | None

    @property
    def pieces(self) -> Iterator[_Piece]:
        yield from (item.text for item in self.items)
        yield from self.body


@dataclass(frozen=True, slots=True, kw_only=True)
class _Turn:
    channel: tuple[int | None, int]
    message_ids: Sequence[int]
    requests: tuple[_Kept, ...]
    secrets: Sequence[str]


class SentRequests:
    """The requests of recent turns on servers. Those in direct messages nobody may ask about."""

    def __init__(
        self,
        *,
        most_turns: int = MOST_TURNS,
        most_bytes: int = MOST_BYTES,
        kept_for: float = KEPT_FOR,
    ) -> None:
        self._pool = _Pool(most_bytes)
        self._turns = Recent[_Turn](
            most=most_turns,
            kept_for=kept_for,
            is_full=lambda: self._pool.is_full,
            dropped=self._let_go,
        )

    def keep(
        self,
        place: Place,
        message_ids: Sequence[int],
        requests: Sequence[Sent],
        *,
        secrets: Sequence[str] = (),
    ) -> None:
        """Keep the requests of a turn, which `message_ids` show, at the cost of the oldest ones."""
        if place.guild_id is None or not requests:
            return
        # On the event loop: on a slow core a body of 200 messages and 64 kB that is all new takes
        # 4.2 ms of it, and each further one of the turn, most of it in common, 1.1 ms.
        kept = tuple(self._pool.keep(each) for each in requests)
        self._turns.add(
            _Turn(
                channel=(place.guild_id, place.channel_id),
                message_ids=tuple(message_ids),
                requests=kept,
                secrets=tuple(secrets),
            )
        )

    def of_message(self, place: Place, message_id: int) -> SentTurn | None:
        """The requests of the turn that a message shows, if it ran in `place` and is still kept."""
        before: _Kept | None = None
        for turn in self._in(place):
            if message_id in turn.message_ids:
                return SentTurn(
                    requests=[self._pool.read(each) for each in turn.requests],
                    before=before and self._pool.read(before),
                    secrets=turn.secrets,
                )
            before = turn.requests[-1]
        return None

    def latest(self, place: Place) -> SentTurn | None:
        """The newest turn that ran in `place`."""
        channel = place.guild_id, place.channel_id
        turn = next((turn for turn in reversed(self._turns) if turn.channel == channel), None)
        if turn is None:
            return None
        requests = [self._pool.read(each) for each in turn.requests]
        return SentTurn(requests=requests, before=None, secrets=turn.secrets)

    def forget(self, guild_id: int) -> None:
        """Drop the turns of a guild."""
        self._turns.forget(lambda turn: turn.channel[0] == guild_id)

    @property
    def size(self) -> int:
        """Bytes that are kept, packed."""
        return self._pool.size

    def _in(self, place: Place) -> Iterator[_Turn]:
        channel = place.guild_id, place.channel_id
        return (turn for turn in self._turns if turn.channel == channel)

    def _let_go(self, turn: _Turn) -> None:
        for request in turn.requests:
            self._pool.drop(request)


class _Pool:
    """Texts, each kept once and as long as a request holds it."""

    def __init__(self, most_bytes: int) -> None:
        self._most_bytes = most_bytes
        self._held: dict[_Piece, tuple[int, bytes]] = {}
        self.size = 0

    @property
    def is_full(self) -> bool:
        """Whether there is more than there may be."""
        return self.size > self._most_bytes

    def keep(self, request: Sent) -> _Kept:
        """A request in pieces, which stay until it is dropped."""
        return _Kept(
            items=tuple(
                _KeptItem(
                    tag=item.tag,
                    role=item.role,
                    zone=item.zone,
                    source=item.source,
                    text=self._add(item.text),
                )
                for item in request.items
            ),
            body=tuple(map(self._add, _pieces(request.body))),
            mode=request.mode,
            usage=request.usage,
        )

    def read(self, kept: _Kept) -> Sent:
        """The request again."""
        items = tuple(
            PromptItem(
                tag=item.tag,
                role=item.role,
                text=self._text(item.text),
                zone=item.zone,
                source=item.source,
            )
            for item in kept.items
        )
        body = json.loads("".join(map(self._text, kept.body)))
        return Sent(items=items, body=body, mode=kept.mode, usage=kept.usage)

    def drop(self, kept: _Kept) -> None:
        """Let go of what no other request holds."""
        for piece in kept.pieces:
            users, packed = self._held[piece]
            if users > 1:
                self._held[piece] = users - 1, packed
            else:
                del self._held[piece]
                self.size -= len(packed)

    def _add(self, text: str) -> _Piece:
        plain = text.encode("utf-8", "surrogatepass")
        piece = hashlib.blake2b(plain, digest_size=16).digest()
        users, packed = self._held.get(piece, (0, b""))
        if not users:
            packed = zlib.compress(plain, level=1) if len(plain) >= _PACKED_FROM else b"\0" + plain
            self.size += len(packed)
        self._held[piece] = users + 1, packed
        return piece

    def _text(self, piece: _Piece) -> str:
        _, packed = self._held[piece]
        plain = packed[1:] if packed.startswith(b"\0") else zlib.decompress(packed)
        return plain.decode("utf-8", "surrogatepass")


def _pieces(body: JsonObject) -> Iterator[str]:
    """The JSON of a body, cut so that neighbouring requests have pieces in common."""
    for place, (name, value) in enumerate(body.items()):
        yield f"{',' if place else '{'}{canonical_json(name)}:"
        if name != "messages":
            yield canonical_json(value)
            continue
        yield "["
        for number, message in enumerate(cast("Sequence[Json]", value)):
            yield f"{',' if number else ''}{canonical_json(message)}"
        yield "]"
    yield "}"


def without_bytes(value: Json) -> Json:
    """`value` with the size of an image in place of the bytes in its data URL."""
    if isinstance(value, Mapping):
        fields = cast("JsonObject", value)
        if fields.get("type") == "image_url":
            url = without_data(fields["image_url"]["url"])
            return {**fields, "image_url": {"url": url}}
        return {name: without_bytes(below) for name, below in fields.items()}
    if isinstance(value, list):
        return [without_bytes(below) for below in cast("list[Json]", value)]
    return value


def without_data(url: str) -> str:
    """A URL with the size of the data in it in their place."""
    head, comma, data = url.partition(",")
    size = len(data) * 3 // 4
    return f"{head}{comma}[{size} bytes left out]" if url.startswith("data:") else url
