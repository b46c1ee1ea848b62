"""Setting a server up with /config, over real sockets to Discord and to endpoints."""

import json
from pathlib import Path

from chat.personas import Texts
from cogs.tree import NOT_ALLOWED
from tests.cogs.town import OPERATORS_KEY, Town, shown, town
from tests.loopback.discord_server import Upload, User
from tests.loopback.endpoint import Step

THEIR_KEY = "their-secret-key-5678"
PATHS = ("setup", "persona", "channels", "test", "reset", "export")


async def bring_endpoint(here: Town, user: User, key: str = THEIR_KEY, model: str = "") -> str:
    """Fill in the form on the stranger's server."""
    return await here.submitted(
        here.away_channel,
        user,
        "config setup",
        {"url": here.theirs.base_url, "key": key, "model": model},
    )


async def test_every_command_is_for_those_who_may_manage_the_server(tmp_path: Path) -> None:
    async with town(tmp_path) as here:
        for path in PATHS:
            said = await here.said(here.home_channel, here.alice, f"config {path}")
            assert said == NOT_ALLOWED, path
        said = await here.said(here.home_channel, here.alice, "config model", name="x")
        assert said == NOT_ALLOWED


async def test_a_private_address_is_the_operators_to_set(tmp_path: Path) -> None:
    async with town(tmp_path, away=True) as here:
        said = await bring_endpoint(here, here.stranger)
        assert "Only the bot's operator may set such an address" in said
        assert await here.desk.setup.endpoint(here.away.id) is None
        assert here.theirs.listings == 0
        said = await bring_endpoint(here, here.operator)
        assert said.startswith("Saved: `own-one` at ")
        assert here.theirs.listings == 1


async def test_a_server_with_an_endpoint_of_its_own_uses_that_alone(tmp_path: Path) -> None:
    async with town(tmp_path, away=True) as here:
        await bring_endpoint(here, here.operator)
        here.theirs.add(Step(text="From theirs."))
        here.operators.add(Step(text="From the operator's."))
        away = here.ask(here.away_channel, here.bob, "hello")
        home = here.ask(here.home_channel, here.alice, "hello")
        assert await here.answer(away, contains="theirs.") == "From theirs."
        assert await here.answer(home, contains="'s.") == "From the operator's."
        (to_theirs,), (to_operators,) = here.theirs.received, here.operators.received
        assert to_theirs.headers["Authorization"] == f"Bearer {THEIR_KEY}"
        assert to_theirs.body["model"] == "own-one"
        assert to_operators.headers["Authorization"] == f"Bearer {OPERATORS_KEY}"
        assert to_operators.body["model"] == "big"


async def test_a_key_is_never_shown_or_kept_in_the_clear(tmp_path: Path) -> None:
    async with town(tmp_path, away=True) as here:
        await bring_endpoint(here, here.operator)
        opened = await here.slash(here.away_channel, here.stranger, "config setup")
        assert THEIR_KEY not in json.dumps(opened.modal)
        exported = await here.slash(here.away_channel, here.stranger, "config export")
        (file,) = shown(exported).attachments
        text = file.data.decode()
        assert here.theirs.base_url in text
        assert "key" not in text
        kept = b"".join(path.read_bytes() for path in tmp_path.glob("verbatim.db*"))
        assert here.theirs.base_url.encode() in kept
        assert THEIR_KEY.encode() not in kept


async def test_the_key_stays_with_its_server_and_goes_with_another(tmp_path: Path) -> None:
    async with town(tmp_path, away=True) as here:
        await bring_endpoint(here, here.operator)
        # A manager may change the model without the key, and without being the operator.
        said = await bring_endpoint(here, here.stranger, key="", model="own-two")
        assert said.startswith("Saved: `own-two`")
        here.theirs.add(Step(text="ready"))
        said = await here.said(here.away_channel, here.stranger, "config test")
        assert "own-two" in said
        assert here.theirs.received[-1].headers["Authorization"] == f"Bearer {THEIR_KEY}"
        moved = await here.submitted(
            here.away_channel,
            here.operator,
            "config setup",
            {"url": here.operators.base_url, "key": "", "model": "big"},
        )
        assert "without a key" in moved
        here.operators.add(Step(text="ready"))
        await here.said(here.away_channel, here.stranger, "config test")
        assert "Authorization" not in here.operators.received[-1].headers


