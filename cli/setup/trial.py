"""One test turn with a tool, and what it showed in a sentence.

Invariant: it is a turn of the chat service like any other; nothing of it is kept.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from chat.overview import Overview
from chat.ports import Place, TurnRequest
from chat.reply import Reply
from cli.setup.ports import Turns
from cli.snapshot import OneMessage
from cli.terminal import one_line

QUESTION = "Roll 2d6 for me, please."
_SHOWN_CHARS = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Trial:
    """What came of it. `works` tells whether there was an answer at all; `call` is the first tool
    call with its result."""

    works: bool
    sentence: str
    call: str = ""
    answer: str = ""


class _Listener:
    """Takes the reply as it ends."""

    def __init__(self) -> None:
        self.reply = Reply()

    def changed(self, reply: Reply) -> None:
        """See `chat.ports.Presenter`."""

    async def finish(self, reply: Reply) -> Sequence[int]:
        """See `chat.ports.Presenter`. Nothing is shown in a channel, so nothing is stored."""
        self.reply = reply
        return ()


async def try_turn(turns: Turns) -> Trial:
    """Ask for a roll of dice."""
    history = OneMessage(QUESTION)
    message = history.message
    listener = _Listener()
    request = TurnRequest(
        place=Place(guild_id=None, channel_id=1), member=message.author, message=message
    )
    await turns.respond(request, history, listener)
    return judge(listener.reply, await turns.overview(None))


def judge(reply: Reply, overview: Overview) -> Trial:
    """What a finished reply to QUESTION shows about the model."""
    answer = one_line(reply.text, _SHOWN_CHARS)
    notices = " ".join(reply.notices)
    if reply.state == "failed":
        return Trial(works=False, sentence=one_line(f"{notices} {reply.remedy}", 1000))
    if not reply.runs and not answer:
        return Trial(works=False, sentence=one_line(f"The model said nothing. {notices}", 1000))
    if not reply.runs:
        sentence = (
            "The model answered without calling a tool. Chat works; small models miss tools now "
            f"and then, and some never use them. {notices}"
        )
        return Trial(works=True, sentence=sentence.rstrip(), answer=answer)
    run = reply.runs[0]
    name, native = run.call.name, run.call.origin == "native"
    outcome = run.result.outcome if run.result else "stopped"
    called = f"The model called {name} {'through the tools field' if native else 'as text'}"
    went = "" if outcome == "ok" else f", which did not go well ({outcome})"
    mode = "verbatim is off, as it is not needed" if overview.mode == "native" else "verbatim is on"
    said = run.result.text if run.result else ""
    call = f"{name} {run.call.raw_arguments}: {said}"
    return Trial(
        works=True,
        sentence=f"{called}{went}; {mode}.",
        call=one_line(call, _SHOWN_CHARS),
        answer=answer,
    )
