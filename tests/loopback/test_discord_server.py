"""The server under a real client: discord.py logs in, answers, reconnects, and is judged."""

import asyncio
from collections.abc import Callable
from pathlib import Path
from typing import Any

import aiohttp
import discord
import pytest
from discord import app_commands
from discord.http import Route

from tests.loopback.discord_server import (
    PRIVILEGED_INTENTS,
    Bucket,
    Intent,
    InteractionState,
    Limits,
    LostAnswer,
    Permission,
    Throttle,
    Upload,
)
from tests.loopback.house import ALL_INTENTS, Client, house


async def test_login_finds_the_guild_with_all_that_is_in_it() -> None:
    async with house() as home:
        mods = home.server.build.role(home.guild, "mods", permissions=Permission.MANAGE_GUILD)
        home.server.build.member(home.guild, home.server.build.user("bob"), mods)
        intents = discord.Intents(guilds=True, members=True)
        async with home.client(intents=intents) as client:
            assert client.user is not None
            assert client.user.id == home.server.bot.id
            guild = client.guilds[0]
            assert (guild.id, guild.owner_id) == (home.guild.id, home.server.world.owner.id)
            assert [channel.name for channel in guild.text_channels] == ["general"]
            bob = guild.get_member_named("bob")
            assert bob is not None
            assert bob.guild_permissions.manage_guild
            owner = (await client.application_info()).owner
            assert owner.id == home.server.world.owner.id
        assert home.server.violations() == []


async def test_an_answer_is_sent_edited_and_deleted_before_members_eyes() -> None:
    async def answer(message: discord.Message) -> None:
        async with message.channel.typing():
            reply = await message.reply("one")
        await reply.edit(content="two")
        await reply.edit(content="", embed=discord.Embed(title="three"))
        await reply.delete()

    async with house() as home, home.client(answer):
        asked = home.server.driver.say(home.channel, home.alice, "hi")
        await home.server.wait_for(lambda record: record.kind == "delete")
        sent = home.server.journal.of("message", author=home.server.bot.id)[0]
        message = home.server.world.messages[sent["id"]]
        assert message.reply_to is asked
        assert message.pings.users == {home.alice.id}
        assert [version.text for version in message.versions] == ["one", "two", ""]
        times = [version.at for version in message.versions]
        assert times == sorted(times)
        assert message.embeds[0]["title"] == "three"
        assert home.server.messages(home.channel) == [asked]
        assert [interval.end for interval in home.server.typing(home.channel)] == [sent.at]
        assert home.server.violations() == []


async def test_members_edits_and_deletions_reach_the_client() -> None:
    async with house() as home, home.client() as client:
        message = home.server.driver.say(home.channel, home.alice, "first")
        await until(lambda: client.received == ["first"])
        edited = asyncio.create_task(client.wait_for("message_edit", timeout=5))
        deleted = asyncio.create_task(client.wait_for("message_delete", timeout=5))
        await asyncio.sleep(0)
        home.server.driver.edit(message, "second")
        home.server.driver.delete(message)
        before, after = await edited
        assert (before.content, after.content) == ("first", "second")
        assert (await deleted).id == message.id


async def test_a_client_that_reads_the_headers_stays_within_a_bucket() -> None:
    limits = Limits()
    limits.buckets["message_post"] = Bucket(requests=2, seconds=0.3)
    async with house(limits) as home, home.client() as client:
        for i in range(5):
            await home.channel_of(client).send(str(i))
        sent = home.server.messages(home.channel)
        assert [message.text for message in sent] == ["0", "1", "2", "3", "4"]
        assert sent[-1].versions[0].at - sent[0].versions[0].at > 0.5
        assert home.server.violations() == []


async def test_an_unannounced_429_is_waited_out() -> None:
    async with house() as home, home.client() as client:
        home.server.faults.plant("/messages$", Throttle(retry_after=0.2), method="POST")
        await home.channel_of(client).send("x")
        statuses = [r["status"] for r in home.server.journal.of("rest", method="POST")]
        assert statuses == [429, 200]
        assert len(home.server.messages(home.channel)) == 1


async def test_a_nonce_keeps_a_lost_answer_from_becoming_a_second_message() -> None:
    async with house() as home, home.client() as client:
        channel = home.channel_of(client)
        home.server.faults.plant("/messages$", LostAnswer())
        with pytest.raises(aiohttp.ServerDisconnectedError):
            await channel.send("x")
        await channel.send("x")
        home.server.faults.plant("/messages$", LostAnswer())
        with pytest.raises(aiohttp.ServerDisconnectedError):
            await channel.send("x", nonce="chunk-1")
        await channel.send("x", nonce="chunk-1")
        nonces = [message.nonce for message in home.server.messages(home.channel)]
        assert len(set(nonces)) == len(nonces) == 3
        assert nonces[-1] == "chunk-1"


