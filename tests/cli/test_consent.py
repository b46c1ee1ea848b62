"""Asking at the terminal whether a tool may run."""

import pytest

from chat.ports import ApprovalRequest, Decision
from chat.reply import Reply
from tests.cli.scripted import Scripted, Step, call, result, write
from tests.cli.test_console import (
    Terminal,
    capable_terminal,  # pyright: ignore[reportUnusedImport]
    piped,
)
from tools.registry import ToolFile

__all__ = ["capable_terminal"]


def asking(turns: Scripted, decisions: list[Decision | None]) -> list[Step]:
    """A turn that asks before its tool runs."""

    async def ask(_reply: Reply) -> None:
        request = turns.requests[-1]
        if request.approver is None:
            decisions.append(None)
            return
        question = ApprovalRequest(
            place=request.place,
            asker=request.member,
            message_id=request.message.id,
            tool="forget",
            arguments={"fact": "tea\x1b[2J"},
        )
        decisions.append(await request.approver.ask(question))

    return [write("Well."), call("forget", "{}"), ask, result("gone"), write("Done.")]


@pytest.mark.parametrize(
    ("typed", "decision"),
    [("y\n", "once"), ("Yes\n", "once"), ("n\n", "denied"), ("\n", "denied"), ("sure\n", "denied")],
)
async def test_only_a_yes_is_a_yes(typed: str, decision: Decision) -> None:
    decisions: list[Decision | None] = []
    turns = Scripted(scripts=[])
    turns.scripts.append(asking(turns, decisions))
    async with Terminal(turns) as terminal:
        terminal.type("hi\n")
        await terminal.shows("run? y/N ")
        assert 'May forget {"fact": "tea' in terminal.screen
        assert "\x1b[2J" not in terminal.screen
        terminal.type(typed)
        await terminal.shows("Done.")
        await terminal.until(lambda: bool(turns.reply_ids))
        assert decisions == [decision]
        assert [request.message.text for request in turns.requests] == ["hi"]


async def test_nobody_is_asked_where_nobody_sits() -> None:
    decisions: list[Decision | None] = []
    turns = Scripted(scripts=[])
    turns.scripts.append(asking(turns, decisions))
    code, _ = await piped(turns, "hi\n")
    assert (code, decisions) == (0, [None])


async def test_a_file_is_named() -> None:
    def attach(reply: Reply) -> None:
        reply.files.append(ToolFile(name="sea.png", data=b"1234"))

    _, output = await piped(Scripted(scripts=[[write("The sea."), attach]]), "draw\n")
    assert output == "The sea.\n[file] sea.png, 4 bytes, for Discord only\n\n"
