"""The cache contract, for the requests of any scenario.

Invariant: requests are judged by what went over the wire alone, tools and messages to the byte.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby, pairwise
from typing import Any, cast


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """One request. `question` are the words that its turn answers, as a prompt has them."""

    turn: int
    channel: int
    question: str
    body: dict[str, Any]

    @property
    def tools(self) -> str:
        """The bytes of the `tools` field."""
        return _bytes(self.body.get("tools"))

    @property
    def messages(self) -> list[str]:
        """The bytes of each message."""
        return [_bytes(message) for message in self.body["messages"]]

    @property
    def asked_at(self) -> int:
        """Which message holds the question."""
        found = [at for at in range(len(self.messages)) if self.question in self.words(at)]
        assert found, f"no message of turn {self.turn} holds {self.question!r}"
        return found[-1]

    def words(self, at: int) -> str:
        """The text of a message, images left out."""
        content = self.body["messages"][at].get("content") or ""
        if isinstance(content, str):
            return content
        return "".join(part.get("text", "") for part in cast("list[dict[str, str]]", content))

    def up_to(self, text: str) -> str:
        """The bytes of the messages to the end of the words before the last place of `text`."""
        read = "".join(f"{message}\n" for message in self.messages)
        return read[: read.rindex(_bytes(text)[1:-1])].rpartition('"}\n')[0]


class CacheContract:
    """Judges the requests of a conversation, in the order in which they were sent."""

    def __init__(self, sent: Sequence[Sent]) -> None:
        self._turns = [list(turn) for _, turn in groupby(sent, key=lambda each: each.turn)]

    def grows_within_turns(self) -> None:
        """Each request of a turn begins with the whole one before."""
        for turn in self._turns:
            for earlier, later in pairwise(turn):
                before, now = earlier.messages, later.messages
                assert later.tools == earlier.tools, f"turn {later.turn}: other tools"
                assert len(now) > len(before), f"turn {later.turn} does not grow"
                assert now[: len(before)] == before, f"turn {later.turn} is written anew"

    def breaks(self) -> list[int]:
        """The turns that do not begin with the turn before in their channel, up to and including
        its question."""
        found: list[int] = []
        latest: dict[int, Sent] = {}
        for first, *_ in self._turns:
            before = latest.get(first.channel)
            if before is not None and not reaches(before, first):
                found.append(first.turn)
            latest[first.channel] = first
        return found

    def holds(self) -> None:
        """All of it, over a conversation in which nothing was changed or trimmed."""
        self.grows_within_turns()
        assert self.breaks() == []


def reaches(before: Sent, after: Sent) -> bool:
    """Whether `after` begins with `before` up to and including the question of that one."""
    at = before.asked_at
    if before.tools != after.tools or before.messages[:at] != after.messages[:at]:
        return False
    words = before.words(at)
    asked = words[: words.rindex(before.question) + len(before.question)]
    return len(after.messages) > at and after.words(at).startswith(asked)


def head(sent: Sent, first_words: str) -> list[str]:
    """The bytes before history, which begins with the message that holds `first_words`."""
    at = next(at for at in range(len(sent.messages)) if first_words in sent.words(at))
    return [sent.tools, *sent.messages[:at]]


def common(before: Sent, after: Sent) -> str:
    """The bytes of messages with which both begin."""
    one, other = ("".join(f"{each}\n" for each in sent.messages) for sent in (before, after))
    pairs = enumerate(zip(one, other, strict=False))
    length = next((at for at, (a, b) in pairs if a != b), min(len(one), len(other)))
    return one[:length]


def _bytes(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
