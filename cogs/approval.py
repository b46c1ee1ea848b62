"""Asks members whether a tool may run, and lets admins choose which tools ask.

Invariant: a question has buttons for as long as its answer counts, no longer: they go when it is
answered, when time is up, when the turn ends, and when somebody presses one from before a restart.
Nothing that stands in it pings anyone or is read as part of the conversation.
"""

import asyncio
import logging
import re
import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, cast

import discord
from discord import app_commands, ui
from discord.ext import commands

from chat.approval import Policies
from chat.moderation import moderation_of
from chat.ports import ApprovalRequest, Decision
from chat.screening import Screen
from cogs.aside import NETWORK_ERRORS
from cogs.choices import choices
from cogs.controls import component_of
from cogs.logbook import Entry, Logbook
from cogs.permissions import title_of
from cogs.ports import Service
from cogs.quoting import argument_lines, code, subtext
from cogs.sending import send_once
from cogs.translations.saying import Speaks, reads_in, retold, tr
from cogs.tree import BROKEN, answer_privately, guild_of, require_manage_guild
from data.database import to_the_end

log = logging.getLogger(__name__)

PATIENCE = 120.0
"""Seconds in which members can answer."""

EXPIRED = "This question has expired; the tool did not run. Ask again if you still want it."

_CUSTOM_ID = re.compile(r"consent:([0-9a-f]{16}):(once|always|denied)")
_NO_MENTIONS = discord.AllowedMentions.none()

_ANSWERS: Mapping[Decision, str] = {
    "once": "allowed once",
    "always": "allowed until outside text is read",
    "denied": "denied",
    "timeout": "not answered in time, so it did not run",
    "unasked": "not asked, so it did not run",
}
_STOPPED = "stopped before it was answered, so it did not run"


@dataclass(slots=True, kw_only=True)
class _Question:
    """A question that waits for its answer."""

    request: ApprovalRequest
    answer: asyncio.Future[Decision]


class Approvals(commands.Cog):
    """Questions of all channels. Adds `/tool approval` to `family`."""

    def __init__(
        self,
        service: Service,
        policies: Policies,
        family: app_commands.Group,
        logbook: Logbook,
        *,
        patience: float = PATIENCE,
    ) -> None:
        self._service = service
        self._policies = policies
        self._patience = patience
        self._logbook = logbook
        self._open: dict[str, _Question] = {}
        self._closing: set[asyncio.Task[None]] = set()
        command: app_commands.Command[Approvals, ..., None] = app_commands.Command(
            name="approval",
            description="Whether a tool runs freely or asks a member first",
            callback=self._choose,
        )
        command.autocomplete("tool")(self._suggest)
        family.add_command(command)

    def approver(self, question: discord.Message) -> "MessageApprover":
        """Asks under the conversation that `question` belongs to."""
        return MessageApprover(self, question)

    async def cog_unload(self) -> None:
        """Leave questions that Discord has not taken yet."""
        for closing in self._closing:
            closing.cancel()
        if self._closing:
            await asyncio.wait(self._closing)

    @commands.Cog.listener()
    async def on_interaction(self, interaction: discord.Interaction) -> None:
        """Take an answer; to a question from before a restart, say that it has expired."""
        component = component_of(interaction)
        found = component and _CUSTOM_ID.fullmatch(component.custom_id)
        if found is None:
            return
        try:
            await self._take(interaction, found[1], cast("Decision", found[2]))
        except (discord.HTTPException, *NETWORK_ERRORS) as error:
            log.warning("An answer to a question about a tool was not taken: %s", error)
            await answer_privately(interaction, BROKEN)

    async def ask(
        self, channel: discord.abc.Messageable, request: ApprovalRequest, locale: Speaks
    ) -> Decision:
        """Post a question in a language, wait for its answer, and leave one line of it."""
        token = secrets.token_hex(8)
        question = _Question(request=request, answer=asyncio.get_running_loop().create_future())
        self._open[token] = question
        view = _buttons(token, locale, lasting=request.lasting)
        stored = await self._policies.stored(request.place.guild_id or 0)
        asking = _asking(request, locale, moderation_of(stored).screen)
        posting = asyncio.create_task(send_once(channel, asking, view=view))
        ended = _STOPPED
        try:
            await asyncio.shield(posting)
            async with asyncio.timeout(self._patience):
                return await question.answer
        except (discord.HTTPException, *NETWORK_ERRORS):
            if question.answer.cancelled():  # as running out of time does
                ended = _ANSWERS["timeout"]
                self._note(request, ended, None)
                return "timeout"
            # It may stand there all the same, and be answered.
            return question.answer.result() if question.answer.done() else "unasked"
        finally:
            self._open.pop(token, None)
            if question.answer.cancelled() or not question.answer.done():
                closing = asyncio.create_task(_close(posting, request, ended, locale))
                self._closing.add(closing)
                closing.add_done_callback(self._closing.discard)
                if posting.done():  # else Discord is in trouble, and the turn does not wait for it
                    await to_the_end(closing)

    def _note(self, request: ApprovalRequest, answer: str, by: int | None) -> None:
        line = f"{code(request.tool)} for <@{request.asker.id}>: {answer}"
        if by is not None:
            line = f"{code(request.tool)} for <@{request.asker.id}>: {answer}, by <@{by}>"
        self._logbook.note(request.place.guild_id, Entry(kind="approval", line=line))

    async def _take(self, interaction: discord.Interaction, token: str, decision: Decision) -> None:
        question = self._open.get(token)
        if question is None or question.answer.done():
            await interaction.response.edit_message(
                content=subtext(retold(interaction.guild_locale, EXPIRED)), view=None
            )
            return
        request = question.request
        if interaction.user.id != request.asker.id and not getattr(
            interaction.permissions, request.permission, False
        ):
            await answer_privately(
                interaction,
                f"Only {code(request.asker.name)} or a member with the permission "
                f"{title_of(request.permission)} can answer this.",
            )
            return
        if decision == "always" and not request.lasting:
            decision = "once"
        question.answer.set_result(decision)
        self._note(request, _ANSWERS[decision], interaction.user.id)
        by = code(interaction.user.display_name)
        what = retold(interaction.guild_locale, _ANSWERS[decision])
        line = tr(
            interaction.guild_locale,
            "{tool}: {what} by {member}",
            tool=code(request.tool),
            what=what,
            member=by,
        )
        await interaction.response.edit_message(content=subtext(line), view=None)

    @app_commands.describe(tool="The tool", policy="default: destructive tools ask, others do not")
    async def _choose(
        self,
        interaction: discord.Interaction,
        tool: str,
        policy: Literal["free", "asks", "default"],
    ) -> None:
        require_manage_guild(interaction)
        await interaction.response.defer(ephemeral=True, thinking=True)
        guild_id = guild_of(interaction)
        names = {listed.name for listed in await self._service.tools(guild_id)}
        if tool not in names:
            line = f"There is no tool {code(tool)}. /tool list names them."
        else:
            await self._policies.choose(guild_id, tool, None if policy == "default" else policy)
            how = {
                "free": "runs without asking",
                "asks": "asks before each call",
                "default": "follows the default again",
            }[policy]
            line = f"Saved. {code(tool)} {how}, from the next call on."
        await answer_privately(interaction, line)

    async def _suggest(
        self, interaction: discord.Interaction, current: str
    ) -> list[app_commands.Choice[str]]:
        if not interaction.permissions.manage_guild:
            return []
        names = [listed.name for listed in await self._service.tools(interaction.guild_id)]
        return choices(names, current)


