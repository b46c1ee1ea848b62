"""Estimates how many tokens a text costs.

Invariant: deterministic and offline. Real vocabularies differ by model and would have to be
downloaded; an estimate that leans high keeps requests inside the window.
"""

_IMAGE_PATCH = 28
"""Pixels of the square that becomes one token, as Qwen-VL and its kin have it. LLaVA, Gemma and
hosted models charge less for an image of the size that is sent here."""

MESSAGE_OVERHEAD = 4
"""Role markers around each message, as chat templates write them."""


def estimate(text: str) -> int:
    """Tokens of one message: about 3.5 ASCII characters each, one for any other character."""
    ascii_count = sum(character < "\x80" for character in text)
    return MESSAGE_OVERHEAD + (ascii_count * 2 + 6) // 7 + (len(text) - ascii_count)


def estimate_image(width: int, height: int) -> int:
    """Tokens of an image of this many pixels, with the markers around it."""
    return MESSAGE_OVERHEAD + -(-width // _IMAGE_PATCH) * -(-height // _IMAGE_PATCH)


def within(text: str, tokens: int) -> str:
    """The longest beginning of `text` that costs at most `tokens`; empty where none does."""
    room = (tokens - MESSAGE_OVERHEAD) * 7
    for place, character in enumerate(text):
        room -= 2 if character < "\x80" else 7
        if room < 0:
            return text[:place]
    return text


def fewest(text: str) -> int:
    """The fewest tokens that a message is likely to cost with any vocabulary: other alphabets
    than the Latin one take one token for several letters where a model was trained on them."""
    ascii_count = sum(character < "\x80" for character in text)
    return (ascii_count * 2 + 6) // 7 + (len(text) - ascii_count + 3) // 4
