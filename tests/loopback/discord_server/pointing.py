"""Points discord.py in this process at a loopback server, and back.

Invariant: what was changed is restored when the context is left, whatever happened in it.
"""

from collections.abc import Generator
from contextlib import contextmanager

import pytest
import yarl
from discord.asset import Asset
from discord.gateway import DiscordWebSocket
from discord.http import Route

from tests.loopback.discord_server.server import LoopbackDiscord


@contextmanager
def pointed_at(server: LoopbackDiscord) -> Generator[None]:
    """While this is entered, clients of discord.py made here talk to that server.

    The server must have been started. Links to attachments come with the messages.
    """
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Route, "BASE", server.address.api)
        patch.setattr(DiscordWebSocket, "DEFAULT_GATEWAY", yarl.URL(server.address.gateway))
        patch.setattr(Asset, "BASE", server.address.origin)
        yield
