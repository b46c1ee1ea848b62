"""The form of /config for an endpoint, and what all forms have in common.

Invariant: a form is answered at once and privately, its permission asked for again when it is
submitted, and what it held of a key is shown to nobody.
"""

import logging
from collections.abc import Awaitable, Callable
from typing import TypeAlias

import discord
from discord import ui

from chat.entries import LONGEST_MODEL, LONGEST_URL, SetupRefused
from chat.guild_setup import GuildSetup, Saved, Wish
from cogs.acting import ACTING
from cogs.translations.saying import Speaks, retold, tr
from cogs.tree import BROKEN, NOT_ALLOWED, answer_privately
from data.endpoints import GuildEndpoint
from data.errors import StoreError

log = logging.getLogger(__name__)

_LONGEST_KEY = 4000

_Field: TypeAlias = "ui.TextInput[ui.Modal]"
_Anew: TypeAlias = Callable[[discord.Interaction], Awaitable[None]]


class Form(ui.Modal):
    """A form for those who may manage the server."""

    async def interaction_check(self, interaction: discord.Interaction, /) -> bool:
        """Ask for the permission again: a form can stay open for long."""
        if interaction.permissions.manage_guild:
            ACTING.set(interaction.user.id)
            return True
        await answer_privately(interaction, NOT_ALLOWED)
        return False

    async def on_error(self, interaction: discord.Interaction, error: Exception, /) -> None:
        """Log what is not the admin's doing, and say that it was not taken."""
        if isinstance(error, StoreError):
            log.error("A form was not taken: %s", error)
        else:
            log.error("A form was not taken.", exc_info=error)
        await answer_privately(interaction, BROKEN)


class EndpointForm(Form):
    """URL, model and key of a server's own endpoint: of its first one, or of one that is `added`
    behind all others from a panel, which `refresh` shows anew."""

    def __init__(
        self,
        setup: GuildSetup,
        present: GuildEndpoint | None,
        locale: Speaks,
        *,
        added: bool = False,
        refresh: _Anew | None = None,
    ) -> None:
        super().__init__(
            title=tr(locale, "A fallback for this server")
            if added
            else tr(locale, "An endpoint for this server")
        )
        self._setup = setup
        self._added = added
        self._anew = refresh
        has_key = present is not None and present.sealed_key is not None
        self._url: _Field = ui.TextInput(
            custom_id="url",
            placeholder="https://host/v1",
            default=present.base_url if present else None,
            max_length=LONGEST_URL,
        )
        self._model: _Field = ui.TextInput(
            custom_id="model",
            placeholder=tr(locale, "The first one that it lists"),
            default=present.model[:LONGEST_MODEL] if present else None,
            required=False,
            max_length=LONGEST_MODEL,
        )
        self._key: _Field = ui.TextInput(
            custom_id="key",
            placeholder=key_hint(locale, has_key=has_key),
            required=False,
            max_length=_LONGEST_KEY,
        )
        self.add_item(
            ui.Label(text=tr(locale, "URL of an OpenAI-compatible endpoint"), component=self._url)
        )
        self.add_item(ui.Label(text=tr(locale, "Model"), component=self._model))
        self.add_item(
            ui.Label(
                text=tr(locale, "Key"),
                description=tr(
                    locale, "Kept encrypted, for this URL's server alone, and never shown again"
                ),
                component=self._key,
            )
        )

    async def on_submit(self, interaction: discord.Interaction, /) -> None:
        """Check and keep what was entered."""
        await interaction.response.defer(ephemeral=True, thinking=self._anew is None)
        if interaction.guild_id is None:
            return
        wish = Wish(url=self._url.value, model=self._model.value, key=self._key.value)
        try:
            saved = await self._setup.set_endpoint(
                interaction.guild_id, wish, by=interaction.user.id, added=self._added
            )
        except SetupRefused as error:
            content = retold(interaction.locale, str(error))
        else:
            content = _saved_in_words(saved, interaction.locale, added=self._added)
            if self._anew:
                await self._anew(interaction)
        if self._anew:
            await interaction.followup.send(clipped(content, 2000), ephemeral=True)
        else:
            await interaction.edit_original_response(content=clipped(content, 2000))


def clipped(text: str, most: int) -> str:
    """`text` in at most so many characters."""
    return text if len(text) <= most else f"{text[: most - 1]}…"


def key_hint(locale: Speaks, *, has_key: bool) -> str:
    """What stands in the empty field for a key."""
    if has_key:
        return tr(locale, "Leave empty to keep the present one")
    return tr(locale, "If it asks for one")


def _saved_in_words(saved: Saved, locale: Speaks, *, added: bool) -> str:
    key = (
        tr(locale, "with the key that you entered or that was kept")
        if saved.has_key
        else tr(locale, "without a key")
    )
    told = tr(
        locale,
        "Saved: `{model}` at {url}, {key}.",
        model=saved.model,
        url=saved.url,
        key=key,
    )
    use = (
        tr(locale, "It is asked where those before it fail.")
        if added
        else tr(
            locale,
            "It serves this server from the next answer on; `/config test` tries it.",
        )
    )
    return "\n".join(filter(None, [f"{told} {use}", retold(locale, saved.doubt)]))
