"""Application commands and interactions: what may be registered, and what may be answered when."""

import asyncio
from collections.abc import AsyncGenerator
from typing import Any

import pytest
import pytest_asyncio

from tests.loopback.discord_server import Interaction, InteractionState, Upload
from tests.loopback.raw import INVALID, PASSES, Reply, Scene, scene, unthrottled


@pytest_asyncio.fixture
async def place() -> AsyncGenerator[Scene]:
    async with scene() as running:
        yield running


def option(name: str, **changes: Any) -> Any:
    return {"type": 3, "name": name, "description": "d", **changes}


def command(name: str = "ask", **changes: Any) -> Any:
    return {"type": 1, "name": name, "description": "d", **changes}


def group(name: str, *inside: Any) -> Any:
    return {"type": 2, "name": name, "description": "d", "options": inside}


def subcommand() -> Any:
    return {"type": 1, "name": "run", "description": "d"}


def choices(count: int, *, name: int = 1, value: int = 1) -> Any:
    return [{"name": "n" * name, "value": "v" * value} for _ in range(count)]


COMMANDS = {
    "upper case": ([command("Ask")], INVALID),
    "a space": ([command("a b")], INVALID),
    "a dot": ([command("a.b")], INVALID),
    "no name": ([command("")], INVALID),
    "name of 32": ([command("x" * 32)], PASSES),
    "name of 33": ([command("x" * 33)], INVALID),
    "letters of any script": ([command("ü-_'9"), command("日本")], PASSES),
    "description of 101": ([command(description="d" * 101)], INVALID),
    "no description": ([command(description="")], INVALID),
    "25 options": ([command(options=[option(f"o{i}") for i in range(25)])], PASSES),
    "26 options": ([command(options=[option(f"o{i}") for i in range(26)])], INVALID),
    "25 choices": ([command(options=[option("o", choices=choices(25))])], PASSES),
    "26 choices": ([command(options=[option("o", choices=choices(26))])], INVALID),
    "choice name of 101": ([command(options=[option("o", choices=choices(1, name=101))])], INVALID),
    "choice value of 101": (
        [command(options=[option("o", choices=choices(1, value=101))])],
        INVALID,
    ),
    "optional before required": (
        [command(options=[option("a"), option("b", required=True)])],
        INVALID,
    ),
    "choices beside autocomplete": (
        [command(options=[option("a", choices=choices(1), autocomplete=True)])],
        INVALID,
    ),
    "a group of subcommands": ([command(options=[group("a", subcommand())])], PASSES),
    "a group in a group": ([command(options=[group("a", group("b", subcommand()))])], INVALID),
    "text of 6001": ([command(options=[option("a", max_length=6001)])], INVALID),
    "one name twice": ([command(), command()], INVALID),
    "100 commands": ([command(f"c{i}") for i in range(100)], PASSES),
    "101 commands": ([command(f"c{i}") for i in range(101)], (400, 30032)),
    "over 8000 characters": (
        [
            command(
                options=[
                    option(f"o{i}", choices=choices(4, name=100, value=100)) for i in range(11)
                ]
            )
        ],
        INVALID,
    ),
}


@pytest.mark.parametrize(("commands", "expected"), COMMANDS.values(), ids=COMMANDS.keys())
async def test_commands(place: Scene, commands: Any, expected: tuple[int, int | None]) -> None:
    path = f"/applications/{place.server.bot.id}/commands"
    assert (await place.request("PUT", path, commands)).refusal == expected


async def test_commands_that_are_registered_again_keep_their_id(place: Scene) -> None:
    path = f"/applications/{place.server.bot.id}/commands"
    first = (await place.request("PUT", path, [command()])).body[0]
    again = (await place.request("PUT", path, [command(description="new")])).body[0]
    assert (first["id"], "new") == (again["id"], again["description"])
    edited = await place.request("PATCH", f"{path}/{first['id']}", {"description": "newer"})
    assert edited.body["description"] == "newer"
    assert (await place.request("DELETE", f"{path}/{first['id']}")).status == 204
    assert (await place.request("GET", f"{path}/{first['id']}")).refusal == (404, 10063)


ASK = command("ask", options=[option("about", autocomplete=True)])
MODAL: Any = {
    "title": "Settings",
    "custom_id": "settings",
    "components": [
        {"type": 1, "components": [{"type": 4, "custom_id": "name", "style": 1, "label": "Name"}]}
    ],
}


@pytest_asyncio.fixture
async def asked(place: Scene) -> Interaction:
    """A chat command that waits for its answer."""
    await register(place, ASK)
    return place.server.driver.slash(place.channel, place.alice, "ask", {"about": "x"})


async def register(place: Scene, *commands: Any) -> None:
    path = f"/applications/{place.server.bot.id}/commands"
    assert (await place.request("PUT", path, commands)).status == 200


async def answer(
    place: Scene, interaction: Interaction, kind: int, data: Any = None, *, query: str = ""
) -> Reply:
    path = f"/interactions/{interaction.id}/{interaction.token}/callback{query}"
    return await place.request("POST", path, {"type": kind, "data": data or {}})


