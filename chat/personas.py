"""The texts of a server and of its channels: persona, rules and pinned notes.

Invariant: what a turn is told is made of what is stored at that moment and of names that seldom
change, so that the head of the prompt stays. A thread has the texts of its channel.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Literal, TypeAlias, cast

from chat.ports import Place
from data.store import Store
from prompt.templates import REMEDY, BadTemplate, check, fill
from prompt.values import Json

PERSONA = "persona"
RULES = "server_rules"
NOTES = "pinned_notes"
CHANNEL_TEXTS = "channel_personas"
"""The guild-wide setting that holds the texts of channels by their ids."""

TEXTS = (PERSONA, RULES, NOTES)

LONGEST_TEXT = 4000
"""Characters of one text: what a field of a form holds."""

MOST_CHANNELS = 50
"""Channels of a guild with texts of their own."""

How: TypeAlias = Literal["append", "replace"]


class TextRefused(ValueError):
    """A text that is not kept. Says which one, what is wrong with it and what to do."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """Names that texts may ask for, empty where there is none; and for a thread the channel that it
    is in."""

    bot_name: str = ""
    server_name: str = ""
    channel_name: str = ""
    channel_topic: str = ""
    parent_id: int | None = None


class Whereabouts:
    """Tells the surroundings of a place, as the surface does that knows them."""

    def __init__(self) -> None:
        self._told: Callable[[Place], Surroundings] = lambda _: Surroundings()

    def told_by(self, told: Callable[[Place], Surroundings]) -> None:
        """Ask `told` from now on; it must be quick and not raise."""
        self._told = told

    def of(self, place: Place) -> Surroundings:
        """The surroundings of a place."""
        return self._told(place)


@dataclass(frozen=True, slots=True, kw_only=True)
class Texts:
    """Persona, rules and notes, as written or filled in. `remarks` tell what did not go as it was
    written."""

    persona: str = ""
    rules: str = ""
    notes: str = ""
    remarks: tuple[str, ...] = ()

    def filled(self, around: Surroundings, model: str) -> "Texts":
        """These with their variables filled in."""
        values = {
            "bot_name": around.bot_name,
            "server_name": around.server_name,
            "channel_name": around.channel_name,
            "channel_topic": around.channel_topic,
            "model": model,
        }
        made = {
            name: fill(text, values)
            for name, text in (
                ("persona", self.persona),
                ("server rules", self.rules),
                ("pinned notes", self.notes),
            )
        }
        return Texts(
            persona=made["persona"].text,
            rules=made["server rules"].text,
            notes=made["pinned notes"].text,
            remarks=tuple(
                f"{name}: {remark}" for name, each in made.items() for remark in each.remarks
            ),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ChannelTexts:
    """What a channel adds. Its persona comes behind the server's, or with `replace` in its place;
    its notes come behind the server's."""

    persona: str = ""
    notes: str = ""
    how: How = "append"

    @property
    def as_json(self) -> Json:
        """As it is stored."""
        return {"persona": self.persona, "notes": self.notes, "how": self.how}


def texts_of(
    wide: Mapping[str, Json], place: Place, around: Surroundings, *, default: str, model: str
) -> Texts:
    """The texts of a place out of its guild's settings, filled in. `default` is the persona of a
    guild that has none."""
    channel_id = around.parent_id or place.channel_id
    return _written(wide, channel_id, default=default).filled(around, model)


def _written(wide: Mapping[str, Json], channel_id: int, *, default: str) -> Texts:
    base = Texts(
        persona=_text(wide.get(PERSONA)) or default,
        rules=_text(wide.get(RULES)),
        notes=_text(wide.get(NOTES)),
    )
    own = channel_texts(wide).get(channel_id)
    if own is None:
        return base
    replaces = own.how == "replace" and own.persona
    return replace(
        base,
        persona=own.persona if replaces else _joined(base.persona, own.persona),
        notes=_joined(base.notes, own.notes),
    )


def channel_texts(wide: Mapping[str, Json]) -> dict[int, ChannelTexts]:
    """The texts of channels by id; what is stored in another shape is left out."""
    stored = wide.get(CHANNEL_TEXTS)
    if not isinstance(stored, Mapping):
        return {}
    entries = cast("Mapping[str, Json]", stored)
    found = {id_: read_channel_texts(value) for id_, value in entries.items() if id_.isdecimal()}
    return {int(id_): texts for id_, texts in found.items() if texts is not None}


