"""What setup learns about a token, from a loopback Discord."""

import socket
from urllib.parse import parse_qs, urlsplit

import pytest

from cogs.token_check import check_token
from tests.loopback.discord_server import LoopbackDiscord, payloads
from tests.loopback.discord_server.pointing import pointed_at

LIMITED, VERIFIED = 1 << 19, 1 << 18


async def test_a_good_token_tells_whose_it_is_and_how_to_invite_it() -> None:
    async with LoopbackDiscord() as server:
        with pointed_at(server):
            report = await check_token(server.token)
        assert report.problem == ""
        assert report.name.startswith(server.bot.name)
        query = parse_qs(urlsplit(report.invite_url).query)
        assert query["client_id"] == [str(report.application_id)]
        assert query["scope"] == ["bot applications.commands"]
        assert query["permissions"] == [str(report.permissions)] == ["274878008384"]
        assert str(report.application_id) in report.portal_url
        assert server.violations() == []
        assert not [record for record in server.journal if record.kind == "identify"]


@pytest.mark.parametrize(("flags", "reads"), [(LIMITED, True), (VERIFIED, True), (1 << 14, False)])
async def test_the_intent_is_read_from_the_application(
    monkeypatch: pytest.MonkeyPatch, flags: int, reads: bool
) -> None:
    monkeypatch.setitem(payloads.APPLICATION_CONSTANTS, "flags", flags)
    async with LoopbackDiscord() as server:
        with pointed_at(server):
            assert (await check_token(server.token)).reads_content is reads


@pytest.mark.parametrize("token", ["hunter2", ""])
async def test_a_refused_token_is_said_without_it(token: str) -> None:
    async with LoopbackDiscord() as server:
        with pointed_at(server):
            report = await check_token(token)
    assert "Reset Token" in report.problem
    assert "hunter2" not in report.problem
    assert report.invite_url == ""


async def test_no_network_is_said() -> None:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        port = unused.getsockname()[1]
    server = LoopbackDiscord(port=port)
    async with server:
        pass
    with pointed_at(server):
        report = await check_token("anything")
    assert "cannot be reached" in report.problem
