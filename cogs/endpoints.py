"""/config endpoints: the endpoints of a server, in the order in which they are tried.

Invariant: each use of a control needs Manage Server at that moment, keys are never shown, and what
a control acts on stands in its custom id, so that it works after a restart too.
"""

import logging
import time
from collections.abc import Mapping, Sequence
from urllib.parse import urlsplit

import discord
from discord import app_commands, ui
from discord.ext import commands

from chat.guild_setup import GuildSetup
from chat.scheduler import Schedulers
from cogs.controls import component_of, managed_guild
from cogs.forms import EndpointForm, clipped
from cogs.translations.saying import Speaks, tr
from cogs.tree import BROKEN, answer_privately, guild_of, require_manage_guild
from data.endpoints import MOST, GuildEndpoint

log = logging.getLogger(__name__)

_PREFIX = "endpoints:"
_CHOOSE, _ADD, _LAST_RESORT = "choose", "add", "last_resort"
_MOVES = {"up": -1, "down": 1}
_REMOVE = "remove"


class Endpoints(commands.Cog):
    """Adds its command to `family`, the /config group, and serves its controls."""

    def __init__(
        self, setup: GuildSetup, family: app_commands.Group, schedulers: Schedulers
    ) -> None:
        self._setup = setup
        self._schedulers = schedulers
        family.add_command(
            app_commands.Command(
                name="endpoints",
                description="The order of this server's endpoints, and fallbacks",
                callback=self._show,  # pyright: ignore[reportArgumentType]
            )
        )

    async def interaction_check(self, interaction: discord.Interaction, /) -> bool:
        """Integration settings may open a command to anyone; Manage Server is needed still."""
        require_manage_guild(interaction)
        return True

    @commands.Cog.listener()
    async def on_interaction(self, interaction: discord.Interaction) -> None:
        """Serve a control, also one from before a restart."""
        component = component_of(interaction)
        if component is None or not component.custom_id.startswith(_PREFIX):
            return
        if (guild_id := await managed_guild(interaction)) is None:
            return
        action, _, chosen = component.custom_id.removeprefix(_PREFIX).partition(":")
        try:
            if action == _ADD:
                form = EndpointForm(
                    self._setup, None, interaction.locale, added=True, refresh=self._refresh
                )
                await interaction.response.send_modal(form)
                return
            await interaction.response.defer()
            if action == _CHOOSE:
                chosen = component.values[0]
            else:
                await self._act(guild_id, action, chosen)
            await self._refresh(interaction, chosen)
        except Exception:
            log.exception("A control of /config endpoints could not be served.")
            await answer_privately(interaction, BROKEN)

    async def _act(self, guild_id: int, action: str, chosen: str) -> None:
        if action in _MOVES:
            await self._setup.move_endpoint(guild_id, chosen, by=_MOVES[action])
        elif action == _REMOVE:
            await self._setup.remove_endpoint(guild_id, chosen)
        elif action == _LAST_RESORT:
            await self._setup.set_last_resort(guild_id, on=chosen == "on")

    async def _show(self, interaction: discord.Interaction) -> None:
        await interaction.response.defer(ephemeral=True, thinking=True)
        await self._refresh(interaction)

    async def _refresh(self, interaction: discord.Interaction, chosen: str = "") -> None:
        content, view = await self._panel(guild_of(interaction), chosen, interaction.locale)
        await interaction.edit_original_response(content=content, view=view)

    async def _panel(self, guild_id: int, chosen: str, locale: Speaks) -> tuple[str, ui.View]:
        endpoints = await self._setup.endpoints(guild_id)
        last_resort = await self._setup.last_resort(guild_id)
        words = _in_words(
            endpoints,
            locale,
            last_resort=last_resort,
            failed={each.id: self._failed(guild_id, each) for each in endpoints},
        )
        return words, _view(endpoints, chosen, locale, last_resort=last_resort)

    def _failed(self, guild_id: int, endpoint: GuildEndpoint) -> float | None:
        """The Unix time at which it last did not answer, unless it has answered since."""
        breaker = self._schedulers.of(endpoint.base_url, owner=guild_id).breaker
        ago = breaker.failed_ago
        return None if ago is None else time.time() - ago


def _in_words(
    endpoints: Sequence[GuildEndpoint],
    locale: Speaks,
    *,
    last_resort: bool,
    failed: Mapping[str, float | None],
) -> str:
    if not endpoints:
        return tr(
            locale,
            "This server has no endpoint of its own; the operator's serves it where they have "
            "approved that. `/config setup` brings one.",
        )
    lines = [
        tr(
            locale,
            "Tried in this order, the next one where one fails before an answer has begun:",
        )
    ]
    for place, each in enumerate(endpoints, start=1):
        key = tr(locale, "with a key") if each.sealed_key else tr(locale, "without a key")
        model = clipped(each.model or tr(locale, "its first model"), 80)
        url = clipped(each.base_url, 150)
        line = tr(locale, "`{model}` at {url}, {key}", model=model, url=url, key=key)
        if (at := failed[each.id]) is not None:
            line += tr(locale, "; **did not answer** {when}", when=f"<t:{at:.0f}:R>")
        lines.append(f"{place}. {line}")
    if last_resort:
        last = tr(locale, "the operator's endpoint, if they have approved it")
        lines.append(f"{len(endpoints) + 1}. {last}")
    return "\n".join(lines)


def _view(
    endpoints: Sequence[GuildEndpoint], chosen: str, locale: Speaks, *, last_resort: bool
) -> ui.View:
    view = ui.View(timeout=None)
    ids = [each.id for each in endpoints]
    if endpoints:
        view.add_item(
            ui.Select(
                custom_id=f"{_PREFIX}{_CHOOSE}",
                placeholder=tr(locale, "Choose one to move or remove"),
                options=[
                    discord.SelectOption(
                        label=clipped(
                            f"{place}. {each.model or tr(locale, 'its first model')}", 100
                        ),
                        description=clipped(urlsplit(each.base_url).netloc, 100),
                        value=each.id,
                        default=each.id == chosen,
                    )
                    for place, each in enumerate(endpoints, start=1)
                ],
            )
        )
    if chosen in ids:
        place = ids.index(chosen)
        view.add_item(_button(tr(locale, "Up"), f"up:{chosen}", disabled=place == 0))
        view.add_item(_button(tr(locale, "Down"), f"down:{chosen}", disabled=place == len(ids) - 1))
        view.add_item(
            _button(tr(locale, "Remove"), f"{_REMOVE}:{chosen}", style=discord.ButtonStyle.danger)
        )
    view.add_item(
        _button(tr(locale, "Add a fallback"), f"{_ADD}:", disabled=len(endpoints) >= MOST)
    )
    if endpoints:
        label = (
            tr(locale, "Never use the operator's")
            if last_resort
            else tr(locale, "The operator's as last resort")
        )
        view.add_item(_button(label, f"{_LAST_RESORT}:{'off' if last_resort else 'on'}"))
    view.stop()
    return view


def _button(
    label: str,
    action: str,
    *,
    style: discord.ButtonStyle = discord.ButtonStyle.secondary,
    disabled: bool = False,
) -> ui.Button[ui.View]:
    return ui.Button(label=label, custom_id=f"{_PREFIX}{action}", style=style, disabled=disabled)
