"""The console chat: the turn code of the bot, driven from a terminal.

Invariant: it is a surface and nothing more. History and display live here; what is said to the
model, which tools run and what is stored is decided below, exactly as for a channel.
"""

import asyncio
import signal
import time
from collections.abc import Awaitable, Callable, Generator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime
from types import FrameType
from typing import Protocol, TextIO

from chat.account import PromptSnapshot
from chat.overview import ToolListing
from chat.ports import ChannelMessage, History, Member, Place, Presenter, TurnRequest
from chat.reply import Reply
from cli.answer import AnswerView
from cli.consent import TerminalApprover
from cli.terminal import InputLines, forsake, one_line, printable, write_anything
from tools.registry import NoFiles

PLACE = Place(guild_id=None, channel_id=1)
"""The console as a channel. Discord's ids are far larger, so nothing is shared with one."""

_MEMBER_ID = 1
_BOT_ID = 2
_PROMPT = "> "
_DESCRIPTION_CHARS = 100
_HELP = """\
/tools     the tools that the model is offered, and those that are off
/snapshot  the prompt as it would be sent now
/help      this list
/quit      leave (so does the end of input, or Ctrl-C at the prompt)
Ctrl-C     during an answer: stop that answer"""


class Turns(Protocol):
    """The part of the chat service that a console drives."""

    async def respond(self, request: TurnRequest, history: History, presenter: Presenter) -> None:
        """Answer a message; the presenter hears of everything that is to be shown."""
        ...

    async def snapshot(
        self, place: Place, member: Member, history: History, newest: int
    ) -> PromptSnapshot:
        """The prompt as it would be now."""
        ...

    async def tools(self, guild_id: int | None) -> Sequence[ToolListing]:
        """All tools, on and off."""
        ...


class ConsoleHistory(NoFiles):
    """What was said in this session; forgotten with it.

    Ids come from the clock in nanoseconds, so that they grow and never return in a later
    session, whatever is stored under them.
    """

    def __init__(self) -> None:
        self._messages: list[ChannelMessage] = []

    @property
    def newest(self) -> int:
        """Id of the last message; 0 before the first."""
        return self._messages[-1].id if self._messages else 0

    def add(self, author: Member, text: str, *, ours: bool = False) -> ChannelMessage:
        """Append a message."""
        message = ChannelMessage(
            id=max(time.time_ns(), self.newest + 1),
            author=author,
            text=text,
            at=datetime.now(UTC),
            ours=ours,
        )
        self._messages.append(message)
        return message

    async def read(self, *, before: int, after: int | None, limit: int) -> Sequence[ChannelMessage]:
        """See `chat.ports.History`."""
        found = [
            message
            for message in self._messages
            if message.id < before and (after is None or message.id > after)
        ]
        return found[max(0, len(found) - limit) :]


class ConsolePresenter:
    """Shows one answer and puts it into the history."""

    def __init__(self, view: AnswerView, history: ConsoleHistory, bot: Member) -> None:
        self._view = view
        self._history = history
        self._bot = bot
        self.failed = False

    def changed(self, reply: Reply) -> None:
        """See `chat.ports.Presenter`."""
        self._view.changed(reply)

    async def finish(self, reply: Reply) -> Sequence[int]:
        """See `chat.ports.Presenter`. An answer without words is no message."""
        await self._view.finish(reply)
        self.failed = reply.state == "failed"
        if not reply.text:
            return ()
        return (self._history.add(self._bot, reply.text, ours=True).id,)


async def run_console(
    turns: Turns,
    *,
    greeting: Sequence[str] = (),
    member_name: str = "User",
    bot_name: str = "Verbatim",
    stdin: TextIO,
    stdout: TextIO,
) -> int:
    """Chat until the input ends, and return an exit code.

    On a terminal it streams; with `stdout` piped it writes plain text, answer by answer, and
    with `stdin` piped there is no prompt and the code is 1 if the last answer failed.
    `greeting` lines are for terminals only. Must run in the main thread, where Ctrl-C arrives.
    """
    write_anything(stdout)
    lines = InputLines(stdin)
    asks = lines if stdin.isatty() else None
    chat = _Chat(turns, Member(id=_MEMBER_ID, name=member_name), bot_name, stdout, asks)
    try:
        await _converse(chat, greeting, stdin, lines)
    except BrokenPipeError:  # whoever read us has had enough
        forsake(stdout)
        return 1
    return int(chat.failed and not stdin.isatty())


