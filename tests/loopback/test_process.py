"""Programs in child processes: pointed at the loopback server from outside, and always ended."""

import asyncio
import json
import os
from pathlib import Path

import aiohttp
import pytest

from tests.loopback.discord_server import LoopbackDiscord
from tests.loopback.process import SHIM, BotProcess, PythonProcess

GREETER = Path(__file__).parent / "greeter.py"
STUBBORN = "import signal, time; signal.signal(signal.SIGTERM, signal.SIG_IGN); print('on')"


async def test_an_unmodified_program_answers_on_the_loopback_server() -> None:
    async with LoopbackDiscord() as server, BotProcess(server, program=GREETER) as bot:
        guild = server.build.guild()
        channel = server.build.channel(guild, "general")
        alice = server.build.user("alice", guild)
        await bot.start()
        await server.wait_for(lambda record: record.kind == "identify")
        asked = server.driver.say(channel, alice, f"{server.bot.mention} hi")
        answer = await server.wait_for_message(channel, lambda m: m.text == "hello alice")
        assert answer.reply_to is asked
        assert answer.pings.users == {alice.id}
        assert server.violations() == []
        await bot.stop()
        assert bot.returncode is not None


@pytest.mark.parametrize("address", ["http://192.0.2.1:80", "https://discord.com", "127.0.0.1"])
async def test_the_shim_refuses_any_address_but_loopback(address: str) -> None:
    async with PythonProcess("-c", "import discord; print('imported')") as program:
        await program.start((), {"PYTHONPATH": str(SHIM), "LOOPBACK_DISCORD": address})
        assert await program.wait() == 1
        assert "must be a loopback address" in program.output
        assert "imported" not in program.output


async def test_the_shim_changes_nothing_without_its_variable() -> None:
    source = "import discord.http, sys; print(discord.http.Route.BASE, len(sys.meta_path))"
    async with PythonProcess("-c", source) as plain, PythonProcess("-c", source) as with_shim:
        await plain.start()
        await with_shim.start((), {"PYTHONPATH": str(SHIM)})
        assert (await plain.wait(), await with_shim.wait()) == (0, 0)
        assert plain.output == with_shim.output


async def test_a_process_that_ignores_the_request_to_end_is_killed() -> None:
    async with PythonProcess("-c", f"{STUBBORN}; time.sleep(60)", grace=0.2) as program:
        await program.start()
        await program.wait_for_output("^on$")
    with pytest.raises(ProcessLookupError):
        os.kill(program.pid, 0)
    assert program.returncode == -9


async def test_a_failing_test_leaves_no_process_behind() -> None:
    program = PythonProcess("-c", "import time; time.sleep(60)")

    async def failing_test() -> None:
        async with program:
            await program.start()
            raise AssertionError("made to fail")

    with pytest.raises(AssertionError, match="made to fail"):
        await failing_test()
    assert program.returncode == -15


async def test_waiting_for_output_fails_as_soon_as_the_process_has_ended() -> None:
    async with PythonProcess("-c", "print('the last words')") as program:
        await program.start()
        with pytest.raises(AssertionError, match=r"ended with 0(.|\n)*the last words"):
            await program.wait_for_output("never")


async def test_the_environment_is_not_inherited(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISCORD_TOKEN", "the real one")
    async with PythonProcess("-c", "import os; print(os.environ)") as program:
        await program.start((), {"MARK": "given"})
        await program.wait()
        assert "given" in program.output
        assert "the real one" not in program.output


async def test_the_server_runs_as_a_process_and_is_steered_over_http() -> None:
    async with PythonProcess("-m", "tests.loopback.discord_server") as process:
        await process.start(("--port", "0"))
        ids = json.loads((await process.wait_for_output(r"^\{.*\}$")).group())
        async with aiohttp.ClientSession(f"http://127.0.0.1:{ids['port']}") as http:

            async def control(action: str, **description: object) -> aiohttp.ClientResponse:
                return await http.post(f"/_control/{action}", json=description)

            place = {"channel": ids["channel"], "user": ids["alice"]}
            said = await (await control("say", **place, text="one")).json()
            await control("edit", message=said["id"], text="two")
            versions = await (await control("versions", message=said["id"])).json()
            assert [version["text"] for version in versions] == ["one", "two"]
            token = {"Authorization": f"Bot {ids['token']}"}
            sent = await http.post(
                f"/api/v10/channels/{ids['channel']}/messages", json={"content": "x"}, headers=token
            )
            assert sent.status == 200
            waited = await control("wait", kind="message", fields={"author": ids["bot"]})
            assert (await waited.json())["content"] == "x"
            await control("fault", effect="status", route="/messages", status=503)
            faulty = await http.get(f"/api/v10/channels/{ids['channel']}/messages", headers=token)
            assert faulty.status == 503
            assert (await control("slash", **place, path="ask")).status == 422
            assert (await control("unheard_of")).status == 404
    assert process.returncode == 0


async def test_stopping_twice_or_before_the_start_does_nothing() -> None:
    async with PythonProcess("-c", "pass") as program:
        await program.stop()
        await program.start()
        await asyncio.gather(program.wait(), program.stop())
        await program.stop()
