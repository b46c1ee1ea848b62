"""/mcp: the MCP servers that a guild's admins bring, and how they are.

Invariant: whoever uses a command or submits the form needs Manage Server at that moment; a token
is entered in a form alone and shown to nobody; what a server says is shown to the admin alone.
"""

from typing import TypeAlias

import discord
from discord import app_commands, ui
from discord.ext import commands

from chat.mcp_admin import (
    LONGEST_NAME,
    LONGEST_URL,
    MOST_SERVERS,
    McpAdmin,
    McpRefused,
    NewServer,
    is_plain,
)
from cogs.choices import choices
from cogs.controls import guild_of_manager
from cogs.forms import Form
from cogs.translations.figures import number
from cogs.translations.saying import Speaks, retold, tr, tr_count
from cogs.tree import MANAGE_GUILD, answer_privately, guild_of, require_manage_guild, say_privately
from tools.mcp.cleaning import clean
from tools.mcp.toolset import ServerView, Tested
from tools.mcp.vetting import VettedTool, flags_of

_LONGEST_TOKEN = 4000
_SHOWN_DESCRIPTION = 100
_SHOWN_LEFT_OUT = 15
_SHOWN_DROPPED = 5

_Field: TypeAlias = "ui.TextInput[ui.Modal]"

_TRUSTED = "`{server}` is trusted: what it says of its tools is believed."
_NOT_TRUSTED = "`{server}` is not trusted: each of its tools asks before it runs."
_ON = "`{server}` is on, from the next answer on."
_OFF = "`{server}` is off, from the next answer on."

_STATES = {
    "connecting": "being connected to",
    "connected": "connected",
    "waiting": "not there",
    "stopped": "not connected",
}


