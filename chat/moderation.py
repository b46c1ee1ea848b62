"""What a guild has set to keep order: listed words, a log, images, and who reads the thinking.

Invariant: pure decisions on stored settings. Of settings that are not valid each part falls back to
its default.
"""

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, fields
from typing import Literal, TypeAlias, cast

from chat.answering import stored_ids
from chat.screening import NO_SCREEN, Screen, checked_words
from data.store import Store
from prompt.values import Json

MODERATION = "moderation"
"""The guild-wide setting with everything in this module."""

MOST_IDS = 25
"""Channels or roles, as many as a menu of Discord takes."""

OnWord: TypeAlias = Literal["mask", "end"]
ON_WORD: tuple[OnWord, ...] = ("mask", "end")


@dataclass(frozen=True, slots=True, kw_only=True)
class Moderation:
    """The settings of one guild.

    `words` are not shown; `on_word` says whether they are masked or the answer ends before them.
    `log` is the channel that entries go to. `images` are the only channels in which images may be
    made, `thinkers` the only roles that may read the thinking; empty: all.
    """

    words: tuple[str, ...] = ()
    on_word: OnWord = "mask"
    log: int | None = None
    images: tuple[int, ...] = ()
    thinkers: tuple[int, ...] = ()

    @property
    def screen(self) -> Screen:
        """What is to be kept out of what members are shown."""
        return Screen(self.words, self.on_word == "end") if self.words else NO_SCREEN

    def makes_images(self, channel_ids: Collection[int]) -> bool:
        """Whether images may be made in a channel, given its id and that of what it lies in."""
        return not self.images or not set(self.images).isdisjoint(channel_ids)

    def shows_thinking(self, role_ids: Collection[int]) -> bool:
        """Whether a member with these roles may read the thinking, where it is shown at all."""
        return not self.thinkers or not set(self.thinkers).isdisjoint(role_ids)

    def stored(self) -> dict[str, Json]:
        """As it is kept: ids as text, because large JSON numbers lose digits in many programs."""
        return {
            "words": [*self.words],
            "on_word": self.on_word,
            "log": str(self.log) if self.log else None,
            "images": [str(one) for one in self.images],
            "thinkers": [str(one) for one in self.thinkers],
        }


DEFAULTS = Moderation()


def moderation_of(wide: Mapping[str, Json]) -> Moderation:
    """What the settings of a guild as a whole amount to."""
    stored = wide.get(MODERATION)
    if not isinstance(stored, Mapping):
        return DEFAULTS
    named = cast("Mapping[str, Json]", stored)
    on_word, log = named.get("on_word"), named.get("log")
    return Moderation(
        words=_words(named.get("words")),
        on_word=on_word if on_word in ON_WORD else DEFAULTS.on_word,
        log=int(log) if isinstance(log, str) and log.isdecimal() else None,
        images=tuple(stored_ids(named.get("images"))[:MOST_IDS]),
        thinkers=tuple(stored_ids(named.get("thinkers"))[:MOST_IDS]),
    )


def is_moderation(value: Json) -> bool:
    """Whether `value` can be stored as these settings as it is."""
    if not isinstance(value, dict):
        return False
    named = cast("dict[str, Json]", value)
    read = moderation_of({MODERATION: value}).stored()
    return named.keys() <= {field.name for field in fields(Moderation)} and all(
        read[name] == given for name, given in named.items()
    )


def _words(value: Json) -> tuple[str, ...]:
    if not isinstance(value, list):
        return ()
    listed = [word for word in cast("list[Json]", value) if isinstance(word, str)]
    try:
        return checked_words("\n".join(listed))
    except ValueError:
        return ()


class ModerationSettings:
    """Every guild's settings."""

    def __init__(self, store: Store) -> None:
        self._store = store

    async def of(self, guild_id: int) -> Moderation:
        """The settings of a guild. Raises StoreError."""
        return moderation_of(await self._store.settings.values(guild_id, ""))

    async def change(self, guild_id: int, change: Callable[[Moderation], Moderation]) -> Moderation:
        """Store what `change` makes of the settings; what it raises passes through."""
        wanted = DEFAULTS

        def changed(value: Json) -> Json:
            nonlocal wanted
            wanted = change(moderation_of({MODERATION: value}))
            return wanted.stored() if wanted != DEFAULTS else None

        await self._store.settings.change(guild_id, "", MODERATION, changed)
        return wanted