class MessageApprover:
    """chat.ports.Approver in the channel of a message."""

    def __init__(self, approvals: Approvals, question: discord.Message) -> None:
        self._approvals = approvals
        self._question = question

    async def ask(self, request: ApprovalRequest) -> Decision:
        """See chat.ports.Approver."""
        question = self._question
        return await self._approvals.ask(question.channel, request, reads_in(question))


def _asking(request: ApprovalRequest, locale: Speaks, screen: Screen) -> str:
    """The question as subtext, which no history takes for words of the bot."""
    tool, member = code(request.tool), code(request.asker.name)
    if request.why:
        why = retold(locale, request.why)
        line = tr(locale, "{tool} for {member}: {why}", tool=tool, member=member, why=why)
    else:
        line = tr(locale, "May {tool} run for {member}?", tool=tool, member=member)
    return subtext(line, *map(screen.masked, argument_lines(request.arguments)))


async def _close(
    posting: asyncio.Task[discord.Message], request: ApprovalRequest, ended: str, locale: Speaks
) -> None:
    """Take the buttons of an unanswered question away, once it stands there, and say how it
    ended."""
    line = subtext(f"{code(request.tool)}: {retold(locale, ended)}")
    try:
        message = await posting
    except (discord.HTTPException, *NETWORK_ERRORS) as error:
        log.warning("A question about a tool could not be asked: %s", error)
        return
    try:
        await message.edit(content=line, view=None, allowed_mentions=_NO_MENTIONS)
    except (discord.HTTPException, *NETWORK_ERRORS) as error:
        log.info("A question about a tool keeps its buttons: %s", error)


def _buttons(token: str, locale: Speaks, *, lasting: bool) -> ui.View:
    """The answers. Not kept in memory: `Approvals.on_interaction` serves them."""
    view = ui.View(timeout=None)
    answers: list[tuple[str, Decision, discord.ButtonStyle]] = [
        (tr(locale, "Allow once"), "once", discord.ButtonStyle.success),
        (tr(locale, "Deny"), "denied", discord.ButtonStyle.danger),
    ]
    if lasting:
        label = tr(locale, "Allow until outside text is read")
        answers.insert(1, (label, "always", discord.ButtonStyle.secondary))
    for label, decision, style in answers:
        view.add_item(ui.Button(label=label, style=style, custom_id=f"consent:{token}:{decision}"))
    view.stop()
    return view
