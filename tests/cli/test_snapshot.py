import argparse
import io
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from chat.account import PromptSnapshot
from chat.ports import History, Member, Place
from cli.snapshot import OneMessage, add_arguments, run_snapshot
from prompt.snapshot import PromptTooLarge


@dataclass
class Snapshots:
    """Keeps what it is asked for; `error` is raised in place of an answer."""

    error: Exception | None = None
    places: list[Place] = field(default_factory=list[Place])
    texts: list[str] = field(default_factory=list[str])
    masks: list[bool] = field(default_factory=list[bool])

    async def snapshot(
        self, place: Place, member: Member, history: History, newest: int, *, masks: bool = False
    ) -> PromptSnapshot:
        if self.error is not None:
            raise self.error
        self.places.append(place)
        self.masks.append(masks)
        read = await history.read(before=newest + 1, after=None, limit=10)
        self.texts += [f"{message.author.name}: {message.text}" for message in read]
        return PromptSnapshot(text="in words\n", json='{"model":"m"}', prefix_hash="x")


def arguments(*given: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    return parser.parse_args(given)


@pytest.mark.parametrize(
    ("given", "printed"), [((), "in words\n"), (("--format", "json"), '{"model":"m"}\n')]
)
async def test_the_prompt_of_one_message(given: tuple[str, ...], printed: str) -> None:
    snapshots, out = Snapshots(), io.StringIO()
    assert await run_snapshot(snapshots, arguments("Roll!", *given), out) == 0
    assert (out.getvalue(), snapshots.texts) == (printed, ["User: Roll!"])
    assert snapshots.places[0].guild_id is None


async def test_a_guilds_prompt() -> None:
    snapshots = Snapshots()
    await run_snapshot(snapshots, arguments("--guild", "7"), io.StringIO())
    assert (snapshots.places[0].guild_id, snapshots.texts) == (7, ["User: Hello!"])


async def test_a_prompt_that_cannot_be_made_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    snapshots, out = Snapshots(error=PromptTooLarge(9000, 7000)), io.StringIO()
    assert await run_snapshot(snapshots, arguments(), out) == 1
    assert out.getvalue() == ""
    assert capsys.readouterr().err.startswith("The prompt needs about 9,000 tokens")


async def test_one_message_is_read_as_any_history_is() -> None:
    history = OneMessage("hi")
    at = history.message.id
    assert await history.read(before=at + 1, after=at - 1, limit=5) == [history.message]
    assert await history.read(before=at, after=None, limit=5) == []
    assert await history.read(before=at + 1, after=at, limit=5) == []


async def test_two_bodies_are_compared(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before, out = tmp_path / "before.json", io.StringIO()
    before.write_text('{"model":"other"}', encoding="utf-8")
    assert await run_snapshot(Snapshots(), arguments("--before", str(before)), out) == 0
    assert "first difference: byte 10 of the body, in the field model" in out.getvalue()
    before.write_text("none", encoding="utf-8")
    assert await run_snapshot(Snapshots(), arguments("--before", str(before)), out) == 1
    assert "is no request body" in capsys.readouterr().err


async def test_what_the_member_says_can_be_left_out() -> None:
    snapshots = Snapshots()
    await run_snapshot(snapshots, arguments("Secret", "--mask"), io.StringIO())
    assert snapshots.masks == [True]
