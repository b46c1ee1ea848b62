"""The cache contract over generated conversations."""

import asyncio
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal, TypeAlias

from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from tests.cache.contract import Sent, common, reaches
from tests.cache.street import MEMBERS, RECALL, ROLL, TIME, Answer, Street, street

Act: TypeAlias = tuple[Literal["ask", "chatter", "edit", "delete", "restart"], int]

ANSWERS: tuple[tuple[Answer, ...], ...] = (
    ("A short answer.",),
    (f"Let me see.\n{ROLL}", "Well rolled."),
    (f"{TIME}\n{RECALL}", ROLL, "All of it is done."),
    ("so on and " * 40,),
    ("",),  # nothing, and nothing again once the model was asked for words
)
KINDS = st.sampled_from(["ask", "ask", "ask", "chatter", "edit", "delete", "restart"])
ACTS = st.lists(st.tuples(KINDS, st.integers(0, 29)), min_size=3, max_size=10)


class Play:
    """Acts out a conversation in one channel and judges each of its turns."""

    def __init__(self, here: Street) -> None:
        self._here = here
        self._touched: str | None = None
        """Words of the oldest message that was changed since the turn before."""
        self._number = 0

    async def act(self, kind: str, number: int) -> None:
        self._number += 1
        messages = self._here.channel().messages
        match kind:
            case "ask":
                await self._ask(number)
            case "chatter":
                self._here.says(f"chatter {self._number};", MEMBERS[number % 3])
            case "restart":
                await self._here.open()
            case _ if messages:
                at = number % len(messages)
                self._touch(at)
                if kind == "edit" and not messages[at].ours:
                    messages[at] = replace(messages[at], text=f"edited {self._number};")
                else:
                    del messages[at]
            case _:
                pass

    def _touch(self, at: int) -> None:
        """Note the member's words from which on the next prompt may differ: those of this message,
        or of the question that it answers."""
        messages = self._here.channel().messages
        while at and messages[at].ours:
            at -= 1
        latest = self._here.sent[-1] if self._here.sent else None
        words = messages[at].text
        if latest is None or not _holds(latest, words):
            return
        before = self._touched
        if before is None or len(latest.up_to(words)) < len(latest.up_to(before)):
            self._touched = words

    async def _ask(self, number: int) -> None:
        answers = ANSWERS[number % len(ANSWERS)]
        answers = answers * 2 if answers == ("",) else answers
        before = self._here.sent[-1] if self._here.sent else None
        first = [sent for sent in self._here.sent if before and sent.turn == before.turn][:1]
        at = len(self._here.sent)
        await self._here.ask(f"question {self._number};", *answers, author=MEMBERS[number % 3])
        self._here.contract.grows_within_turns()
        for earlier in first:
            now = self._here.sent[at]
            if self._touched is None:
                assert reaches(earlier, now)
            else:
                assert common(earlier, now).startswith(earlier.up_to(self._touched))
        self._touched = None


def _holds(sent: Sent, words: str) -> bool:
    return any(words in sent.words(at) for at in range(len(sent.messages)))


@settings(max_examples=6, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@example([("ask", 0), ("chatter", 1), ("ask", 2), ("delete", 0), ("ask", 3), ("ask", 1)])
@example([("ask", 4), ("ask", 1), ("restart", 0), ("edit", 0), ("ask", 3)])
@given(ACTS)
def test_any_conversation_keeps_the_contract(acts: list[Act]) -> None:
    async def play() -> None:
        with TemporaryDirectory() as home:
            async with street(Path(home), window=32_000) as here:
                scene = Play(here)
                for kind, number in acts:
                    await scene.act(kind, number)

    asyncio.run(play())