async def test_a_command_is_registered_run_deferred_and_followed_up() -> None:
    async with house() as home, home.client() as client:

        @client.tree.command(name="ask", description="Ask")
        async def ask(
            interaction: discord.Interaction, question: str, who: discord.Member, count: int = 1
        ) -> None:
            await interaction.response.defer(ephemeral=True)
            await interaction.edit_original_response(content=f"{question} {who.name} {count}")
            await interaction.followup.send("more", ephemeral=False)

        @ask.autocomplete("question")
        async def complete(
            interaction: discord.Interaction, current: str
        ) -> list[app_commands.Choice[str]]:
            return [app_commands.Choice(name=f"{current}!", value=current)]

        await client.tree.sync()
        driver, server = home.server.driver, home.server
        typing = driver.autocomplete(home.channel, home.alice, "ask", "question", "wh")
        await driver.answered(typing)
        assert typing.choices == [{"name": "wh!", "value": "wh"}]
        options: Any = {"question": "why", "who": home.alice, "count": 3}
        interaction = await driver.answered(driver.slash(home.channel, home.alice, "ask", options))
        assert interaction.original is not None
        assert (interaction.original.text, interaction.original.ephemeral) == ("why alice 3", True)
        await server.journal.until(lambda: len(interaction.followups) == 1)
        assert server.messages(home.channel) == interaction.followups
        assert server.violations() == []


class Panel(discord.ui.View):
    """A button, a select and a way to a modal."""

    @discord.ui.button(label="Press")
    async def press(self, interaction: discord.Interaction, _: Any) -> None:
        await interaction.response.edit_message(content="pressed")

    @discord.ui.button(label="Write")
    async def write(self, interaction: discord.Interaction, _: Any) -> None:
        await interaction.response.send_modal(Form())

    @discord.ui.select(options=[discord.SelectOption(label=word) for word in ("red", "blue")])
    async def choose(self, interaction: discord.Interaction, select: Any) -> None:
        await interaction.response.send_message(f"chose {select.values[0]}", ephemeral=True)


class Form(discord.ui.Modal, title="Form"):
    """One line of text."""

    name = discord.ui.TextInput["Form"](label="Name")

    async def on_submit(self, interaction: discord.Interaction, /) -> None:
        await interaction.response.send_message(f"wrote {self.name.value}")


async def test_buttons_selects_and_modals() -> None:
    async def answer(message: discord.Message) -> None:
        await message.channel.send("panel", view=Panel())

    async with house() as home, home.client(answer):
        driver, alice = home.server.driver, home.alice
        home.server.driver.say(home.channel, alice, "hi")
        panel = await home.server.wait_for_message(home.channel, lambda m: m.text == "panel")
        select = panel.components[1]["components"][0]["custom_id"]
        chosen = await driver.answered(driver.choose(alice, panel, select, ["blue"]))
        assert chosen.original is not None
        assert (chosen.original.text, chosen.original.ephemeral) == ("chose blue", True)
        opened = await driver.answered(driver.press(alice, panel, "Write"))
        written = await driver.answered(driver.submit(alice, opened, {"Name": "Ann"}))
        assert written.original is not None
        assert written.original.text == "wrote Ann"
        await driver.answered(driver.press(alice, panel, "Press"))
        assert panel.text == "pressed"
        assert home.server.violations() == []


async def test_a_command_that_takes_too_long_fails_and_is_recorded() -> None:
    async with house(Limits(acknowledge=0.1)) as home, home.client() as client:
        refused: list[int] = []

        @client.tree.command(name="slow", description="Slow")
        async def slow(interaction: discord.Interaction) -> None:
            await asyncio.sleep(0.2)
            try:
                await interaction.response.send_message("too late")
            except discord.NotFound as error:
                refused.append(error.code)

        await client.tree.sync()
        interaction = home.server.driver.slash(home.channel, home.alice, "slow")
        await home.server.driver.acknowledged(interaction)
        assert interaction.state is InteractionState.FAILED
        await home.server.wait_for(lambda record: record.get("code") == 10062)
        assert [v["what"] for v in home.server.violations()] == ["the application did not respond"]
        assert home.server.messages(home.channel) == []


async def test_what_discord_refuses_raises_in_the_client() -> None:
    async with house() as home, home.client() as client:
        channel = home.channel_of(client)
        with pytest.raises(discord.HTTPException, match="2000 or fewer") as too_long:
            await channel.send("x" * 2001)
        assert (too_long.value.status, too_long.value.code) == (400, 50035)
        home.server.build.overwrite(home.channel, home.server.bot, deny=Permission.SEND_MESSAGES)
        with pytest.raises(discord.Forbidden) as forbidden:
            await channel.send("x")
        assert forbidden.value.code == 50013
        assert home.server.messages(home.channel) == []
        assert home.server.journal.of("missing_permission")[0]["permission"] == "SEND_MESSAGES"


