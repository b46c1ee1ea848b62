"""The pages that the README's pictures are drawn from, and what draws them."""

import io
from html.parser import HTMLParser
from pathlib import Path

import pytest
from PIL import Image

from tests.loopback import shots
from tests.loopback.shots import NO_BROWSER, SHOTS, main, pages, small

SHOWN = {
    "tool": ["<h6>After ", "17.5 % of 2,480 is <strong>434</strong>.", ">Stop<", ">Details<"],
    "approval": ["<button class=success>Allow once<", "allowed once by <code>Alice</code>"],
    "workarounds": [
        "used <a>/config workarounds</a>",
        "<h2>Workarounds for",
        ">http://127.0.0.1:8080/v1<",
        "<output>verbatim",
    ],
    "probe": ["<pre><code>native tools", "<button class=primary>Apply<"],
    "usage": ["<strong>Use of this server, the last 30 days", '<img src="data:image/png;base64,'],
}
VOID = {"meta", "img", "br", "hr"}


class Checked(HTMLParser):
    """Every element is closed, in order, and none asks for anything over a network."""

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        asking = [value for name, value in attrs if name in {"src", "href"}]
        assert all(str(value).startswith("data:") for value in asking)
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag


@pytest.mark.parametrize("name", SHOTS)
async def test_a_scene_becomes_a_page_for_each_ground(name: str, tmp_path: Path) -> None:
    made = await pages(name, tmp_path)
    assert set(made) == {"dark", "light"}
    for theme, written in made.items():
        assert f'<body class="{theme}">' in written
        for part in SHOWN[name]:
            assert part in written
        assert "url(" not in written
        checked = Checked()
        checked.feed(written)
        assert checked.open == []


def test_without_a_chromium_it_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(shots, "BROWSERS", ("no-such-browser",))
    assert main(["tool"]) == 1
    assert capsys.readouterr().err == NO_BROWSER


def test_pages_alone_need_no_chromium(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shots, "BROWSERS", ())
    assert main(["probe", "--pages", "--into", str(tmp_path)]) == 0
    assert {path.name for path in tmp_path.iterdir()} == {"probe-dark.html", "probe-light.html"}


def test_a_picture_is_cut_to_its_frame() -> None:
    picture = Image.new("RGBA", (100, 80))
    picture.paste((200, 10, 10, 255), (10, 20, 60, 50))
    assert Image.open(io.BytesIO(small(picture))).size == (50, 30)


def test_the_readme_shows_every_picture_on_both_grounds() -> None:
    readme = (shots.ROOT / "README.md").read_text(encoding="utf-8")
    for name in SHOTS:
        for theme in ("dark", "light"):
            path = f"docs/images/{name}-{theme}.png"
            assert path in readme
            assert (shots.ROOT / path).stat().st_size < shots.MOST_BYTES