async def test_models_are_suggested_by_the_server_that_serves(tmp_path: Path) -> None:
    async with town(tmp_path, away=True) as here:
        driver = here.server.driver

        async def suggested(user: User, typed: str) -> list[str]:
            used = driver.autocomplete(here.away_channel, user, "config model", "name", typed)
            await driver.acknowledged(used)
            return [choice["value"] for choice in used.choices or []]

        assert await suggested(here.stranger, "") == []
        refused = await here.said(here.away_channel, here.stranger, "config model", name="big")
        assert "whose model the operator chooses" in refused
        await bring_endpoint(here, here.operator)
        assert await suggested(here.stranger, "") == ["own-one", "own-two"]
        assert await suggested(here.stranger, "TWO") == ["own-two"]
        said = await here.said(here.away_channel, here.stranger, "config model", name="own-tow")
        assert "does not list own-tow. It lists: own-one, own-two." in said
        said = await here.said(here.away_channel, here.stranger, "config model", name="own-two")
        assert "`own-two` answers from now on" in said
        assert "does not list" not in said
        here.theirs.add(Step(text="Two."))
        await here.answer(here.ask(here.away_channel, here.bob, "hello"), contains="Two")
        assert here.theirs.received[-1].body["model"] == "own-two"


async def test_the_operator_may_choose_among_their_own_models(tmp_path: Path) -> None:
    async with town(tmp_path) as here:
        await here.said(here.home_channel, here.operator, "config model", name="small")
        here.operators.add(Step(text="Small."))
        await here.answer(here.ask(here.home_channel, here.alice, "hello"), contains="Small")
        assert here.operators.received[-1].body["model"] == "small"
        assert here.operators.received[-1].headers["Authorization"] == f"Bearer {OPERATORS_KEY}"


async def test_outside_its_channels_it_stays_silent(tmp_path: Path) -> None:
    async with town(tmp_path) as here:
        driver = here.server.driver
        other = here.server.build.channel(here.home, "elsewhere")
        panel = shown(await here.slash(here.home_channel, here.operator, "config channels"))
        assert panel.text.startswith("I answer in every channel")
        driver.choose(here.operator, panel, "setup:channels", [str(here.home_channel.id), "12345"])
        await here.until(lambda: "Elsewhere I stay silent" in panel.text)
        assert list(await here.desk.admission.channels(here.home.id)) == [here.home_channel.id]

        state = await here.said(here.home_channel, here.operator, "config show")
        assert "**Answers in this channel** yes" in state
        state = await here.said(other, here.operator, "config show")
        assert "**Answers in this channel** no: `/config channels` or" in state
        silent = here.ask(other, here.alice, "hello?")
        here.operators.add(Step(text="Here."), Step(text="In a thread."))
        await here.answer(here.ask(here.home_channel, here.alice, "hello"), contains="Here")
        thread = here.server.build.thread(here.home_channel, "aside", owner=here.alice)
        await here.answer(here.ask(thread, here.alice, "hello"), contains="thread")
        assert [m for m in here.server.messages(other) if m is not silent] == []

        driver.press(here.operator, panel, "Answer everywhere")
        await here.until(lambda: panel.text.startswith("I answer in every channel"))
        here.operators.add(Step(text="There."))
        await here.answer(here.ask(other, here.alice, "hello?"), contains="There")


async def test_a_test_says_in_a_sentence_what_came(tmp_path: Path) -> None:
    async with town(tmp_path, away=True) as here:
        said = await here.said(here.away_channel, here.stranger, "config test")
        assert said.startswith("No model serves this server yet")
        assert "VERBATIM" not in said
        await bring_endpoint(here, here.operator)
        here.theirs.add(Step(text="ready"), Step(status=401, body={"error": {"message": "no"}}))
        said = await here.said(here.away_channel, here.stranger, "config test")
        assert said.startswith(f"It works: own-one at {here.theirs.base_url} answered “ready”")
        said = await here.said(here.away_channel, here.stranger, "config test")
        assert "Set the key in /config setup" in said
        assert "VERBATIM" not in said


async def test_the_operators_address_is_not_told_to_those_they_serve(tmp_path: Path) -> None:
    async with town(tmp_path, away=True, approved="all") as here:
        here.operators.add(Step(text="ready"), Step(status=401, body={"error": {"message": "no"}}))
        for _ in range(2):
            said = await here.said(here.away_channel, here.stranger, "config test")
            assert str(here.operators.port) not in said
        shown_to_all = await here.said(here.away_channel, here.stranger, "config show")
        assert str(here.operators.port) not in shown_to_all


