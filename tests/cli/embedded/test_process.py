"""The endpoint's life: a real child process around a stand-in for the optional extra."""

import asyncio
import json
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path
from urllib.parse import urlsplit

import pytest

from cli.embedded.children import REPOSITORY
from cli.embedded.errors import EmbeddedError
from cli.embedded.gguf import LocalModel
from cli.embedded.process import EmbeddedEndpoint
from prompt.values import JsonObject

pytestmark = pytest.mark.skipif(os.name == "nt", reason="the stand-in uses POSIX signals")


@pytest.fixture(autouse=True)
def stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTHONPATH", str(Path(__file__).parent / "stand_in"))


def model(tmp_path: Path, name: str, *, plain: bool = True) -> LocalModel:
    return LocalModel(path=tmp_path / f"{name}.gguf", name=name, plain_template=plain)


def listens(url: str) -> bool:
    address = urlsplit(url)
    assert address.hostname == "127.0.0.1"
    assert address.port is not None
    try:
        with socket.create_connection((address.hostname, address.port), timeout=1):
            return True
    except ConnectionResetError:
        return True  # closing at this very moment: not gone before it refuses
    except ConnectionRefusedError:
        return False


def report(home: Path) -> JsonObject:
    """What the stand-in says about its start."""
    log = (home / "logs" / "embedded.log").read_text()
    found: JsonObject = json.loads(next(line for line in log.splitlines() if line[0] == "{"))
    return found


async def test_it_serves_while_entered(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DISCORD_TOKEN", "secret")
    endpoint = EmbeddedEndpoint(home, model(tmp_path, "good"))
    async with endpoint:
        assert endpoint.base_url.endswith("/v1")
        assert endpoint.model == "good"
        assert endpoint.pid is not None
        assert listens(endpoint.base_url)
    assert endpoint.pid is None
    assert not listens(endpoint.base_url)
    said = report(home)
    params = said["params"]
    assert params["model"] == {"path": str(tmp_path / "good.gguf")}
    assert params["model_alias"] == ["good"]
    assert (params["n_ctx"], params["n_parallel"], params["cache_ram_mib"]) == (8192, 1, 1024)
    assert params["cpuparams"] == params["cpuparams_batch"]
    assert params["cpuparams"]["n_threads"] >= 1
    assert "<|im_start|>" in params["chat_template"]
    assert "tools" not in params["chat_template"]
    assert said["spin"] == ["passive", "0"]
    assert "DISCORD_TOKEN" not in said["environment"]


async def test_an_own_model_keeps_its_template(tmp_path: Path, home: Path) -> None:
    async with EmbeddedEndpoint(home, model(tmp_path, "mine", plain=False)):
        assert "chat_template" not in report(home)["params"]


async def test_a_failing_start_is_explained(tmp_path: Path, home: Path) -> None:
    with pytest.raises(EmbeddedError) as caught:
        async with EmbeddedEndpoint(home, model(tmp_path, "crash")):
            pass
    told = str(caught.value)
    for word in ("exit code 1", "no server today", str(home), "VERBATIM_BASE_URL"):
        assert word in told


async def test_the_log_of_the_start_before_is_kept(tmp_path: Path, home: Path) -> None:
    for name in ("crash", "good"):
        try:
            async with EmbeddedEndpoint(home, model(tmp_path, name)):
                pass
        except EmbeddedError:
            pass
    assert "no server today" in (home / "logs" / "embedded.previous.log").read_text()
    assert "no server today" not in (home / "logs" / "embedded.log").read_text()


async def test_a_start_that_hangs_is_given_up(tmp_path: Path, home: Path) -> None:
    endpoint = EmbeddedEndpoint(home, model(tmp_path, "hang"), start_timeout=2.0, stop_timeout=0.3)
    with pytest.raises(EmbeddedError, match="not get ready within 2 s"):
        await endpoint.__aenter__()
    assert endpoint.pid is None
    assert not listens(report(home)["address"])


async def test_a_cancelled_start_leaves_no_process(tmp_path: Path, home: Path) -> None:
    endpoint = EmbeddedEndpoint(home, model(tmp_path, "hang"), stop_timeout=0.3)
    starting = asyncio.create_task(endpoint.__aenter__())
    log = home / "logs" / "embedded.log"
    async with asyncio.timeout(10):
        while not log.exists() or "address" not in log.read_text():
            await asyncio.sleep(0.05)
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting
    assert endpoint.pid is None
    assert not listens(report(home)["address"])


async def test_a_server_that_will_not_end_is_killed(tmp_path: Path, home: Path) -> None:
    endpoint = EmbeddedEndpoint(home, model(tmp_path, "stubborn"), stop_timeout=0.3)
    async with endpoint:
        pass
    assert endpoint.pid is None
    assert not listens(endpoint.base_url)


def test_the_server_ends_with_its_parent(tmp_path: Path, home: Path) -> None:
    program = f"""
import asyncio
from pathlib import Path
from cli.embedded.gguf import LocalModel
from cli.embedded.process import EmbeddedEndpoint

async def main():
    model = LocalModel(path=Path({str(tmp_path)!r}, "good.gguf"), name="good", plain_template=True)
    async with EmbeddedEndpoint(Path({str(home)!r}), model) as endpoint:
        print(endpoint.base_url, flush=True)
        await asyncio.sleep(60)

asyncio.run(main())
"""
    with subprocess.Popen(
        [sys.executable, "-c", program], stdout=subprocess.PIPE, text=True, cwd=REPOSITORY
    ) as parent:
        assert parent.stdout is not None
        url = parent.stdout.readline().strip()
        assert listens(url)
        parent.send_signal(signal.SIGKILL)
    deadline = time.monotonic() + 5
    while listens(url):
        assert time.monotonic() < deadline, "the server outlived its parent"
        time.sleep(0.05)
