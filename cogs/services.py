"""The commands that choose who searches, who draws and who embeds for a server.

Invariant: each command needs Manage Server at that moment and answers the member alone; a key is
entered in a form, which no other member sees, and is shown to nobody again.
"""

from collections.abc import Callable
from typing import Any, Literal, TypeAlias

import discord
from discord import app_commands, ui
from discord.ext import commands

from chat.entries import LONGEST_MODEL, LONGEST_URL, SetupRefused
from chat.services import NONE, ChosenServices, Wanted
from cogs.forms import Form, clipped, key_hint
from cogs.translations.saying import Speaks, retold, tr
from cogs.tree import guild_of, require_manage_guild
from data.services import GuildService, ServiceKind

_LONGEST_KEY = 4000
_DEFAULT = "default"

_Field: TypeAlias = "ui.TextInput[ui.Modal]"
_Provider: TypeAlias = Literal["searxng", "brave", "ddgs", "none", "default"]
_Images: TypeAlias = Literal["endpoint", "none", "default"]
_TITLES = {"images": "An endpoint that draws", "embeddings": "An endpoint that embeds"}


class ServiceCommands(commands.Cog):
    """Adds its commands to `family`, the /config group, and to `knowledge`, the group of that name.
    `embeddings_changed` is called when another endpoint embeds."""

    def __init__(
        self,
        services: ChosenServices,
        family: app_commands.Group,
        knowledge: app_commands.Group,
        embeddings_changed: Callable[[], None],
    ) -> None:
        self._services = services
        self._embeddings_changed = embeddings_changed
        knowledge.add_command(
            _command("embeddings", "The endpoint that lets me search by sense", self._embeddings)
        )
        family.add_command(
            _command("search", "Who searches the web for this server's assistant", self._search)
        )
        family.add_command(
            _command("images", "The endpoint that draws for this server's assistant", self._images)
        )

    async def interaction_check(self, interaction: discord.Interaction, /) -> bool:
        """Integration settings may open a command to anyone; Manage Server is needed still."""
        require_manage_guild(interaction)
        return True

    @app_commands.describe(
        provider="searxng and brave ask for more; default: what the bot's operator offers"
    )
    async def _search(self, interaction: discord.Interaction, provider: _Provider) -> None:
        if provider in {"searxng", "brave"}:
            present = await self._services.chosen(guild_of(interaction), "search")
            await interaction.response.send_modal(
                SearchForm(self._services, provider, present, interaction.locale)
            )
        else:
            await self._choose_plainly(interaction, "search", provider)

    @app_commands.describe(choice="endpoint asks for more; default: what the bot's operator offers")
    async def _images(self, interaction: discord.Interaction, choice: _Images = "endpoint") -> None:
        if choice == "endpoint":
            present = await self._services.chosen(guild_of(interaction), "images")
            await interaction.response.send_modal(
                ModelForm(self._services, "images", present, interaction.locale)
            )
        else:
            await self._choose_plainly(interaction, "images", choice)

    @app_commands.describe(choice="endpoint asks for more; default: what the bot's operator offers")
    async def _embeddings(
        self, interaction: discord.Interaction, choice: _Images = "endpoint"
    ) -> None:
        if choice == "endpoint":
            present = await self._services.chosen(guild_of(interaction), "embeddings")
            await interaction.response.send_modal(
                ModelForm(
                    self._services,
                    "embeddings",
                    present,
                    interaction.locale,
                    self._embeddings_changed,
                )
            )
        else:
            await self._choose_plainly(interaction, "embeddings", choice)
            self._embeddings_changed()

    async def _choose_plainly(
        self, interaction: discord.Interaction, kind: ServiceKind, provider: str
    ) -> None:
        """A choice that needs no form."""
        await interaction.response.defer(ephemeral=True, thinking=True)
        guild_id = guild_of(interaction)
        if provider == _DEFAULT:
            await self._services.forget(guild_id, kind)
            content = tr(interaction.locale, "Saved: what the bot's operator offers, if anything.")
        else:
            wanted = Wanted(provider=provider)
            content = await _chosen(self._services, interaction, kind, wanted)
        await interaction.edit_original_response(content=content)