async def _converse(
    chat: "_Chat", greeting: Sequence[str], stdin: TextIO, lines: InputLines
) -> None:
    interactive = stdin.isatty()
    if interactive:
        chat.say(*greeting, "/help lists the commands.")
    with _on_interrupt(lambda: chat.stop_answer() or lines.end()):
        while True:
            if interactive:
                chat.say(_PROMPT, end="")
            line = await lines.next()
            if line is None:
                break
            text = printable(line).strip()
            if text == "/quit":
                return
            if text:
                await chat.take(text)
    if interactive:
        chat.say("")


class _Chat:
    """A session: what was said, and the answer under way if there is one. `lines` answer what
    tools ask; None where nobody sits there."""

    def __init__(
        self,
        turns: Turns,
        member: Member,
        bot_name: str,
        stdout: TextIO,
        lines: InputLines | None,
    ) -> None:
        self._turns = turns
        self._lines = lines
        self._member = member
        self._bot = Member(id=_BOT_ID, name=bot_name)
        self._stdout = stdout
        self._history = ConsoleHistory()
        self._answer: asyncio.Task[None] | None = None
        self.failed = False
        self._commands: dict[str, Callable[[], Awaitable[None]]] = {
            "/help": self._help,
            "/tools": self._list_tools,
            "/snapshot": self._show_snapshot,
        }

    def say(self, *lines: str, end: str = "\n") -> None:
        """Write lines of our own."""
        print(*lines, sep="\n", end=end, file=self._stdout, flush=True)

    async def take(self, text: str) -> None:
        """Obey a command or answer a message."""
        if command := self._commands.get(text):
            await command()
        elif text.startswith("/") and " " not in text:
            self.say(f"There is no command {text}; /help lists what there is.")
        else:
            await self._respond(text)

    def stop_answer(self) -> bool:
        """Stop the answer under way; False if there is none."""
        return self._answer is not None and self._answer.cancel()

    async def _respond(self, text: str) -> None:
        message = self._history.add(self._member, text)
        async with AnswerView(self._stdout) as view:
            approver = TerminalApprover(view, self._lines) if self._lines else None
            request = TurnRequest(
                place=PLACE, member=self._member, message=message, approver=approver
            )
            presenter = ConsolePresenter(view, self._history, self._bot)
            self._answer = asyncio.create_task(
                self._turns.respond(request, self._history, presenter)
            )
            try:
                await self._answer
            except asyncio.CancelledError:
                task = asyncio.current_task()
                if task is not None and task.cancelling():
                    raise  # not the answer alone: the console itself is being ended
            finally:
                self._answer = None
                self.failed = presenter.failed

    async def _help(self) -> None:
        self.say(_HELP)

    async def _list_tools(self) -> None:
        listed = await self._turns.tools(PLACE.guild_id)
        width = max((len(tool.name) for tool in listed), default=0)
        for tool in listed:
            state = "on " if tool.enabled else "off"
            why = f" ({tool.why})" if tool.why and not tool.enabled else ""
            told = one_line(tool.description, _DESCRIPTION_CHARS)
            self.say(f"{state} {printable(tool.name):{width}}  {told}{printable(why)}")
        if not listed:
            self.say("There are no tools.")

    async def _show_snapshot(self) -> None:
        snapshot = await self._turns.snapshot(
            PLACE, self._member, self._history, self._history.newest
        )
        self.say(printable(snapshot.text))


@contextmanager
def _on_interrupt(act: Callable[[], object]) -> Generator[None]:
    """Let Ctrl-C call `act` in the event loop instead of raising KeyboardInterrupt."""
    loop = asyncio.get_running_loop()

    def handle(_signal: int, _frame: FrameType | None) -> None:
        loop.call_soon_threadsafe(act)

    before = signal.signal(signal.SIGINT, handle)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)
