"""The embedded endpoint: a small model and llama.cpp's server on the operator's own machine.

Invariant: nothing here is needed by a bot that has an endpoint URL, and the bot speaks to this
server over HTTP like to any other.
"""

from cli.embedded.catalogue import DEFAULT_MODEL, SMALL_MODEL, PinnedModel, named
from cli.embedded.errors import Declined, EmbeddedError, FetchError, InstallError
from cli.embedded.gguf import LocalModel
from cli.embedded.offer import offer_model
from cli.embedded.process import EmbeddedEndpoint

__all__ = [
    "DEFAULT_MODEL",
    "SMALL_MODEL",
    "Declined",
    "EmbeddedEndpoint",
    "EmbeddedError",
    "FetchError",
    "InstallError",
    "LocalModel",
    "PinnedModel",
    "named",
    "offer_model",
]
