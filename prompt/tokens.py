"""Estimates how many tokens a text costs.

Invariant: deterministic and offline. Real vocabularies differ by model and would have to be
downloaded; an estimate that leans high keeps requests inside the window.
"""

_MESSAGE_OVERHEAD = 4
"""Role markers around each message, as chat templates write them."""


def estimate(text: str) -> int:
    """Tokens of one message: about 3.5 ASCII characters each, one for any other character."""
    ascii_count = sum(character < "\x80" for character in text)
    return _MESSAGE_OVERHEAD + (ascii_count * 2 + 6) // 7 + (len(text) - ascii_count)
