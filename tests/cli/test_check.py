import io
from collections.abc import Sequence
from pathlib import Path

import pytest

from cli.check import Finding, endpoint_finding, mcp_finding, report
from providers.base import EndpointError, Unavailable


class Listing:
    """An endpoint that lists these models, or fails."""

    endpoint = "http://127.0.0.1:1/v1"

    def __init__(self, *names: str, error: EndpointError | None = None) -> None:
        self._names = names
        self._error = error

    async def list_models(self) -> Sequence[str]:
        if self._error is not None:
            raise self._error
        return self._names


@pytest.mark.parametrize(
    ("model", "names", "chosen"),
    [
        (None, ["a", "b"], "a"),
        ("b", ["a", "b"], "b"),
        ("b", ["a", "b:latest"], "b"),
        ("b", [], "b"),  # some servers list nothing
    ],
)
async def test_a_model_that_will_do(model: str | None, names: list[str], chosen: str) -> None:
    finding = await endpoint_finding(Listing(*names), model)
    assert finding.fine
    assert finding.what == f"endpoint http://127.0.0.1:1/v1, model {chosen}"


@pytest.mark.parametrize("model", ["c", "a:7b", "latest"])
async def test_a_model_that_is_not_listed_is_told_with_those_that_are(model: str) -> None:
    finding = await endpoint_finding(Listing(*(f"m{number}" for number in range(20))), model)
    assert not finding.fine
    assert repr(model) in finding.what
    assert finding.what.endswith("Set VERBATIM_MODEL to one of: m0, m1, m2, m3, m4, m5, m6, m7")


async def test_no_model_at_all() -> None:
    finding = await endpoint_finding(Listing(), None)
    assert not finding.fine
    assert "Load one, or set VERBATIM_MODEL" in finding.what


async def test_an_endpoint_that_fails_is_told_with_what_happened_and_the_remedy() -> None:
    error = Unavailable("The model is not reachable.", remedy="Start it.", detail="refused")
    finding = await endpoint_finding(Listing(error=error), "a")
    assert not finding.fine
    assert finding.what == "endpoint http://127.0.0.1:1/v1: The model is not reachable. Start it."


@pytest.mark.parametrize(("fine", "status"), [(True, 0), (False, 1)])
def test_the_report_has_a_line_a_finding_and_tells_whether_all_are_fine(
    fine: bool, status: int
) -> None:
    out = io.StringIO()
    findings = [Finding(fine=True, what="settings"), Finding(fine=fine, what="database")]
    assert report(findings, out) == status
    assert out.getvalue().splitlines() == [
        "ok   settings",
        f"{'ok ' if fine else 'NOT OK'}  database",
    ]


def test_mcp_servers_are_counted_and_a_faulty_file_is_told_of(tmp_path: Path) -> None:
    assert str(mcp_finding(tmp_path, {})) == "ok   MCP servers in mcp.json: 0"
    (tmp_path / "mcp.json").write_text('{"mcpServers": {"time": {"command": "mcp-server-time"}}}')
    assert str(mcp_finding(tmp_path, {})) == "ok   MCP servers in mcp.json: 1"
    (tmp_path / "mcp.json").write_text('{"mcpServers": {"time": {}}}')
    faulty = mcp_finding(tmp_path, {})
    assert not faulty.fine
    assert "time: give either command" in faulty.what
