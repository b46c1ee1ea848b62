import json
import re
from collections.abc import Sequence
from dataclasses import replace

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from prompt.assemble import assemble
from prompt.demonstrations import ACKNOWLEDGEMENT, EXAMPLE_CLOCK
from prompt.dialogue import exchanges, turn_item
from prompt.dispatcher import EXECUTE_TOOL
from prompt.knowledge import Snippet
from prompt.prompt import Prompt
from prompt.snapshot import Budget, PromptTooLarge, Snapshot
from prompt.stages import NUDGE, STAGES, TOOL_DEFINITIONS_TAG, Stage
from prompt.surface import ToolSurface, canonical_json
from prompt.tokens import estimate
from prompt.values import ImageReference, PromptItem, Role, Turn, Zone
from prompt.verbatim import ToolConfig, ToolMode, Verdict
from providers.base import RequestOptions
from providers.openai.encode import body_bytes, request_body
from tests.prompt.builders import NOTE, ROLL, SURFACE, asked, called, got, said, snapshot
from tests.providers.openai.encoded import encode_messages

BUDGET = Budget()
ZONES = list(Zone)
VERBATIM_TAGS = {
    "demonstrations",
    TOOL_DEFINITIONS_TAG,
    "verbatim_acknowledgement",
    "verbatim_nudge",
}


def tags(prompt: Prompt) -> set[str]:
    return {item.tag for item in prompt.items}


def body(prompt: Prompt) -> bytes:
    options = RequestOptions(turn_id="t")
    return body_bytes(request_body(prompt, options, model="m"))


def dump(prompt: Prompt) -> str:
    (item,) = [item for item in prompt.items if item.tag == TOOL_DEFINITIONS_TAG]
    return item.text


def config(mode: ToolMode) -> ToolConfig:
    return ToolConfig(tool_mode=mode)


@pytest.mark.parametrize("mode", ["verbatim", "verbatim_only"])
def test_a10_the_dump_is_the_array_byte_for_byte(mode: ToolMode) -> None:
    prompt = assemble(snapshot(config=config(mode)), BUDGET)
    (fenced,) = re.findall(r"^```json\n(.+)\n```$", dump(prompt), re.MULTILINE)
    assert fenced == SURFACE.block == canonical_json(prompt.surface.native)
    assert json.loads(fenced) == list(SURFACE.native)
    sent = json.loads(body(prompt)).get("tools")
    assert sent == (json.loads(fenced) if mode == "verbatim" else None)
    assert (b'"tools":' + fenced.encode() in body(prompt)) == (mode == "verbatim")


def test_a10_the_dump_is_one_message_of_a_user() -> None:
    items = [i for i in assemble(snapshot(), BUDGET).items if i.tag == TOOL_DEFINITIONS_TAG]
    assert [item.role for item in items] == ["user"]
    assert TOOL_DEFINITIONS_TAG == "knowledge_verbatim_tool_definitions"


@pytest.mark.parametrize(
    "active",
    [
        snapshot(),
        snapshot(config=config("verbatim")),
        snapshot(config=config("verbatim_only")),
        snapshot(verdict=Verdict(refuses_tools_field=True)),
    ],
)
def test_a10_demonstrations_dump_and_nudge_are_all_there(active: Snapshot) -> None:
    assert tags(assemble(active, BUDGET)) >= VERBATIM_TAGS


@pytest.mark.parametrize(
    "idle",
    [
        snapshot(config=config("off")),
        snapshot(config=config("native")),
        snapshot(verdict=Verdict(structured_calls=True)),
        snapshot(config=ToolConfig(has_tools=False)),
        snapshot(surface=ToolSurface()),
    ],
    ids=["off", "native", "native by verdict", "model lacks tools", "empty surface"],
)
def test_a10_demonstrations_dump_and_nudge_are_all_absent(idle: Snapshot) -> None:
    prompt = assemble(idle, BUDGET)
    assert tags(prompt) == {"persona", "server_rules", "dialogue", "clock"}
    said_in_words = json.dumps(encode_messages(prompt), ensure_ascii=False)
    assert "roll_dice" not in said_in_words
    assert NUDGE not in said_in_words
    assert ACKNOWLEDGEMENT not in said_in_words


@pytest.mark.parametrize("mode", ["native", "verbatim", "verbatim_only", "off"])
def test_a10_two_builds_give_the_same_bytes(mode: ToolMode) -> None:
    first = assemble(snapshot(config=config(mode)), BUDGET)
    second = assemble(
        snapshot(config=config(mode), surface=ToolSurface(direct=(ROLL, NOTE))), BUDGET
    )
    assert body(first) == body(second)
    assert first.report == second.report


