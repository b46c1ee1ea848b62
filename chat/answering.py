"""Who is answered where, and with how much of the past: what a guild has set about it.

Invariant: pure decisions on stored settings. A mention in the text itself is always somebody
speaking to the bot; everything that is answered without one can be switched off. Of settings that
are not valid each part falls back to its default.
"""

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from functools import lru_cache
from typing import Literal, TypeAlias, TypeGuard, cast

from chat.written_words import check_word, written_words
from data.store import Store
from prompt.values import Json

ANSWERING = "answering"
"""The guild-wide setting with everything in this module."""

MOST_WORDS = 25
MOST_IDS = 100
LEAST_WINDOW, LARGEST_WINDOW = 2, 200
"""Messages of history that a guild can choose to have read."""

MOST_BOT_TURNS = 3
"""Turns in a row that bots get in a channel before a person has to speak again."""

Trigger: TypeAlias = Literal["mention", "reply", "word", "channel", "thread"]
HistoryMode: TypeAlias = Literal["auto", "channel", "replies"]
HISTORY_MODES: tuple[HistoryMode, ...] = ("auto", "channel", "replies")


@dataclass(frozen=True, slots=True, kw_only=True)
class Answering:
    """The settings of one guild.

    `words` start an answer wherever they stand in a message, `channels` are those in which every
    message does; `threads` says the same of threads that the bot opened, and `in_thread` has it
    open one for each new conversation. In `denied` channels it is silent, to `roles` and
    `members` deaf. `bots` are the ids of bots that it answers. `window` is how many messages of
    the past are read at most.
    """

    mention: bool = True
    reply: bool = True
    words: tuple[str, ...] = ()
    channels: tuple[int, ...] = ()
    threads: bool = True
    in_thread: bool = False
    denied: tuple[int, ...] = ()
    roles: tuple[int, ...] = ()
    members: tuple[int, ...] = ()
    bots: tuple[int, ...] = ()
    history: HistoryMode = "auto"
    window: int | None = None

    def stored(self) -> dict[str, Json]:
        """As it is kept: ids as text, because large JSON numbers lose digits in many programs."""
        return {
            name: [str(one) for one in cast("tuple[object, ...]", value)]
            if isinstance(value, tuple)
            else value
            for name, value in asdict(self).items()
        }


DEFAULTS = Answering()


@dataclass(frozen=True, slots=True, kw_only=True)
class Heard:
    """A message in a guild, as far as it matters here.

    `channel_ids` are those of its channel and what that lies in; `answers` is the id of the author
    of the message that it replies to. `in_own_thread` tells that the bot opened the thread.
    """

    author_id: int
    is_bot: bool
    role_ids: Collection[int]
    channel_ids: Collection[int]
    text: str
    mentions: bool
    answers: int | None
    in_own_thread: bool


def trigger(settings: Answering, heard: Heard, *, me: int) -> Trigger | None:
    """Why a message is to be answered; None if it is not."""
    if heard.author_id == me or heard.author_id in settings.members:
        return None
    if heard.is_bot and heard.author_id not in settings.bots:
        return None
    if not set(settings.roles).isdisjoint(heard.role_ids):
        return None
    if not set(settings.denied).isdisjoint(heard.channel_ids):
        return None
    if settings.mention and heard.mentions:
        return "mention"
    if heard.answers is not None and heard.answers != me:
        return None  # it is said to somebody else
    if settings.reply and heard.answers == me:
        return "reply"
    if heard.is_bot:
        return None  # bots have to speak to it
    if settings.threads and heard.in_own_thread:
        return "thread"
    if not set(settings.channels).isdisjoint(heard.channel_ids):
        return "channel"
    if settings.words and _pattern(settings.words).search(heard.text.casefold()):
        return "word"
    return None


@lru_cache(maxsize=256)
def _pattern(words: tuple[str, ...]) -> re.Pattern[str]:
    """Finds any of the words as a whole."""
    listed = "|".join(re.escape(word.casefold()) for word in words)
    return re.compile(rf"(?<!\w)(?:{listed})(?!\w)")


