"""The figures of the cache benchmark."""

from benchmarks.prefix_cache import LEAST_PERCENT, Runs, faults
from benchmarks.rehearsal import SPARE, Read, summary
from prompt.values import Json


def read(tokens: int, cached: int, *, due: int = 0, before: int | None = None) -> Read:
    return Read(tokens=tokens, cached=cached, due=due, before=before, seconds=0.1)


def test_shares_are_of_the_prompt_before() -> None:
    told = summary([read(1000, 0), read(1100, 950, before=1000), read(1200, 550, before=1100)], 3)
    assert (told["requests"], told["prompt_tokens"], told["cached_tokens"]) == (3, 3300, 1500)
    assert told["reused_percent"] == round(100 * (950 + 550) / 2100, 1)
    assert told["worst_percent"] == 50.0
    assert told["read_again_a_request"] == 400


def test_no_more_than_the_prompt_before_counts_as_reused() -> None:
    assert summary([read(10, 0), read(40, 30, before=10)], 2)["reused_percent"] == 100.0


def test_a_request_falls_short_of_what_is_due_by_more_than_a_few_tokens() -> None:
    due = 900
    fine = read(1100, due - SPARE, due=due, before=1000)
    short = read(1100, due - SPARE - 1, due=due, before=1000)
    assert summary([read(1000, 0, due=due), fine], 2)["fell_short"] == 0
    assert summary([read(1000, 0), fine, short], 3)["fell_short"] == 1


def test_a_single_prompt_has_nothing_before_it() -> None:
    told = summary([read(1000, 0)], 1)
    assert (told["reused_percent"], told["worst_percent"], told["fell_short"]) == (0.0, 0.0, 0)


def runs(**changed: dict[str, Json]) -> Runs:
    fine: dict[str, Json] = {"reused_percent": LEAST_PERCENT, "fell_short": 0}
    names = ("plain", "grounded", "trimmed", "changed", "naive", "native")
    slots = ("two_channels_slot_hint_off", "two_channels_slot_hint_per_channel")
    return {name: {**fine, **changed.get(name, {})} for name in (*names, *slots)}


def test_faults_are_those_of_runs_in_which_nothing_was_changed() -> None:
    short: dict[str, Json] = {"fell_short": 2}
    assert faults(runs(trimmed=short, changed=short, naive=short)) == []
    assert len(faults(runs(plain=short, native=short))) == 2
    assert len(faults(runs(plain={"reused_percent": LEAST_PERCENT - 0.1}))) == 1
