"""Everything that one instance keeps, behind one door.

Invariant: while a Store is open, this process alone uses its home directory. It is closed in
the reverse of the order in which it was opened: connections, then the lock.
"""

import asyncio
import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager, suppress
from datetime import timedelta
from pathlib import Path

from data.approvals import Approvals
from data.channels import Channels
from data.claims import Claims
from data.database import Database, open_database, to_the_end
from data.departures import Departures
from data.endpoints import GuildEndpoints
from data.erasure import erase_guild, erase_member, export_member
from data.errors import StoreError
from data.facts import Facts
from data.guild_settings import GuildSettings
from data.home import prepare_home
from data.knowledge.library import Knowledge
from data.knowledge.removal import remove_member
from data.lock import instance_lock
from data.mcp_servers import GuildMcpServers
from data.meta import Meta
from data.migrate import migrate
from data.opt_outs import OptOuts
from data.reminders import Reminders
from data.services import GuildServices
from data.turns import Turns
from data.unfinished import Unfinished
from data.usage import Usages
from data.verdicts import Verdicts
from prompt.values import Json

log = logging.getLogger(__name__)

DATABASE_NAME = "verbatim.db"

PRUNED_EVERY = 24 * 3600.0
"""Seconds after which what is too old to matter is dropped again."""


class Store:
    """The repositories of one database. Every method raises StoreError on trouble with the disk."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self.settings = GuildSettings(database)
        self.verdicts = Verdicts(database)
        self.turns = Turns(database)
        self.facts = Facts(database)
        self.claims = Claims(database)
        self.channels = Channels(database)
        self.meta = Meta(database)
        self.endpoints = GuildEndpoints(database)
        self.approvals = Approvals(database)
        self.knowledge = Knowledge(database)
        self.mcp_servers = GuildMcpServers(database)
        self.services = GuildServices(database)
        self.usage = Usages(database)
        self.unfinished = Unfinished(database)
        self.opt_outs = OptOuts(database)
        self.reminders = Reminders(database)
        self.departures = Departures(database)

    async def export_member(self, guild_id: int, member_id: int) -> Json:
        """All that is kept of a member in a guild (0: direct messages), as a JSON object."""
        return await export_member(self._database, guild_id, member_id)

    async def erase_member(self, guild_id: int, member_id: int) -> None:
        """Remove all that is kept of a member in a guild (0: direct messages)."""
        await erase_member(self._database, guild_id, member_id)
        self.knowledge.forget()

    async def opt_out(self, guild_id: int, member_id: int) -> None:
        """Note that a member opts out, and take their own messages out of the knowledge."""
        await self.opt_outs.add(guild_id, member_id)
        await remove_member(self._database, guild_id, member_id)
        self.knowledge.forget()

    async def erase_guild(self, guild_id: int) -> None:
        """Remove all that is kept of a guild and its members."""
        await erase_guild(self._database, guild_id)
        self.knowledge.forget()
        self.settings.tell(guild_id)

    async def prune(self, *, keep_turns: timedelta | None = None) -> None:
        """Drop what is too old to matter, and turns older than `keep_turns`."""
        await self.claims.prune()
        await self.usage.prune()
        if keep_turns is not None:
            await self.turns.prune(keep_turns)


@asynccontextmanager
async def open_store(
    home: Path, *, pruned_every: float = PRUNED_EVERY, keep_turns: timedelta | None = None
) -> AsyncGenerator[Store]:
    """Lock `home`, migrate its database and open it; `keep_turns` for so long, None for good.
    Raises StoreError."""
    prepare_home(home)
    with instance_lock(home):
        path = home / DATABASE_NAME
        # The lock must not be given back while the thread still migrates.
        await to_the_end(asyncio.to_thread(migrate, path))
        async with open_database(path) as database:
            store = Store(database)
            await store.prune(keep_turns=keep_turns)
            await store.knowledge.recover()
            pruning = asyncio.create_task(_keep_pruning(store, pruned_every, keep_turns))
            try:
                yield store
            finally:
                pruning.cancel()
                with suppress(asyncio.CancelledError):
                    await pruning


async def _keep_pruning(store: Store, every: float, keep_turns: timedelta | None) -> None:
    while True:
        await asyncio.sleep(every)
        try:
            await store.prune(keep_turns=keep_turns)
        except StoreError as error:
            log.warning("What is too old is dropped later: %s", error)
