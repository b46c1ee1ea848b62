import argparse
import asyncio
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from cli import probe
from tests.loopback.cast import BY_NAME
from tests.loopback.personalities import PersonalEndpoint, Personality, serving
from tests.loopback.personality_rules import openai_shape, refuses

ROOT = Path(__file__).parents[2]
KEY = "sk-not-to-be-printed"


def arguments(*given: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    probe.add_arguments(parser)
    return parser.parse_args(given)


async def run(endpoint: PersonalEndpoint, *given: str) -> tuple[int, str]:
    """As from the command line, whose event loop is its own."""
    out, aside = io.StringIO(), io.StringIO()
    args = arguments("--base-url", endpoint.base_url, *given)
    status = await asyncio.to_thread(probe.run, args, {"VERBATIM_API_KEY": KEY}, out, aside)
    assert KEY not in out.getvalue()
    assert aside.getvalue() == ""
    return status, out.getvalue()


async def test_the_table_and_the_verdict() -> None:
    async with serving(BY_NAME["llama.cpp without --jinja"]) as endpoint:
        status, out = await run(endpoint, "--model", "local-model")
    lines = out.splitlines()
    assert status == 0
    assert lines[0] == f"local-model at {endpoint.base_url}"
    assert "native tools             no: the server refuses the field" in lines
    assert "system position          first only" in lines
    assert "  tools_whole: 500: tools param requires --jinja flag" in lines
    assert "  context_window = 8192" in lines
    assert lines[-1].startswith(
        "This server refuses tools; verbatim is on, without the tools field; 6 of 6 test calls "
        "worked. ("
    )


async def test_json_holds_the_findings_and_what_follows() -> None:
    async with serving(BY_NAME["LM Studio"]) as endpoint:
        status, out = await run(endpoint, "--json")
    fields: dict[str, Any] = json.loads(out)
    assert status == 0
    assert fields["model"] == "local-model"
    assert (fields["native_tools"], fields["vision"]) == ("only_as_text", "yes")
    assert fields["settings"] == {"context_window": "16384", "vision": "on"}
    assert fields["verdict"].endswith("6 of 6 test calls worked.")


async def test_the_key_is_sent() -> None:
    async with serving(BY_NAME["TabbyAPI"]) as endpoint:
        await run(endpoint)
    assert {headers["Authorization"] for headers in endpoint.headers} == {f"Bearer {KEY}"}


@pytest.mark.parametrize("form", [(), ("--json",)])
async def test_an_endpoint_that_refuses_everything(form: tuple[str, ...]) -> None:
    rule = refuses(openai_shape, 401, "Incorrect key", bool)
    async with serving(Personality(name="closed", rules=(rule,))) as endpoint:
        status, out = await run(endpoint, *form)
    assert status == 1
    assert "No test request was answered. It refuses requests as such." in out
    assert "401: Incorrect key" in out


async def test_nobody_there_and_no_model_named() -> None:
    async with serving(BY_NAME["TabbyAPI"]) as endpoint:
        pass
    status, out = await run(endpoint)
    assert status == 1
    assert "No test request was answered." in out
    assert "Nothing listens at" in out


async def test_the_program_needs_no_settings(tmp_path: Path) -> None:
    async with serving(BY_NAME["TabbyAPI"]) as endpoint:
        done = await asyncio.to_thread(
            subprocess.run,
            [sys.executable, ROOT / "bot.py", "probe", "--base-url", endpoint.base_url, "--json"],
            cwd=tmp_path,
            env={"PATH": os.environ["PATH"], "VERBATIM_HOME": str(tmp_path / "home")},
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
        )
    assert (done.returncode, done.stderr) == (0, "")
    assert json.loads(done.stdout)["native_tools"] == "yes"
    assert list(tmp_path.iterdir()) == []