def read_channel_texts(value: Json) -> ChannelTexts | None:
    """The texts of one channel as they are stored; None if they are not."""
    if not isinstance(value, Mapping):
        return None
    fields = cast("Mapping[str, Json]", value)
    texts = ChannelTexts(
        persona=_text(fields.get("persona")),
        notes=_text(fields.get("notes")),
        how="replace" if fields.get("how") == "replace" else "append",
    )
    return texts if texts.as_json == dict(fields) else None


class Personas:
    """Reads and sets the texts of guilds."""

    def __init__(self, store: Store, whereabouts: Whereabouts) -> None:
        self._store = store
        self._whereabouts = whereabouts

    async def server(self, guild_id: int) -> Texts:
        """The guild's own texts; empty where none are set."""
        wide = await self._store.settings.values(guild_id, "")
        return Texts(
            persona=_text(wide.get(PERSONA)),
            rules=_text(wide.get(RULES)),
            notes=_text(wide.get(NOTES)),
        )

    async def set_server(self, guild_id: int, texts: Texts) -> tuple[str, ...]:
        """Set them all; blank ones are the default again. Returns what is doubtful about them.
        Raises TextRefused before anything is kept."""
        given = {PERSONA: texts.persona, RULES: texts.rules, NOTES: texts.notes}
        doubts = _checked({"persona": texts.persona, "rules": texts.rules, "notes": texts.notes})
        for name, text in given.items():
            await self._store.settings.put(guild_id, "", name, text.strip() or None)
        return doubts

    async def channel(self, guild_id: int, channel_id: int) -> ChannelTexts:
        """A channel's own texts."""
        wide = await self._store.settings.values(guild_id, "")
        return channel_texts(wide).get(channel_id, ChannelTexts())

    async def set_channel(
        self, guild_id: int, channel_id: int, texts: ChannelTexts
    ) -> tuple[str, ...]:
        """Set them; without any the channel is like the others. See `set_server`."""
        doubts = _checked({"persona": texts.persona, "notes": texts.notes})
        await self._change_channel(guild_id, channel_id, lambda _: texts)
        return doubts

    async def switch_how(self, guild_id: int, channel_id: int) -> None:
        """Let a channel's persona come in the place of the server's instead of behind it, or the
        other way round."""

        def other(texts: ChannelTexts) -> ChannelTexts:
            return replace(texts, how="append" if texts.how == "replace" else "replace")

        await self._change_channel(guild_id, channel_id, other)

    async def _change_channel(
        self, guild_id: int, channel_id: int, change: Callable[[ChannelTexts], ChannelTexts]
    ) -> None:
        def changed(present: Json) -> Json:
            all_texts = channel_texts({CHANNEL_TEXTS: present})
            texts = change(all_texts.pop(channel_id, ChannelTexts()))
            texts = replace(texts, persona=texts.persona.strip(), notes=texts.notes.strip())
            if texts.persona or texts.notes:
                all_texts[channel_id] = texts
            if len(all_texts) > MOST_CHANNELS:
                raise TextRefused(
                    f"{MOST_CHANNELS} channels have texts of their own, which is the most. Empty "
                    "those of another channel first."
                )
            return {str(id_): each.as_json for id_, each in sorted(all_texts.items())} or None

        await self._store.settings.change(guild_id, "", CHANNEL_TEXTS, changed)

    async def preview(self, place: Place, *, default: str, model: str) -> Texts:
        """What a turn in a place would be told now."""
        wide = await self._store.settings.values(place.guild_id or 0, "")
        return texts_of(wide, place, self._whereabouts.of(place), default=default, model=model)


def _checked(texts: Mapping[str, str]) -> tuple[str, ...]:
    doubts: list[str] = []
    for name, text in texts.items():
        if len(text) > LONGEST_TEXT:
            raise TextRefused(f"{name}: at most {LONGEST_TEXT} characters, this has {len(text)}.")
        try:
            unknown = check(text)
        except BadTemplate as error:
            told = f"{name}, line {error.line}: {error.problem}"
            raise TextRefused("\n".join((told, REMEDY))) from error
        doubts += [f"{name}: {each} is no variable and will be empty" for each in unknown]
    return tuple(doubts)


def _joined(first: str, second: str) -> str:
    return "\n\n".join(text for text in (first.strip(), second.strip()) if text)


def _text(value: Json) -> str:
    return value if isinstance(value, str) else ""