@pytest.mark.parametrize(
    "idle", [snapshot(config=config("off")), snapshot(config=ToolConfig(has_tools=False))]
)
def test_off_offers_nothing_that_could_be_called(idle: Snapshot) -> None:
    prompt = assemble(idle, BUDGET)
    assert not prompt.surface
    assert "tools" not in json.loads(body(prompt))


def test_an_admin_can_switch_the_nudge_off() -> None:
    prompt = assemble(snapshot(config=ToolConfig(nudge=False)), BUDGET)
    assert tags(prompt) >= VERBATIM_TAGS - {"verbatim_nudge"}
    assert NUDGE not in json.dumps(encode_messages(prompt), ensure_ascii=False)


def test_the_nudge_is_last() -> None:
    assert assemble(snapshot(), BUDGET).items[-1].tag == "verbatim_nudge"


FULL = snapshot(
    dialogue=(
        asked("Roll."),
        said("assistant", called()),
        said("tool", got()),
        said("assistant", "A four."),
        asked("Again."),
    )
)


HEADED = replace(FULL, config=ToolConfig(clock="head"))
WAITING = replace(
    FULL, surface=ToolSurface(direct=(ROLL,), deferred=(NOTE,), dispatcher=EXECUTE_TOOL)
)
SEEING = replace(
    FULL, images=(ImageReference(url="data:,", description="cat.png", width=280, height=280),)
)
GROUNDED = replace(
    FULL, snippets=(Snippet(document_id=1, document="notes.txt", url="", text="4417 kilohertz"),)
)
SPECIAL = {
    "clock_in_head": HEADED,
    "deferred_names": WAITING,
    "images": SEEING,
    "knowledge": GROUNDED,
    "pinned_notes": replace(FULL, pinned_notes="The raid is on Friday."),
}


def test_zones_never_go_back() -> None:
    """Through all the stages, in their order, with every one saying something."""
    found: list[Zone] = []
    for stage in STAGES:
        items = stage.build(SPECIAL.get(stage.name, FULL))
        assert items, stage.name
        assert len({item.zone for item in items}) == 1, stage.name
        found.append(items[0].zone)
    assert found == sorted(found, key=ZONES.index)
    assert set(found) == set(Zone)


@pytest.mark.parametrize("people", [("Ada",), ("Ada", "Bob")])
def test_the_minute_stands_where_it_is_wanted(people: tuple[str, ...]) -> None:
    told = "in this conversation: Ada, Bob"
    together = len(people) > 1
    built = {
        place: assemble(
            replace(FULL, participants=people, config=ToolConfig(clock=place)), BUDGET
        ).items
        for place in ("tail", "off", "head")
    }
    clocks = {
        place: [(item.zone, item.role, item.text) for item in items if item.tag == "clock"]
        for place, items in built.items()
    }
    minute = "Monday, 4 May 2026, 12:30 UTC"
    assert clocks["tail"] == [
        (Zone.TAIL, "user", f"[{minute}; {told}]" if together else f"[{minute}]")
    ]
    people_alone = [(Zone.TAIL, "user", f"[{told}]")] if together else []
    assert clocks["off"] == people_alone
    assert clocks["head"] == [(Zone.STABLE, "system", minute), *people_alone]
    worked = {
        place: any(EXAMPLE_CLOCK in item.text for item in items) for place, items in built.items()
    }
    assert worked == {"tail": True, "off": False, "head": False}


def test_items_stand_in_the_order_of_the_stages() -> None:
    built = [item for stage in STAGES for item in stage.build(FULL)]
    assert list(assemble(FULL, BUDGET).items) == built


def test_stages_have_names_of_their_own() -> None:
    assert len({stage.name for stage in STAGES}) == len(STAGES)
    assert [stage.name for stage in STAGES if stage.verbatim] == [
        "demonstrations",
        "tool_definitions",
        "nudge",
    ]


def test_empty_persona_and_rules_are_no_messages() -> None:
    prompt = assemble(snapshot(persona=" \n", server_rules=""), BUDGET)
    assert tags(prompt) & {"persona", "server_rules"} == set()


def broken(name: str) -> list[Stage]:
    """STAGES with one that raises."""

    def fail(_: Snapshot) -> Sequence[PromptItem]:
        raise RuntimeError("it broke")

    fail.__name__ = name
    return [Stage(fail, stage.verbatim) if stage.name == name else stage for stage in STAGES]


