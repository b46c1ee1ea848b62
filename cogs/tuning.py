"""/config tune: tries settings of tool calling on the server's own endpoint.

Invariant: whoever presses a button needs Manage Server at that moment, and on the operator's
endpoint must be the operator, for a run costs hundreds of requests. A run goes on without its
message, which cannot be changed any more after 15 minutes: the command shows it again.
"""

import asyncio
import contextlib
import io
import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field

import discord
from discord import app_commands, ui
from discord.ext import commands

from chat.admission import Admission
from chat.tuning.tuner import Progress, Tuner, Tuning
from cogs.aside import NETWORK_ERRORS
from cogs.controls import component_of, managed_guild
from cogs.forms import clipped
from cogs.ports import Service
from cogs.translations.saying import Speaks, retold, tr
from cogs.tree import BROKEN, answer_privately, require_manage_guild
from prompt.values import Json
from providers.base import EndpointError

log = logging.getLogger(__name__)

_START_ID = "tune:start"
_CANCEL_ID = "tune:cancel"
_APPLY_ID = "tune:apply"
_REVERT_ID = "tune:revert"
_IDS = {_START_ID, _CANCEL_ID, _APPLY_ID, _REVERT_ID}

_MOST = 2000
_EVERY = 5.0
"""Seconds between two views of the progress."""

_OPERATORS = (
    "This server uses the operator's endpoint, and a test takes hundreds of requests: only the "
    "operator can run it. `/config setup` brings an endpoint of your own."
)


@dataclass(slots=True, kw_only=True)
class _Run:
    """A guild's latest run. `before` is what was set before its result was applied."""

    task: "asyncio.Task[None] | None" = None
    progress: Progress | None = None
    tuning: Tuning | None = None
    trouble: str = ""
    before: Mapping[str, Json] | None = None
    changing: asyncio.Lock = field(default_factory=asyncio.Lock)
    """Held while settings change: a second click must find what the first has done."""

    @property
    def is_running(self) -> bool:
        """Whether requests are still sent."""
        return self.task is not None and not self.task.done()


