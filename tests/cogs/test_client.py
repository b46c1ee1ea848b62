import asyncio
import logging
import signal
import socket
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import pytest

from chat.desk import Desk
from chat.ending import RESTARTING
from cogs.client import run_bot
from tests.cogs.conftest import CADENCE, Scene
from tests.cogs.scripted import MemoryMeta, ScriptedService, Stage
from tests.loopback.discord_server import (
    PRIVILEGED_INTENTS,
    Intent,
    LoopbackDiscord,
    Status,
)
from tests.loopback.discord_server.pointing import pointed_at


async def run(token: str, service: ScriptedService, meta: MemoryMeta, desk: Desk) -> int:
    return await run_bot(service, meta, desk, token=token, cadence=CADENCE, guild_ready_timeout=0.1)


@asynccontextmanager
async def running(scene: Scene) -> AsyncGenerator[asyncio.Task[int]]:
    """The bot as bot.py runs it; stopped by a signal if the test did not."""
    position = len(scene.server.journal)
    task = asyncio.create_task(run(scene.server.token, scene.service, scene.meta, scene.desk))
    await scene.server.wait_for(lambda record: record.kind == "identify", since=position)
    await asyncio.sleep(0.4)
    yield task
    if not task.done():
        signal.raise_signal(signal.SIGTERM)
        await task


def only_line(caplog: pytest.LogCaptureFixture) -> str:
    """The one thing that the operator reads, without a traceback."""
    (record,) = [r for r in caplog.records if r.levelno >= logging.WARNING]
    assert record.exc_info is None
    return record.getMessage()


async def test_an_invalid_token_ends_with_one_line(
    quiet_scene: Scene, caplog: pytest.LogCaptureFixture
) -> None:
    assert await run("wrong", quiet_scene.service, quiet_scene.meta, quiet_scene.desk) == 1
    assert "DISCORD_TOKEN" in only_line(caplog)
    assert "wrong" not in caplog.text


async def test_no_network_ends_with_one_line(caplog: pytest.LogCaptureFixture, desk: Desk) -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    server = LoopbackDiscord(port=port)
    with pointed_at(server):
        assert await run("token", ScriptedService(), MemoryMeta(), desk) == 1
    assert "Discord cannot be reached" in only_line(caplog)
    assert "network" in only_line(caplog)


async def test_discords_own_trouble_ends_with_one_line(
    quiet_scene: Scene, caplog: pytest.LogCaptureFixture
) -> None:
    quiet_scene.server.faults.plant("/users/@me", Status(status=503))
    assert (
        await run(quiet_scene.server.token, quiet_scene.service, quiet_scene.meta, quiet_scene.desk)
        == 1
    )
    assert "Wait a few minutes" in only_line(caplog)


async def test_without_the_content_intent_it_runs_on_and_says_what_is_lost(
    caplog: pytest.LogCaptureFixture, desk: Desk
) -> None:
    granted = PRIVILEGED_INTENTS & ~Intent.MESSAGE_CONTENT
    async with LoopbackDiscord(granted_intents=granted) as server:
        guild = server.build.guild()
        alice = server.build.user("alice", guild)
        scene = Scene(
            server=server,
            service=ScriptedService(),
            meta=MemoryMeta(),
            desk=desk,
            guild=guild,
            channel=server.build.channel(guild, "general"),
            alice=alice,
            bob=alice,
        )
        with pointed_at(server):
            async with running(scene):
                scene.ask("do you hear me?")
                await scene.turns_done()
                server.driver.say(scene.channel, alice, "and now?", reply_to=scene.answers()[0])
                await scene.turns_done(2)
                shown = await scene.slash("config show")
                assert shown.original is not None
                assert "not granted" in shown.original.text
        assert scene.service.stages[0].request.message.text == "do you hear me?"
        assert server.violations() == []
    line = only_line(caplog)
    assert "Message Content Intent" in line
    assert "I read only direct messages, messages that mention me" in line