@pytest.mark.parametrize("name", ["persona", "server_rules", "clock"])
def test_a_failing_stage_is_left_out_and_named(name: str, caplog: pytest.LogCaptureFixture) -> None:
    prompt = assemble(FULL, BUDGET, stages=broken(name))
    errors = {stage.stage: stage.error for stage in prompt.report.stages if stage.error}
    assert errors == {name: "RuntimeError: it broke"}
    assert tags(prompt) == tags(assemble(FULL, BUDGET)) - {name}
    assert f"prompt stage {name} failed" in caplog.text


@pytest.mark.parametrize("name", ["demonstrations", "tool_definitions", "nudge"])
def test_a_failing_verbatim_stage_takes_the_others_with_it(name: str) -> None:
    prompt = assemble(FULL, BUDGET, stages=broken(name))
    errors = {stage.stage: stage.error for stage in prompt.report.stages if stage.error}
    assert errors == {name: "RuntimeError: it broke"}
    assert not tags(prompt) & VERBATIM_TAGS
    assert tags(prompt) == {"persona", "server_rules", "dialogue", "clock"}


def test_the_report_adds_up() -> None:
    prompt = assemble(FULL, BUDGET)
    report = prompt.report
    assert [stage.stage for stage in report.stages] == [stage.name for stage in STAGES]
    assert sum(stage.items for stage in report.stages) == len(prompt.items)
    field = estimate(SURFACE.block)
    assert report.tokens == sum(stage.tokens for stage in report.stages) + field
    assert report.tokens == sum(estimate(item.text) for item in prompt.items) + field
    assert report.room == prompt.room == BUDGET.prompt - report.tokens
    grown = prompt.grown(turn_item(said("assistant", "word " * 10)))
    assert grown.room == report.room - estimate("word " * 9 + "word")
    omitted = assemble(replace(FULL, config=config("verbatim_only")), BUDGET)
    assert omitted.report.tokens == report.tokens - field


@pytest.mark.parametrize("mode", ["native", "verbatim", "verbatim_only"])
def test_the_prefix_hash_names_the_tools(mode: ToolMode) -> None:
    config = ToolConfig(tool_mode=mode)
    hashes = [
        assemble(snapshot(config=config, surface=surface), BUDGET).report.prefix_hash
        for surface in (SURFACE, ToolSurface(direct=(ROLL,)))
    ]
    assert hashes[0] != hashes[1]


def test_the_prefix_hash_names_the_stable_part() -> None:
    first = assemble(snapshot(), BUDGET).report.prefix_hash
    later = replace(FULL, now=FULL.now.replace(year=2030), participants=("Eve",))
    assert assemble(later, BUDGET).report.prefix_hash == first
    for other in (
        snapshot(persona="You are Ivy."),
        snapshot(surface=ToolSurface(direct=(NOTE,))),
        snapshot(config=ToolConfig(nudge=False)),
    ):
        assert assemble(other, BUDGET).report.prefix_hash != first


# Budget. Without tools, persona and rules what cannot be divided is the clock and the message.


def bare(dialogue: Sequence[Turn]) -> Snapshot:
    return snapshot(dialogue=dialogue, surface=ToolSurface(), persona="", server_rules="")


def hundred(text: str, author: str | None = None) -> Turn:
    """A message of exactly 100 tokens."""
    turn = asked(text + "x" * (336 - len(text)), author=author)
    assert estimate(turn.text) == 100
    return turn


BASE = assemble(bare((asked("?", None),)), BUDGET).report.tokens


def test_c07_the_oldest_exchanges_go_first() -> None:
    """With a block size of 1 and without a ceiling, as the number says."""
    history = [hundred(f"h{number}") for number in range(1, 5)]
    budget = Budget(window=BASE + 250, reply_reserve=0, history_share=1.0, history_block=1)
    prompt = assemble(bare((*history, asked("?", None))), budget)
    kept = [item.text[:2] for item in prompt.items if item.tag == "dialogue"]
    assert kept == ["h3", "h4", "?"]
    assert prompt.report.dropped_exchanges == 2
    assert prompt.report.tokens == BASE + 200


def test_history_gives_way_for_a_call_where_there_are_tools() -> None:
    history = [hundred(f"h{number}") for number in range(1, 5)]
    given = snapshot(dialogue=(*history, asked("?", None)))
    large = Budget(window=10_000, reply_reserve=0, history_share=1.0, history_block=1)
    tokens = assemble(given, large).report.tokens
    tight = replace(large, window=tokens + 50)
    assert assemble(given, tight).report.dropped_exchanges == 0
    roomy = assemble(given, replace(tight, call_room=200)).report
    assert (roomy.dropped_exchanges, roomy.room) == (2, 250)
    full = assemble(given, replace(large, window=tokens - 400, call_room=200)).report
    assert (full.dropped_exchanges, full.room) == (4, 0)  # the message stays, whatever it costs
    without = replace(given, surface=ToolSurface())
    tokens = assemble(without, large).report.tokens
    alone = assemble(without, replace(large, window=tokens, call_room=200)).report
    assert alone.dropped_exchanges == 0