def answering_of(wide: Mapping[str, Json]) -> Answering:
    """What the settings of a guild as a whole amount to."""
    stored = wide.get(ANSWERING)
    if not isinstance(stored, Mapping):
        return DEFAULTS
    named = cast("Mapping[str, Json]", stored)
    words, window, mode = named.get("words"), named.get("window"), named.get("history")

    def flag(name: str) -> bool:
        value = named.get(name)
        return value if isinstance(value, bool) else getattr(DEFAULTS, name)

    def ids(name: str) -> tuple[int, ...]:
        return tuple(stored_ids(named.get(name))[:MOST_IDS])

    return Answering(
        mention=flag("mention"),
        reply=flag("reply"),
        threads=flag("threads"),
        in_thread=flag("in_thread"),
        channels=ids("channels"),
        denied=ids("denied"),
        roles=ids("roles"),
        members=ids("members"),
        bots=ids("bots"),
        words=_words(cast("list[Json]", words) if isinstance(words, list) else []),
        history=mode if mode in HISTORY_MODES else DEFAULTS.history,
        window=window if _is_window(window) else None,
    )


def is_answering(value: Json) -> bool:
    """Whether `value` can be stored as these settings as it is."""
    if not isinstance(value, dict):
        return False
    named = cast("dict[str, Json]", value)
    read = answering_of({ANSWERING: value}).stored()
    return named.keys() <= {field.name for field in fields(Answering)} and all(
        read[name] == given for name, given in named.items()
    )


def checked_words(written: str) -> tuple[str, ...]:
    """Trigger words as an admin writes them, commas or lines between. ValueError says what is
    wrong with them."""
    listed = written_words(written)
    if len(listed) > MOST_WORDS:
        raise ValueError(f"At most {MOST_WORDS} words can be set; these are {len(listed)}.")
    for word in listed:
        check_word(word)
    return listed


def checked_window(written: str) -> int | None:
    """A window as an admin writes it, None for nothing. ValueError says what is wrong."""
    text = written.strip()
    if not text:
        return None
    if not text.isdecimal() or not _is_window(int(text[:6])):
        raise ValueError(
            f"The window is a number from {LEAST_WINDOW} to {LARGEST_WINDOW}, or empty."
        )
    return int(text)


def _words(listed: Sequence[Json]) -> tuple[str, ...]:
    good: list[str] = []
    for word in listed[:MOST_WORDS]:
        if isinstance(word, str):
            try:
                good += checked_words(word)
            except ValueError:
                continue
    return tuple(good)


def _is_window(value: Json) -> TypeGuard[int]:
    return (
        isinstance(value, int)
        and not isinstance(value, bool)
        and LEAST_WINDOW <= value <= LARGEST_WINDOW
    )


def stored_ids(value: Json) -> Sequence[int]:
    """Ids from a setting; what is none is left out."""
    if not isinstance(value, list):
        return ()
    items = cast("list[Json]", value)
    return [int(one) for one in items if isinstance(one, str) and one.isdecimal()]


class AnsweringSettings:
    """Every guild's settings, held in memory: each message that anybody writes asks for them."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._held: dict[int, Answering] = {}
        self._changes = 0
        store.settings.watched_by(self._forget)

    async def of(self, guild_id: int) -> Answering:
        """The settings of a guild. Raises StoreError."""
        held = self._held.get(guild_id)
        if held is None:
            changes = self._changes
            held = answering_of(await self._store.settings.values(guild_id, ""))
            if changes == self._changes:
                self._held[guild_id] = held
        return held

    async def change(self, guild_id: int, change: Callable[[Answering], Answering]) -> Answering:
        """Store what `change` makes of the settings; what it raises passes through."""
        wanted = DEFAULTS

        def changed(present: Json) -> Json:
            nonlocal wanted
            wanted = change(answering_of({ANSWERING: present}))
            return wanted.stored() if wanted != DEFAULTS else None

        await self._store.settings.change(guild_id, "", ANSWERING, changed)
        return wanted

    def _forget(self, guild_id: int) -> None:
        self._changes += 1
        self._held.pop(guild_id, None)
