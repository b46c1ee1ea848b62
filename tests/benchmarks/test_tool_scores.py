"""A benchmark that counts wrongly chooses wrong defaults: what it counts as right is fixed here."""

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.tool_success import DATA, Runner, variant, written
from chat.tuning.asking import built, scripted
from chat.tuning.cases import BadCase, Case, read_cases, sample
from chat.tuning.scores import Did, Outcome, outcome, summary
from data.store import open_store
from prompt.demonstrations import demonstrations
from prompt.stages import NUDGE
from prompt.values import ToolCall
from tests.chat.scripted import ScriptedModel, Step, say, wrong
from tests.chat.scripted import call as asks

TOOLS: list[dict[str, Any]] = [
    {"name": "play", "parameters": {"type": "object", "properties": {"query": {}, "n": {}}}},
    {"name": "skip"},
]


def case(tmp_path: Path, **fields: Any) -> Case:
    path = tmp_path / "cases.jsonl"
    path.write_text(json.dumps({"user": "u", "tools": TOOLS, "expect": None, **fields}))
    return read_cases(path)[0]


def call(name: str, *, repaired: bool = False, **arguments: Any) -> ToolCall:
    return ToolCall(
        id="i",
        name=name,
        arguments=arguments,
        raw_arguments=json.dumps(arguments),
        origin="text",
        repaired=repaired,
    )


def play(**arguments: Any) -> dict[str, Any]:
    return {"name": "play", "arguments": arguments}


@pytest.mark.parametrize(
    ("wanted", "did", "expected"),
    [
        ({"query": "Abba"}, {"query": "abba "}, "right"),
        ({"query": "Abba"}, {"query": "abba gold"}, "wrong"),
        ({"query": "Abba"}, {}, "wrong"),
        ({"query": {"contains": "abba"}}, {"query": "songs by ABBA"}, "right"),
        ({"query": {"contains": "abba"}}, {"query": "songs"}, "wrong"),
        ({"query": {"contains": ["köln", "cologne"]}}, {"query": "Cologne"}, "right"),
        ({"query": {"contains": "b"}}, {"query": ["a", "b"]}, "right"),
        ({"n": 3}, {"n": 3.0}, "right"),
        ({"n": 3}, {"n": "3"}, "wrong"),
        ({"n": True}, {"n": 1}, "wrong"),
        ({"n": 1}, {"n": True}, "wrong"),
        ({"n": ["a"]}, {"n": ["a"]}, "right"),
        ({}, {"query": "anything"}, "right"),
    ],
)
def test_arguments(
    tmp_path: Path, wanted: dict[str, Any], did: dict[str, Any], expected: Outcome
) -> None:
    one = case(tmp_path, expect=play(**wanted))
    assert outcome(one, Did(calls=[call("play", **did)])) == expected


@pytest.mark.parametrize(
    ("did", "with_call", "without"),
    [
        (Did(text="Hello."), "missed", "right"),
        (Did(calls=[call("play")]), "right", "false"),
        (Did(calls=[call("skip")]), "wrong", "false"),
        (Did(calls=[call("play"), call("skip")]), "wrong", "false"),
        (Did(errors=1), "wrong", "false"),
        (Did(failure="refused"), "failed", "failed"),
    ],
)
def test_a_request(tmp_path: Path, did: Did, with_call: Outcome, without: Outcome) -> None:
    assert outcome(case(tmp_path, expect=play()), did) == with_call
    assert outcome(case(tmp_path), did) == without


STEPS = {"expect": [play(query="a"), {"name": "skip"}], "results": {"play": "on"}, "says": "done"}


@pytest.mark.parametrize(
    ("calls", "text", "expected"),
    [
        ([call("play", query="a"), call("skip")], "All done.", "right"),
        ([call("play", query="a"), call("skip")], "All fine.", "silent"),
        ([call("skip"), call("play", query="a")], "All done.", "wrong"),
        ([call("play", query="a")], "All done.", "missed"),
        ([call("play", query="b")], "All done.", "wrong"),
        ([call("play", query="a"), call("skip"), call("skip")], "All done.", "wrong"),
    ],
)
def test_several_steps(tmp_path: Path, calls: list[ToolCall], text: str, expected: Outcome) -> None:
    assert outcome(case(tmp_path, **STEPS), Did(calls=calls, text=text)) == expected


