"""What can go wrong with the embedded endpoint, in words for the operator.

Invariant: every message is whole: it says what happened and what to do next, so a caller
prints `str(error)` and nothing else.
"""

from typing import ClassVar


class EmbeddedError(Exception):
    """The embedded endpoint cannot be used. `exit_code` is what the command should end with."""

    exit_code: ClassVar[int] = 1


class FetchError(EmbeddedError):
    """The model could not be fetched."""

    def __init__(self, what: str) -> None:
        super().__init__(
            f"{what}\n"
            "Three ways on:\n"
            "  - set VERBATIM_MODEL_PATH to the path of a GGUF file that you have;\n"
            "  - set VERBATIM_BASE_URL to the URL of an OpenAI-compatible endpoint;\n"
            "  - try again: start the same command once more; parts already here are kept."
        )


class InstallError(EmbeddedError):
    """llama.cpp's server could not be installed."""

    def __init__(self, what: str) -> None:
        super().__init__(
            f"{what}\n"
            "Two ways on:\n"
            "  - set VERBATIM_BASE_URL to the URL of an OpenAI-compatible endpoint;\n"
            "  - try again: start the same command once more."
        )


class Declined(EmbeddedError):
    """The operator said no, or there was nobody to ask."""

    exit_code = 2
