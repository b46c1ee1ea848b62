from hypothesis import given
from hypothesis import strategies as st

from prompt.dialogue import exchanges, tokens_of, trimmed, turn_item, turn_text
from prompt.values import ImageReference, Role, Turn, Zone
from tests.prompt.builders import asked, called, got, said

ROLES: list[Role] = ["user", "assistant", "tool"]
TURNS = st.builds(said, st.sampled_from(ROLES), st.text(max_size=40))
DIALOGUES = st.lists(TURNS, max_size=25)
CEILINGS = st.integers(-50, 400)
BLOCKS = st.integers(1, 9)


def test_members_speak_by_name_and_calls_stand_as_taught() -> None:
    assert turn_text(asked("  hello ")) == "hello\n[from Ada]"
    assert turn_text(asked("hello", author=None)) == "hello"
    assert turn_text(said("assistant", "Let me roll.", called())) == (
        'Let me roll.\n`roll_dice({"sides":6})`'
    )
    assert turn_text(said("tool", got("4"), got("5"))) == (
        "[tool result] roll_dice: 4\n[tool result] roll_dice: 5"
    )


def test_a_call_keeps_the_spelling_of_the_model() -> None:
    raw = '{ "sides": 6.0, "x": "\\u00e9" }'
    assert turn_text(said("assistant", called(raw=raw))) == f"`roll_dice({raw})`"


def test_an_image_stands_as_its_description() -> None:
    seen = said("user", "look", ImageReference(url="http://x/y.png", description="a cat"))
    assert turn_text(seen) == "look\n[image: a cat]"
    assert turn_text(said("user", ImageReference(url="http://x"))) == "[image: no description]"


def test_an_item_keeps_the_parts_for_endpoints_that_take_them() -> None:
    turn = said("assistant", "Let me roll.", called())
    item = turn_item(turn)
    assert (item.role, item.zone, item.parts) == ("assistant", Zone.HISTORY, turn.parts)


def test_an_exchange_begins_with_a_members_message() -> None:
    first, second = asked("a"), asked("b")
    call, result, answer = said("assistant", called()), said("tool", got()), said("assistant", "4")
    assert exchanges([call, result, first, call, result, answer, second]) == [
        (call, result),
        (first, call, result, answer),
        (second,),
    ]


@given(DIALOGUES)
def test_exchanges_lose_and_move_nothing(dialogue: list[Turn]) -> None:
    found = exchanges(dialogue)
    assert [turn for exchange in found for turn in exchange] == dialogue
    assert all(exchange[0].role == "user" for exchange in found[1:])
    assert all(turn.role != "user" for exchange in found for turn in exchange[1:])


@given(DIALOGUES, CEILINGS, BLOCKS)
def test_trimming_leaves_whole_exchanges_of_the_end(
    dialogue: list[Turn], ceiling: int, block: int
) -> None:
    kept, dropped = trimmed(dialogue, ceiling=ceiling, block=block)
    groups = exchanges(dialogue)
    assert list(kept) == [turn for group in groups[dropped:] for turn in group]
    assert not dialogue or groups[-1] == exchanges(kept)[-1]
    assert trimmed(dialogue, ceiling=ceiling, block=block) == (kept, dropped)


@given(DIALOGUES, CEILINGS, BLOCKS)
def test_trimming_goes_as_far_as_it_must_and_no_block_further(
    dialogue: list[Turn], ceiling: int, block: int
) -> None:
    _, dropped = trimmed(dialogue, ceiling=ceiling, block=block)
    groups = exchanges(dialogue)

    def cost(first: int) -> int:
        return sum(tokens_of(group) for group in groups[first:])

    assert cost(dropped) <= ceiling or dropped == max(0, len(groups) - 1)
    assert dropped % block == 0 or dropped == len(groups) - 1
    if dropped:
        before = dropped - (dropped % block or block)
        assert cost(before) > ceiling


def test_trimming_makes_room_for_several_turns_at_once() -> None:
    """The prefix breaks once a block, not in every turn."""
    dialogue: list[Turn] = []
    breaks = 0
    for number in range(100):
        dialogue += [asked(f"question {number}"), said("assistant", "word " * 20)]
        kept, dropped = trimmed(dialogue, ceiling=900, block=8)
        breaks += bool(dropped)
        dialogue = list(kept)
    assert 0 < breaks <= 100 // 8
