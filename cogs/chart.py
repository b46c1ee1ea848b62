"""Draws use as a picture: tokens a day, the time to the first token, and calls of tools.

Invariant: pure. The same numbers give the same bytes, and the picture carries its own background,
with colours that can be told apart on it by lightness alone.
"""

import io
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Literal, TypeAlias

from PIL import Image, ImageDraw, ImageFont

from cogs.translations.figures import plain_number, short_day
from cogs.translations.saying import Speaks, tr
from data.usage import Amount

SIZE = (960, 640)
"""Pixels."""

Theme: TypeAlias = Literal["dark", "light"]
Day: TypeAlias = tuple[date, Amount]
_Rgb: TypeAlias = tuple[int, int, int]
_Box: TypeAlias = tuple[int, int, int, int]

_MOST_BARS = 62
"""Bars that can be told apart; days beyond are drawn several to a bar."""

_LEFT, _RIGHT = 84, 936
_TOKENS: _Box = (_LEFT, 96, _RIGHT, 350)
_LATENCY: _Box = (_LEFT, 420, 486, 600)
_CALLS: _Box = (558, 420, _RIGHT, 600)
_WIDEST_BAR = 56.0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Colours:
    ground: _Rgb
    text: _Rgb
    faint: _Rgb
    cached: _Rgb
    prompt: _Rgb
    completion: _Rgb


_THEMES: dict[Theme, _Colours] = {
    "dark": _Colours(
        ground=(30, 31, 34),
        text=(242, 243, 245),
        faint=(78, 80, 88),
        cached=(62, 96, 170),
        prompt=(110, 168, 254),
        completion=(255, 200, 87),
    ),
    "light": _Colours(
        ground=(255, 255, 255),
        text=(6, 6, 7),
        faint=(196, 201, 206),
        cached=(150, 186, 240),
        prompt=(40, 92, 190),
        completion=(196, 92, 0),
    ),
}

_Value: TypeAlias = Callable[[Amount], float]


def usage_chart(
    days: Sequence[Day], *, title: str, theme: Theme = "dark", locale: Speaks = None
) -> bytes:
    """A PNG of `SIZE` that shows these days, the oldest first; there must be one at least. Its
    font has the letters of English alone, which a translation has to do with."""
    canvas = _Canvas(_THEMES[theme], locale)
    bars = _bars(days)
    colours = canvas.colours
    canvas.write((_LEFT, 20), title, size=24)
    stacked: list[tuple[str, _Rgb, _Value]] = [
        (tr(locale, "cached"), colours.cached, lambda each: each.cached_tokens),
        (
            tr(locale, "prompt"),
            colours.prompt,
            lambda each: each.prompt_tokens - each.cached_tokens,
        ),
        (tr(locale, "completion"), colours.completion, lambda each: each.completion_tokens),
    ]
    canvas.panel(_TOKENS, tr(locale, "Tokens"), bars, stacked)
    canvas.legend([(name, colour) for name, colour, _ in stacked])
    canvas.panel(
        _LATENCY,
        tr(locale, "Seconds to the first token"),
        bars,
        [("", colours.prompt, lambda each: each.first_token_ms / 1000 / max(each.first_tokens, 1))],
        counts=False,
    )
    canvas.panel(
        _CALLS,
        tr(locale, "Calls of tools"),
        bars,
        [("", colours.completion, lambda each: each.tool_calls)],
    )
    return canvas.png()


def _bars(days: Sequence[Day]) -> Sequence[Day]:
    """The days, several together where there are more than can be drawn."""
    together = -(-len(days) // _MOST_BARS)
    starts = range(0, len(days), together)
    return [
        (days[start][0], sum((amount for _, amount in days[start : start + together]), Amount()))
        for start in starts
    ]


class _Canvas:
    """The picture under way."""

    def __init__(self, colours: _Colours, locale: Speaks) -> None:
        self.colours = colours
        self._locale = locale
        self._image = Image.new("RGB", SIZE, colours.ground)
        self._draw = ImageDraw.Draw(self._image)

    def write(
        self, at: tuple[float, float], text: str, *, size: int = 16, anchor: str = "la"
    ) -> None:
        """One line of text."""
        font = ImageFont.load_default(size)
        self._draw.text(at, text, fill=self.colours.text, font=font, anchor=anchor)

    def legend(self, names: Sequence[tuple[str, _Rgb]]) -> None:
        """What the colours of the first panel stand for."""
        x = float(_RIGHT)
        for name, colour in reversed(names):
            x -= ImageFont.load_default(16).getlength(name)
            self.write((x, 66), name)
            self._draw.rectangle((x - 22, 68, x - 8, 82), fill=colour)
            x -= 44

    def panel(
        self,
        box: _Box,
        title: str,
        bars: Sequence[Day],
        stacked: Sequence[tuple[str, _Rgb, _Value]],
        *,
        counts: bool = True,
    ) -> None:
        """One chart of bars, each made of the given values from below; `counts` are whole."""
        left, top, right, bottom = box
        highest = max(sum(value(amount) for *_, value in stacked) for _, amount in bars)
        ceiling = _ceiling(highest, counts=counts)
        self.write((left, top - 30), title)
        # Where there is nothing, a scale would be of nothing.
        for part in range(3 if highest > 0 else 1):
            y = bottom - (bottom - top) * part / 2
            self._draw.line((left, y, right, y), fill=self.colours.faint)
            self.write((left - 8, y), _short(self._locale, ceiling * part / 2), anchor="rm")
        step = (right - left) / len(bars)
        width = min(step - min(step / 4, 6.0), _WIDEST_BAR)
        for number, (_, amount) in enumerate(bars):
            base = 0.0
            x = left + (number + 0.5) * step - width / 2
            for _, colour, value in stacked:
                height = (bottom - top) * value(amount) / ceiling
                if height > 0:
                    area = (x, bottom - base - height, x + width, bottom - base)
                    self._draw.rectangle(area, fill=colour)
                base += height
        self._days(box, bars)

    def _days(self, box: _Box, bars: Sequence[Day]) -> None:
        """The first and the last day, below their bars where those are wide."""
        left, _, right, bottom = box
        first, last = bars[0][0], bars[-1][0]
        inset = (right - left) / len(bars) / 2
        is_wide = 2 * inset > _WIDEST_BAR
        x, anchor = (left + inset, "ma") if is_wide else (left, "la")
        self.write((x, bottom + 8), short_day(self._locale, first), anchor=anchor)
        if last != first:
            x, anchor = (right - inset, "ma") if is_wide else (right, "ra")
            self.write((x, bottom + 8), short_day(self._locale, last), anchor=anchor)

    def png(self) -> bytes:
        """The picture as a file."""
        written = io.BytesIO()
        self._image.save(written, format="PNG", optimize=True)
        return written.getvalue()


def _ceiling(highest: float, *, counts: bool) -> float:
    """The next round number above; for whole numbers one whose half is whole too."""
    if highest <= (1 if counts else 0):
        return 2.0 if counts else 1.0
    power = 10.0 ** (len(str(int(highest))) - 1 if highest >= 1 else -1)
    return next(power * step for step in (1, 2, 4, 6, 8, 10) if power * step >= highest)


def _short(locale: Speaks, number: float) -> str:
    for size, unit in ((1_000_000, "M"), (1_000, "k")):
        if number >= size:
            return plain_number(locale, number / size) + unit
    return plain_number(locale, number)
