"""Every spelling of an address that must not be reached, and those that may."""

import socket
from collections.abc import Sequence

import pytest

from net.guard import AddressRefused, AddressUnknown, Reach, Resolve, check_url, reach


def resolving(*addresses: str) -> Resolve:
    async def resolve(host: str, port: int) -> Sequence[str]:
        return addresses

    return resolve


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("8.8.8.8", "global"),
        ("172.15.255.255", "global"),
        ("172.32.0.1", "global"),
        ("100.63.255.255", "global"),
        ("100.128.0.0", "global"),
        ("2606:4700:4700::1111", "global"),
        ("127.0.0.1", "loopback"),
        ("127.255.255.254", "loopback"),
        ("::1", "loopback"),
        ("10.0.0.1", "private"),
        ("172.16.0.1", "private"),
        ("172.31.255.255", "private"),
        ("192.168.1.1", "private"),
        ("100.64.0.1", "private"),  # carrier-grade NAT, and overlay networks
        ("fd00::1", "private"),
        ("fec0::1", "private"),
        ("169.254.169.254", "link_local"),
        ("fe80::1", "link_local"),
        ("fe80::1%eth0", "link_local"),
        ("0.0.0.0", "unusable"),
        ("0.1.2.3", "unusable"),
        ("192.0.0.1", "unusable"),
        ("192.0.2.1", "unusable"),
        ("198.18.0.1", "unusable"),
        ("198.51.100.1", "unusable"),
        ("203.0.113.1", "unusable"),
        ("224.0.0.1", "unusable"),
        ("240.0.0.1", "unusable"),
        ("255.255.255.255", "unusable"),
        ("::", "unusable"),
        ("ff02::1", "unusable"),
        ("2001:db8::1", "unusable"),
        ("2001:10::1", "unusable"),
        ("3fff::1", "unusable"),
        ("4000::1", "unusable"),
        ("100::1", "unusable"),
    ],
)
def test_how_far_an_address_reaches(address: str, expected: Reach) -> None:
    assert reach(address) == expected


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("::ffff:127.0.0.1", "loopback"),
        ("::ffff:8.8.8.8", "global"),
        ("::ffff:a00:1", "private"),
        ("::127.0.0.1", "loopback"),
        ("::8.8.8.8", "global"),
        ("2002:7f00:1::", "loopback"),
        ("2002:c0a8:101::1", "private"),
        ("2002:808:808::1", "global"),
        ("64:ff9b::169.254.169.254", "link_local"),
        ("64:ff9b::808:808", "global"),
        ("64:ff9b:1::10.0.0.1", "private"),
        # server 8.8.8.8, client 127.0.0.1; and server 10.0.0.1, client 8.8.8.8
        ("2001:0:808:808::80ff:fffe", "loopback"),
        ("2001:0:a00:1::f7f7:f7f7", "private"),
        ("2001:0:808:808::f7f7:f7f7", "global"),
    ],
)
def test_an_address_that_carries_another_is_judged_by_that(address: str, expected: Reach) -> None:
    assert reach(address) == expected


@pytest.mark.parametrize(
    "url",
    [
        "http://127.0.0.1:8080/v1",
        "http://localhost/v1",
        "http://[::1]:8080/v1",
        "http://[::ffff:127.0.0.1]/v1",
        "http://2130706433/v1",
        "http://0x7f000001/v1",
        "http://127.1/v1",
        "http://LOCALHOST/v1",
    ],
)
async def test_this_machine_is_the_operators_to_set_however_it_is_spelt(url: str) -> None:
    with pytest.raises(AddressRefused, match="Only the bot's operator may set") as refused:
        await check_url(url, allow_private=False)
    assert not isinstance(refused.value, AddressUnknown)
    await check_url(url, allow_private=True)


@pytest.mark.parametrize("private", ["10.0.0.5", "::1", "169.254.169.254", "fd00::5"])
async def test_one_private_address_among_public_ones_refuses_a_name(private: str) -> None:
    for addresses in (("8.8.8.8", private), (private, "8.8.8.8")):
        with pytest.raises(AddressRefused, match=r"llm\.example leads to") as refused:
            await check_url(
                "https://llm.example/v1", allow_private=False, resolve=resolving(*addresses)
            )
        assert private not in str(refused.value)
        await check_url("https://llm.example/v1", allow_private=True, resolve=resolving(*addresses))
    await check_url("https://llm.example/v1", allow_private=False, resolve=resolving("8.8.8.8"))


@pytest.mark.parametrize("allow_private", [True, False])
async def test_what_no_server_can_have_is_nobodys_to_set(allow_private: bool) -> None:
    with pytest.raises(AddressRefused, match="no server can have"):
        await check_url("http://0.0.0.0:11434/v1", allow_private=allow_private)
    with pytest.raises(AddressRefused, match="no server can have"):
        await check_url("http://224.0.0.1/v1", allow_private=allow_private)


@pytest.mark.parametrize(
    ("url", "words"),
    [
        ("ftp://host/v1", "must start with https://"),
        ("file:///etc/passwd", "must start with https://"),
        ("host/v1", "must start with https://"),
        ("https://user:pass@host/v1", "must not hold a user name"),
        ("https://8.8.8.8@host/v1", "must not hold a user name"),
        ("https:///v1", "names no host"),
        ("http://[::1/v1", "no valid URL"),
        ("http://0177.0.0.1/v1", "no valid URL"),
        ("http://8.8.8.8:99999/v1", "port"),
    ],
)
async def test_a_url_that_is_none_is_refused_with_what_is_wrong(url: str, words: str) -> None:
    with pytest.raises(AddressRefused, match=words):
        await check_url(url, allow_private=True)


async def test_a_name_that_nobody_knows_is_told_as_such() -> None:
    async def unknown(host: str, port: int) -> Sequence[str]:
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    with pytest.raises(AddressUnknown, match=r"nowhere\.example is not known"):
        await check_url("http://nowhere.example/v1", allow_private=False, resolve=unknown)
