"""What becomes of uploaded bytes before a model sees them."""

import pytest
from PIL import Image

from chat.sizing import LONGEST_SIDE, MOST_PIXELS, SHORTEST_SIDE, Sized, Unreadable, sized
from tests.chat.pictures import animated_gif, bomb, decoded, encoded, png

RED, WHITE = (1, 0, 0), (1, 1, 1)


@pytest.mark.parametrize(
    ("given", "becomes"),
    [
        ((40, 30), (40, 30)),
        ((LONGEST_SIDE, 10 * SHORTEST_SIDE), (LONGEST_SIDE, 10 * SHORTEST_SIDE)),
        ((2 * LONGEST_SIDE, LONGEST_SIDE), (LONGEST_SIDE, LONGEST_SIDE // 2)),
        ((600, 2400), (224, LONGEST_SIDE)),
        ((1, 1), (SHORTEST_SIDE, SHORTEST_SIDE)),
        ((3000, 3), (LONGEST_SIDE, SHORTEST_SIDE)),
    ],
)
def test_it_is_made_to_fit(given: tuple[int, int], becomes: tuple[int, int]) -> None:
    made = sized(png(*given))
    image = decoded(made.data)
    assert image.format == "JPEG"
    assert (made.width, made.height) == image.size == becomes


@pytest.mark.parametrize("form", ["PNG", "JPEG", "WEBP", "GIF"])
def test_every_form_that_is_asked_for_can_be_read(form: str) -> None:
    assert middle(sized(encoded(Image.new("RGB", (40, 30), "red"), form))) == RED


def test_of_an_animated_one_the_first_frame() -> None:
    assert middle(sized(animated_gif("red", "blue"))) == RED


@pytest.mark.parametrize(("mode", "form"), [("RGBA", "PNG"), ("LA", "PNG"), ("P", "GIF")])
def test_what_is_transparent_is_white(mode: str, form: str) -> None:
    clear = Image.new("RGBA", (40, 30), (0, 0, 0, 0)).convert(mode)
    assert middle(sized(encoded(clear, form, transparency=0 if mode == "P" else None))) == WHITE


def test_a_photo_that_was_taken_sideways_stands_upright() -> None:
    exif = Image.Exif()
    exif[0x0112] = 6  # turn it by 90 degrees
    made = sized(encoded(Image.new("RGB", (2000, 1000)), "JPEG", exif=exif))
    assert (made.width, made.height) == (LONGEST_SIDE // 2, LONGEST_SIDE)
    assert not decoded(made.data).getexif()


@pytest.mark.parametrize("side", [8000, 12_000, 60_000])
def test_a_bomb_is_not_decoded(side: int) -> None:
    assert side * side > MOST_PIXELS
    with pytest.raises(Unreadable, match="too many pixels"):
        sized(bomb(side))


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"<html>not found</html>",
        png()[:50],
        encoded(Image.effect_noise((300, 300), 90), "JPEG")[:5000],
        encoded(Image.new("RGB", (40, 30)), "BMP"),
        bomb(3000),
    ],
    ids=["nothing", "a page", "cut in the header", "cut in the middle", "bitmap", "false size"],
)
def test_what_is_no_image_is_said_to_be_none(data: bytes) -> None:
    with pytest.raises(Unreadable, match="is damaged or no image"):
        sized(data)


def middle(made: Sized) -> tuple[int, ...]:
    """The colour in the middle, as far as a JPEG keeps it."""
    image = decoded(made.data)
    pixel = image.getpixel((image.width // 2, image.height // 2))
    assert isinstance(pixel, tuple)
    return tuple(round(value / 255) for value in pixel)
