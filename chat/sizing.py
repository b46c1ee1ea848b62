"""Makes images small enough for a model.

Invariant: whatever the bytes are, the result is one still JPEG of bounded size, or Unreadable. No
more memory is used for pixels than MOST_PIXELS take. It is slow: not for the event loop.
"""

import io
from dataclasses import dataclass, field

from PIL import Image, ImageOps

LONGEST_SIDE = 896
"""Pixels. Encoders of open models work on squares of 224 to 896; more costs tokens alone."""

MOST_PIXELS = 50_000_000
"""Larger ones are not decoded: this many take 200 MB. A phone's camera makes 12 to 50 million."""

SHORTEST_SIDE = 28
"""Pixels. Qwen-VL's encoder refuses what is narrower."""

_FORMATS = ("PNG", "JPEG", "WEBP", "GIF")
_QUALITY = 85


class Unreadable(Exception):
    """The bytes are no image that can be shown; the message says why, to follow its name."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sized:
    """A JPEG, and its size in pixels."""

    data: bytes = field(repr=False)
    width: int
    height: int


def sized(data: bytes) -> Sized:
    """An image, of an animated one the first frame, upright and within LONGEST_SIDE. Raises
    Unreadable."""
    try:
        with Image.open(io.BytesIO(data), formats=_FORMATS) as image:
            if image.width * image.height <= MOST_PIXELS:
                return _small(image)
    except (Image.DecompressionBombError, Image.DecompressionBombWarning):
        pass  # Pillow looks at the size first of all, with a limit of its own
    except Exception as error:  # decoders raise whatever they come across in a damaged file
        raise Unreadable("is damaged or no image") from error
    raise Unreadable("has too many pixels to be shown")


def _small(image: Image.Image) -> Sized:
    image.thumbnail((LONGEST_SIDE, LONGEST_SIDE))
    upright = ImageOps.exif_transpose(image)
    plain = _opaque(upright)
    size = max(plain.width, SHORTEST_SIDE), max(plain.height, SHORTEST_SIDE)
    if size != plain.size:
        plain = ImageOps.pad(plain, size, color="white")
    out = io.BytesIO()
    plain.save(out, "JPEG", quality=_QUALITY)
    return Sized(data=out.getvalue(), width=plain.width, height=plain.height)


def _opaque(image: Image.Image) -> Image.Image:
    """The image in RGB, what is transparent in white."""
    if image.mode == "RGB":
        return image
    if not image.has_transparency_data:
        return image.convert("RGB")
    layer = image.convert("RGBA")
    ground = Image.new("RGBA", layer.size, "white")
    ground.alpha_composite(layer)
    return ground.convert("RGB")
