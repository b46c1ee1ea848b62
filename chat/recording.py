"""Keeps what the model sent and what tools did in recent turns, for those who ask about it.

Invariant: kept as chat.recent does. A turn is found by the messages that show it, in the place
where it ran, and from nowhere else.
"""

import json
import zlib
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from chat.captured import ON_READING
from chat.ports import Place
from chat.recent import KEPT_FOR, MOST_TURNS, Recent
from prompt.prompt import Prompt
from prompt.values import JsonObject, Outcome
from providers.base import CallKey, RequestOptions

MOST_BYTES = 4 * 1024 * 1024
"""Of all turns together, packed; an event stream packs to a tenth or less."""

LONGEST_ANSWER = 2 * 1024 * 1024
"""Bytes of one answer, unpacked. What comes after them is not kept."""


class Recorder:
    """Takes down the answer to one request: `take` is passed along as its `record`."""

    def __init__(self, prompt: Prompt, options: RequestOptions) -> None:
        self._prompt = prompt
        self._options = options
        self._body = bytearray()
        self._is_whole = True

    def take(self, data: bytes) -> None:
        """Bytes of the answer, as they come."""
        room = LONGEST_ANSWER - len(self._body)
        self._body += data[:room]
        self._is_whole &= len(data) <= room

    @contextmanager
    def into(self, answers: list[bytes]) -> Generator[None]:
        """Add what came to `answers` on leaving, by any way: packed, with all that it was read
        with. See `unpacked`."""
        try:
            yield
        finally:
            # On the event loop: an answer of 60 kB takes 0.3 ms of it, one of 500 kB 2.4 ms.
            if self._body:
                answers.append(zlib.compress(json.dumps(self._fields()).encode(), level=1))

    def _fields(self) -> JsonObject:
        tools = self._prompt.surface.callable
        settings = {name: self._options.wire.value(name) for name in ON_READING}
        if self._prompt.report.mode == "off":
            settings["text_calls"] = "off"

        def barred(keys: Iterable[CallKey]) -> list[list[str]]:
            """Calls of read-only tools run wherever they stand."""
            return sorted([name, arguments] for name, arguments in keys if not read_only(name))

        def read_only(name: str) -> bool:
            return name in tools and tools[name].read_only

        return {
            "tools": [
                {
                    "name": spec.name,
                    "description": spec.description,
                    # What arguments are checked against, which may say more than what is sent.
                    "parameters": spec.parameters,
                }
                for spec in tools.values()
            ],
            "input": self._body.decode("utf-8", "replace"),
            "format": "sse",
            "settings": settings,
            "copied": barred(self._options.copied),
            "quoted": barred(self._options.quoted),
            "whole": self._is_whole,
        }


def unpacked(answer: bytes) -> JsonObject:
    """A recorded answer as the fields of a line that `bot.py parse --batch` reads."""
    return json.loads(zlib.decompress(answer))


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedRun:
    """One tool call of a turn. `text` is what the model was told, `seconds` how long it took."""

    name: str
    arguments: str
    outcome: Outcome
    text: str
    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class RecordedTurn:
    """The answers of one turn for a member, packed, in order, its tool calls, and what the model
    thought where members may read that. `secrets` are keys that all may hold. `instead` tells which
    endpoint answered where that was not the first."""

    place: Place
    member_id: int
    message_ids: Sequence[int]
    answers: Sequence[bytes]
    runs: Sequence[RecordedRun] = ()
    thinking: str = ""
    instead: str = ""
    secrets: Sequence[str] = field(default=(), repr=False)


class Recordings:
    """The recent turns of servers. Those in direct messages nobody may ask about."""

    def __init__(
        self,
        *,
        most_turns: int = MOST_TURNS,
        most_bytes: int = MOST_BYTES,
        kept_for: float = KEPT_FOR,
    ) -> None:
        self._turns = Recent[RecordedTurn](
            most=most_turns,
            kept_for=kept_for,
            is_full=lambda: self._size > most_bytes,
            dropped=self._let_go,
        )
        self._size = 0

    def keep(
        self,
        place: Place,
        message_ids: Sequence[int],
        answers: Sequence[bytes],
        *,
        member_id: int,
        runs: Sequence[RecordedRun] = (),
        thinking: str = "",
        instead: str = "",
        secrets: Sequence[str] = (),
    ) -> None:
        """Keep the turn of `answers`, which `message_ids` show, at the cost of the oldest ones."""
        if place.guild_id is None or not message_ids or not (answers or runs):
            return
        turn = RecordedTurn(
            place=place,
            member_id=member_id,
            message_ids=message_ids,
            answers=answers,
            runs=runs,
            thinking=thinking,
            instead=instead,
            secrets=secrets,
        )
        self._size += _size(turn)
        self._turns.add(turn)

    def find(self, place: Place, message_id: int) -> RecordedTurn | None:
        """The turn that a message shows, if it ran in `place` and is still kept."""
        for turn in reversed(self._turns):
            if turn.place == place and message_id in turn.message_ids:
                return turn
        return None

    def forget(self, guild_id: int, member_id: int | None) -> None:
        """Drop the turns for a member of a guild; for None, those for all its members."""
        self._turns.forget(
            lambda turn: turn.place.guild_id == guild_id and member_id in (None, turn.member_id)
        )

    def _let_go(self, turn: RecordedTurn) -> None:
        self._size -= _size(turn)


def _size(turn: RecordedTurn) -> int:
    runs = sum(len(run.arguments) + len(run.text) for run in turn.runs)
    return sum(map(len, turn.answers)) + runs + len(turn.thinking)
