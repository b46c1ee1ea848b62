"""Makes the providers for the operator's further endpoints.

Invariant: each has the key that stands beside its URL in the settings, and no other.
"""

from collections.abc import Sequence

from data.fallbacks import Fallback
from providers.openai.adapter import Limits, OpenAIProvider
from providers.openai.errors import SettingNames

_NAMES = SettingNames(
    url="base_url in VERBATIM_FALLBACKS",
    key="api_key in VERBATIM_FALLBACKS",
    model="model in VERBATIM_FALLBACKS",
)


def fallback_providers(
    fallbacks: Sequence[Fallback], *, limits: Limits
) -> Sequence[OpenAIProvider]:
    """The providers in the order of the settings; the caller closes them."""
    return [
        OpenAIProvider(
            base_url=each.base_url,
            model=each.model,
            api_key=each.api_key.get_secret_value() if each.api_key else None,
            limits=limits,
            names=_NAMES,
        )
        for each in fallbacks
    ]
