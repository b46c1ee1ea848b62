"""The console chat, through pipes and through a terminal, with a scripted turn service."""

import asyncio
import os
import signal
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Self

import pytest

from chat.ending import STOPPED
from chat.ports import Member
from chat.reply import Reply
from cli.console import PLACE, ConsoleHistory, run_console
from prompt.values import Outcome
from tests.cli.scripted import (
    Scripted,
    Step,
    awaiting,
    call,
    fail,
    pause,
    result,
    take_back,
    tool,
    write,
)


async def piped(turns: Scripted, typed: str) -> tuple[int, str]:
    """Exit code and output of a console whose both ends are pipes."""
    source, keyboard = os.pipe()
    screen, sink = os.pipe()
    os.write(keyboard, typed.encode())
    os.close(keyboard)
    with (
        os.fdopen(source, "r", encoding="utf-8") as stdin,
        os.fdopen(sink, "w", encoding="utf-8") as stdout,
    ):
        code = await run_console(turns, greeting=["Welcome."], stdin=stdin, stdout=stdout)
    with os.fdopen(screen, "r", encoding="utf-8") as output:
        return code, output.read()


async def answer(*steps: Step) -> str:
    """What a piped console writes for one message, without the blank line at the end."""
    code, output = await piped(Scripted(scripts=[steps]), "hi\n")
    assert code == 0
    assert output.endswith("\n\n") or output == "\n"
    return output[:-1]


async def test_a_dialogue_through_pipes_is_plain_text() -> None:
    turns = Scripted(scripts=[[write("Hel"), write("lo")], [write("Again")]])
    code, output = await piped(turns, "first\n\n  second  ")
    assert (code, output) == (0, "Hello\n\nAgain\n\n")
    assert [request.message.text for request in turns.requests] == ["first", "second"]
    assert {request.place for request in turns.requests} == {PLACE}
    assert [(past.text, past.ours) for past in turns.pasts[1]] == [
        ("first", False),
        ("Hello", True),
    ]
    ids = [past.id for past in turns.pasts[1]] + [turns.requests[1].message.id]
    assert ids == sorted(set(ids))
    assert turns.reply_ids[0] == (ids[1],)


async def test_tool_calls_show_between_the_words_around_them() -> None:
    output = await answer(
        write("Let me roll."),
        call("roll_dice", '{"sides": 20,\n "count": 2}'),
        pause(0.2),
        result("17"),
        write("You rolled 17."),
    )
    lines = output.splitlines()
    assert lines[:2] == ["Let me roll.", '[tool] roll_dice {"sides": 20, "count": 2}']
    done, seconds, unit = lines[2].rsplit(" ", 2)
    assert done == "[tool] roll_dice: ok,"
    assert 0.2 <= float(seconds) < 2
    assert (unit, lines[3:]) == ("s", ["You rolled 17."])


async def test_a_failed_call_says_why() -> None:
    output = await answer(call("recall", "{}"), result("no\nsuch fact", "failed"))
    assert "[tool] recall: failed (no such fact), 0.0" in output


@pytest.mark.parametrize("outcome", ["denied", "timeout", "invalid"])
async def test_other_outcomes_are_named(outcome: Outcome) -> None:
    output = await answer(call("recall", "{}"), result("why", outcome))
    assert f"[tool] recall: {outcome} (why)" in output


async def test_foreign_text_cannot_steer_the_terminal() -> None:
    output = await answer(
        call("a\x1b[2J", '"\x1b[31m"'),
        result("\x1b[32m", "failed"),
        write("\x1b]0;owned\x07[bold]kept[/bold] :smile:\r\n"),
    )
    assert "\x1b" not in output
    assert "\r" not in output
    assert "]0;owned[bold]kept[/bold] :smile:" in output


async def test_text_taken_back_in_time_is_never_printed() -> None:
    output = await answer(
        write("They want a greeting.", (0, 21)), pause(0.2), take_back((0, 21)), write("Hi")
    )
    assert output == "Hi\n"


async def test_text_taken_back_too_late_is_said_to_be_thinking() -> None:
    output = await answer(
        write("Perhaps a roll.", (0, 15)),
        call("roll", "{}"),
        pause(0.3),
        take_back((0, 15)),
        write("Rolling."),
        result("4"),
    )
    lines = output.splitlines()
    assert lines[:2] == ["Perhaps a roll.", "[tool] roll {}"]
    assert lines[-2:] == ["[what stands above was thinking; the answer follows]", "Rolling."]