def webhook(place: Scene, interaction: Interaction, tail: str = "") -> str:
    return f"/webhooks/{place.server.bot.id}/{interaction.token}{tail}"


async def test_an_answer_is_described_only_on_request(place: Scene, asked: Interaction) -> None:
    assert (await answer(place, asked, 5)).status == 204
    again = place.server.driver.slash(place.channel, place.alice, "ask")
    told = await answer(place, again, 4, {"content": "hi"}, query="?with_response=1")
    assert told.body["resource"]["message"]["content"] == "hi"
    assert told.body["interaction"]["response_message_loading"] is False


async def test_a_second_answer_is_refused_and_recorded(place: Scene, asked: Interaction) -> None:
    await answer(place, asked, 5)
    assert place.server.violations() == []
    assert (await answer(place, asked, 4, {"content": "x"})).refusal == (400, 40060)
    assert place.server.violations()[0]["what"] == "interaction acknowledged twice"


async def test_no_answer_in_time_is_a_violation() -> None:
    async with scene(unthrottled(acknowledge=0.05)) as place:
        await register(place, ASK)
        interaction = place.server.driver.slash(place.channel, place.alice, "ask")
        await place.server.driver.acknowledged(interaction)
        assert interaction.state is InteractionState.FAILED
        assert (await answer(place, interaction, 5)).refusal == (404, 10062)
        assert place.server.violations()[0]["what"] == "the application did not respond"


async def test_an_answer_in_time_stops_the_clock() -> None:
    async with scene(unthrottled(acknowledge=0.05)) as place:
        await register(place, ASK)
        interaction = place.server.driver.slash(place.channel, place.alice, "ask")
        await answer(place, interaction, 5)
        await asyncio.sleep(0.1)
        assert interaction.state is InteractionState.ACKNOWLEDGED
        assert place.server.violations() == []


async def test_the_first_follow_up_takes_the_deferred_answers_place(
    place: Scene, asked: Interaction
) -> None:
    await answer(place, asked, 5, {"flags": 64})
    assert asked.original is not None
    assert asked.original.loading
    first = await place.request("POST", webhook(place, asked), {"content": "first"})
    assert (first.body["id"], asked.followups) == (str(asked.original.id), [])
    assert first.body["edited_timestamp"] is None
    second = await place.request("POST", webhook(place, asked), {"content": "second", "flags": 64})
    assert asked.followups[0].id == int(second.body["id"])
    assert asked.followups[0].ephemeral
    assert place.server.messages(place.channel) == []


async def test_answers_can_be_read_changed_and_deleted(place: Scene, asked: Interaction) -> None:
    await answer(place, asked, 4, {"content": "x"})
    original = webhook(place, asked, "/messages/@original")
    assert (await place.request("PATCH", original, {"content": "x" * 2001})).refusal == INVALID
    edited = await place.request("PATCH", original, {"content": "y"})
    assert edited.body["content"] == "y"
    assert edited.body["edited_timestamp"] is not None
    assert (await place.request("GET", original)).body["content"] == "y"
    assert (await place.request("DELETE", original)).status == 204
    assert (await place.request("GET", original)).refusal == (404, 10008)


async def test_a_token_works_after_the_answer_and_not_for_ever(
    place: Scene, asked: Interaction
) -> None:
    path = webhook(place, asked)
    assert (await place.request("POST", path, {"content": "x"})).refusal == (404, 10015)
    await answer(place, asked, 5)
    place.server.limits.interaction_token = 0.0
    assert (await place.request("POST", path, {"content": "x"})).refusal == (401, 50027)
    assert place.server.violations()[0]["what"] == "interaction token expired"


async def test_answers_that_ping_name_users_only(place: Scene, asked: Interaction) -> None:
    role = place.server.build.role(place.guild, "mods")
    await answer(place, asked, 4, {"content": f"{place.alice.mention} <@&{role.id}>"})
    assert asked.original is not None
    assert asked.original.pings.users == {place.alice.id}
    assert place.server.violations() == []


@pytest.mark.parametrize(
    "changes",
    [
        {"title": "t" * 46},
        {"title": ""},
        {"custom_id": "c" * 101},
        {"components": []},
        {"components": [{"type": 10, "content": "x"} for _ in range(6)]},
    ],
)
async def test_modals(place: Scene, asked: Interaction, changes: Any) -> None:
    assert (await answer(place, asked, 9, {**MODAL, **changes})).refusal == INVALID
    assert asked.state is InteractionState.PENDING
    assert (await answer(place, asked, 9, MODAL)).status == 204


@pytest.mark.parametrize(
    ("label", "field"),
    [({"label": 46}, {}), ({"description": 101}, {}), ({}, {"placeholder": 101})],
)
async def test_words_around_a_field_have_their_limits(
    place: Scene, asked: Interaction, label: dict[str, int], field: dict[str, int]
) -> None:
    def modal(more: int) -> dict[str, Any]:
        texts = {key: "x" * (most - 1 + more) for key, most in field.items()}
        inside = {"type": 4, "style": 1, "custom_id": "f", **texts}
        texts = {key: "x" * (most - 1 + more) for key, most in label.items()}
        return {**MODAL, "components": [{"type": 18, "label": "L", "component": inside, **texts}]}

    assert (await answer(place, asked, 9, modal(1))).refusal == INVALID
    assert (await answer(place, asked, 9, modal(0))).status == 204


