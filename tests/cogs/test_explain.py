"""Explaining a reply from its menu, over real sockets."""

import json
from pathlib import Path

from cogs.explain import NAME
from cogs.tree import NOT_ALLOWED
from tests.cli.test_parse import main
from tests.cogs.town import OPERATORS_KEY, Town, shown, town
from tests.loopback.discord_server import Message, Permission, User
from tests.loopback.endpoint import Step

CALL = 'roll_dice({"dice":"2d6"})'
UNKNOWN = "I know nothing about that message"


async def explained(here: Town, user: User, message: Message) -> Message:
    used = here.server.driver.use_on(user, message, NAME)
    return shown(await here.server.driver.answered(used))


async def reply(here: Town, text: str, *steps: Step) -> Message:
    """Ask in the operator's server, and wait for the finished answer, which ends in a full stop."""
    here.operators.add(*steps)
    asked = here.ask(here.home_channel, here.alice, text)
    return await here.server.wait_for_message(
        here.home_channel, lambda m: m.reply_to is asked and "Done." in m.text
    )


async def test_an_admin_gets_an_account_and_a_file_that_replays(tmp_path: Path) -> None:
    async with town(tmp_path) as here:
        answer = await reply(
            here, "Roll!", Step(text=f"Rolling.\n{CALL}"), Step(text=f"{OPERATORS_KEY}! Done.")
        )
        told = await explained(here, here.operator, answer)
        assert '- call `roll_dice` `{"dice":"2d6"}` (text). Rule: `name(...)`' in told.text
        assert "**Answer 2 of 2**: finish reason stop" in told.text
        assert "Replay the file" in told.text
        (file,) = told.attachments
        assert file.name == "replay.jsonl"
        assert OPERATORS_KEY.encode() not in file.data
        first, second = main(file.data, "--batch")
        assert [event["type"] for event in first["events"]] == ["text", "call", "finish"]
        assert second["events"][0]["text"] == "[redacted]! Done."


async def test_a_long_account_comes_as_a_file(tmp_path: Path) -> None:
    async with town(tmp_path) as here:
        calls = "\n".join(f'roll_dice({{"dice":"{n}d6"}})' for n in range(1, 41))
        answer = await reply(here, "Roll!", Step(text=calls, split=500), Step(text="Done."))
        told = await explained(here, here.operator, answer)
        assert len(told.text) <= 2000
        replay, whole = told.attachments
        assert (replay.name, whole.name) == ("replay.jsonl", "explanation.txt")
        assert whole.data.count(b"- call `roll_dice`") == 40


async def test_whoever_may_not_manage_the_server_learns_nothing(tmp_path: Path) -> None:
    async with town(tmp_path) as here:
        answer = await reply(here, "Hi", Step(text="Done."))
        told = await explained(here, here.alice, answer)
        assert (told.text, told.attachments) == (NOT_ALLOWED, [])


async def test_a_manager_who_cannot_read_the_channel_learns_nothing(tmp_path: Path) -> None:
    async with town(tmp_path) as here:
        build = here.server.build
        managers = build.role(here.home, "managers", permissions=Permission.MANAGE_GUILD)
        here.home.members[here.alice.id].roles.append(managers.id)
        answer = await reply(here, "Hi", Step(text="Done."))
        assert "Answer 1 of 1" in (await explained(here, here.alice, answer)).text
        build.overwrite(here.home_channel, here.alice, deny=Permission.READ_MESSAGE_HISTORY)
        told = await explained(here, here.alice, answer)
        assert (told.text, told.attachments) == ("You cannot read this channel.", [])


async def test_messages_that_are_no_answers_are_unknown(tmp_path: Path) -> None:
    async with town(tmp_path) as here:
        said = here.server.driver.say(here.home_channel, here.alice, "just words")
        told = await explained(here, here.operator, said)
        assert told.text.startswith(UNKNOWN)
        assert told.attachments == []


async def test_a_servers_own_key_is_blotted_out(tmp_path: Path) -> None:
    key = "their-secret-key-5678"
    async with town(tmp_path, away=True) as here:
        await here.submitted(
            here.away_channel,
            here.operator,
            "config setup",
            {"url": here.theirs.base_url, "key": key, "model": ""},
        )
        here.theirs.add(Step(text=f"Your key is {key}. Done."))
        asked = here.ask(here.away_channel, here.bob, "hello")
        answer = await here.server.wait_for_message(
            here.away_channel, lambda m: m.reply_to is asked and "Done." in m.text
        )
        told = await explained(here, here.stranger, answer)
        (file,) = told.attachments
        (line,) = [json.loads(line) for line in file.data.decode().splitlines()]
        (read,) = main(json.dumps(line), "--batch")
        assert read["events"][0]["text"] == "Your key is [redacted]. Done."
