"""Names the endpoints and models of a guild to its admins.

Invariant: an address of the operator's is never shown, nor the name of a channel of another guild.
"""

from collections.abc import Iterable
from urllib.parse import urlsplit

import discord

from chat.endpoints import Listed
from cogs.forms import clipped
from cogs.translations.saying import Speaks, tr

NO_SUCH_ENDPOINT = "This server has no such endpoint. `/config endpoints` lists those that it has."


def spot_labels(
    tried: Iterable[Listed], guild: discord.Guild | None, locale: Speaks
) -> dict[str, str]:
    """What members call each, by its name: in order, and then those of channels."""
    labels: dict[str, str] = {}
    for each in tried:
        model = each.model or tr(locale, "its first model")
        where = urlsplit(each.url).netloc or tr(locale, "the operator's endpoint")
        place = f"{each.spot.rank + 1}."
        if (channel_id := each.spot.channel_id) is not None:
            channel = guild.get_channel(channel_id) if guild else None
            place = f"#{clipped(channel.name, 20) if channel else channel_id}:"
        labels[each.name] = f"{place} {clipped(where, 30)}: {clipped(model, 40)}"
    return labels
