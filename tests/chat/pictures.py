"""Images that tests upload."""

import io
import struct
import zlib
from typing import Any

from PIL import Image


def png(width: int = 40, height: int = 30, colour: str = "red", mode: str = "RGB") -> bytes:
    return encoded(Image.new(mode, (width, height), colour), "PNG")


def encoded(image: Image.Image, form: str, **options: Any) -> bytes:
    out = io.BytesIO()
    image.save(out, form, **{name: value for name, value in options.items() if value is not None})
    return out.getvalue()


def decoded(data: bytes) -> Image.Image:
    return Image.open(io.BytesIO(data))


def animated_gif(*colours: str) -> bytes:
    frames = [Image.new("RGB", (40, 30), colour) for colour in colours]
    return encoded(frames[0], "GIF", save_all=True, append_images=frames[1:])


def bomb(side: int = 60_000) -> bytes:
    """A PNG of a few bytes that claims to be a square of this many pixels."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        length, check = struct.pack(">I", len(data)), struct.pack(">I", zlib.crc32(kind + data))
        return length + kind + data + check

    header = struct.pack(">IIBBBBB", side, side, 8, 2, 0, 0, 0)
    pixels = zlib.compress(bytes(1000))
    chunks = chunk(b"IHDR", header) + chunk(b"IDAT", pixels) + chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + chunks