def test_after_a_result_the_words_have_to_tell_it(tmp_path: Path) -> None:
    made: dict[str, Any] = {"name": "play", "arguments": {}, "result": "14"}
    one = case(tmp_path, called=[made], says=["14", "fourteen"])
    assert outcome(one, Did(text="It is Fourteen.")) == "right"
    assert outcome(one, Did(text="It is ready.")) == "silent"
    assert outcome(one, Did(calls=[call("play")])) == "false"


def test_a_summary_counts_by_kind(tmp_path: Path) -> None:
    quiet, loud = case(tmp_path), case(tmp_path, expect=play())
    found = summary(
        [
            (quiet, Did(prompt_tokens=900), "right"),
            (loud, Did(calls=[call("play", repaired=True)], prompt_tokens=905), "right"),
            (loud, Did(), "missed"),
        ]
    )
    assert found == {
        "silence": {"of": 1, "right": 1},
        "call": {"of": 2, "right": 1, "missed": 1},
        "repaired": 1,
        "prompt_tokens": {"least": 900, "most": 905},
    }


@pytest.mark.parametrize(
    "line",
    [
        "{",
        '{"user": "u", "tools": []}',
        '{"tools": [], "expect": null}',
        '{"user": "u", "tools": ["nowhere"], "expect": null}',
        '{"user": "u", "tools": [{}], "expect": null}',
        '{"user": "u", "tools": [], "expect": {"arguments": {}}}',
    ],
)
def test_what_is_no_case_is_refused_with_its_line(tmp_path: Path, line: str) -> None:
    path = tmp_path / "cases.jsonl"
    path.write_text(f"# a remark\n{line}\n")
    with pytest.raises(BadCase, match=r"^line 2: "):
        read_cases(path)


def test_history_is_replayed_as_turns(tmp_path: Path) -> None:
    function = {"name": "play", "arguments": '{"query":"a"}'}
    history = [
        {"role": "user", "content": "play a", "name": "Bo"},
        {"role": "assistant", "tool_calls": [{"id": "x", "function": function}]},
        {"role": "tool", "tool_call_id": "x", "content": "on"},
        {"role": "assistant", "content": "It plays."},
    ]
    one = case(tmp_path, history=history)
    texts = [item.text for item in built(one, variant("default").config, scripted(one)).items]
    at = next(place for place, text in enumerate(texts) if text.startswith("play a"))
    assert texts[at + 1] == '`play({"query":"a"})`'
    assert "play: on" in texts[at + 2]
    assert texts[at + 3] == "It plays."


async def did(tmp_path: Path, one: Case, *steps: Step) -> Did:
    """What a model that answers so has done; it has to be asked just so often."""
    model = ScriptedModel(*steps)
    async with open_store(tmp_path / "home") as store:
        found = await Runner(model, store, max_tokens=9).run(one, variant("default"))
    model.check()
    assert not found.failure
    return found


async def test_a_turn_of_one_step_ends_with_the_first_calls_that_ran(tmp_path: Path) -> None:
    one = case(tmp_path, expect=play(query="a"))
    found = await did(tmp_path, one, [asks("play", query="a")])
    assert outcome(one, found) == "right"
    found = await did(tmp_path, one, [asks("play", query="a"), asks("skip")])
    assert outcome(one, found) == "wrong"


async def test_a_call_that_did_not_run_may_be_made_good(tmp_path: Path) -> None:
    one = case(tmp_path, expect=play(query="a"))
    misnamed = wrong("unknown_tool", "`player({})`", name="player")
    found = await did(tmp_path, one, [misnamed], [asks("play", query="a")])
    assert outcome(one, found) == "right"
    assert outcome(one, await did(tmp_path, one, [misnamed], [say("I cannot.")])) == "missed"


