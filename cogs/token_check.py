"""Asks Discord whose token this is and what its application may read, without connecting.

Invariant: two requests, nothing changed, and trouble comes back as words rather than raised.
"""

import asyncio
from dataclasses import dataclass

import discord

from cogs.aside import NETWORK_ERRORS
from cogs.permissions import NEEDED, invitation

_PATIENCE = 20.0
"""Seconds."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TokenReport:
    """What a token is good for. Where `problem` has words, nothing else is known.

    `refused` tells that the problem is the token itself and not the way to Discord;
    `reads_content` tells whether the message content intent is switched on in the portal;
    `permissions` is the integer that `invite_url` asks for.
    """

    problem: str = ""
    refused: bool = False
    name: str = ""
    application_id: int = 0
    reads_content: bool = False
    permissions: int = NEEDED.value
    invite_url: str = ""

    @property
    def portal_url(self) -> str:
        """The page of the Developer Portal with the bot's intents."""
        return f"https://discord.com/developers/applications/{self.application_id}/bot"


async def check_token(token: str) -> TokenReport:
    """Log in with `token` and out again."""
    client = discord.Client(intents=discord.Intents.none())
    try:
        async with asyncio.timeout(_PATIENCE):
            await client.login(token)
        return _report(client)
    except discord.LoginFailure:
        return TokenReport(
            problem="Discord refuses this token. Make a new one in the Developer Portal (Bot, "
            "Reset Token) and paste it whole.",
            refused=True,
        )
    except discord.HTTPException as error:
        return TokenReport(
            problem=f"Discord did not answer as it should (status {error.status}). Try again in a "
            "few minutes."
        )
    except NETWORK_ERRORS as error:
        what = str(error) or "it did not answer in time"
        return TokenReport(
            problem=f"Discord cannot be reached ({what}). Check this machine's network, DNS and "
            "proxy."
        )
    finally:
        await client.close()


def _report(client: discord.Client) -> TokenReport:
    user, application_id = client.user, client.application_id
    if user is None or application_id is None:
        raise RuntimeError("a login that succeeds tells who the bot is")
    flags = client.application_flags
    return TokenReport(
        name=str(user),
        application_id=application_id,
        # Unverified bots have the limited flag, verified ones the other.
        reads_content=flags.gateway_message_content or flags.gateway_message_content_limited,
        invite_url=invitation(application_id),
    )
