"""Words with which a member has the bot go on with an answer that breaks off.

Invariant: they are a member's turn, so that no prompt ends with words of the model.
"""

_TAIL = 200
"""Characters of the answer that tell where to go on."""


def going_on(told: str) -> str:
    """What asks for the rest of an answer whose last message is `told`."""
    tail = " ".join(told[-_TAIL:].split())
    after = f' It ends with: "{tail}"' if tail else ""
    return (
        f"(Your answer breaks off.{after} Go on exactly there: write only what follows, without "
        "repeating any of it and without an introduction.)"
    )