async def test_a_failed_answer_decides_the_exit_code() -> None:
    turns = Scripted(scripts=[[fail("The endpoint is down.", "Start it.")], [write("Better")]])
    assert await piped(turns, "one\n") == (1, "! The endpoint is down.\n  Start it.\n\n")
    code, _ = await piped(turns, "two\n")
    assert code == 0


async def test_an_answer_without_words_is_no_message() -> None:
    turns = Scripted(scripts=[[fail("Down.", "")], [write("Up")]])
    await piped(turns, "one\ntwo\n")
    assert turns.reply_ids[0] == ()
    assert [past.text for past in turns.pasts[1]] == ["one"]


async def test_commands_are_not_said_to_the_model() -> None:
    turns = Scripted(
        scripts=[[write("Hi")]],
        listing=[
            tool("roll_dice", "Roll dice.\nSeveral at once."),
            tool("web", "Search.", enabled=False, why="switched off"),
        ],
    )
    _, output = await piped(turns, "/tools\nhi\n/snapshot\n/nonsense\n/help\n/quit\nnever read\n")
    assert len(turns.requests) == 1
    shown = output.splitlines()
    assert shown[0] == "on  roll_dice  Roll dice. Several at once."
    assert shown[1] == "off web        Search. (switched off)"
    assert "prompt of User with 2 messages" in shown
    assert "There is no command /nonsense; /help lists what there is." in shown
    assert any(line.startswith("/snapshot ") for line in shown)


async def test_a_message_may_begin_with_a_slash() -> None:
    turns = Scripted(scripts=[[write("Hi")]])
    await piped(turns, "/me waves\n")
    assert turns.requests[0].message.text == "/me waves"


async def test_an_output_that_lacks_a_character_shows_another() -> None:
    source, keyboard = os.pipe()
    screen, sink = os.pipe()
    os.write(keyboard, b"hi\n")
    os.close(keyboard)
    turns = Scripted(scripts=[[write("ok \N{GAME DIE}")]])
    with os.fdopen(source) as stdin, os.fdopen(sink, "w", encoding="ascii") as stdout:
        await run_console(turns, stdin=stdin, stdout=stdout)
    with os.fdopen(screen) as output:
        assert output.read() == "ok ?\n\n"


async def test_a_reader_who_leaves_ends_the_chat_quietly() -> None:
    source, keyboard = os.pipe()
    screen, sink = os.pipe()
    os.write(keyboard, b"hi\nhi\n")
    os.close(screen)
    turns = Scripted(scripts=[[write("one")], [write("two")]])
    with os.fdopen(source) as stdin, os.fdopen(sink, "w") as stdout:
        assert await run_console(turns, stdin=stdin, stdout=stdout) == 1
        os.close(keyboard)
    assert len(turns.requests) == 1


async def test_history_is_read_like_a_channel() -> None:
    history = ConsoleHistory()
    author = Member(id=1, name="User")
    said = [history.add(author, str(number)) for number in range(5)]

    async def texts(before: int, after: int | None, limit: int) -> Sequence[str]:
        found = await history.read(before=before, after=after, limit=limit)
        return [message.text for message in found]

    assert await texts(said[4].id, None, 50) == ["0", "1", "2", "3"]
    assert await texts(said[4].id, said[0].id, 50) == ["1", "2", "3"]
    assert await texts(said[4].id, None, 2) == ["2", "3"]
    assert await texts(said[4].id, None, 0) == []


class Terminal:
    """A pseudo-terminal with a console on it."""

    def __init__(self, turns: Scripted) -> None:
        self._turns = turns
        self._screen = bytearray()

    async def __aenter__(self) -> Self:
        self._master, slave = os.openpty()
        self._stdin = os.fdopen(slave, "r", encoding="utf-8")
        self._stdout = os.fdopen(os.dup(slave), "w", encoding="utf-8")
        asyncio.get_running_loop().add_reader(self._master, self._receive)
        self.console = asyncio.create_task(
            run_console(self._turns, greeting=["Welcome."], stdin=self._stdin, stdout=self._stdout)
        )
        await self.shows("> ")
        return self

    async def __aexit__(self, *_: object) -> None:
        self.console.cancel()
        with suppress(asyncio.CancelledError):
            await self.console
        asyncio.get_running_loop().remove_reader(self._master)
        os.close(self._master)
        self._stdin.close()
        self._stdout.close()

    @property
    def screen(self) -> str:
        return self._screen.decode()

    def type(self, text: str) -> None:
        os.write(self._master, text.encode())

    async def shows(self, text: str) -> None:
        await self.until(lambda: text in self.screen)

    async def until(self, condition: Callable[[], bool]) -> None:
        async with asyncio.timeout(5):
            while not condition():
                await asyncio.sleep(0.01)

    def _receive(self) -> None:
        self._screen += os.read(self._master, 65536)


