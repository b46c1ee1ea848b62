"""Puts a reply into messages for members.

Invariant: members read the answer as the model wrote it, and the bot's own remarks only as subtext
beside it.
"""

from chat.reply import Reply
from cogs.in_words import one_line
from cogs.splitting import MESSAGE_LIMIT, split

SUBTEXT = "-# "
"""Starts a line that Discord shows small. The bot's own remarks beside an answer use it."""

_LONGEST_NOTICE = 300
_NOTHING = "There is no answer. Asking again may help."


def reply_in_messages(reply: Reply, pieces: list[str], *, final: bool, begun: bool) -> list[str]:
    """Contents of the messages that show `reply`, whose text was split into `pieces`.

    Notices, and while the turn runs one line that says what it does, follow as subtext. That
    line gives way where the last message is full. `begun` tells that a message is there already
    and has to say something.
    """
    notices = [one_line(notice, _LONGEST_NOTICE) for notice in reply.notices]
    if final and reply.silent and not (notices or pieces or begun):
        return []
    if final:
        lines = notices if notices or pieces else [_NOTHING]
    else:
        status = _status(reply, begun=begun or bool(pieces))
        lines = [*notices, status] if status else notices
    if not lines:
        return pieces
    tail = "\n".join(SUBTEXT + line for line in lines)
    if pieces and len(pieces[-1]) + 1 + len(tail) <= MESSAGE_LIMIT:
        return [*pieces[:-1], f"{pieces[-1]}\n{tail}"]
    return [*pieces, *split(tail)] if final or not pieces else pieces


def _status(reply: Reply, *, begun: bool) -> str:
    running = ", ".join(run.call.name.replace("__", r"\_\_") for run in reply.running)
    if running:
        return one_line(f"running {running}", _LONGEST_NOTICE)
    if reply.waits_for:
        return one_line(reply.waits_for, _LONGEST_NOTICE)
    return "thinking" if begun and reply.state in {"waiting", "thinking", "tool"} else ""
