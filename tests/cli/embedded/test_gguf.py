"""An operator's own model file."""

from pathlib import Path

import pytest

from cli.embedded import gguf
from cli.embedded.errors import EmbeddedError
from tests.cli.embedded.tiny import CONTENT, MODEL


def refused(path: Path) -> str:
    with pytest.raises(EmbeddedError, match="VERBATIM_MODEL_PATH") as caught:
        gguf.inspect(path)
    assert str(path) in str(caught.value)
    return str(caught.value)


def test_a_path_to_nothing(tmp_path: Path) -> None:
    assert "no file" in refused(tmp_path / "absent.gguf")


def test_a_folder(tmp_path: Path) -> None:
    assert "cannot be read" in refused(tmp_path)


def test_another_format(tmp_path: Path) -> None:
    path = tmp_path / "model.safetensors"
    path.write_bytes(b"\x10\0\0\0{}")
    assert "no GGUF file" in refused(path)


def test_an_own_model_keeps_its_template(tmp_path: Path) -> None:
    path = tmp_path / "mine.gguf"
    path.write_bytes(CONTENT)
    assert gguf.inspect(path) == gguf.LocalModel(path=path, name="mine", plain_template=False)


@pytest.mark.parametrize("flipped", [False, True])
def test_a_pinned_model_is_known_by_its_digest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, flipped: bool
) -> None:
    monkeypatch.setattr(gguf, "MODELS", (MODEL,))
    path = tmp_path / "mine.gguf"
    path.write_bytes(CONTENT[:-1] + b"?" if flipped else CONTENT)
    found = gguf.inspect(path)
    assert (found.name, found.plain_template) == (("mine", False) if flipped else ("tiny", True))