async def test_a_submitted_modal_cannot_open_another(place: Scene, asked: Interaction) -> None:
    driver = place.server.driver
    await answer(place, asked, 9, MODAL)
    with pytest.raises(ValueError, match="takes 1 to 4000"):
        driver.submit(place.alice, asked, {"Name": "x" * 4001})
    with pytest.raises(ValueError, match="no such fields"):
        driver.submit(place.alice, asked, {"Nmae": "x"})
    submitted = driver.submit(place.alice, asked, {"Name": "x"})
    assert submitted.data["components"][0]["components"][0]["value"] == "x"
    assert (await answer(place, submitted, 9, MODAL)).refusal == INVALID
    assert (await answer(place, submitted, 4, {"content": "saved"})).status == 204


async def test_autocomplete_takes_choices_and_nothing_else(place: Scene) -> None:
    await register(place, ASK)
    typing = place.server.driver.autocomplete(place.channel, place.alice, "ask", "about", "x")
    assert typing.data["options"][0]["focused"] is True
    assert (await answer(place, typing, 5)).refusal == INVALID
    assert (await answer(place, typing, 8, {"choices": choices(26)})).refusal == INVALID
    assert (await answer(place, typing, 8, {"choices": choices(1, name=101)})).refusal == INVALID
    assert (await answer(place, typing, 8, {"choices": choices(25)})).status == 204
    assert len(typing.choices) == 25


async def test_members_use_only_what_they_see(place: Scene) -> None:
    driver, channel, alice = place.server.driver, place.channel, place.alice
    limited = option("size", type=4, min_value=1, max_value=3)
    picked = option("kind", choices=[{"name": "One", "value": "1"}])
    await register(place, command("make", options=[option("name", required=True), limited, picked]))
    with pytest.raises(LookupError, match="only \\['make'\\]"):
        driver.slash(channel, alice, "ask")
    for values, complaint in (
        ({}, "'name' is required"),
        ({"name": "x", "age": 1}, "no such options"),
        ({"name": "x", "size": 4}, "takes 1 to 3"),
        ({"name": "x", "kind": "2"}, "takes one of"),
        ({"name": "x" * 6001}, "6000"),
    ):
        with pytest.raises(ValueError, match=complaint):
            driver.slash(channel, alice, "make", values)


async def test_what_members_pick_is_resolved(place: Scene) -> None:
    build, driver = place.server.build, place.server.driver
    role = build.role(place.guild, "mods")
    options = [
        option("who", type=6),
        option("where", type=7),
        option("role", type=8),
        option("file", type=11),
    ]
    await register(place, command("pick", options=options))
    upload = Upload(filename="a.txt", data=b"abc")
    values = {"who": place.alice, "where": place.channel, "role": role, "file": upload}
    resolved = driver.slash(place.channel, place.alice, "pick", values).data["resolved"]
    assert set(resolved) == {"users", "members", "channels", "roles", "attachments"}
    attachment = next(iter(resolved["attachments"].values()))
    async with place.http.get(attachment["url"]) as response:
        assert await response.read() == b"abc"


async def test_a_command_is_run_on_a_message(place: Scene) -> None:
    await register(place, {"type": 3, "name": "Quote it"})
    message = place.server.driver.say(place.channel, place.alice, "wise words")
    used = place.server.driver.use_on(place.alice, message, "Quote it")
    target = used.data["target_id"]
    assert used.data["resolved"]["messages"][target]["content"] == "wise words"
    with pytest.raises(LookupError, match="of kind CHAT"):
        place.server.driver.slash(place.channel, place.alice, "quote")


async def test_components_are_used_by_label_or_custom_id(place: Scene) -> None:
    driver = place.server.driver
    listed = [{"label": "One", "value": "1"}, {"label": "Two", "value": "2"}]
    rows = [
        {"type": 1, "components": [{"type": 2, "style": 1, "label": "Stop", "custom_id": "stop"}]},
        {"type": 1, "components": [{"type": 3, "custom_id": "pick", "options": listed}]},
    ]
    await place.post(content="x", components=rows)
    message = place.server.messages(place.channel)[0]
    pressed = driver.press(place.alice, message, "Stop")
    assert (await answer(place, pressed, 7, {"content": "stopped"})).status == 204
    assert message.text == "stopped"
    assert driver.choose(place.alice, message, "pick", ["2"]).data["values"] == ["2"]
    with pytest.raises(ValueError, match="offers"):
        driver.choose(place.alice, message, "pick", ["3"])
    with pytest.raises(ValueError, match="takes 1 to 1"):
        driver.choose(place.alice, message, "pick", ["1", "2"])
    with pytest.raises(LookupError, match="no component 'Go'"):
        driver.press(place.alice, message, "Go")
