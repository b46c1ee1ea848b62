"""Reads everything that a turn's prompt is built from.

Invariant: all I/O of a prompt happens here, and gathering only reads. History starts at the
channel's cut point, which moves by whole blocks and only forward, so consecutive prompts begin
with the same bytes.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import takewhile

from chat.answering import answering_of
from chat.config import TurnConfig, turn_config
from chat.endpoints import Route
from chat.images import ImageReader, attachments_of
from chat.knowledge import Grounding
from chat.learning import Learning
from chat.moderation import DEFAULTS, Moderation, moderation_of
from chat.opting_out import heeded, without_quote_of
from chat.personas import Whereabouts, texts_of
from chat.ports import ChannelMessage, History, Place
from chat.toolbox import Toolbox
from data.store import Store
from data.turns import StoredTurn
from prompt.snapshot import Snapshot
from prompt.values import Attachment, Json, TextPart, Turn

FIRST_READ = 30
"""Messages taken over from a channel in which no turn has run yet."""

READ_LIMIT = 200
"""Messages read at most where a guild sets no other window. When a channel grows past it, history
restarts at half of it."""

_SHOWN_PARTICIPANTS = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Gathered:
    """A snapshot, and for each exchange of its dialogue the id of the message that opens it.

    `cut_point` is where history is to begin from now on; None where that stays as it is. `stored`
    are the switches that are set, `config` what they amount to with those that were learnt,
    `toolbox` the tools.
    `remarks` tell what is wrong with texts of admins.
    `attachments` are the files of its messages, the oldest first. `grounding` is what it may
    read of the guild's knowledge, `moderation` what that has set to keep order. The dialogue is
    made of `messages` and the stored `answers`.
    """

    snapshot: Snapshot
    stored: Mapping[str, Json]
    config: TurnConfig
    toolbox: Toolbox
    opened_by: tuple[int, ...]
    cut_point: int | None
    remarks: tuple[str, ...] = ()
    attachments: tuple[Attachment, ...] = ()
    grounding: Grounding
    messages: tuple[ChannelMessage, ...]
    answers: Mapping[int, StoredTurn]
    moderation: Moderation = DEFAULTS

    def without(self, dropped: int) -> "Gathered":
        """This without the first `dropped` exchanges, in the very words in which later turns read
        the rest: what a message quotes depends on what stands before it."""
        begin = self.opened_by[dropped]
        messages = tuple(message for message in self.messages if message.id >= begin)
        dialogue, opened_by = _dialogue(messages, self.answers)
        snapshot = replace(self.snapshot, dialogue=dialogue)
        return replace(self, snapshot=snapshot, opened_by=opened_by, messages=messages)


@dataclass(frozen=True, slots=True, kw_only=True)
class Gatherer:
    """Gathers for any guild. `persona` holds where a guild has set none; `whereabouts` knows the
    names that texts of admins ask for."""

    store: Store
    persona: str
    whereabouts: Whereabouts = field(default_factory=Whereabouts)
    images: ImageReader = field(default_factory=ImageReader)

    async def gather(
        self,
        route: Route,
        place: Place,
        history: History,
        *,
        asked: ChannelMessage | None,
        newest: int,
        toolbox: Toolbox,
        grounding: Grounding,
        now: datetime,
    ) -> Gathered:
        """The inputs of a turn that answers `asked`, with the history before id `newest`.

        Without `asked`, as a snapshot command wants it, the dialogue ends with the history.
        `grounding` is that of the turn, with which the toolbox was made.
        """
        guild = place.guild_id or 0
        wide = await self.store.settings.values(guild, "")
        per_model = await self.store.settings.values(guild, route.provider.model)
        window = answering_of(wide).window or READ_LIMIT
        messages, cut_point = await self._read(place, history, newest, most=window)
        answers = await self._answers(messages, newest)
        opted_out = await self.store.opt_outs.of(guild)
        messages = heeded(messages, answers, opted_out)
        if asked is not None:
            messages = [*messages, without_quote_of(asked, opted_out)]
        dialogue, opened_by = _dialogue(messages, answers)
        moderation = moderation_of(wide)
        toolbox = toolbox.over(dialogue)
        if not moderation.makes_images([place.channel_id, place.parent_id or 0]):
            toolbox = toolbox.without_images()
        verdict = await Learning(store=self.store, route=route).verdict()
        config = turn_config(per_model, verdict.learnt)
        seen = await self.images.read(messages, history, sees=config.sees)
        names = dict.fromkeys(turn.author for turn in dialogue if turn.author)
        texts = texts_of(
            wide,
            place,
            self.whereabouts.of(place),
            default=self.persona,
            model=route.provider.model,
        )
        return Gathered(
            snapshot=Snapshot(
                persona=texts.persona,
                server_rules=texts.rules,
                pinned_notes=texts.notes,
                config=config.tools,
                verdict=verdict,
                surface=toolbox.surface(config),
                dialogue=dialogue,
                now=now,
                participants=tuple(names)[-_SHOWN_PARTICIPANTS:],
                images=seen.images,
                unseen=seen.unseen,
                snippets=await grounding.snippets(dialogue),
            ),
            remarks=texts.remarks,
            moderation=moderation,
            stored=per_model,
            config=config,
            toolbox=toolbox,
            opened_by=opened_by,
            cut_point=cut_point,
            attachments=attachments_of(messages),
            grounding=grounding,
            messages=tuple(messages),
            answers=answers,
        )

    async def settle(self, place: Place, gathered: Gathered, dropped: int) -> None:
        """Let later turns begin where this one does, the first `dropped` exchanges left out."""
        cut = gathered.cut_point
        if 0 < dropped < len(gathered.opened_by):
            cut = gathered.opened_by[dropped] - 1
        if cut is not None:
            await self.store.channels.move_cut_point(place.channel_id, cut)

    async def _read(
        self, place: Place, history: History, newest: int, *, most: int
    ) -> tuple[Sequence[ChannelMessage], int | None]:
        """The messages since the cut point, `most` at most, and where that has to move to, if
        anywhere."""
        cut = await self.store.channels.cut_point(place.channel_id)
        limit = most if cut is not None else min(FIRST_READ, most)
        messages = await history.read(before=newest, after=cut, limit=limit)
        if cut is not None and len(messages) == most:
            messages = messages[most // 2 :]
            cut = None
        return messages, messages[0].id - 1 if cut is None and messages else None

    async def _answers(
        self, messages: Sequence[ChannelMessage], newest: int
    ) -> Mapping[int, StoredTurn]:
        """Stored turns by the message that they answer and by those that show them.

        While a message waits for its turn, others are answered, in replies that stand behind it:
        those count too. A reply that was deleted does not.
        """
        shown = await self.store.turns.by_messages([m.id for m in messages if m.ours])
        asked = await self.store.turns.by_ids([turn_id_of(m.id) for m in messages if not m.ours])
        later = [
            turn for turn in asked.values() if min(turn.reply_message_ids, default=0) >= newest
        ]
        return {
            **shown,
            **{turn.asked_message_id: turn for turn in (*shown.values(), *later)},
        }


def turn_id_of(message_id: int) -> str:
    """The id of the turn that answers a message."""
    return str(message_id)


def _dialogue(
    messages: Sequence[ChannelMessage], answers: Mapping[int, StoredTurn]
) -> tuple[tuple[Turn, ...], tuple[int, ...]]:
    """Turns of the messages, each answer with its tool exchanges behind its question; and the
    ids of the messages that open an exchange. Answers to what was asked before the first message
    are left out."""
    turns: list[Turn] = []
    opened_by: list[int] = []
    told: set[str] = set()
    for place, message in enumerate(messages):
        answer = answers.get(message.id)
        if answer is not None and answer.asked_message_id < messages[0].id:
            continue
        fresh: tuple[Turn, ...] = ()
        if not message.ours:
            fresh = (_member_turn(message, messages[:place]),)
        elif answer is None:
            fresh = _unrecorded(message)
        if answer is not None and answer.id not in told:
            told.add(answer.id)
            fresh += answer.turns
        if fresh and (fresh[0].role == "user" or not turns):
            opened_by.append(message.id)
        turns += fresh
    return tuple(turns), tuple(opened_by)


def _member_turn(message: ChannelMessage, before: Sequence[ChannelMessage]) -> Turn:
    quote = _quote(message, before)
    text = "\n".join(words for words in (quote, message.text) if words)
    return Turn(
        role="user", author=message.author.name, parts=(TextPart(text=text),), at=message.at
    )


def _quote(message: ChannelMessage, before: Sequence[ChannelMessage]) -> str:
    """What `message` replies to, unless that stands right before it: one message, or the last of
    ours, which may fill several."""
    quoted = message.reply_to
    if quoted is None:
        return ""
    answer = takewhile(lambda earlier: earlier.ours, reversed(before))
    right_before = {earlier.id for earlier in (*before[-1:], *answer)}
    if quoted.message_id in right_before and message.text:
        return ""
    words = f': "{quoted.text}"' if quoted.text else ""
    return f"[in reply to {quoted.author.name}{words}]"


def _unrecorded(message: ChannelMessage) -> tuple[Turn, ...]:
    """One of our messages of which no turn is stored; its subtext lines were never the model's."""
    lines = [line for line in message.text.splitlines() if not line.startswith("-# ")]
    text = "\n".join(lines).strip()
    return (Turn(role="assistant", parts=(TextPart(text=text),), at=message.at),) if text else ()
