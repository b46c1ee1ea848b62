import argparse
import io
import json
from pathlib import Path

import pytest

from chat.tuning.cases import read_cases
from chat.tuning.tuner import Tuner
from cli.tune import add_arguments, run_tune
from data.store import open_store
from providers.base import Unavailable
from tests.chat.house import SoleEndpoint
from tests.chat.scripted import ScriptedModel, Step, call, say

CASE = {"user": "skip", "tools": [{"name": "skip"}], "expect": {"name": "skip"}}


def arguments(*given: str) -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    add_arguments(parser)
    return parser.parse_args(given)


async def tuned(home: Path, *given: str, steps: list[Step]) -> tuple[int, str, dict[str, object]]:
    """Exit status, what was printed and what is set after a run with two cases."""
    path = home / "cases.jsonl"
    path.write_text(f"{json.dumps(CASE)}\n" * 2)
    out, model = io.StringIO(), ScriptedModel(*steps)
    async with open_store(home / "home") as store:
        tuner = Tuner(store=store, routes=SoleEndpoint(model), cases=read_cases(path))
        status = await run_tune(tuner, arguments(*given), out)
        kept = dict(await store.settings.values(0, model.model))
    model.check()
    return status, out.getvalue(), kept


HELLO: list[Step] = [[say("Hello.")]] * 2
RIGHT: list[Step] = [[call("skip")]] * 2


async def test_a_table_is_printed_and_nothing_set(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    status, printed, kept = await tuned(tmp_path, steps=[*HELLO, *RIGHT, *HELLO * 4])
    assert (status, kept) == (0, {})
    assert "as it is" in printed
    assert "Best: nudge=off. --apply sets it" in printed
    assert "About 12 short requests to" in capsys.readouterr().err


async def test_the_best_is_set_and_written_where_that_is_asked_for(tmp_path: Path) -> None:
    file = tmp_path / "tuning.json"
    status, printed, kept = await tuned(
        tmp_path, "--apply", "--json", str(file), steps=[*HELLO, *RIGHT, *HELLO * 4]
    )
    assert (status, kept) == (0, {"nudge": "off"})
    assert "Set: nudge=off." in printed
    assert json.loads(file.read_text())["best"] == {"nudge": "off"}


async def test_an_endpoint_that_does_not_answer_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("chat.tuning.tuner._FAILURES", 2)
    steps: list[Step] = [[Unavailable("It is down.", remedy="Start it.")]] * 2
    status, printed, kept = await tuned(tmp_path, "--apply", steps=steps)
    assert (status, printed, kept) == (1, "", {})
    assert "The model does not answer. It is down. Start it." in capsys.readouterr().err
