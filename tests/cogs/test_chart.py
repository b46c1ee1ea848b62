"""The picture of use."""

import io
from datetime import date, timedelta

import pytest
from PIL import Image

from cogs.chart import SIZE, Theme, usage_chart
from data.usage import Amount

FIRST = date(2026, 11, 2)


def days(count: int, scale: int = 1) -> list[tuple[date, Amount]]:
    return [
        (
            FIRST + timedelta(days=number),
            Amount(
                prompt_tokens=scale * (1000 + 37 * number),
                cached_tokens=scale * 400,
                completion_tokens=scale * 150,
                tool_calls=number % 5,
                first_tokens=2,
                first_token_ms=900 + 100 * (number % 7),
            ),
        )
        for number in range(count)
    ]


def opened(data: bytes) -> Image.Image:
    return Image.open(io.BytesIO(data)).convert("RGB")


def lightness(colour: tuple[int, ...]) -> float:
    """Relative luminance, as contrast is defined with."""
    parts = [c / 255 / 12.92 if c <= 10 else ((c / 255 + 0.055) / 1.055) ** 2.4 for c in colour]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_the_same_numbers_give_the_same_picture(theme: Theme) -> None:
    drawn = [usage_chart(days(30), title="This server", theme=theme) for _ in range(2)]
    assert drawn[0] == drawn[1]
    assert opened(drawn[0]).size == SIZE
    assert len(drawn[0]) < 60_000
    assert usage_chart(days(30, 2), title="This server", theme=theme) != drawn[0]


@pytest.mark.parametrize("theme", ["dark", "light"])
def test_every_part_stands_out_from_the_ground_and_from_its_neighbour(theme: Theme) -> None:
    picture = opened(usage_chart(days(7), title="", theme=theme))
    counted = sorted(picture.getcolors(100_000) or [], reverse=True)
    ground = picture.getpixel((0, 0))
    assert isinstance(ground, tuple)
    areas = [colour for _, colour in counted if colour != ground][:3]

    def contrast(one: tuple[int, ...], other: tuple[int, ...]) -> float:
        low, high = sorted((lightness(one), lightness(other)))
        return (high + 0.05) / (low + 0.05)

    for colour in areas:
        assert isinstance(colour, tuple)
        assert contrast(colour, ground) > 1.9, colour
    bar = [picture.getpixel((140, y)) for y in range(96, 350)]
    prompt, cached = [colour for colour in dict.fromkeys(bar) if colour in areas][-2:]
    assert isinstance(cached, tuple)
    assert isinstance(prompt, tuple)
    assert contrast(cached, prompt) > 1.5


def test_bars_grow_with_their_numbers() -> None:
    low_then_high = [(FIRST, Amount(completion_tokens=10)), (FIRST, Amount(completion_tokens=80))]
    picture = opened(usage_chart(low_then_high, title=""))
    colour = (255, 200, 87)
    heights = [sum(picture.getpixel((x, y)) == colour for y in range(96, 350)) for x in (297, 723)]
    assert heights[1] == pytest.approx(8 * heights[0], rel=0.1)


@pytest.mark.parametrize("count", [1, 2, 63, 365])
def test_any_number_of_days_is_drawn(count: int) -> None:
    assert opened(usage_chart(days(count), title="A title")).size == SIZE


def test_days_without_any_use_are_drawn_too() -> None:
    assert opened(usage_chart([(FIRST, Amount())], title="")).size == SIZE


def test_a_single_day_is_a_bar_in_the_middle() -> None:
    picture = opened(usage_chart([(FIRST, Amount(completion_tokens=10))], title=""))
    filled = [x for x in range(84, 937) if picture.getpixel((x, 340)) == (255, 200, 87)]
    assert 40 <= len(filled) <= 60
    assert sum(filled) / len(filled) == pytest.approx((84 + 936) / 2, abs=1)


@pytest.mark.parametrize(
    ("calls", "lines"), [(0, [600]), (1, [600, 510, 420]), (3, [600, 510, 420])]
)
def test_a_scale_has_whole_numbers_and_none_where_there_is_nothing(
    calls: int, lines: list[int], monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[tuple[tuple[float, float], str]] = []

    def write(self: object, at: tuple[float, float], text: str, **_: object) -> None:
        written.append((at, text))

    monkeypatch.setattr("cogs.chart._Canvas.write", write)
    usage_chart([(FIRST, Amount(completion_tokens=10, tool_calls=calls))], title="")
    scale = [(y, text) for (x, y), text in written if x == 550]
    assert [y for y, _ in scale] == lines
    assert all(text.isdecimal() for _, text in scale)
