"""The main job over real sockets, with an endpoint that ignores tools and says scripted text."""

import re
from pathlib import Path

import pytest

from tests.loopback.endpoint import LoopbackEndpoint, Step
from tests.main_job import scene


@pytest.mark.parametrize(
    "written",
    [
        '`roll_dice({"dice":"2d6"})`',
        'Rolling!\n<tool_call>\n{"name": "roll_dice", "arguments": {"dice": "2d6"}}\n</tool_call>',
        '```json\n{"name": "roll_dice", "arguments": {"dice": "2d6"}}\n```',
    ],
    ids=["taught", "hermes", "fenced"],
)
async def test_a_text_call_runs_and_its_result_is_told(tmp_path: Path, written: str) -> None:
    async with LoopbackEndpoint() as endpoint:
        endpoint.add(
            Step(text=written, split=2, pause=0.01),
            Step(when="[tool result] roll_dice", text="There you are.", pause=0.02),
        )
        environment = {"VERBATIM_BASE_URL": endpoint.base_url, "VERBATIM_MODEL": "scripted"}
        async with scene(tmp_path, environment) as here:
            answered = await here.ask("roll 2d6 please")
        assert [(call.name, call.origin) for call in answered.calls] == [("roll_dice", "text")]
        (result,) = answered.results
        assert result.outcome == "ok"
        assert re.search(r"= \d+$", result.text)
        assert answered.final.endswith("There you are.\n-# used roll_dice")
        assert answered.raw_calls_seen == []
        assert here.server.violations() == []
        assert here.bot.returncode == 0
        sent, grown = (request.messages for request in endpoint.received)
        assert grown[: len(sent)] == sent
        assert endpoint.received[0].body["tools"]
