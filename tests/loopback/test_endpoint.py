import asyncio
import json
import signal
import sys
from pathlib import Path
from typing import Any

import aiohttp
import pytest

from tests.loopback.endpoint import LoopbackEndpoint, Step

ASKED: dict[str, Any] = {"messages": [{"role": "user", "content": "hi"}], "stream": True}


async def ask(base_url: str) -> str:
    async with (
        aiohttp.ClientSession() as session,
        session.post(f"{base_url}/chat/completions", json=ASKED) as response,
    ):
        return await response.text()


async def test_a_script_that_is_kept_passes() -> None:
    async with LoopbackEndpoint([Step(when="hi", expects=['"user"'], text="Hello.")]) as endpoint:
        body = await ask(endpoint.base_url)
    assert (
        "".join(
            json.loads(line[6:])["choices"][0]["delta"].get("content") or ""
            for line in body.split("\n")
            if line.startswith("data: {")
        )
        == "Hello."
    )
    assert body.endswith("data: [DONE]\n\n")
    assert endpoint.received[0].body == ASKED


@pytest.mark.parametrize(
    ("steps", "asked", "problem"),
    [
        ([Step(text="a")], 0, "not asked for"),
        ([Step(text="a")], 2, "no step"),
        ([Step(when="bye")], 1, "no step"),
        ([Step(expects=["roll_dice"])], 1, "roll_dice"),
    ],
)
async def test_a_script_that_is_left_fails(steps: list[Step], asked: int, problem: str) -> None:
    endpoint = LoopbackEndpoint(steps)
    await endpoint.start()
    for _ in range(asked):
        await ask(endpoint.base_url)
    await endpoint.stop()
    with pytest.raises(AssertionError, match=problem):
        endpoint.check()


@pytest.mark.parametrize(("asked", "status"), [(1, 0), (0, 1)])
async def test_a_script_in_a_process_of_its_own(tmp_path: Path, asked: int, status: int) -> None:
    script = tmp_path / "script.json"
    script.write_text(json.dumps([{"text": "Hello.", "split": 2}]))
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "tests.loopback.endpoint", "--script", str(script)),
        stdout=asyncio.subprocess.PIPE,
        cwd=Path(__file__).parents[2],
    )
    assert process.stdout is not None
    address = json.loads(await process.stdout.readline())
    for _ in range(asked):
        assert "He" in await ask(address["base_url"])
    process.send_signal(signal.SIGTERM)
    rest = await process.stdout.read()
    assert await process.wait() == status
    assert bool(rest) is bool(status)