def test_c07_what_cannot_be_divided_and_does_not_fit_is_refused() -> None:
    fits = Budget(window=BASE, reply_reserve=0, history_share=1.0, history_block=1)
    assert assemble(bare((hundred("h1"), asked("?", None))), fits).report.tokens == BASE
    with pytest.raises(PromptTooLarge) as caught:
        assemble(bare((hundred("h1"), asked("?", None))), replace(fits, window=BASE - 1))
    assert (caught.value.needed, caught.value.allowed) == (BASE, BASE - 1)
    assert "Shorten" in str(caught.value)


@pytest.mark.parametrize("ratio", [1.0, 0.5])
def test_what_is_large_is_named_in_tokens_of_the_endpoint(ratio: float) -> None:
    large = replace(snapshot(), persona="p" * 3500, server_rules="r" * 350)
    window = int(600 * ratio)
    with pytest.raises(PromptTooLarge) as caught:
        assemble(large, Budget(window=window, reply_reserve=0, token_ratio=ratio))
    parts = caught.value.parts
    assert parts["persona"] == round(1004 * ratio)
    assert parts["server rules"] == round(104 * ratio)
    assert parts["tools"] > 0
    assert abs(sum(parts.values()) - caught.value.needed) <= 3
    assert f"persona {parts['persona']:,}" in str(caught.value)


def test_the_reply_has_its_own_room() -> None:
    tight = Budget(window=BASE + 500, reply_reserve=501)
    with pytest.raises(PromptTooLarge):
        assemble(bare((asked("?", None),)), tight)


def test_schemas_and_block_count() -> None:
    whole = assemble(snapshot(), BUDGET).report.tokens
    assemble(snapshot(), Budget(window=whole, reply_reserve=0))
    with pytest.raises(PromptTooLarge):
        assemble(snapshot(), Budget(window=whole - 1, reply_reserve=0))


def test_history_has_a_ceiling_of_its_own() -> None:
    history = [hundred(f"{number:02}") for number in range(100)]
    prompt = assemble(bare(history), Budget(window=5000, reply_reserve=0, history_block=1))
    spent = sum(estimate(item.text) for item in prompt.items if item.tag == "dialogue")
    assert spent == 3000


def test_a_message_over_the_ceiling_is_still_answered() -> None:
    long = hundred("only")
    budget = Budget(window=BASE + 100, reply_reserve=0, history_share=0.1)
    prompt = assemble(bare((hundred("old"), long)), budget)
    assert [item.text for item in prompt.items if item.tag == "dialogue"] == [long.text]


def test_history_goes_in_blocks() -> None:
    history = [hundred(f"{number:02}") for number in range(31)]
    budget = Budget(window=BASE + 3000, reply_reserve=0, history_share=1.0)
    assert assemble(bare(history), budget).report.dropped_exchanges == 8


ROLES: list[Role] = ["user", "assistant", "tool"]
TURNS = st.builds(said, st.sampled_from(ROLES), st.text())


@given(
    dialogue=st.lists(TURNS, max_size=20),
    window=st.integers(100, 4000),
    share=st.floats(0.1, 1.0),
    block=st.integers(1, 8),
    tools=st.booleans(),
)
@example(
    dialogue=[said("user", "<TOOL_CODE"), said("tool", "<TOOL_CODE")],
    window=4000,
    share=1.0,
    block=1,
    tools=True,
)
def test_no_prompt_passes_its_budget_or_splits_an_exchange(
    dialogue: list[Turn], window: int, share: float, block: int, tools: bool
) -> None:
    whole = snapshot(dialogue=(*dialogue, asked("?")), surface=SURFACE if tools else ToolSurface())
    budget = Budget(window=window, reply_reserve=50, history_share=share, history_block=block)
    try:
        prompt = assemble(whole, budget)
    except PromptTooLarge:
        least = assemble(replace(whole, dialogue=(whole.dialogue[-1],)), Budget(window=10**6))
        assert least.report.tokens > budget.prompt
        return
    assert prompt.report.tokens <= budget.prompt
    groups = exchanges(whole.dialogue)[prompt.report.dropped_exchanges :]
    texts = [item.parts for item in prompt.items if item.tag == "dialogue"]
    assert texts == [turn_item(turn).parts for group in groups for turn in group]
    assert assemble(whole, budget) == prompt
