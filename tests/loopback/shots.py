"""Draws the pictures of the README from recorded scenes, dark and light.

    python -m tests.loopback.shots [NAME ...] [--into docs/images] [--pages]

Each scene is played, its messages become a page of the project's own, and a Chromium that is
installed draws it without a window; nothing is fetched. With --pages the pages are written and
not drawn. Exit status 1, and a line that says why, where there is no Chromium.
"""

import argparse
import asyncio
import io
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeAlias, get_args

from PIL import Image

from tests.loopback.discord_server import LoopbackDiscord, Message
from tests.loopback.page import Frame, Theme, page
from tests.loopback.process import ROOT
from tests.loopback.scenarios import SCENARIOS
from tests.loopback.show import played

MOST_BYTES = 150_000
BROWSERS = ("chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "chrome")
NO_BROWSER = (
    "There is no Chromium to draw with: install one (Debian: apt-get install chromium), or look at "
    "the pages themselves with --pages.\n"
)
_WINDOW = "1100,2400"
_SCALE = 1.5

Framing: TypeAlias = Callable[[LoopbackDiscord, Theme], Sequence[Frame]]


def _all(server: LoopbackDiscord) -> list[Message]:
    return list(server.world.messages.values())


def _answered(server: LoopbackDiscord, theme: Theme) -> Sequence[Frame]:
    asked, reply = _all(server)
    begun = asked.versions[0].at
    halfway = next(one.at for one in reply.versions if "Split between" in one.text)
    last = reply.versions[-1].at
    return [
        Frame(messages=[asked, reply], at=halfway, caption=f"After {halfway - begun:.1f} seconds"),
        Frame(messages=[asked, reply], caption=f"After {last - begun:.1f} seconds"),
    ]


def _questioned(server: LoopbackDiscord, theme: Theme) -> Sequence[Frame]:
    _, asked, question, reply = _all(server)
    put, settled = question.versions[0].at, question.versions[-1].at
    assert put < settled
    return [
        Frame(messages=[asked, question], at=put, caption="The bot asks first"),
        Frame(messages=[asked, question, reply], caption="Alice has pressed “Allow once”"),
    ]


def _panel(server: LoopbackDiscord, theme: Theme) -> Sequence[Frame]:
    return [Frame(messages=_all(server)[-1:])]


def _chart(server: LoopbackDiscord, theme: Theme) -> Sequence[Frame]:
    dark, light = _all(server)
    return [Frame(messages=[dark if theme == "dark" else light])]


SHOTS: Mapping[str, Framing] = {
    "tool": _answered,
    "approval": _questioned,
    "workarounds": _panel,
    "probe": _panel,
    "usage": _chart,
}
"""By the name of the scene, which is the picture's name too."""


async def pages(name: str, home: Path) -> Mapping[Theme, str]:
    """The pages of a scene."""
    async with played(SCENARIOS[name], home) as here:
        return {
            theme: page(here.server, SHOTS[name](here.server, theme), theme)
            for theme in get_args(Theme)
        }


def browser() -> str | None:
    """The Chromium of this machine."""
    return next((found for name in BROWSERS if (found := shutil.which(name))), None)


def drawn(chromium: str, written: str) -> bytes:
    """A page as a PNG, cut to its frame."""
    with tempfile.TemporaryDirectory() as place:
        source, target = Path(place, "page.html"), Path(place, "page.png")
        source.write_text(written, encoding="utf-8")
        subprocess.run(
            [
                chromium,
                "--headless",
                "--no-sandbox",  # which a container's root cannot have; the page is our own
                "--disable-gpu",
                "--hide-scrollbars",
                f"--user-data-dir={place}/profile",
                f"--window-size={_WINDOW}",
                f"--force-device-scale-factor={_SCALE}",
                "--default-background-color=00000000",
                f"--screenshot={target}",
                source.as_uri(),
            ],
            check=True,
            capture_output=True,
            timeout=120,
        )
        return small(Image.open(target).convert("RGBA"))


def small(picture: Image.Image) -> bytes:
    """Without its empty edges."""
    written = io.BytesIO()
    picture.crop(picture.getbbox()).save(written, "PNG", optimize=True)
    return written.getvalue()


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("names", nargs="*", metavar="NAME", help=f"of {', '.join(SHOTS)}; or all")
    parser.add_argument("--into", type=Path, default=ROOT / "docs/images", help="where they go")
    parser.add_argument("--pages", action="store_true", help="write the pages alone, as HTML")
    chosen = parser.parse_args(arguments)
    if unknown := set(chosen.names) - set(SHOTS):
        parser.error(f"there is no {', '.join(sorted(unknown))}")
    chromium = None if chosen.pages else browser()
    if chromium is None and not chosen.pages:
        sys.stderr.write(NO_BROWSER)
        return 1
    for name in chosen.names or SHOTS:
        with tempfile.TemporaryDirectory() as home:
            made = asyncio.run(pages(name, Path(home)))
        for theme, written in made.items():
            data = written.encode() if chromium is None else drawn(chromium, written)
            path = chosen.into / f"{name}-{theme}.{'html' if chromium is None else 'png'}"
            path.write_bytes(data)
            sys.stdout.write(f"{path.name}: {len(data):,} bytes\n")
            if chromium is not None and len(data) >= MOST_BYTES:
                sys.stderr.write(f"{path.name} is larger than {MOST_BYTES:,} bytes.\n")
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
