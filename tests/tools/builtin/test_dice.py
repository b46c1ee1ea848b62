import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tools.builtin.dice import MAX_DICE, MAX_SIDES, roll_dice
from tools.registry import ToolContext, ToolFailure


def unused() -> ToolContext:
    """Dice need no context."""
    return ToolContext.__new__(ToolContext)


async def roll(dice: str) -> tuple[list[int], int]:
    """Each number of the sum with its sign, and the total."""
    text = (await roll_dice.run(unused(), {"dice": dice})).text
    assert text.startswith(f"{dice}: ")
    shown, equals, total = text.removeprefix(f"{dice}: ").partition(" = ")
    assert re.fullmatch(r"(?:- )?\d+(?: [+-] \d+)*", shown), text
    numbers = [int(number.replace(" ", "")) for number in re.findall(r"(?:- )?\d+", shown)]
    assert bool(equals) == (len(numbers) > 1)
    return numbers, int(total) if equals else numbers[0]


@given(count=st.integers(1, MAX_DICE), sides=st.integers(2, MAX_SIDES))
async def test_every_die_counts_and_stays_within_its_sides(count: int, sides: int) -> None:
    rolls, total = await roll(f"{count}d{sides}")
    assert len(rolls) == count
    assert all(1 <= rolled <= sides for rolled in rolls)
    assert sum(rolls) == total


@given(st.integers(0, 999_999), st.integers(0, 999_999))
async def test_numbers_are_added_and_taken_away(plus: int, minus: int) -> None:
    (*rolls, added, taken), total = await roll(f"2d6+{plus}-{minus}")
    assert (added, taken) == (plus, -minus)
    assert total == sum(rolls) + plus - minus


async def test_dice_are_taken_away_as_well() -> None:
    numbers, total = await roll("3d6 - 2d4")
    assert [number > 0 for number in numbers] == [True, True, True, False, False]
    assert total == sum(numbers)


@pytest.mark.parametrize(
    ("dice", "most"), [("d20", 20), ("D20", 20), ("d%", 100), (" 1 d 20 ", 20), ("1d2", 2)]
)
async def test_spellings(dice: str, most: int) -> None:
    _, total = await roll(dice)
    assert 1 <= total <= most


async def test_both_ends_come_up() -> None:
    assert {(await roll("d2"))[1] for _ in range(200)} == {1, 2}


@pytest.mark.parametrize(
    ("dice", "words"),
    [
        ("", "no die"),
        ("7", "no die"),
        ("0d6", "no die"),
        ("six", "no dice notation"),
        ("2d", "no dice notation"),
        ("2d6+", "no dice notation"),
        ("2d6 3d4", "no dice notation"),
        ("2d6*2", "no dice notation"),
        ("d6;import os", "no dice notation"),
        ("99999d6", "no dice notation"),
        ("d1", "2 to 1000 sides"),
        ("d0", "2 to 1000 sides"),
        ("d1001", "2 to 1000 sides"),
        ("101d6", "At most 100 dice"),
        ("60d6+60d8", "At most 100 dice"),
    ],
)
async def test_what_is_no_notation_is_told_with_a_way_out(dice: str, words: str) -> None:
    with pytest.raises(ToolFailure, match=words) as caught:
        await roll(dice)
    assert re.search(r"2d6|sides|dice", str(caught.value))


@given(st.text(alphabet="0123456789dD+-% ", max_size=100))
async def test_any_text_gives_a_roll_or_a_reason(dice: str) -> None:
    try:
        _, total = await roll(dice)
    except ToolFailure:
        return
    assert abs(total) <= MAX_DICE * MAX_SIDES + 50 * 999_999