class Mcp(commands.Cog):
    """The /mcp family."""

    mcp = app_commands.Group(
        name="mcp",
        description="Tools that this server brings along, by the Model Context Protocol",
        guild_only=True,
        default_permissions=MANAGE_GUILD,
    )

    def __init__(self, bot: commands.AutoShardedBot, admin: McpAdmin) -> None:
        self._bot = bot
        self._admin = admin

    async def interaction_check(self, interaction: discord.Interaction, /) -> bool:
        """Integration settings may open a command to anyone; Manage Server is needed still."""
        require_manage_guild(interaction)
        return True

    @commands.Cog.listener()
    async def on_ready(self) -> None:
        """Connect to the MCP servers of the servers that the bot is on. It may have been thrown out
        of some while it was away."""
        await self._admin.toolset.serve([guild.id for guild in self._bot.guilds])

    @commands.Cog.listener()
    async def on_guild_remove(self, guild: discord.Guild) -> None:
        """Disconnect from the MCP servers of a server that the bot has left. They stay known, for
        it may be invited again."""
        self._admin.toolset.leave(guild.id)

    @mcp.command(name="add", description="Bring an MCP server, or enter one anew")
    @app_commands.describe(
        trusted="Believe what it says of its tools, such as that one only reads; else each asks"
    )
    async def add(self, interaction: discord.Interaction, trusted: bool = False) -> None:
        """Open the form."""
        form = ServerForm(self._admin, interaction.locale, trusted=trusted)
        await interaction.response.send_modal(form)

    @mcp.command(name="list", description="The MCP servers, and how they are")
    async def list_servers(self, interaction: discord.Interaction) -> None:
        """List the servers."""
        guild_id = await self._begin(interaction)
        servers = await self._admin.servers(guild_id)
        locale = interaction.locale
        lines = [_server_line(server, locale) for server in servers] or [
            tr(locale, "There are no MCP servers here. `/mcp add` brings one.")
        ]
        await say_privately(interaction, "\n".join(lines))

    @mcp.command(name="test", description="Connect to an MCP server now and list its tools")
    @app_commands.describe(server="Which one")
    async def test(self, interaction: discord.Interaction, server: str) -> None:
        """Try a server."""
        guild_id = await self._begin(interaction)
        try:
            tested = await self._admin.test(guild_id, server)
        except McpRefused as error:
            await say_privately(interaction, retold(interaction.locale, str(error)))
            return
        trusted = any(
            one.trusted for one in await self._admin.servers(guild_id) if one.name == server
        )
        said = _test_in_words(server, tested, interaction.locale, trusted=trusted)
        await say_privately(interaction, said)

    @mcp.command(name="remove", description="Forget an MCP server with its token")
    @app_commands.describe(server="Which one")
    async def remove(self, interaction: discord.Interaction, server: str) -> None:
        """Remove a server."""
        guild_id = await self._begin(interaction)
        try:
            await self._admin.remove(guild_id, server)
        except McpRefused as error:
            await say_privately(interaction, retold(interaction.locale, str(error)))
            return
        said = tr(
            interaction.locale, "`{server}` is forgotten, and its token with it.", server=server
        )
        await say_privately(interaction, said)

    @mcp.command(name="toggle", description="Switch an MCP server off or on, or trust it")
    @app_commands.describe(server="Which one", what="What to switch")
    @app_commands.choices(
        what=[
            app_commands.Choice(name="the server itself", value="server"),
            app_commands.Choice(name="trust in what it says of its tools", value="trust"),
        ]
    )
    async def toggle(
        self, interaction: discord.Interaction, server: str, what: str = "server"
    ) -> None:
        """Switch a server."""
        guild_id = await self._begin(interaction)
        try:
            if what == "trust":
                trusted = await self._admin.trust(guild_id, server)
                form = _TRUSTED if trusted else _NOT_TRUSTED
            else:
                on = await self._admin.toggle(guild_id, server)
                form = _ON if on else _OFF
        except McpRefused as error:
            await say_privately(interaction, retold(interaction.locale, str(error)))
            return
        await say_privately(interaction, retold(interaction.locale, form.format(server=server)))

    @test.autocomplete("server")
    @remove.autocomplete("server")
    @toggle.autocomplete("server")
    async def names(
        self, interaction: discord.Interaction, current: str
    ) -> list[app_commands.Choice[str]]:
        """Names of the guild's own servers, to those who may manage them."""
        if (guild_id := guild_of_manager(interaction)) is None:
            return []
        names = await self._admin.names(guild_id)
        return choices(names, current)

    async def _begin(self, interaction: discord.Interaction) -> int:
        """Acknowledge the command, and tell in which guild it was used."""
        await interaction.response.defer(ephemeral=True, thinking=True)
        return guild_of(interaction)


class ServerForm(Form):
    """Name, URL and token of a server."""

    def __init__(self, admin: McpAdmin, locale: Speaks, *, trusted: bool) -> None:
        super().__init__(title=tr(locale, "An MCP server for this Discord server"))
        self._admin = admin
        self._trusted = trusted
        self._name: _Field = ui.TextInput(
            custom_id="name", placeholder=tr(locale, "docs"), max_length=LONGEST_NAME
        )
        self._url: _Field = ui.TextInput(
            custom_id="url", placeholder="https://host/mcp", max_length=LONGEST_URL
        )
        self._token: _Field = ui.TextInput(
            custom_id="token",
            placeholder=tr(locale, "If it asks for one; empty keeps the present one"),
            required=False,
            max_length=_LONGEST_TOKEN,
        )
        self.add_item(ui.Label(text=tr(locale, "Name"), component=self._name))
        self.add_item(ui.Label(text=tr(locale, "URL (streamable HTTP)"), component=self._url))
        self.add_item(
            ui.Label(
                text=tr(locale, "Token"),
                description=tr(
                    locale, "Kept encrypted, for this URL's server alone, and never shown again"
                ),
                component=self._token,
            )
        )

    async def on_submit(self, interaction: discord.Interaction, /) -> None:
        """Check, keep and test what was entered."""
        await interaction.response.defer(ephemeral=True, thinking=True)
        if interaction.guild_id is None:
            return
        server = NewServer(
            name=self._name.value,
            url=self._url.value,
            token=self._token.value,
            trusted=self._trusted,
        )
        try:
            tested = await self._admin.add(interaction.guild_id, server, by=interaction.user.id)
        except McpRefused as error:
            await answer_privately(interaction, str(error))
            return
        name = server.name.strip()
        locale = interaction.locale
        lines = [
            tr(locale, "`{name}` is added, one of at most {most}.", name=name, most=MOST_SERVERS)
        ]
        if server.token and is_plain(server.url.strip()):
            lines.append(
                tr(locale, "Its URL is plain http: whoever is on the way can read the token.")
            )
        lines.append(_test_in_words(name, tested, locale, trusted=self._trusted))
        await say_privately(interaction, "\n".join(lines))


