"""The toolset of what reaches out of the bot: the web, pictures, files, and the worker process.

Invariant: each tool that needs a service is off, with the reason, where a guild has none.
"""

from collections.abc import Sequence

from net.fetch import Fetcher
from tools.builtin.attachments import attachment_tools
from tools.builtin.calculating import calculating_tools
from tools.builtin.picture import image_tools
from tools.builtin.web import web_tools
from tools.image_endpoint import ImageEndpoint
from tools.search_providers import SearchProviders
from tools.services import Missing, Services
from tools.toolset import Offered
from tools.worker.process import Worker


class OutsideTools:
    """See Toolset. `worker` is the caller's to close; `on` names what a fresh guild has."""

    def __init__(
        self, services: Services, fetcher: Fetcher, worker: Worker, *, on: Sequence[str]
    ) -> None:
        self._services = services
        self._on = frozenset(on)
        self._tools = (
            *calculating_tools(worker),
            *web_tools(services, SearchProviders(fetcher), fetcher, worker),
            *image_tools(services, ImageEndpoint(fetcher), worker),
            *attachment_tools(worker),
        )

    async def offered(self, guild_id: int) -> Sequence[Offered]:
        """See Toolset."""
        asked = {
            "web_search": await self._services.search(guild_id),
            "generate_image": await self._services.images(guild_id),
        }
        off = {name: found.why for name, found in asked.items() if isinstance(found, Missing)}
        return [
            Offered(
                tool=tool,
                off=off.get(tool.spec.name, ""),
                optional=tool.spec.name not in self._on,
            )
            for tool in self._tools
        ]
