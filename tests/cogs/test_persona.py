"""Texts of servers and channels with /config persona, over real sockets to Discord."""

import json
from pathlib import Path
from typing import Any

from chat.personas import ChannelTexts, Texts
from tests.cogs.town import Town, shown, town
from tests.loopback.discord_server import Interaction, Message, User
from tests.loopback.endpoint import Step


async def panel_of(here: Town, user: User) -> Message:
    return shown(await here.slash(here.away_channel, user, "config persona"))


async def opened(here: Town, user: User, panel: Message, label: str) -> Interaction:
    return await here.server.driver.answered(here.server.driver.press(user, panel, label))


async def submitted(here: Town, form: Interaction, values: dict[str, str]) -> Message:
    sent = here.server.driver.submit(here.stranger, form, values)
    return shown(await here.server.driver.answered(sent))


def system_text(body: dict[str, Any]) -> str:
    return "\n".join(m["content"] for m in body["messages"] if m["role"] == "system")


async def test_a_servers_texts_are_its_own_and_a_channel_adds_to_them(tmp_path: Path) -> None:
    async with town(tmp_path, away=True, approved="all") as here:
        other = here.server.build.channel(here.away, "other")
        panel = await panel_of(here, here.stranger)
        assert "persona the bot’s own" in panel.text
        assert "`{{ server_name }}`" in panel.text
        form = await opened(here, here.stranger, panel, "Edit server")
        texts = {
            "persona": "You are Pip of {{ server_name }}.",
            "rules": "No swearing.",
            "notes": "Cup on Sunday{{ moon }}.",
        }
        said = await submitted(here, form, texts)
        assert said.text.startswith("Saved")
        assert "notes: moon is no variable and will be empty" in said.text
        form = await opened(here, here.stranger, panel, "Edit channel")
        await submitted(here, form, {"persona": "Here you rhyme.", "notes": "#{{ channel_name }}"})

        here.operators.add(Step(text="One."), Step(text="Two."), Step(text="Three."))
        await here.answer(here.ask(here.away_channel, here.bob, "hello"), contains="One")
        await here.answer(here.ask(other, here.bob, "hello"), contains="Two")
        await here.answer(here.ask(here.home_channel, here.alice, "hello"), contains="Three")
        lounge, elsewhere, home = (system_text(r.body) for r in here.operators.received)
        assert lounge.startswith("You are Pip of Away.\n\nHere you rhyme.")
        assert "No swearing." in lounge
        assert lounge.endswith("Cup on Sunday.\n\n#lounge")
        assert elsewhere.startswith("You are Pip of Away.")
        assert "rhyme" not in elsewhere
        assert "Pip" not in home

        again = await opened(here, here.stranger, panel, "Edit server")
        assert "You are Pip of {{ server_name }}." in json.dumps(again.modal)


async def test_a_channels_persona_can_take_the_place_of_the_servers(tmp_path: Path) -> None:
    async with town(tmp_path, away=True, approved="all") as here:
        channel_id = here.away_channel.id
        await here.desk.personas.set_server(here.away.id, Texts(persona="You are Pip."))
        await here.desk.personas.set_channel(here.away.id, channel_id, ChannelTexts(persona="Rex!"))
        panel = await panel_of(here, here.stranger)
        assert "persona 4 characters, added behind the server's" in panel.text
        here.server.driver.press(here.stranger, panel, "Replace the server's")
        await here.until(lambda: "in the place of the server's" in panel.text)
        preview = shown(await opened(here, here.stranger, panel, "Preview"))
        assert preview.attachments[0].data.decode() == "Persona:\nRex!"
        thread = here.server.build.thread(here.away_channel, "aside", owner=here.bob)
        here.operators.add(Step(text="One."))
        await here.answer(here.ask(thread, here.bob, "hello"), contains="One")
        assert system_text(here.operators.received[0].body).startswith("Rex!")


async def test_a_text_that_cannot_be_filled_in_comes_back(tmp_path: Path) -> None:
    async with town(tmp_path, away=True) as here:
        panel = await panel_of(here, here.stranger)
        form = await opened(here, here.stranger, panel, "Edit server")
        wrong = {"persona": "Hi\n{% for x in y %}", "rules": "Be kind.", "notes": ""}
        said = await submitted(here, form, wrong)
        assert said.text.startswith("Nothing was saved. persona, line 2: jinja2 says: ")
        assert "{% if variable %}" in said.text
        assert "Be kind." in said.attachments[0].data.decode()
        assert await here.desk.personas.server(here.away.id) == Texts()


async def test_the_buttons_are_for_those_who_may_manage_the_server(tmp_path: Path) -> None:
    async with town(tmp_path, away=True) as here:
        await here.desk.personas.set_channel(
            here.away.id, here.away_channel.id, ChannelTexts(persona="Rex!")
        )
        panel = await panel_of(here, here.stranger)
        for label in ("Edit server", "Edit channel", "Replace the server's", "Preview"):
            used = await opened(here, here.bob, panel, label)
            assert used.modal is None
            assert shown(used).text.startswith("You need")
        own = await here.desk.personas.channel(here.away.id, here.away_channel.id)
        assert own.how == "append"