async def test_a_reset_asks_first_and_then_forgets_this_server_alone(tmp_path: Path) -> None:
    async with town(tmp_path, away=True) as here:
        await bring_endpoint(here, here.operator)
        await here.desk.personas.set_server(here.away.id, Texts(persona="Pip", rules=""))
        await here.desk.personas.set_server(here.home.id, Texts(persona="Home's", rules=""))
        panel = shown(await here.slash(here.away_channel, here.stranger, "config reset"))
        assert await here.desk.setup.endpoint(here.away.id) is not None
        by_bob = await here.server.driver.answered(
            here.server.driver.press(here.bob, panel, "Reset")
        )
        assert shown(by_bob).text == NOT_ALLOWED
        here.server.driver.press(here.stranger, panel, "Reset")
        await here.until(lambda: panel.text.startswith("Done"))
        assert await here.desk.setup.endpoint(here.away.id) is None
        assert await here.desk.personas.server(here.away.id) == Texts(persona="", rules="")
        assert await here.desk.personas.server(here.home.id) == Texts(persona="Home's", rules="")


async def test_what_was_exported_can_be_imported(tmp_path: Path) -> None:
    async with town(tmp_path, away=True) as here:
        await bring_endpoint(here, here.operator)
        await here.desk.personas.set_server(here.away.id, Texts(persona="Pip", rules="Be kind."))
        await here.desk.admission.limit_channels(here.away.id, [here.away_channel.id])
        exported = shown(await here.slash(here.away_channel, here.stranger, "config export"))
        data = exported.attachments[0].data
        await here.desk.setup.reset(here.away.id)

        file = Upload(filename="verbatim-config.json", data=data)
        said = await here.said(here.away_channel, here.stranger, "config import", file=file)
        assert said.startswith("Nothing was imported")
        assert "Only the bot's operator may set such an address" in said
        assert await here.desk.personas.server(here.away.id) == Texts(persona="", rules="")

        said = await here.said(here.away_channel, here.operator, "config import", file=file)
        assert said.startswith("Imported")
        assert "An endpoint has no key" in said
        assert await here.desk.personas.server(here.away.id) == Texts(
            persona="Pip", rules="Be kind."
        )
        assert list(await here.desk.admission.channels(here.away.id)) == [here.away_channel.id]
        again = shown(await here.slash(here.away_channel, here.stranger, "config export"))
        assert again.attachments[0].data == data


async def test_what_one_server_taught_about_a_url_does_not_hold_for_another(
    tmp_path: Path,
) -> None:
    refusal = {"error": {"message": "this model does not support tools"}}
    async with town(tmp_path, away=True) as here:
        said = await here.submitted(
            here.away_channel,
            here.operator,
            "config setup",
            {"url": here.operators.base_url, "key": THEIR_KEY, "model": "big"},
        )
        assert said.startswith("Saved")
        here.operators.add(Step(status=400, body=refusal), Step(text="Without."))
        await here.answer(here.ask(here.away_channel, here.bob, "hello"), contains="Without")
        here.operators.add(Step(text="With."))
        await here.answer(here.ask(here.home_channel, here.alice, "hello"), contains="With.")
        with_field = ["tools" in request.body for request in here.operators.received]
        assert with_field == [True, False, True]


async def test_a_switch_of_one_server_is_not_anothers(tmp_path: Path) -> None:
    async with town(tmp_path, away=True, approved="all") as here:
        panel = shown(await here.slash(here.away_channel, here.stranger, "config workarounds"))
        here.server.driver.choose(here.stranger, panel, "workarounds:tool_mode", ["off"])
        await here.until(lambda: "`tool_mode` is off" in panel.text)
        here.operators.add(Step(text="One."), Step(text="Two."))
        await here.answer(here.ask(here.away_channel, here.bob, "hello"), contains="One")
        await here.answer(here.ask(here.home_channel, here.alice, "hello"), contains="Two")
        away, home = here.operators.received
        assert "tools" not in away.body
        assert "tools" in home.body


async def test_where_nothing_serves_commands_say_so(tmp_path: Path) -> None:
    async with town(tmp_path, away=True) as here:
        for path in ("config show", "config workarounds", "tool list", "tool prompt snapshot"):
            said = await here.said(here.away_channel, here.stranger, path)
            assert said.startswith("No model serves this server yet"), path


async def test_a_form_asks_for_the_permission_again_when_it_is_submitted(tmp_path: Path) -> None:
    async with town(tmp_path, away=True) as here:
        opened = await here.slash(here.away_channel, here.operator, "config setup")
        here.away.members[here.operator.id].roles.clear()
        sent = here.server.driver.submit(
            here.operator, opened, {"url": here.theirs.base_url, "key": THEIR_KEY}
        )
        assert shown(await here.server.driver.answered(sent)).text == NOT_ALLOWED
        assert await here.desk.setup.endpoint(here.away.id) is None