async def test_it_is_no_false_call_where_the_model_thinks_better_of_one_that_waited(
    tmp_path: Path,
) -> None:
    one = case(tmp_path)
    found = await did(tmp_path, one, [asks("play", query="?")], [say("Nice!")])
    assert outcome(one, found) == "right"
    found = await did(tmp_path, one, [asks("play", query="?")], [asks("play", query="a")])
    assert outcome(one, found) == "false"


async def test_a_turn_without_words_is_no_silence(tmp_path: Path) -> None:
    one = case(tmp_path)
    assert outcome(one, await did(tmp_path, one, [say("")], [say("")])) == "false"


async def test_a_tool_may_say_that_there_is_no_such_thing(tmp_path: Path) -> None:
    one = case(
        tmp_path,
        expect=[{"name": "skip"}, play(n=9)],
        results={"skip": "song 9", "play": "plays"},
        unless={"play": "There is no such song."},
    )
    astray, then, right = asks("play", n=1), asks("skip"), asks("play", n=9)
    found = await did(tmp_path, one, [astray], [then], [right], [say("It plays.")])
    assert [each.arguments for each in found.calls] == [{}, {"n": 9}]
    assert outcome(one, found) == "right"


def test_variants_are_settings(tmp_path: Path) -> None:
    one = case(tmp_path, author="Bo")

    def texts(name: str) -> str:
        under = variant(name)
        prompt = built(one, under.config, scripted(one), names=under.names)
        return "\n".join(item.text for item in prompt.items)

    assert NUDGE in texts("default")
    assert NUDGE not in texts("nudge=off")
    assert "Bo" in texts("nudge=off,time_in_prompt=off")
    assert "Bo" not in texts("names=off")
    with pytest.raises(ValueError, match="no switch"):
        variant("nonsense=1")


def test_the_text_of_a_stream_is_put_together() -> None:
    body = (
        b'data: {"choices":[{"delta":{"content":"a"}}]}\n\ndata: {"choices":[]}\n\ndata: [DONE]\n'
    )
    assert written(body) == "a"


def test_passages_stand_between_the_question_and_the_lines_that_end_a_turn(tmp_path: Path) -> None:
    one = case(tmp_path, passages=[{"document": "rules", "text": "Be kind."}])
    texts = [item.text for item in built(one, variant("default").config, scripted(one)).items]
    asked, passage, *_ = texts[-4:]
    assert asked.startswith("u\n[from ")
    assert '"rules"' in passage
    assert "Be kind." in passage
    assert texts[-1] == NUDGE


@pytest.mark.parametrize("name", ["cases.jsonl", "passages.jsonl"])
def test_each_file_of_cases_asks_for_tools_that_are_on(name: str) -> None:
    for one in read_cases(DATA / name):
        offered = built(one, variant("default").config, scripted(one)).surface.callable
        assert list(offered) == [tool.name for tool in one.tools], one.id
        assert {call.name for call in one.expect} <= {tool.name for tool in one.tools}, one.id


def test_the_cases_that_are_shipped_keep_their_promises() -> None:
    cases = read_cases(DATA / "cases.jsonl")
    sets: dict[str, list[dict[str, Any]]] = json.loads((DATA / "tools.json").read_text("utf-8"))
    single = [one for one in cases if one.kind in {"call", "silence"}]
    silent = [one for one in single if not one.expect]
    assert len(cases) >= 120
    assert len(sets) >= 8
    assert len(silent) * 2 >= len(single)
    assert {len(one.tools) for one in cases} >= {19, 40}
    assert min(len([c for c in cases if c.kind == kind]) for kind in ("after_result", "steps")) > 9
    taught = "\n".join(text for _, text in demonstrations(""))
    names = [tool["name"] for tools in sets.values() for tool in tools]
    assert not [name for name in names if name in taught]


def test_a_sample_is_spread_over_kinds() -> None:
    cases = read_cases(DATA / "cases.jsonl")
    taken = sample(cases, 40)
    assert 38 <= len(taken) <= 42
    assert {one.kind for one in taken} == {one.kind for one in cases}
    assert taken == sorted(taken, key=lambda one: one.id)
    assert sample(cases, 1000) == cases
