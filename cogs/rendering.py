"""Puts a reply into messages for members.

Invariant: members read the answer as the model wrote it, and the bot's own remarks only as subtext
beside it.
"""

from collections.abc import Mapping

from chat.reply import Reply
from chat.turn import READING
from cogs.in_words import one_line
from cogs.sending import SUBTEXT
from cogs.sources import sources_in_words
from cogs.splitting import MESSAGE_LIMIT, split
from cogs.translations.saying import Speaks, retold, tr
from prompt.values import Outcome

OUTCOMES: Mapping[Outcome, str] = {
    "ok": "ok",
    "failed": "failed",
    "denied": "denied",
    "timeout": "took too long",
    "invalid": "was called wrongly",
}
"""What became of a call, in words."""

_LONGEST_NOTICE = 300
_TOLD_FROM = 2
"""Seconds after which it is told how long a tool has been running."""


def reply_in_messages(
    reply: Reply,
    pieces: list[str],
    *,
    final: bool,
    begun: bool,
    now: float = 0.0,
    locale: Speaks = None,
) -> list[str]:
    """Contents of the messages that show `reply`, whose text was split into `pieces`.

    Notices, and one line that says what the turn does, or afterwards which tools it has used,
    follow as subtext. While the turn runs, that line gives way where the last message is full.
    `begun` tells that a message is there already and has to say something. `now` is the time of
    the event loop's clock. What is said beside the answer is in the language of `locale`.
    """
    notices = [one_line(retold(locale, notice), _LONGEST_NOTICE) for notice in reply.notices]
    if final and reply.silent and not (notices or pieces or begun):
        return []
    if final:
        used = [*sources_in_words(reply.sources, locale), *_used(reply, locale)]
        has_said = notices or pieces or reply.files or (reply.silent and used)
        nothing = tr(locale, "There is no answer. Asking again may help.")
        lines = [*notices, *used] if has_said else [nothing, *used]
    else:
        status = _status(reply, locale, begun=begun or bool(pieces), now=now)
        lines = [*notices, status] if status else notices
    if not lines:
        return pieces
    tail = "\n".join(SUBTEXT + line for line in lines)
    if pieces and len(pieces[-1]) + 1 + len(tail) <= MESSAGE_LIMIT:
        return [*pieces[:-1], f"{pieces[-1]}\n{tail}"]
    return [*pieces, *split(tail)] if final or not pieces else pieces


def without_remarks(content: str) -> str:
    """The words of a message, without the bot's own remarks below them."""
    lines = content.splitlines()
    while lines and lines[-1].startswith(SUBTEXT):
        lines.pop()
    return "\n".join(lines).rstrip()


def _used(reply: Reply, locale: Speaks) -> list[str]:
    """The line that names the tools of a reply, each once, with what became of it if not well.

    A call that was denied takes nothing from an earlier one that ran.
    """
    named: dict[str, str] = {}
    for run in reply.runs:
        if run.result is not None and (
            run.result.outcome != "denied" or run.asked.name not in named
        ):
            outcome = run.result.outcome
            named[run.asked.name] = (
                "" if outcome == "ok" else f" ({retold(locale, OUTCOMES[outcome])})"
            )
    if not named:
        return []
    tools = ", ".join(f"{_plain(name)}{end}" for name, end in named.items())
    return [one_line(tr(locale, "used {tools}", tools=tools), _LONGEST_NOTICE)]


def _plain(name: str) -> str:
    """A tool's name as members read it: of an MCP server's tool its own, and where it is from."""
    match name.split("__"):
        case ["mcp", server, own]:
            return f"{own} ({server})"
        case _:
            return name.replace("__", r"\_\_")


def _status(reply: Reply, locale: Speaks, *, begun: bool, now: float) -> str:
    running = reply.running
    if running and not reply.waits_for:
        names = ", ".join(_plain(run.asked.name) for run in running)
        began = min(run.started for run in running)
        seconds = int(now - began) if began else 0
        line = (
            tr(locale, "running {tools}… {seconds} s", tools=names, seconds=seconds)
            if seconds >= _TOLD_FROM
            else tr(locale, "running {tools}", tools=names)
        )
        return one_line(line, _LONGEST_NOTICE)
    if reply.waits_for:
        return one_line(retold(locale, reply.waits_for), _LONGEST_NOTICE)
    if not begun:
        return ""
    # In the order in which they follow each other, a place in line after the first.
    if reply.state in {"waiting", "tool"}:
        return tr(locale, "waiting for the model")
    if reply.state == "thinking":
        return retold(locale, READING) if reply.unheard else tr(locale, "thinking")
    return ""