@pytest.fixture(autouse=True)
def capable_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not whatever terminal the tests happen to run in."""
    monkeypatch.setenv("TERM", "xterm-256color")
    for name in ("NO_COLOR", "FORCE_COLOR", "COLUMNS", "LINES", "TTY_COMPATIBLE"):
        monkeypatch.delenv(name, raising=False)


async def test_on_a_terminal_words_show_before_the_answer_is_complete() -> None:
    turns = Scripted(scripts=[[write("Streaming"), pause(5)]])
    async with Terminal(turns) as terminal:
        assert "Welcome." in terminal.screen
        terminal.type("hi\n")
        await terminal.shows("Streaming")
        assert not turns.reply_ids


async def test_a_running_tool_and_its_outcome_show() -> None:
    gate = asyncio.Event()

    async def wait(_reply: Reply) -> None:
        await gate.wait()

    turns = Scripted(scripts=[[call("roll", '{"n":1}'), wait, result("4"), write("Four.")]])
    async with Terminal(turns) as terminal:
        terminal.type("hi\n")
        await terminal.shows('[tool] roll {"n":1}: running 0 s')
        gate.set()
        await terminal.shows('[tool] roll {"n":1}: ok, ')
        await terminal.shows("Four.")


async def test_waiting_is_told() -> None:
    async with Terminal(Scripted(scripts=[[pause(5)]])) as terminal:
        terminal.type("hi\n")
        await terminal.shows("waiting for the model, 0 s")


async def test_what_is_awaited_is_told_quietly_and_goes_away() -> None:
    gate = asyncio.Event()

    async def wait(_reply: Reply) -> None:
        await gate.wait()

    steps = [awaiting("you are third in line"), wait, awaiting(""), write("Here.")]
    async with Terminal(Scripted(scripts=[steps])) as terminal:
        terminal.type("hi\n")
        await terminal.shows("you are third in line, 0 s")
        gate.set()
        await terminal.shows("Here.")
    assert await piped(Scripted(scripts=[[*steps]]), "hi\n") == (0, "Here.\n\n")


async def test_ctrl_c_stops_the_answer_and_the_chat_goes_on() -> None:
    turns = Scripted(scripts=[[write("Endless"), pause(60)], [write("Second")]])
    async with Terminal(turns) as terminal:
        terminal.type("one\n")
        await terminal.shows("Endless")
        os.kill(os.getpid(), signal.SIGINT)
        await terminal.shows(STOPPED)
        assert turns.cancelled == 1
        assert turns.reply_ids[0]
        terminal.type("two\n")
        await terminal.shows("Second")
        assert [past.text for past in turns.pasts[1]] == ["one", "Endless"]


async def test_ctrl_c_at_the_prompt_quits() -> None:
    before = signal.getsignal(signal.SIGINT)
    async with Terminal(Scripted(scripts=[])) as terminal:
        os.kill(os.getpid(), signal.SIGINT)
        async with asyncio.timeout(5):
            assert await terminal.console == 0
    assert signal.getsignal(signal.SIGINT) is before


async def test_the_end_of_input_quits() -> None:
    async with Terminal(Scripted(scripts=[])) as terminal:
        terminal.type("\x04")
        async with asyncio.timeout(5):
            assert await terminal.console == 0


async def test_cancelling_the_console_ends_the_answer_too() -> None:
    turns = Scripted(scripts=[[write("Endless"), pause(60)]])
    async with Terminal(turns) as terminal:
        terminal.type("one\n")
        await terminal.shows("Endless")
        terminal.console.cancel()
        with pytest.raises(asyncio.CancelledError):
            await terminal.console
    assert turns.cancelled == 1


async def test_a_long_answer_is_whole_in_the_end() -> None:
    text = "\n".join(f"line {number}" for number in range(200))
    async with Terminal(Scripted(scripts=[[write(text), pause(0.3)]])) as terminal:
        terminal.type("hi\n")
        await terminal.shows("line 0\r\nline 1\r\n")
        await terminal.shows("line 199\r\n")


async def test_on_a_dumb_terminal_nothing_moves_the_cursor(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("TERM", "dumb")
    turns = Scripted(scripts=[[call("roll", "{}"), result("4"), write("Four.")]])
    async with Terminal(turns) as terminal:
        terminal.type("hi\n")
        await terminal.shows("Four.\r\n\r\n> ")
        assert "\x1b" not in terminal.screen