async def test_commands_are_registered_once_and_again_only_when_they_change(
    quiet_scene: Scene,
) -> None:
    scene = quiet_scene
    scene.server.limits.identify_window = 0.0
    for _ in range(2):
        async with running(scene):
            pass
    assert len(scene.server.journal.of("commands")) == 1
    (key,) = scene.meta.values
    scene.meta.values[key] = "what an older version registered"
    async with running(scene):
        pass
    assert len(scene.server.journal.of("commands")) == 2
    writes = [r for r in scene.server.journal.of("rest") if "/commands" in r["path"]]
    assert {record["method"] for record in writes} == {"PUT"}


async def test_a_failing_registration_does_not_keep_the_bot_from_answering(
    quiet_scene: Scene, caplog: pytest.LogCaptureFixture
) -> None:
    quiet_scene.server.faults.plant("/commands", Status(status=403, code=50001), method="PUT")
    async with running(quiet_scene):
        quiet_scene.ask("hello")
        await quiet_scene.turns_done()
    assert quiet_scene.meta.values == {}
    assert "could not be registered" in only_line(caplog)


async def test_a_bot_that_is_nowhere_logs_its_invitation(
    caplog: pytest.LogCaptureFixture, desk: Desk
) -> None:
    async with LoopbackDiscord() as server:
        with pointed_at(server):
            task = asyncio.create_task(run(server.token, ScriptedService(), MemoryMeta(), desk))
            async with asyncio.timeout(5):
                while "Invite it" not in caplog.text:
                    await asyncio.sleep(0.05)
            signal.raise_signal(signal.SIGINT)
            assert await task == 0
    line = only_line(caplog)
    assert f"client_id={server.bot.id}" in line
    # View Channel, Send Messages, in threads too, Read Message History, Add Reactions
    assert f"permissions={1 << 10 | 1 << 11 | 1 << 38 | 1 << 16 | 1 << 6 | 1 << 15}" in line
    assert "applications.commands" in line


async def test_a_signal_lets_a_reply_end_and_turns_new_questions_away(quiet_scene: Scene) -> None:
    async def script(stage: Stage) -> None:
        await stage.stream("one two three four", seconds=1.5)

    quiet_scene.service.script = script
    async with running(quiet_scene) as task:
        quiet_scene.ask("count")
        await quiet_scene.server.wait_for_message(quiet_scene.channel, lambda _: True)
        signal.raise_signal(signal.SIGTERM)
        quiet_scene.ask("too late")
        assert await task == 0
    assert [answer.text for answer in quiet_scene.answers()] == [
        "one two three four",
        f"-# {RESTARTING}",
    ]


async def test_a_signal_marks_a_reply_that_takes_too_long(
    quiet_scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cogs.client._PATIENCE", 0.5)

    async def script(stage: Stage) -> None:
        stage.say("This takes")
        await asyncio.sleep(60)

    quiet_scene.service.script = script
    async with running(quiet_scene) as task:
        quiet_scene.ask("count")
        await quiet_scene.server.wait_for_message(quiet_scene.channel, lambda _: True)
        signal.raise_signal(signal.SIGTERM)
        async with asyncio.timeout(3):
            assert await task == 0
    assert quiet_scene.service.cancelled == 1
    (answer,) = quiet_scene.answers()
    assert answer.text == "This takes\n-# Stopped."


async def test_members_words_are_in_no_log_at_any_level(
    quiet_scene: Scene, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    async with running(quiet_scene):
        quiet_scene.ask("my secret garden")
        await quiet_scene.turns_done()
    assert caplog.text
    assert "garden" not in caplog.text
    assert "Hello." not in caplog.text
    assert quiet_scene.server.token not in caplog.text


async def test_an_outage_is_logged_without_a_traceback_while_it_tries_again(
    caplog: pytest.LogCaptureFixture, desk: Desk
) -> None:
    async with LoopbackDiscord() as server:
        with pointed_at(server):
            task = asyncio.create_task(run(server.token, ScriptedService(), MemoryMeta(), desk))
            await server.wait_for(lambda record: record.kind == "identify")
            await server.stop()
            async with asyncio.timeout(5):
                while "Attempting a reconnect" not in caplog.text:
                    await asyncio.sleep(0.05)
            assert not task.done()
            signal.raise_signal(signal.SIGTERM)
            assert await task == 0
    assert "ClientConnectorError" in caplog.text
    assert all(record.exc_info is None for record in caplog.records)
