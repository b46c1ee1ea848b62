"""Looks at a picture that a server has made, before it is shown to anybody.

Invariant: only what decodes as one of a few formats, within a number of pixels, counts as one.
"""

import io
import warnings

from PIL import Image, UnidentifiedImageError

from prompt.values import JsonObject
from tools.worker.refusing import JobRefused

FORMATS = ("PNG", "JPEG", "WEBP")
MOST_PIXELS = 40_000_000


def inspected(data: bytes) -> JsonObject:
    """Format, width and height. Raises JobRefused."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with Image.open(io.BytesIO(data), formats=FORMATS) as image:
                width, height = image.size
                if width * height > MOST_PIXELS:
                    raise JobRefused("The picture has too many pixels.")
                image.load()
                return {"format": str(image.format), "width": width, "height": height}
    except UnidentifiedImageError as error:
        raise JobRefused("What came is no PNG, JPEG or WebP picture.") from error
    except (OSError, SyntaxError, ValueError) as error:
        raise JobRefused("The picture is damaged.") from error
