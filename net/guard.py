"""Decides which addresses may be connected to on behalf of a guild.

Invariant: only what is certainly a public host passes. An address that carries an IPv4 address
inside is judged by that one, a name by every address that it has, and the reason of a refusal
names no address that the person who asked did not write.
"""

import asyncio
import socket
from collections.abc import Awaitable, Callable, Sequence
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address
from typing import Literal, TypeAlias

import httpx2

Reach: TypeAlias = Literal["global", "loopback", "private", "link_local", "unusable"]
"""How far an address reaches. `unusable` stands for multicast, reserved and unspecified ones, to
which nothing can be connected that anyone could mean."""

Resolve: TypeAlias = Callable[[str, int], Awaitable[Sequence[str]]]
"""Finds the addresses of a host, as text. Raises OSError."""

_Address: TypeAlias = IPv4Address | IPv6Address

_RESOLVE_SECONDS = 10.0

# Written out, because what Python's ipaddress counts as private differs between its versions.
_PRIVATE = tuple(
    IPv4Network(network)
    for network in ("10.0.0.0/8", "172.16.0.0/12", "192.168.0.0/16", "100.64.0.0/10")
)
_UNUSABLE = tuple(
    IPv4Network(network)
    for network in (
        "0.0.0.0/8",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.88.99.0/24",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/3",
    )
)
_UNICAST_6 = IPv6Network("2000::/3")
_UNIQUE_LOCAL_6 = IPv6Network("fc00::/7")
_UNUSABLE_6 = tuple(IPv6Network(network) for network in ("2001::/23", "2001:db8::/32", "3fff::/20"))
_NAT64 = (IPv6Network("64:ff9b::/96"), IPv6Network("64:ff9b:1::/48"))
_COMPATIBLE = IPv6Network("::/96")

_WHAT: dict[Reach, str] = {
    "loopback": "the machine that the bot runs on",
    "private": "a private network",
    "link_local": "the bot's own network segment",
    "unusable": "an address that no server can have",
}


_NO_URL = "That is no valid URL."
_NO_HOST = "The URL names no host."


class AddressRefused(Exception):
    """An address that the bot does not connect to. The text says why, in its first sentence, and
    what to do."""


def reach(address: str) -> Reach:
    """How far an IP address reaches. ValueError if it is none."""
    parsed = ip_address(address)
    if isinstance(parsed, IPv4Address):
        return _reach_4(parsed)
    embedded = _embedded(parsed)
    if embedded:
        # Teredo carries two: the packet goes to either.
        return _farthest_from_global([_reach_4(inner) for inner in embedded])
    return _reach_6(parsed)


async def check_url(url: str, *, allow_private: bool, resolve: Resolve | None = None) -> None:
    """Raise AddressRefused unless `url` leads to hosts that may be connected to.

    With `allow_private`, which is the operator's right alone, the bot's own machine and networks
    may be. The answer holds for this moment: `PinnedTransport` asks again at every connection.
    """
    try:
        parsed = httpx2.URL(url)
    except (httpx2.InvalidURL, TypeError) as error:
        raise AddressRefused(f"{_NO_URL} It looks like https://host/v1.") from error
    if parsed.scheme not in {"http", "https"}:
        raise AddressRefused("The URL must start with https:// or http://.")
    if parsed.userinfo:
        raise AddressRefused(
            "The URL must not hold a user name or password; a key has a field of its own."
        )
    if not parsed.host:
        raise AddressRefused(f"{_NO_HOST} It looks like https://host/v1.")
    await vetted_addresses(parsed, allow_private=allow_private, resolve=resolve)


async def vetted_addresses(
    url: httpx2.URL, *, allow_private: bool, resolve: Resolve | None = None
) -> Sequence[str]:
    """The addresses of a URL's host, all of which may be connected to.

    One that may not be is enough to refuse all: whoever owns a name must not be able to choose
    between them. Raises AddressRefused, and OSError or TimeoutError if the name is not resolved.
    """
    host = url.raw_host.decode("ascii")
    port = url.port or (443 if url.scheme == "https" else 80)
    if not 0 < port < 65536:
        raise AddressRefused("The URL's port must be a number from 1 to 65535.")
    try:
        async with asyncio.timeout(_RESOLVE_SECONDS):
            addresses = await (resolve or resolved)(host, port)
    except (socket.gaierror, UnicodeError) as error:
        raise AddressUnknown(
            f"The host {url.host} is not known to the bot's DNS. Check how it is spelt."
        ) from error
    for address in addresses:
        _check(address, url.host, allow_private=allow_private)
    return list(dict.fromkeys(addresses))


class AddressUnknown(AddressRefused):
    """A host name that has no address."""


async def resolved(host: str, port: int) -> Sequence[str]:
    """The addresses that the system finds, in its order of preference."""
    found = await asyncio.get_running_loop().getaddrinfo(host, port, type=socket.SOCK_STREAM)
    return [str(address[0]) for *_, address in found]


def _check(address: str, host: str, *, allow_private: bool) -> None:
    found = reach(address)
    if found == "global" or (allow_private and found != "unusable"):
        return
    why = f"{host} leads to {_WHAT[found]}."
    if found == "unusable":
        raise AddressRefused(
            f"{why} For a server on the bot's own machine the address is 127.0.0.1."
            if allow_private
            else f"{why} Give the public address of an endpoint."
        )
    raise AddressRefused(
        f"{why} Only the bot's operator may set such an address, since "
        "the bot would reach into the operator's network for whoever asks. Give a public address, "
        "or ask the operator to run this command here."
    )


def _embedded(address: IPv6Address) -> Sequence[IPv4Address]:
    """The IPv4 addresses that an IPv6 address stands for."""
    if address.ipv4_mapped is not None:
        return [address.ipv4_mapped]
    if address.sixtofour is not None:
        return [address.sixtofour]
    if address.teredo is not None:
        return address.teredo
    low = IPv4Address(int(address) & 0xFFFF_FFFF)
    if any(address in network for network in _NAT64):
        return [low]
    if address in _COMPATIBLE and int(address) > 1:  # :: and ::1 are no such addresses
        return [low]
    return []


def _farthest_from_global(found: Sequence[Reach]) -> Reach:
    for one in found:
        if one != "global":
            return one
    return "global"


def _reach_4(address: IPv4Address) -> Reach:
    if address.is_loopback:
        return "loopback"
    if address.is_link_local:
        return "link_local"
    if any(address in network for network in _PRIVATE):
        return "private"
    return "unusable" if any(address in network for network in _UNUSABLE) else "global"


def _reach_6(address: IPv6Address) -> Reach:
    if address.is_loopback:
        return "loopback"
    if address.is_link_local:
        return "link_local"
    if address in _UNIQUE_LOCAL_6 or address.is_site_local:
        return "private"
    if address not in _UNICAST_6 or any(address in network for network in _UNUSABLE_6):
        return "unusable"
    return "global"
