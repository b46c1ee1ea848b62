"""Makes the provider for an endpoint that a guild brought.

Invariant: it connects to vetted addresses alone, and its remedies name what a guild's admin can
change.
"""

from data.endpoints import GuildEndpoint
from net.transport import PinnedTransport
from providers.openai.adapter import Limits, OpenAIProvider
from providers.openai.errors import SettingNames

_NAMES = SettingNames(
    url="the URL in /config setup", key="the key in /config setup", model="/config model"
)


def guilds_provider(endpoint: GuildEndpoint, key: str | None, *, limits: Limits) -> OpenAIProvider:
    """The provider for `endpoint`, with its key in the clear."""
    return OpenAIProvider(
        base_url=endpoint.base_url,
        model=endpoint.model,
        api_key=key,
        limits=limits,
        transport=PinnedTransport(allow_private=endpoint.allow_private),
        names=_NAMES,
    )
