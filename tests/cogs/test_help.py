"""What /help tells, to whom, and where."""

from dataclasses import replace
from pathlib import Path

from chat.answering import Answering
from cogs.addressing import IGNORED
from cogs.admitting import OPTED_OUT, SILENT_HERE
from tests.cogs.town import Town, town
from tests.loopback.discord_server import Channel, LoopbackDiscord, Permission, User
from tests.loopback.endpoint import Step
from tools.registry import Registry, ToolContext, tool
from tools.toolset import FixedTools, offering


async def told(here: Town, user: User, channel: Channel | None = None) -> str:
    text = await here.said(channel or here.home_channel, user, "help")
    assert len(text) <= 2000
    return text


async def test_a_member_reads_what_works_for_them(tmp_path: Path) -> None:
    async with town(tmp_path) as here:
        text = await told(here, here.alice)
        assert "**Here** I read and answer in this channel." in text
        assert f"Mention <@{here.server.bot.id}>" in text
        assert "**Model** big, by the endpoint of my operator" in text
        assert "roll dice" in text
        assert "- `/memory` What I remember about you here" in text
        assert "- Ask about this message: in the menu of a message, under Apps" in text
        assert "/config" not in text
        assert "127.0.0.1" not in text
        assert "- `/config` " in await told(here, here.operator)


async def test_a_tool_of_an_mcp_server_goes_by_its_name_and_the_servers(tmp_path: Path) -> None:
    @tool()
    async def mcp__docs__look_up(context: ToolContext) -> str:
        """Look it up."""
        return ""

    toolset = FixedTools(offering(Registry(mcp__docs__look_up)))
    async with town(tmp_path, toolset=toolset) as here:
        assert "**Tools** look up (docs)\n" in await told(here, here.alice)


async def test_a_model_that_no_server_has_named_yet_is_not_left_blank(tmp_path: Path) -> None:
    async with town(tmp_path, model="") as here:
        assert "**Model** not known yet, by the" in await told(here, here.alice)
        shown = await here.said(here.home_channel, here.operator, "config show")
        assert "**Model** not known yet\n" in shown
        panel = await here.said(here.home_channel, here.operator, "config workarounds")
        assert panel.startswith("## Workarounds for this endpoint\n")


async def test_what_is_in_the_way_is_named(tmp_path: Path) -> None:
    async with town(tmp_path) as here:
        build = here.server.build
        silent, unread = build.channel(here.home, "silent"), build.channel(here.home, "unread")
        build.overwrite(silent, here.server.bot, deny=Permission.SEND_MESSAGES)
        build.overwrite(unread, here.server.bot, deny=Permission.READ_MESSAGE_HISTORY)
        assert "I lack Send Messages." in await told(here, here.alice, silent)
        assert "better with Read Message History." in await told(here, here.alice, unread)
        await here.desk.admission.limit_channels(here.home.id, [here.home_channel.id])
        elsewhere = build.channel(here.home, "elsewhere")
        assert "admins chose others" in await told(here, here.alice, elsewhere)


async def test_how_to_ask_is_told_as_the_server_has_set_it(tmp_path: Path) -> None:
    async with town(tmp_path) as here:
        channel, build = here.home_channel, here.server.build

        async def how(**settings: object) -> str:
            changed = replace(Answering(), **settings)
            await here.desk.answering.change(here.home.id, lambda _: changed)
            (line,) = [
                line
                for line in (await told(here, here.alice)).splitlines()
                if line.startswith("**How to ask**")
            ]
            return line

        me = f"<@{here.server.bot.id}>"
        usual = await how()
        assert usual == f"**How to ask** Mention {me} in your message. Reply to one of my messages."
        assert await how(mention=False) == "**How to ask** Reply to one of my messages."
        words = await how(mention=False, reply=False, words=("computer",))
        assert words == "**How to ask** Use one of these words: computer."
        always = await how(mention=False, reply=False, channels=(channel.id,))
        assert always == "**How to ask** Just write: I answer every message here."
        nothing = await how(mention=False, reply=False)
        assert "Only with “Ask about this message”" in nothing
        build.overwrite(channel, here.alice, deny=Permission.SEND_MESSAGES)
        assert "You may not write here." in await how()


async def test_whoever_is_not_answered_reads_why_and_not_how(tmp_path: Path) -> None:
    async with town(tmp_path) as here:

        async def is_told(line: str) -> None:
            text = await told(here, here.alice)
            assert f"**Here** {line}" in text
            assert "How to ask" not in text
            assert "Ask about this message" not in text

        async def set_to(**settings: object) -> None:
            changed = replace(Answering(), **settings)
            await here.desk.answering.change(here.home.id, lambda _: changed)

        await here.desk.privacy.opt_out(here.home.id, here.alice.id)
        await is_told(OPTED_OUT)
        await here.desk.privacy.opt_in(here.home.id, here.alice.id)
        await set_to(members=(here.alice.id,))
        await is_told(IGNORED)
        role = here.server.build.role(here.home, "loud")
        here.home.members[here.alice.id].roles.append(role.id)
        await set_to(roles=(role.id,))
        await is_told(IGNORED)
        await set_to(denied=(here.home_channel.id,))
        await is_told(SILENT_HERE)


async def test_a_search_that_is_closed_is_not_offered(tmp_path: Path) -> None:
    async with town(tmp_path) as here:
        assert "/knowledge" not in await told(here, here.alice)
        assert "/knowledge" in await told(here, here.operator)
        await here.desk.knowledge.let_members_search(here.home.id, allowed=True)
        assert "/knowledge" in await told(here, here.alice)


async def test_direct_messages_tell_of_themselves(tmp_path: Path) -> None:
    async with town(tmp_path, dms="off") as here:
        mail = here.server.build.direct_messages
        assert "do not chat in direct messages" in await told(here, here.alice, mail(here.alice))
        operators = await told(here, here.operator, mail(here.operator))
        assert "I answer you in direct messages." in operators
        assert "/config" not in operators


async def test_a_server_that_waits_for_the_operator_reads_why(tmp_path: Path) -> None:
    async with town(tmp_path, away=True) as here:
        text = await told(here, here.stranger, here.away_channel)
        assert "**Model** " in text
        assert "operator" in text
        assert "big" not in text


async def test_it_speaks_german_to_those_who_do(tmp_path: Path) -> None:
    async with town(tmp_path) as here:
        here.alice.locale = "de"
        text = await told(here, here.alice)
        assert "**Hier** Ich lese und antworte in diesem Kanal." in text
        assert "- `/gedächtnis` Was ich mir hier über dich gemerkt habe" in text
        assert "- Nach dieser Nachricht fragen: im Menü einer Nachricht, unter Apps" in text


async def test_an_answer_is_remarked_on_in_the_language_of_its_server(tmp_path: Path) -> None:
    def german(server: LoopbackDiscord) -> None:
        server.build.guild("Zuhause").locale = "de"

    async with town(tmp_path, approved="all", before=german) as here:
        (guild,) = (one for one in here.server.world.guilds.values() if one.name == "Zuhause")
        channel = here.server.build.channel(guild, "allgemein")
        here.operators.add(Step(text="Es war einmal", finish="length"))
        asked = here.ask(channel, here.operator, "Erzähle!")
        told = await here.answer(asked, contains="-#")
        assert told == "Es war einmal\n-# Die Antwort wurde an der Längengrenze abgeschnitten."
