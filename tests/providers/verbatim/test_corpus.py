from dataclasses import replace
from typing import cast

import pytest

from prompt.events import FinishReason
from providers.verbatim import ParserSettings
from providers.verbatim.settings import CallInReasoning, TextCalls
from tests.providers.verbatim.corpus import Case, load_all
from tests.providers.verbatim.outcome import parse, pieces, shown, untiled

CASES = load_all()
FEWEST_PER_FILE = 8
FEWEST_NEGATIVES = 80


def settings_of(case: Case) -> ParserSettings:
    settings = ParserSettings(reasoning_open="reasoning_open" in case.switches)
    if "text_calls" in case.switches:
        settings = replace(settings, text_calls=cast("TextCalls", case.switches["text_calls"]))
    if "call_in_reasoning" in case.switches:
        value = cast("CallInReasoning", case.switches["call_in_reasoning"])
        settings = replace(settings, call_in_reasoning=value)
    return settings


@pytest.mark.parametrize("case", CASES, ids=str)
def test_case(case: Case) -> None:
    """Whole, by one and by three characters."""
    finish = cast("FinishReason", case.switches.get("finish", "stop"))
    settings = settings_of(case)
    whole = parse([case.text], finish=finish, settings=settings)
    assert shown(whole) == case.expected
    assert not untiled(case.text, whole)
    for size in (1, 3):
        assert parse(pieces(case.text, size), finish=finish, settings=settings) == whole


def test_there_are_enough_cases() -> None:
    files = {case.place.split(":")[0] for case in CASES}
    for file in files:
        found = [case for case in CASES if case.place.startswith(f"{file}:")]
        assert len(found) >= FEWEST_PER_FILE, file
    negatives = [case for case in CASES if case.place.startswith("negatives:")]
    assert len(negatives) >= FEWEST_NEGATIVES
    assert all(case.expected == [{"text": case.text}] for case in negatives)