def _server_line(server: ServerView, locale: Speaks) -> str:
    whose = tr(locale, "my operator's") if server.ours else _code(server.url)
    state = retold(locale, _STATES[server.state]) if server.enabled else tr(locale, "off")
    if server.enabled and server.state != "connected" and server.error:
        state += f": {retold(locale, server.error)}"
    offered = sum(not tool.refused for tool in server.tools)
    tools = tr_count(locale, "{count} tool", "{count} tools", count=offered)
    trust = tr(locale, "trusted") if server.trusted else tr(locale, "not trusted")
    return f"- {_code(server.name)} ({whose}): {state}; {tools}; {trust}"


def _test_in_words(name: str, tested: Tested, locale: Speaks, *, trusted: bool) -> str:
    server, seconds = _code(name), number(locale, tested.seconds, 1)
    if tested.error:
        failed = tr(
            locale, "{server} did not answer well ({seconds} s).", server=server, seconds=seconds
        )
        return f"{failed} {retold(locale, tested.error)}"
    offered = [tool for tool in tested.tools if not tool.refused]
    left_out = [tool for tool in tested.tools if tool.refused]
    answered = tr_count(
        locale,
        "{server} answered in {seconds} s with {count} tool.",
        "{server} answered in {seconds} s with {count} tools.",
        count=len(offered),
        server=server,
        seconds=seconds,
    )
    about = tr(locale, "It calls itself {name}.", name=_code(tested.about)) if tested.about else ""
    lines = [
        f"{answered} {about}".strip(),
        *(_tool_line(tool, locale, trusted=trusted) for tool in offered),
    ]
    if left_out:
        lines.append(tr(locale, "Left out:"))
        lines += [
            f"- {_code(tool.name)}: {retold(locale, tool.refused)}"
            for tool in left_out[:_SHOWN_LEFT_OUT]
        ]
        if len(left_out) > _SHOWN_LEFT_OUT:
            lines.append(tr(locale, "- and {more} more", more=len(left_out) - _SHOWN_LEFT_OUT))
    return "\n".join(lines)


def _tool_line(tool: VettedTool, locale: Speaks, *, trusted: bool) -> str:
    flags = flags_of(tool.hints, trusted=trusted)
    kind = (
        tr(locale, "only reads")
        if flags.read_only
        else tr(locale, "asks first")
        if flags.destructive
        else tr(locale, "may write")
    )
    about = discord.utils.escape_markdown(clean(tool.description, most=_SHOWN_DESCRIPTION))
    if tool.dropped:
        names = ", ".join(map(_code, tool.dropped[:_SHOWN_DROPPED]))
        about = f"{about} {tr(locale, 'Without {names}: no valid schema.', names=names)}".strip()
    return f"- {_code(tool.name)} ({kind}): {about}"


def _code(text: str) -> str:
    """Somebody else's words as Discord shows them literally."""
    return f"`{clean(text, most=100).replace('`', chr(0x2CB)) or '?'}`"
