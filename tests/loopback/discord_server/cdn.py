"""Uploaded files and the signed links under which they are delivered.

Invariant: a link without a signature, with a wrong one or past its expiry answers 404, as on
Discord's content delivery network.
"""

import hashlib
import re
import secrets
import time
from dataclasses import dataclass

from aiohttp import web

from tests.loopback.discord_server.journal import Journal
from tests.loopback.discord_server.limits import Limits
from tests.loopback.discord_server.model import Channel, StoredFile, Upload
from tests.loopback.discord_server.world import World

PNG_SIGNATURE = b"\x89PNG\r\n\x1a\n"
PNG_HEADER_BYTES = 24


@dataclass(slots=True, kw_only=True)
class Address:
    """Where the server listens; the port is known once it does."""

    host: str
    port: int

    @property
    def origin(self) -> str:
        """The base of all HTTP addresses, without a trailing slash."""
        return f"http://{self.host}:{self.port}"

    @property
    def api(self) -> str:
        """The base of all REST routes."""
        return f"{self.origin}/api/v10"

    @property
    def gateway(self) -> str:
        """Where gateway sockets connect."""
        return f"ws://{self.host}:{self.port}/gateway"


class ContentDelivery:
    """Keeps files, signs links to them, and serves them."""

    def __init__(self, world: World, limits: Limits, journal: Journal, address: Address) -> None:
        self._world = world
        self._limits = limits
        self._journal = journal
        self._address = address
        self._key = secrets.token_hex(16)

    def store(
        self, upload: Upload, channel: Channel | None, *, description: str | None = None
    ) -> StoredFile:
        """Keep an upload. Files of no channel are options of a command, visible to one member."""
        stored = StoredFile(
            id=self._world.next_id(),
            channel_id=channel.id if channel else 0,
            name=re.sub(r"[^A-Za-z0-9._-]", "_", upload.filename) or "file",
            data=upload.data,
            content_type=upload.content_type or "application/octet-stream",
            description=description,
            ephemeral=channel is None,
            duration=upload.duration,
        )
        if upload.data.startswith(PNG_SIGNATURE) and len(upload.data) > PNG_HEADER_BYTES:
            stored.content_type = "image/png"
            width, height = upload.data[16:20], upload.data[20:24]
            stored.size = int.from_bytes(width, "big"), int.from_bytes(height, "big")
        self._world.files[stored.id] = stored
        return stored

    def link(self, stored: StoredFile) -> str:
        """A link that works until the limit for links has passed."""
        issued = int(time.time())
        expires, since = f"{int(issued + self._limits.link_lifetime):x}", f"{issued:x}"
        path = f"/attachments/{stored.channel_id}/{stored.id}/{stored.name}"
        signature = self._sign(str(stored.id), expires, since)
        return f"{self._address.origin}{path}?ex={expires}&is={since}&hm={signature}&"

    async def handle(self, request: web.Request) -> web.Response:
        """Serve a file under a valid link."""
        file_id = request.match_info["file"]
        stored = self._world.files.get(int(file_id))
        self._journal.note("cdn", path=request.path, found=stored is not None)
        expires, since = request.query.get("ex", ""), request.query.get("is", "")
        if (
            stored is None
            or stored.name != request.match_info["name"]
            or request.query.get("hm") != self._sign(file_id, expires, since)
            or int(expires, 16) < time.time()
        ):
            return web.Response(status=404, text="This content is no longer available.")
        content_type = stored.content_type.split(";")[0]
        return web.Response(body=stored.data, content_type=content_type)

    def _sign(self, file_id: str, expires: str, since: str) -> str:
        return hashlib.sha256(f"{file_id} {expires} {since} {self._key}".encode()).hexdigest()
