"""The part of the service that admins use: what is set up for a guild, and how it is changed.

Invariant: nothing is decided here; each of these is the switchboard's.
"""

from collections.abc import Sequence

from chat.endpoints import FIRST_SPOT, Spot
from chat.overview import Exposure, ExposureChange, Overview, ToolListing
from chat.switchboard import Switchboard


class Administered:
    """What is to be had of a switchboard."""

    _board: Switchboard

    async def overview(self, guild_id: int | None, spot: Spot = FIRST_SPOT) -> Overview:
        """See Switchboard."""
        return await self._board.overview(guild_id, spot)

    async def configure(
        self,
        guild_id: int | None,
        name: str,
        value: str,
        *,
        by: int | None = None,
        spot: Spot = FIRST_SPOT,
    ) -> None:
        """See Switchboard."""
        await self._board.configure(guild_id, name, value, by=by, spot=spot)

    async def tools(self, guild_id: int | None) -> Sequence[ToolListing]:
        """See Switchboard."""
        return await self._board.tools(guild_id)

    async def exposure(self, guild_id: int | None) -> Exposure:
        """See Switchboard."""
        return await self._board.exposure(guild_id)

    async def expose(self, guild_id: int | None, change: ExposureChange) -> Exposure:
        """See Switchboard."""
        return await self._board.expose(guild_id, change)

    async def allow(self, guild_id: int | None, names: Sequence[str] | None) -> Exposure:
        """See Switchboard."""
        return await self._board.allow(guild_id, names)

    async def toggle(self, guild_id: int | None, name: str, on: bool | None) -> ToolListing:
        """See Switchboard."""
        return await self._board.toggle(guild_id, name, on)