async def test_a_careless_ping_of_everyone_is_recorded() -> None:
    async with house() as home, home.client() as client:
        home.server.build.overwrite(
            home.channel, home.server.bot, allow=Permission.MENTION_EVERYONE
        )
        channel = home.channel_of(client)
        await channel.send("@everyone", allowed_mentions=discord.AllowedMentions.none())
        assert home.server.violations() == []
        await channel.send("@everyone")
        assert home.server.violations()[0]["everyone"] is True


async def test_the_content_intent_must_be_granted() -> None:
    granted = PRIVILEGED_INTENTS & ~int(Intent.MESSAGE_CONTENT)
    async with house(granted_intents=granted) as home:
        client = Client(None, ALL_INTENTS)
        async with client:
            with pytest.raises(discord.PrivilegedIntentsRequired):
                await client.start(home.server.token)
        close = await home.server.wait_for(lambda record: record.kind == "gateway_close")
        assert close["code"] == 4014


async def test_without_the_content_intent_most_content_is_empty() -> None:
    intents = discord.Intents(guilds=True, messages=True)
    async with house() as home, home.client(intents=intents) as client:
        server, alice = home.server, home.alice
        mention = server.bot.mention
        server.driver.say(home.channel, alice, "secret")
        server.driver.say(home.channel, alice, f"{mention} open")
        server.driver.say(server.build.direct_messages(alice), alice, "private")
        await until(lambda: len(client.received) == 3)
        assert client.received == ["", f"{mention} open", "private"]


@pytest.mark.parametrize("trouble", ["cut", "reconnect", "close"])
async def test_a_resumed_session_misses_nothing_and_repeats_nothing(trouble: str) -> None:
    async with house() as home, home.client() as client:
        server = home.server
        server.driver.say(home.channel, home.alice, "before")
        await until(lambda: client.received == ["before"])
        match trouble:
            case "cut":
                server.gateway.cut()
            case "reconnect":
                server.gateway.ask_to_reconnect()
            case _:
                await server.gateway.close()
        await server.wait_for(lambda record: record.kind == "gateway_close")
        server.driver.say(home.channel, home.alice, "meanwhile")
        await server.wait_for(lambda record: record.kind == "resume")
        server.driver.say(home.channel, home.alice, "after")
        await until(lambda: len(client.received) == 3)
        assert client.received == ["before", "meanwhile", "after"]
        assert len(server.journal.of("identify")) == 1
        assert server.violations() == []


async def test_history_threads_and_direct_messages() -> None:
    async with house() as home, home.client() as client:
        server, channel = home.server, home.channel_of(client)
        first = server.driver.say(home.channel, home.alice, "first")
        server.driver.say(home.channel, home.alice, "second", reply_to=first)
        history = [message async for message in channel.history(limit=None)]
        assert [message.content for message in history] == ["second", "first"]
        reference = history[0].reference
        assert reference is not None
        assert reference.message_id == first.id
        thread = await history[1].create_thread(name="thread")
        await thread.send("inside")
        inside = server.world.channel(thread.id)
        assert [message.text for message in server.messages(inside)] == ["inside"]
        await thread.edit(archived=True, locked=True)
        with pytest.raises(discord.Forbidden) as locked:
            await thread.send("x")
        assert locked.value.code == 160005
        await (await client.fetch_user(home.alice.id)).send("private")
        private = server.build.direct_messages(home.alice)
        assert [message.text for message in server.messages(private)] == ["private"]


async def test_files_travel_both_ways() -> None:
    async def answer(message: discord.Message) -> None:
        data = await message.attachments[0].read()
        await message.channel.send(file=discord.File(__file__, filename=data.decode()))

    async with house() as home:
        home.server.build.overwrite(home.channel, home.server.bot, allow=Permission.ATTACH_FILES)
        async with home.client(answer):
            upload = Upload(filename="name.txt", data=b"back.txt", content_type="text/plain")
            home.server.driver.say(home.channel, home.alice, "hi", files=[upload])
            answered = await home.server.wait_for_message(home.channel, lambda _: True)
            assert answered.attachments[0].name == "back.txt"
            assert answered.attachments[0].data == Path(__file__).read_bytes()


async def test_what_is_built_later_is_told_to_the_client() -> None:
    async with house() as home, home.client() as client:
        later = home.server.build.channel(home.guild, "later")
        home.server.build.overwrite(later, home.server.bot, deny=Permission.SEND_MESSAGES)
        other = home.server.build.guild("Other")
        await until(lambda: client.get_guild(other.id) is not None)
        channel = client.get_channel(later.id)
        assert isinstance(channel, discord.TextChannel)
        assert not channel.permissions_for(channel.guild.me).send_messages


async def test_pointing_is_undone() -> None:
    before = Route.BASE
    async with house() as home:
        assert home.server.address.api == Route.BASE
    assert before == Route.BASE
    assert "127.0.0.1" not in before


async def until(condition: Callable[[], bool]) -> None:
    """Wait until the client has got as far as a test expects."""
    async with asyncio.timeout(5):
        while not condition():
            await asyncio.sleep(0.01)
