"""/knowledge: the documents that a server lets its assistant answer from.

Invariant: each command answers the member alone. Whatever changes or lists something needs Manage
Server at that moment; /knowledge search is also for members where the server allows it, who then
see what their channel uses. What suggests names asks for the same permission.
"""

import asyncio
from typing import TypeAlias

import discord
from discord import app_commands
from discord.ext import commands

from chat.knowledge_admin import KnowledgeAdmin, KnowledgeRefused, handle
from cogs.adding import Adding, Keep, file_of, linked, written
from cogs.choices import choices
from cogs.controls import guild_of_manager
from cogs.knowledge_controls import ContextChoice, Deletion
from cogs.knowledge_words import (
    choice_of,
    contexts_in_words,
    documents_in_words,
    overview_in_words,
    passages_in_words,
    quoted,
    used_in_words,
)
from cogs.splitting import split
from cogs.translations.saying import retold, tr, tr_count
from cogs.tree import answer_privately, require_manage_guild
from data.knowledge import EVERYWHERE, Context

MENU = "Add to knowledge"

_CHOICES = 25

_Usable: TypeAlias = discord.TextChannel | discord.VoiceChannel | discord.ForumChannel

_ONE_SOURCE = "Give one of the three: a file, a link, or the link of a message."
_CLOSED = "Searching is for those who may manage this server; `/knowledge access` opens it to all."


