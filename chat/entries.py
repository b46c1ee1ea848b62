"""Checks what admins enter: addresses, keys and names of models.

Invariant: what passes is kept as it was returned, and an address in the operator's own network
passes for the operator alone.
"""

from net.guard import AddressRefused, check_url

LONGEST_URL = 500
LONGEST_MODEL = 200


class SetupRefused(Exception):
    """Something that cannot be set so. The text tells the admin why and what to do."""


async def check_reachable(url: str, *, allow_private: bool) -> None:
    """Raise SetupRefused unless `url` leads to where the bot may connect; see net.guard."""
    try:
        await check_url(url, allow_private=allow_private)
    except AddressRefused as error:
        raise SetupRefused(str(error)) from error
    except (OSError, ValueError) as error:
        raise SetupRefused(
            "The address could not be looked up. Check it, or try again in a minute."
        ) from error


def checked_key(key: str) -> str:
    """A key as it is kept, empty if none was entered. Raises SetupRefused."""
    plain = key.strip()
    if not plain.isascii() or not plain.isprintable() or " " in plain:
        raise SetupRefused("The key must be one word of plain letters, digits and signs.")
    return plain


def checked_model(name: str) -> str:
    """A model's name as it is kept. Raises SetupRefused."""
    plain = name.strip()
    if len(plain) > LONGEST_MODEL or not plain.isprintable():
        raise SetupRefused(f"A model's name is one line of at most {LONGEST_MODEL} characters.")
    return plain
