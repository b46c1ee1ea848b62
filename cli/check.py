"""Tells whether this installation can work: one line a matter, with the remedy where it cannot.

Invariant: changes nothing and sends no message text.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TextIO

from providers.base import EndpointError


class Endpoint(Protocol):
    """The part of an adapter that can be asked without a turn."""

    @property
    def endpoint(self) -> str: ...  # noqa: D102

    async def list_models(self) -> Sequence[str]:
        """Names of the models on offer. Raises EndpointError."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One line of the report."""

    fine: bool
    what: str

    def __str__(self) -> str:
        return f"{'ok ' if self.fine else 'NOT OK'}  {self.what}"


async def endpoint_finding(endpoint: Endpoint, model: str | None) -> Finding:
    """Whether the endpoint answers and has the model."""
    try:
        names = await endpoint.list_models()
    except EndpointError as error:
        what = f"endpoint {endpoint.endpoint}: {error.member} {error.remedy}"
        return Finding(fine=False, what=what)
    # Ollama lists `name:latest` and takes `name` as well.
    if model and names and not {model, f"{model}:latest"} & set(names):
        listed = ", ".join(names[:8])
        return Finding(
            fine=False,
            what=f"endpoint {endpoint.endpoint}: it does not list {model!r}. Set VERBATIM_MODEL "
            f"to one of: {listed}",
        )
    chosen = model or next(iter(names), "")
    if not chosen:
        return Finding(
            fine=False,
            what=f"endpoint {endpoint.endpoint}: it lists no model. Load one, or set "
            "VERBATIM_MODEL.",
        )
    return Finding(fine=True, what=f"endpoint {endpoint.endpoint}, model {chosen}")


def mcp_finding(home: Path, environ: Mapping[str, str]) -> Finding:
    """How many MCP servers the operator has, or what is wrong with their file."""
    # Imported here, so that what needs neither settings nor database starts at once.
    from data.mcp_file import MCP_FILE_NAME, load_mcp_servers
    from data.settings import SettingsError

    try:
        servers = load_mcp_servers(home / MCP_FILE_NAME, environ)
    except SettingsError as error:
        return Finding(fine=False, what=str(error))
    return Finding(fine=True, what=f"MCP servers in {MCP_FILE_NAME}: {len(servers)}")


def report(findings: Sequence[Finding], stdout: TextIO) -> int:
    """Print findings; the exit status is 0 if all are fine, else 1."""
    stdout.writelines(f"{finding}\n" for finding in findings)
    return 0 if all(finding.fine for finding in findings) else 1
