"""Keys and tokens: in no log, reply, panel, snapshot, export or database, whatever goes wrong."""

import logging
from collections.abc import Iterator
from pathlib import Path

import pytest

from cli.logs import log_to
from data.store import DATABASE_NAME
from tests.attack.walking import commands, options_for
from tests.cogs.town import OPERATORS_KEY, Town, town
from tests.loopback.discord_server import Interaction, Message
from tests.loopback.endpoint import Step

THEIR_KEY = "sk-their-own-canary-5521"
WORDS = "whisper4471"
"""Said by members."""


@pytest.fixture(autouse=True)
def logged(tmp_path: Path) -> Iterator[None]:
    """The log as the bot writes it, at its most talkative."""
    root = logging.getLogger()
    before, level = list(root.handlers), root.level
    log_to(tmp_path, "debug", chatting=True)
    yield
    for handler in [each for each in root.handlers if each not in before]:
        root.removeHandler(handler)
        handler.close()
    root.setLevel(level)


def shown_in(here: Town) -> Iterator[str]:
    """All that ever stood in a channel."""
    for channel in (here.home_channel, here.away_channel, here.operators_mail):
        for message in here.server.messages(channel):
            if message.author is here.server.bot:
                yield from (version.text for version in message.versions)
                yield from contents(message)


def contents(message: Message) -> Iterator[str]:
    yield f"{message.text} {message.embeds} {message.components}"
    yield from (file.data.decode("utf-8", "replace") for file in message.attachments)


def came_of(used: Interaction) -> Iterator[str]:
    for message in (used.original, *used.followups):
        if message is not None:
            yield from contents(message)
    yield f"{used.modal} {used.choices}"


async def test_no_key_leaves_by_any_way(tmp_path: Path) -> None:
    """The endpoint is hostile too: it repeats the key that it was sent, in errors and answers."""
    async with town(tmp_path, away=True, approved="all") as here:
        secrets = (OPERATORS_KEY, THEIR_KEY, here.server.token)
        here.theirs.add(
            Step(status=401, body={"error": {"message": f"bad key {THEIR_KEY}"}}),
            Step(status=500, body=f"<html>Authorization: Bearer {THEIR_KEY}</html>"),
        )
        here.operators.add(
            Step(status=400, body={"error": {"message": f"key {OPERATORS_KEY} is blocked"}}),
        )
        await here.submitted(
            here.away_channel,
            here.operator,
            "config setup",
            {"url": here.theirs.base_url, "key": THEIR_KEY, "model": "own-one"},
        )
        for channel, member, said in (
            (here.away_channel, here.bob, "not accept"),
            (here.away_channel, here.bob, "reported an error"),
            (here.home_channel, here.alice, "-#"),
        ):
            await here.answer(here.ask(channel, member, f"hello {WORDS}"), contains=said)
        await here.until(lambda: len(here.operators.received) > 0)
        assert here.theirs.received[0].headers["Authorization"] == f"Bearer {THEIR_KEY}"
        driver, told = here.server.driver, list[str]()
        for path, declared in commands(here.server.world.commands_in(here.away)):
            values = options_for(declared, here, optional=False)
            used = await driver.acknowledged(
                driver.slash(here.away_channel, here.operator, path, values)
            )
            if used.modal is None:
                await driver.answered(used)
            told += came_of(used)
        for reply in here.server.messages(here.away_channel):
            if reply.author is here.server.bot:
                used = driver.use_on(here.operator, reply, "Explain this reply")
                told += came_of(await driver.answered(used))
        told += shown_in(here)
        # Some commands ask the endpoints, which know no answer here.
        here.operators.problems.clear()
        here.theirs.problems.clear()
    log = [
        line
        for line in (tmp_path / "logs" / "verbatim.log").read_text(encoding="utf-8").splitlines()
        # The bot keeps the library at INFO at least; see cogs/client.py.
        if " DEBUG   discord." not in line
    ]
    assert any("own-one" in line or "endpoint" in line for line in log)
    assert [line for line in log if WORDS in line] == []
    kept = b"".join(path.read_bytes() for path in tmp_path.glob(f"{DATABASE_NAME}*"))
    for secret in secrets:
        assert [text for text in told if secret in text] == []
        assert [line for line in log if secret in line] == []
        assert secret.encode() not in kept