class Knowledge(commands.Cog):
    """The /knowledge family, and the command in the menu of a message."""

    knowledge = app_commands.Group(
        name="knowledge",
        description="Documents that I answer from on this server",
        guild_only=True,
    )

    def __init__(
        self,
        bot: commands.AutoShardedBot,
        me: discord.abc.User,
        admin: KnowledgeAdmin,
        adding: Adding | None = None,
    ) -> None:
        self._bot = bot
        self._me = me
        self._admin = admin
        self._adding = adding or Adding(admin)
        self._embedding: asyncio.Task[None] | None = None
        self._menu = app_commands.ContextMenu(name=MENU, callback=self._add_message)
        self._menu.guild_only = True
        self._menu.default_permissions = discord.Permissions(manage_guild=True)

    async def cog_load(self) -> None:
        """Offer the command of the menu, and begin to embed what has no vectors yet."""
        self._embedding = asyncio.create_task(self._admin.run_embedding())
        self._bot.tree.add_command(self._menu)

    async def cog_unload(self) -> None:
        """Take it back, and end what runs in the background."""
        if self._embedding is not None:
            self._embedding.cancel()
            await asyncio.wait([self._embedding])
        await self._adding.close()
        self._bot.tree.remove_command(self._menu.name, type=self._menu.type)

    @knowledge.command(name="create", description="Make a context: a named set of documents")
    @app_commands.describe(name="What to call it")
    async def create(self, interaction: discord.Interaction, name: str) -> None:
        """Make a context."""
        guild = await _begin(interaction)
        try:
            made = await self._admin.create(guild.id, name, by=interaction.user.id)
            nearly = await self._admin.nearly_full(guild.id, "contexts")
        except KnowledgeRefused as error:
            await _say(interaction, retold(interaction.locale, str(error)))
            return
        locale = interaction.locale
        said = tr(
            locale,
            "{context} is made. `/knowledge add` fills it, `/knowledge use` has me answer from it.",
            context=quoted(made.name, locale),
        )
        await _say(interaction, f"{said} {retold(locale, nearly)}".strip())

    @knowledge.command(name="delete", description="Delete a context with all of its documents")
    @app_commands.describe(context="Which one")
    async def delete(self, interaction: discord.Interaction, context: str) -> None:
        """Ask, then delete a context."""
        guild = await _begin(interaction)
        try:
            found = await self._admin.context(guild.id, context)
            documents = await self._admin.documents(guild.id, found.name)
        except KnowledgeRefused as error:
            await _say(interaction, retold(interaction.locale, str(error)))
            return
        locale = interaction.locale
        await interaction.edit_original_response(
            content=tr_count(
                locale,
                "Delete {context} with {count} document? What is deleted cannot be brought back.",
                "Delete {context} with {count} documents? What is deleted cannot be brought back.",
                count=len(documents),
                context=quoted(found.name, locale),
            ),
            view=Deletion(self._admin, found, locale),
        )

    @knowledge.command(name="list", description="The contexts, or the documents of one")
    @app_commands.describe(context="Whose documents to list", page="Which page of the documents")
    async def list_all(
        self,
        interaction: discord.Interaction,
        context: str = "",
        page: app_commands.Range[int, 1, 999] = 1,
    ) -> None:
        """List contexts or documents."""
        guild = await _begin(interaction)
        if not context:
            found = await self._admin.contexts(guild.id)
            uses = await self._admin.uses(guild.id)
            await _say(interaction, contexts_in_words(found, uses, interaction.locale))
            return
        try:
            documents = await self._admin.documents(guild.id, context)
        except KnowledgeRefused as error:
            await _say(interaction, retold(interaction.locale, str(error)))
            return
        await _say(interaction, documents_in_words(context, documents, page, interaction.locale))

    @knowledge.command(name="use", description="Choose what I answer from, here or everywhere")
    @app_commands.describe(
        context="Which one; leave empty to use none",
        channel="Where; leave empty for the whole server",
        also="Keep what is used there already",
    )
    async def use(
        self,
        interaction: discord.Interaction,
        context: str = "",
        channel: _Usable | None = None,
        also: bool = False,
    ) -> None:
        """Choose a context for a channel or the server."""
        guild = await _begin(interaction)
        where = channel.id if channel is not None else EVERYWHERE
        try:
            used = await self._admin.use(guild.id, context, channel_id=where, also=also)
        except KnowledgeRefused as error:
            await _say(interaction, retold(interaction.locale, str(error)))
            return
        await _say(interaction, used_in_words(where, used, interaction.locale))

    @knowledge.command(name="add", description="Add a file, a page or a message to a context")
    @app_commands.describe(
        context="Where to",
        file="Text, Markdown, HTML, PDF, Word, CSV, JSON or source code, at most 10 MiB",
        link="The address of a page or PDF",
        message="The link of a message that you can read",
    )
    async def add(
        self,
        interaction: discord.Interaction,
        context: str,
        file: discord.Attachment | None = None,
        link: str | None = None,
        message: str | None = None,
    ) -> None:
        """Add a document."""
        guild = await _begin(interaction)
        try:
            target = await self._admin.context(guild.id, context)
            keep = await self._source(interaction, target, file, link, message)
        except KnowledgeRefused as error:
            await _say(interaction, retold(interaction.locale, str(error)))
            return
        await self._adding.add(interaction, target, keep)

    @knowledge.command(name="remove", description="Take a document out, with every trace of it")
    @app_commands.describe(context="Where from", document="Which one")
    async def remove(self, interaction: discord.Interaction, context: str, document: str) -> None:
        """Remove a document."""
        guild = await _begin(interaction)
        try:
            removed = await self._admin.remove(guild.id, context, document)
        except KnowledgeRefused as error:
            await _say(interaction, retold(interaction.locale, str(error)))
            return
        locale = interaction.locale
        name = quoted(removed.name, locale)
        await _say(interaction, tr(locale, "{document} is removed.", document=name))

    @knowledge.command(name="search", description="Look into the documents yourself")
    @app_commands.describe(
        query="What to look for", context="Where; leave empty for what this channel uses"
    )
    async def search(
        self,
        interaction: discord.Interaction,
        query: app_commands.Range[str, 1, 300],
        context: str = "",
    ) -> None:
        """Search, as a turn in this channel does."""
        manages = interaction.permissions.manage_guild
        guild = _guild(interaction)
        if not manages and not await self._admin.members_search(guild.id):
            await answer_privately(interaction, _CLOSED)
            return
        await interaction.response.defer(ephemeral=True, thinking=True)
        try:
            found = await self._admin.search(
                guild.id, query, name=context if manages else "", channel_id=_channel(interaction)
            )
        except KnowledgeRefused as error:
            await _say(interaction, retold(interaction.locale, str(error)))
            return
        await _say(interaction, passages_in_words(found, interaction.locale))

    @knowledge.command(name="access", description="Whether members may use /knowledge search")
    @app_commands.describe(members="May they?")
    async def access(self, interaction: discord.Interaction, members: bool) -> None:
        """Open or close the search to members."""
        guild = await _begin(interaction)
        await self._admin.let_members_search(guild.id, members)
        said = (
            tr(interaction.locale, "Members may now look into what their channel uses.")
            if members
            else tr(interaction.locale, "Members may no longer look into what their channel uses.")
        )
        await _say(interaction, said)

    @knowledge.command(name="info", description="Limits, what is used where, and what is under way")
    async def info(self, interaction: discord.Interaction) -> None:
        """Tell how this server's knowledge stands."""
        guild = await _begin(interaction)
        overview = await self._admin.overview(guild.id)
        await _say(interaction, overview_in_words(overview, interaction.locale))

    @delete.autocomplete("context")
    @list_all.autocomplete("context")
    @use.autocomplete("context")
    @add.autocomplete("context")
    @remove.autocomplete("context")
    @search.autocomplete("context")
    async def suggest_contexts(
        self, interaction: discord.Interaction, current: str
    ) -> list[app_commands.Choice[str]]:
        """Names of this server's contexts, to those who may manage it."""
        if (guild_id := guild_of_manager(interaction)) is None:
            return []
        names = await self._admin.names(guild_id)
        return choices(names, current)

    @remove.autocomplete("document")
    async def suggest_documents(
        self, interaction: discord.Interaction, current: str
    ) -> list[app_commands.Choice[str]]:
        """Documents of the context that was filled in."""
        if (guild_id := guild_of_manager(interaction)) is None:
            return []
        try:
            context = str(interaction.namespace.context or "")
            documents = await self._admin.documents(guild_id, context)
        except KnowledgeRefused:
            return []
        wanted = current.strip().casefold()
        return [
            app_commands.Choice(name=choice_of(one, interaction.locale), value=handle(one))
            for one in documents
            if wanted in handle(one).casefold() or wanted in one.name.casefold()
        ][:_CHOICES]

    async def _source(
        self,
        interaction: discord.Interaction,
        context: Context,
        file: discord.Attachment | None,
        link: str | None,
        message: str | None,
    ) -> Keep:
        """What keeps the one of the three that is given. Raises KnowledgeRefused."""
        by = interaction.user.id
        if (file is not None) + (link is not None) + (message is not None) != 1:
            raise KnowledgeRefused(_ONE_SOURCE)
        if file is not None:
            read = await file_of(file)
            return lambda progress: self._admin.add_file(context, read, by=by, progress=progress)
        if link is not None:
            return lambda progress: self._admin.add_link(context, link, by=by, progress=progress)
        member = _member(interaction)
        found = await linked(_guild(interaction), member, message or "")
        return await self._message(context, found, member)

    async def _message(
        self, context: Context, message: discord.Message, member: discord.Member
    ) -> Keep:
        taken = await written(message, member, self._me)
        return lambda progress: self._admin.add_message(
            context, taken, by=member.id, progress=progress
        )

    async def _add_message(
        self, interaction: discord.Interaction, message: discord.Message
    ) -> None:
        """The menu's command: ask where to, then add."""
        guild = await _begin(interaction)
        contexts = await self._admin.names(guild.id)
        if not contexts:
            nothing = tr(
                interaction.locale, "There is no context yet. `/knowledge create` makes one."
            )
            await _say(interaction, nothing)
            return

        async def chosen(choice: discord.Interaction, name: str) -> None:
            try:
                target = await self._admin.context(guild.id, name)
                keep = await self._message(target, message, _member(choice))
            except KnowledgeRefused as error:
                refusal = retold(choice.locale, str(error))
                await choice.edit_original_response(content=refusal, view=None)
                return
            await self._adding.add(choice, target, keep)

        await interaction.edit_original_response(
            content=tr(interaction.locale, "Which context is it for?"),
            view=ContextChoice(contexts[:_CHOICES], chosen, interaction.locale),
        )


async def _begin(interaction: discord.Interaction) -> discord.Guild:
    """Acknowledge a command for those who may manage the server. Integration settings may open it
    to anyone; Manage Server is needed still."""
    require_manage_guild(interaction)
    await interaction.response.defer(ephemeral=True, thinking=True)
    return _guild(interaction)


async def _say(interaction: discord.Interaction, text: str) -> None:
    first, *further = split(text)
    await interaction.edit_original_response(content=first)
    for content in further:
        await interaction.followup.send(content, ephemeral=True)


def _guild(interaction: discord.Interaction) -> discord.Guild:
    if interaction.guild is None:
        raise AssertionError("the commands are for servers only")
    return interaction.guild


def _member(interaction: discord.Interaction) -> discord.Member:
    if not isinstance(interaction.user, discord.Member):
        raise AssertionError("the commands are for servers only")  # noqa: TRY004
    return interaction.user


def _channel(interaction: discord.Interaction) -> int:
    """The channel whose choice of contexts applies."""
    channel = interaction.channel
    if isinstance(channel, discord.Thread):
        return channel.parent_id
    return interaction.channel_id or EVERYWHERE
