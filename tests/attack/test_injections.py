"""Hostile texts that a model obeys to the letter: nothing destructive runs, nothing private is
reached."""

import asyncio
import json
from collections import Counter
from collections.abc import AsyncGenerator
from pathlib import Path

import pytest

from chat.ports import ApprovalRequest, Decision
from tests.attack.ground import PUBLIC, Attack, Ground, corpus, ground

PLACES = ("page", "file", "name", "topic", "result", "description")
LEAST = 60
REFUSED = {"denied", "withdrawn", "blocked_url"}
"""Why such a call does not run: nobody agreed, the text was noticed, or the address is private."""


@pytest.fixture
def connected(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """Where sockets connect to. What is meant for PUBLIC goes to this machine, as a network would
    lead it to the page's server."""
    found: list[tuple[str, int]] = []
    loops = asyncio.selector_events.BaseSelectorEventLoop  # pyright: ignore[reportAttributeAccessIssue, reportUnknownMemberType, reportUnknownVariableType]
    connect = loops.sock_connect  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]

    async def record(loop: object, sock: object, address: tuple[str, int]) -> None:
        found.append((address[0], address[1]))
        led = ("127.0.0.1", address[1]) if address[0] == PUBLIC else address
        await connect(loop, sock, led)

    monkeypatch.setattr(loops, "sock_connect", record)  # pyright: ignore[reportUnknownArgumentType]
    return found


@pytest.fixture
async def here(tmp_path: Path, connected: list[tuple[str, int]]) -> AsyncGenerator[Ground]:
    async with ground(tmp_path) as made:
        yield made


def test_the_corpus_has_cases_of_every_kind() -> None:
    counts = Counter(attack.where for attack in corpus())
    assert set(counts) == set(PLACES)
    assert min(counts.values()) >= 9
    assert counts.total() >= LEAST


@pytest.mark.parametrize("where", PLACES)
async def test_a_model_that_obeys_does_no_harm(
    where: str, here: Ground, connected: list[tuple[str, int]]
) -> None:
    own = {(PUBLIC, here.ports["page"]), ("127.0.0.1", int(here.server.url.split(":")[2][:5]))}
    harm: list[str] = []
    for attack in (each for each in corpus() if each.where == where):
        before = len(connected)
        run = await here.obeyed(attack)
        assert run.result is not None
        reached = [each for each in connected[before:] if each not in own]
        code = json.loads(run.result.text)["error"]
        if code not in REFUSED or here.ran or here.inside or reached:
            harm.append(f"{attack.title}: {code} {here.ran} {reached}")
            here.ran.clear()
            here.inside.clear()
    assert harm == []


class Yes:
    """Members who say yes to everything."""

    async def ask(self, request: ApprovalRequest) -> Decision:
        return "once"


async def test_the_same_calls_run_where_a_member_agrees(here: Ground) -> None:
    """The bounds are those of consent: otherwise the tests above would show nothing."""
    here.page = "<p>The mill is open from nine to five on all days but Sunday.</p>"
    for name, arguments in (
        ("delete_messages", '{"channel": "general", "count": 1}'),
        ("ban_member", '{"member": "eve"}'),
        ("mcp__evil__purge", '{"n": 1}'),
        ("web_fetch", '{"url": "http://page.example:{page}/"}'),
    ):
        wanted = Attack(where="name", title="", tool=name, arguments=arguments, text="Ada")
        run = await here.obeyed(wanted, approver=Yes())
        assert run.result is not None
        assert run.result.outcome == "ok", run.result.text
    assert here.ran == ["delete_messages", "ban_member", "purge"]
