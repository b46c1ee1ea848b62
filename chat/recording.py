"""Keeps what the model sent and what tools did in recent turns, for those who ask about it.

Invariant: in memory alone, for a day and within a bound, the oldest going first. A turn is found
by the messages that show it, in the place where it ran, and from nowhere else.
"""

import asyncio
import json
import zlib
from collections import deque
from collections.abc import Generator, Iterable, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field

from chat.captured import ON_READING
from chat.ports import Place
from prompt.prompt import Prompt
from prompt.values import JsonObject, Outcome
from providers.base import CallKey, RequestOptions

MOST_TURNS = 200
MOST_BYTES = 4 * 1024 * 1024
"""Of all turns together, packed; an event stream packs to a tenth or less."""

LONGEST_ANSWER = 2 * 1024 * 1024
"""Bytes of one answer, unpacked. What comes after them is not kept."""

KEPT_FOR = 24 * 3600.0
"""Seconds."""


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
    thought where members may read that. `secrets` are keys that all may hold."""

    place: Place
    member_id: int
    message_ids: Sequence[int]
    answers: Sequence[bytes]
    runs: Sequence[RecordedRun] = ()
    thinking: str = ""
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
        self._most_turns = most_turns
        self._most_bytes = most_bytes
        self._kept_for = kept_for
        self._turns: deque[tuple[float, RecordedTurn]] = deque()
        self._size = 0
        self._timer: asyncio.TimerHandle | None = None

    def keep(
        self,
        place: Place,
        message_ids: Sequence[int],
        answers: Sequence[bytes],
        *,
        member_id: int,
        runs: Sequence[RecordedRun] = (),
        thinking: str = "",
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
            secrets=secrets,
        )
        loop = asyncio.get_running_loop()
        self._turns.append((loop.time() + self._kept_for, turn))
        self._size += _size(turn)
        while len(self._turns) > self._most_turns or self._size > self._most_bytes:
            self._drop_oldest()
        if self._timer is None:
            self._timer = loop.call_later(self._kept_for, self._drop_old)

    def find(self, place: Place, message_id: int) -> RecordedTurn | None:
        """The turn that a message shows, if it ran in `place` and is still kept."""
        for _, turn in reversed(self._turns):
            if turn.place == place and message_id in turn.message_ids:
                return turn
        return None

    def forget(self, guild_id: int, member_id: int | None) -> None:
        """Drop the turns for a member of a guild; for None, those for all its members."""
        kept = [
            (until, turn)
            for until, turn in self._turns
            if turn.place.guild_id != guild_id or member_id not in (None, turn.member_id)
        ]
        self._turns = deque(kept)
        self._size = sum(_size(turn) for _, turn in kept)

    def _drop_old(self) -> None:
        """Drop what is too old, and come back when the next turn is."""
        self._timer = None
        loop = asyncio.get_running_loop()
        while self._turns and self._turns[0][0] <= loop.time():
            self._drop_oldest()
        if self._turns:
            self._timer = loop.call_at(self._turns[0][0], self._drop_old)

    def _drop_oldest(self) -> None:
        _, turn = self._turns.popleft()
        self._size -= _size(turn)


def _size(turn: RecordedTurn) -> int:
    runs = sum(len(run.arguments) + len(run.text) for run in turn.runs)
    return sum(map(len, turn.answers)) + runs + len(turn.thinking)
