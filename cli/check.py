"""Tells whether this installation can work: one line a matter, with the remedy where it cannot.

Invariant: changes nothing and sends no message text.
"""

import asyncio
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, TextIO

from data.errors import HomeInUse, StoreError
from providers.base import EndpointError

if TYPE_CHECKING:
    from data.settings import Settings


class Endpoint(Protocol):
    """The part of an adapter that can be asked without a turn."""

    @property
    def endpoint(self) -> str: ...  # noqa: D102

    async def list_models(self) -> Sequence[str]:
        """Names of the models on offer. Raises EndpointError."""
        ...


class ClosableEndpoint(Endpoint, Protocol):
    """One that was made for being asked."""

    async def close(self) -> None:
        """Release the connection pool."""
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


def model_finding(path: Path) -> Finding:
    """Whether the operator's own model file can be served here."""
    from cli.embedded.errors import EmbeddedError
    from cli.embedded.gguf import inspect

    try:
        local = inspect(path)
    except EmbeddedError as error:
        return Finding(fine=False, what=str(error))
    return Finding(fine=True, what=f"model file {local.path}, served on this machine")


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


async def run(
    settings: "Settings",
    environ: Mapping[str, str],
    stdout: TextIO,
    *,
    connect: "Callable[[Settings, str, str | None], ClosableEndpoint]",
) -> int:
    """Look at everything and print what was found. `connect` makes an endpoint of the settings, its
    URL and its model."""
    from data.store import open_store

    findings = [Finding(fine=True, what=f"settings, home {settings.home}")]
    try:
        async with open_store(settings.home):
            findings.append(Finding(fine=True, what="database"))
    except HomeInUse as error:
        # A running bot is the usual reason to ask what is wrong with its endpoint.
        findings.append(Finding(fine=True, what=f"database. {error.problem}"))
    except StoreError as error:
        findings.append(Finding(fine=False, what=f"database: {error}"))
    if settings.base_url is None and settings.model_path is not None:
        findings.append(await asyncio.to_thread(model_finding, settings.model_path))
    elif settings.base_url is None:
        what = "no VERBATIM_BASE_URL: the embedded endpoint will be offered"
        findings.append(Finding(fine=True, what=what))
    else:
        endpoint = connect(settings, settings.base_url, settings.model)
        try:
            findings.append(await endpoint_finding(endpoint, settings.model))
        finally:
            await endpoint.close()
    findings.append(mcp_finding(settings.home, environ))
    token = "set" if settings.discord_token else "not set: chat in the terminal only"
    findings.append(Finding(fine=True, what=f"DISCORD_TOKEN {token}"))
    return report(findings, stdout)


def report(findings: Sequence[Finding], stdout: TextIO) -> int:
    """Print findings; the exit status is 0 if all are fine, else 1."""
    stdout.writelines(f"{finding}\n" for finding in findings)
    return 0 if all(finding.fine for finding in findings) else 1