class SearchForm(Form):
    """URL of a SearXNG server, or the key of Brave's API."""

    def __init__(
        self,
        services: ChosenServices,
        provider: str,
        present: GuildService | None,
        locale: Speaks,
    ) -> None:
        super().__init__(
            title=tr(locale, "Brave Search")
            if provider == "brave"
            else tr(locale, "A SearXNG server")
        )
        self._services = services
        self._provider = provider
        same = present if present is not None and present.provider == provider else None
        self._url: _Field | None = None
        if provider == "searxng":
            self._url = _url_field("https://search.example.org", same)
            self.add_item(
                ui.Label(
                    text=tr(locale, "URL of the server"),
                    description=tr(locale, "It must give JSON: search.formats in its settings.yml"),
                    component=self._url,
                )
            )
        self._key = _key_field(same, locale, needed=provider == "brave")
        self.add_item(_key_label(self._key, locale))

    async def on_submit(self, interaction: discord.Interaction, /) -> None:
        """Check and keep what was entered."""
        url = self._url.value if self._url is not None else ""
        wanted = Wanted(provider=self._provider, url=url, key=self._key.value)
        await interaction.response.defer(ephemeral=True, thinking=True)
        content = await _chosen(self._services, interaction, "search", wanted)
        await interaction.edit_original_response(content=content)


class ModelForm(Form):
    """URL, model and key of an endpoint that draws or embeds; `changed` is called once it is
    kept."""

    def __init__(
        self,
        services: ChosenServices,
        kind: Literal["images", "embeddings"],
        present: GuildService | None,
        locale: Speaks,
        changed: Callable[[], None] = lambda: None,
    ) -> None:
        super().__init__(title=retold(locale, _TITLES[kind]))
        self._services = services
        self._kind: ServiceKind = kind
        self._changed = changed
        same = present if present is not None and present.provider != NONE else None
        self._url = _url_field("https://host/v1", same)
        self._model: _Field = ui.TextInput(
            custom_id="model",
            placeholder=tr(locale, "As the endpoint knows it"),
            default=same.model if same else None,
            max_length=LONGEST_MODEL,
        )
        self._key = _key_field(same, locale, needed=False)
        self.add_item(
            ui.Label(
                text=tr(locale, "URL with OpenAI's {kind} route", kind=kind),
                component=self._url,
            )
        )
        self.add_item(ui.Label(text=tr(locale, "Model"), component=self._model))
        self.add_item(_key_label(self._key, locale))

    async def on_submit(self, interaction: discord.Interaction, /) -> None:
        """Check and keep what was entered."""
        wanted = Wanted(
            provider="openai",
            url=self._url.value,
            model=self._model.value,
            key=self._key.value,
        )
        await interaction.response.defer(ephemeral=True, thinking=True)
        content = await _chosen(self._services, interaction, self._kind, wanted)
        self._changed()
        await interaction.edit_original_response(content=content)


async def _chosen(
    services: ChosenServices, interaction: discord.Interaction, kind: ServiceKind, wanted: Wanted
) -> str:
    """What came of a choice, in words."""
    try:
        said = await services.choose(guild_of(interaction), kind, wanted, by=interaction.user.id)
    except SetupRefused as error:
        return clipped(retold(interaction.locale, str(error)), 2000)
    locale = interaction.locale
    said = retold(locale, said)
    if wanted.provider == NONE:
        return said
    if kind == "embeddings":
        next_step = tr(locale, "`/knowledge info` tells how far the documents are with it.")
    else:
        next_step = tr(
            locale,
            "The assistant uses it while `{gate}` is on in `/config exposure`.",
            gate="web" if kind == "search" else "images",
        )
    return clipped(f"{said} {next_step}", 2000)


def _url_field(placeholder: str, present: GuildService | None) -> _Field:
    return ui.TextInput(
        custom_id="url",
        placeholder=placeholder,
        default=present.base_url if present else None,
        max_length=LONGEST_URL,
    )


def _key_field(present: GuildService | None, locale: Speaks, *, needed: bool) -> _Field:
    has_key = present is not None and present.sealed_key is not None
    return ui.TextInput(
        custom_id="key",
        placeholder=key_hint(locale, has_key=has_key),
        required=needed and not has_key,
        max_length=_LONGEST_KEY,
    )


def _key_label(field: _Field, locale: Speaks) -> "ui.Label[ui.Modal]":
    return ui.Label(
        text=tr(locale, "Key"),
        description=tr(
            locale, "Kept encrypted, for this URL's server alone, and never shown again"
        ),
        component=field,
    )


def _command(
    name: str, description: str, callback: Any
) -> "app_commands.Command[ServiceCommands, ..., None]":
    return app_commands.Command(name=name, description=description, callback=callback)
