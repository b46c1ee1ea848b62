"""The thorough part of /config test: the probe, its table, and the button that applies it.

Invariant: whoever presses a button needs Manage Server at that moment. Which endpoint a button is
for stands in its custom id, by a name that tells nothing. No address and no words of the server are
shown: the operator's are the operator's to know.
"""

import logging
from collections.abc import Mapping

import discord
from discord import ui
from discord.ext import commands

from chat.endpoints import Endpoints, NoFurther
from chat.probing import Outdated, Prober, applicable
from cogs.controls import component_of, managed_guild
from cogs.forms import clipped
from cogs.spots import NO_SUCH_ENDPOINT
from cogs.translations.saying import Speaks, retold, tr
from cogs.tree import BROKEN, answer_privately
from providers.base import EndpointError
from providers.probe import Findings, sentence, table, verdict_that_follows

log = logging.getLogger(__name__)

_RUN_ID = "probe:run"
_APPLY_ID = "probe:apply"
"""Each followed by a colon and the endpoint's name, unless it is for the first."""
_MOST = 2000
_RUNNING = (
    "I ask the model a few tiny questions, with and without tools. That takes about a minute, "
    "longer on slow hardware …"
)
_FORGOTTEN = "I no longer have the findings of that test. Run it again with `/config test`."


def probe_offer(locale: Speaks, endpoint: str = "") -> ui.View:
    """The button under the short test of the endpoint of that name; `Probing` serves it."""
    view = ui.View(timeout=None)
    custom_id = _joined(_RUN_ID, endpoint)
    view.add_item(ui.Button(label=tr(locale, "Test tool calling"), custom_id=custom_id))
    view.stop()
    return view


class Probing(commands.Cog):
    """Serves the buttons. Findings are kept in memory until they are applied or replaced."""

    def __init__(self, prober: Prober, endpoints: Endpoints) -> None:
        self._prober = prober
        self._endpoints = endpoints
        self._found: dict[tuple[int, str], Findings] = {}

    @commands.Cog.listener()
    async def on_interaction(self, interaction: discord.Interaction) -> None:
        """Serve a button, also one from before a restart."""
        component = component_of(interaction)
        if component is None:
            return
        prefix, _, rest = component.custom_id.partition(":")
        action, _, endpoint = rest.partition(":")
        if (custom_id := f"{prefix}:{action}") not in {_RUN_ID, _APPLY_ID}:
            return
        if (guild_id := await managed_guild(interaction)) is None:
            return
        try:
            await interaction.response.defer()
            act = self._run if custom_id == _RUN_ID else self._apply
            await act(interaction, guild_id, endpoint)
        except NoFurther:
            await interaction.edit_original_response(
                content=retold(interaction.locale, NO_SUCH_ENDPOINT), view=None
            )
        except EndpointError as error:
            await interaction.edit_original_response(
                content=retold(interaction.locale, error.member), view=None
            )
        except Exception:
            log.exception("A test of the endpoint could not be served.")
            await answer_privately(interaction, BROKEN)

    async def _run(self, interaction: discord.Interaction, guild_id: int, endpoint: str) -> None:
        spot = await self._endpoints.spot(guild_id, endpoint)
        await interaction.edit_original_response(
            content=retold(interaction.locale, _RUNNING), view=None
        )
        findings = await self._prober.probe(guild_id, spot)
        self._found[guild_id, endpoint] = findings
        view = ui.View(timeout=None)
        if applicable(findings) or verdict_that_follows(findings) is not None:
            apply: ui.Button[ui.View] = ui.Button(
                label=tr(interaction.locale, "Apply"),
                style=discord.ButtonStyle.primary,
                custom_id=_joined(_APPLY_ID, endpoint),
            )
            view.add_item(apply)
        view.stop()
        await interaction.edit_original_response(
            content=clipped(findings_text(findings, interaction.locale), _MOST), view=view
        )

    async def _apply(self, interaction: discord.Interaction, guild_id: int, endpoint: str) -> None:
        findings = self._found.pop((guild_id, endpoint), None)
        if findings is None:
            await interaction.edit_original_response(
                content=retold(interaction.locale, _FORGOTTEN), view=None
            )
            return
        try:
            spot = await self._endpoints.spot(guild_id, endpoint)
            values = await self._prober.apply(guild_id, findings, spot)
        except Outdated as error:
            await interaction.edit_original_response(
                content=retold(interaction.locale, str(error)), view=None
            )
            return
        log.info("Server %s: what a test showed was applied: %s.", guild_id, dict(values))
        locale = interaction.locale
        content = f"{findings_text(findings, locale)}\n{_applied(values, locale)}"
        await interaction.edit_original_response(content=clipped(content, _MOST), view=None)


def _joined(custom_id: str, endpoint: str) -> str:
    return f"{custom_id}:{endpoint}" if endpoint else custom_id


def findings_text(findings: Findings, locale: Speaks = None) -> str:
    """Table, verdict and what follows, as a message."""

    def tell(line: str) -> str:
        return retold(locale, line)

    verdict = sentence(findings, tell)
    if not findings.answered:
        return verdict
    rows = table(findings, tell)
    width = max(len(row.what) for row in rows)
    lines = [f"{row.what:<{width}}  {row.found}" for row in rows]
    values = applicable(findings)
    follows = (
        [tr(locale, "What follows: {switches}.", switches=_in_words(values))] if values else []
    )
    return "\n".join(["```", *lines, "```", verdict, *follows])


def _applied(values: Mapping[str, str], locale: Speaks) -> str:
    if not values:
        return tr(locale, "Applied: the next answer goes by this verdict.")
    return tr(
        locale,
        "Applied: {switches}, except where an admin has set something else in "
        "`/config workarounds`.",
        switches=_in_words(values),
    )


def _in_words(values: Mapping[str, str]) -> str:
    return ", ".join(f"`{name}` {value}" for name, value in values.items())