class TuningCommands(commands.Cog):
    """Adds its command to `family`, the /config group. Results are kept in memory."""

    def __init__(
        self, tuner: Tuner, service: Service, admission: Admission, family: app_commands.Group
    ) -> None:
        self._tuner = tuner
        self._service = service
        self._admission = admission
        self._runs: dict[int, _Run] = {}
        family.add_command(
            app_commands.Command(
                name="tune",
                description="Find the settings with which this server's model calls tools best",
                callback=self._tune,
            )
        )

    async def cog_unload(self) -> None:
        """Give up what is under way."""
        tasks = [run.task for run in self._runs.values() if run.task is not None]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)

    async def _tune(self, interaction: discord.Interaction) -> None:
        require_manage_guild(interaction)
        await interaction.response.defer(ephemeral=True, thinking=True)
        if (guild_id := interaction.guild_id) is None:
            return
        if not await self._may(interaction, guild_id):
            await answer_privately(interaction, _OPERATORS)
            return
        await self._show(interaction, guild_id)

    @commands.Cog.listener()
    async def on_interaction(self, interaction: discord.Interaction) -> None:
        """Serve the buttons, also those from before a restart."""
        component = component_of(interaction)
        if component is None or component.custom_id not in _IDS:
            return
        if (guild_id := await managed_guild(interaction)) is None:
            return
        try:
            await interaction.response.defer()
            if not await self._may(interaction, guild_id):
                await answer_privately(interaction, _OPERATORS)
                return
            await self._serve(interaction, guild_id, component.custom_id)
        except EndpointError as error:
            await answer_privately(interaction, error.member)
        except Exception:
            log.exception("A button of /config tune could not be served.")
            await answer_privately(interaction, BROKEN)

    async def _serve(self, interaction: discord.Interaction, guild_id: int, custom_id: str) -> None:
        run = self._runs.setdefault(guild_id, _Run())
        if custom_id == _START_ID and not run.is_running:
            run = self._runs[guild_id] = _Run()
            run.task = asyncio.create_task(self._carry_out(guild_id, run))
            await self._follow(interaction, guild_id, run)
            return
        if custom_id == _CANCEL_ID and run.task is not None:
            run.task.cancel()
            await asyncio.wait({run.task})
        elif run.tuning is not None:
            async with run.changing:
                await self._change(guild_id, run, run.tuning, custom_id)
        await self._show(interaction, guild_id)

    async def _change(self, guild_id: int, run: _Run, tuning: Tuning, custom_id: str) -> None:
        if custom_id == _APPLY_ID and run.before is None:
            run.before = await self._tuner.apply(guild_id, tuning)
            log.info("Server %s: %s was set after a test.", guild_id, tuning.best.name)
        elif custom_id == _REVERT_ID and run.before is not None:
            await self._tuner.put_back(guild_id, tuning, run.before)
            run.before = None

    async def _carry_out(self, guild_id: int, run: _Run) -> None:
        def told(progress: Progress) -> None:
            run.progress = progress

        try:
            run.tuning = await self._tuner.run(guild_id, told)
        except EndpointError as error:
            run.trouble = error.member
        except asyncio.CancelledError:
            run.trouble = "Cancelled."
            raise
        except Exception:
            log.exception("A test for server %s failed.", guild_id)
            run.trouble = BROKEN

    async def _follow(self, interaction: discord.Interaction, guild_id: int, run: _Run) -> None:
        """Show how far a run is until it ends, or its message can no longer be changed."""
        task = run.task
        with contextlib.suppress(discord.HTTPException, *NETWORK_ERRORS):
            while task is not None and run.is_running:
                await self._show(interaction, guild_id)
                await asyncio.wait({task}, timeout=_EVERY)
            await self._show(interaction, guild_id)

    async def _may(self, interaction: discord.Interaction, guild_id: int) -> bool:
        if interaction.user.id in self._admission.operators:
            return True
        return (await self._service.overview(guild_id)).brought

    async def _show(self, interaction: discord.Interaction, guild_id: int) -> None:
        run, locale = self._runs.get(guild_id, _Run()), interaction.locale
        files: list[discord.File] = []
        buttons: list[tuple[str, str]] = []
        if run.is_running:
            content = _progress_text(run.progress, locale)
            buttons = [(tr(locale, "Cancel"), _CANCEL_ID)]
        elif run.tuning is not None:
            content = result_text(run.tuning, locale, applied=run.before is not None)
            if run.before is not None:
                buttons = [(tr(locale, "Revert"), _REVERT_ID)]
            elif run.tuning.best.changes:
                buttons = [(tr(locale, "Apply"), _APPLY_ID)]
            buttons.append((tr(locale, "Test again"), _START_ID))
            data = json.dumps(run.tuning.as_json(), indent=1).encode()
            files = [discord.File(io.BytesIO(data), filename="tuning.json")]
        else:
            model, requests = await self._tuner.plan(guild_id)
            trouble, offer = retold(locale, run.trouble), _offer_text(model, requests, locale)
            content = "\n".join(filter(None, [trouble, offer]))
            buttons = [(tr(locale, "Start"), _START_ID)]
        view = ui.View(timeout=None)
        for label, custom_id in buttons:
            view.add_item(ui.Button(label=label, custom_id=custom_id))
        view.stop()
        await interaction.edit_original_response(
            content=clipped(content, _MOST), view=view, attachments=files
        )


def _offer_text(model: str, requests: int, locale: Speaks) -> str:
    return tr(
        locale,
        "I put 40 short requests to `{model}`, half of which need a tool, with several settings: "
        "about {requests} requests of some 2,000 tokens each, one at a time and only while nobody "
        "else wants the model. Nothing is changed before you apply it.",
        model=model,
        requests=requests,
    )


def _progress_text(progress: Progress | None, locale: Speaks) -> str:
    far = (
        tr(locale, "{done} of about {all} requests", done=progress.done, all=progress.of)
        if progress
        else tr(locale, "starting")
    )
    return tr(
        locale,
        "Testing: {far}. `/config tune` shows this again, also after this message is gone.",
        far=far,
    )


def result_text(tuning: Tuning, locale: Speaks, *, applied: bool) -> str:
    """Table and advice."""
    best = tuning.best
    if applied:
        advice = tr(
            locale, "Set: {switches}. Revert puts back what was set before.", switches=best.name
        )
    elif best.changes:
        advice = tr(
            locale,
            "Best: {switches}, {right} instead of {now} right.",
            switches=best.name,
            right=best.right,
            now=tuning.trials[0].right,
        )
    else:
        advice = tr(locale, "No other setting does clearly better. Nothing needs to be changed.")
    table = tuning.table(tell=lambda line: retold(locale, line))
    return f"`{tuning.model}`\n```\n{table}\n```\n{advice}"
