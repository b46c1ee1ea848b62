"""Says what to do about an address where nobody answers.

Invariant: pure but for `in_container`. The remedy names the one thing that is usually wrong with
that address as seen from here: the machine that `localhost` is inside a container, or the
setting that lets the server of that port be reached from other machines.
"""

import ipaddress
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

from providers.openai.address import is_loopback

_CONTAINER_MARKS = (".dockerenv", "run/.containerenv")
_HOST_NAMES = ("host.docker.internal", "host.containers.internal")
"""What containers call the machine that they run on."""

_HOME_SUFFIXES = (".local", ".lan", ".home", ".internal", ".home.arpa", ".fritz.box")

_OPENING = {
    1234: 'in LM Studio, switch on "Serve on Local Network" in the server\'s settings',
    5000: "for TabbyAPI, set host: 0.0.0.0 under network: in its config.yml",
    5001: "start KoboldCpp without --host 127.0.0.1",
    8000: "start vLLM without --host 127.0.0.1",
    8080: "start llama.cpp's server with --host 0.0.0.0",
    11434: "for Ollama, set OLLAMA_HOST=0.0.0.0 in its environment and restart it",
}
"""How the server that has this port by default is made to listen to other machines."""


def in_container(environ: Mapping[str, str], *, root: Path = Path("/")) -> bool:
    """Whether this process runs in a container.

    Docker and Podman leave a file at the root; the variable `container` is what others set, and
    our own image.
    """
    return bool(environ.get("container")) or any(
        (root / mark).exists() for mark in _CONTAINER_MARKS
    )


def when_refused(url: str, *, contained: bool, setting: str = "VERBATIM_BASE_URL") -> str:
    """The remedy where the machine answers that nothing listens on the port; `setting` holds the
    address."""
    if is_loopback(url):
        nothing = f"Nothing listens at {url}. Is the server running, and is the port right?"
        return f"{nothing} {_from_the_inside(url, setting)}" if contained else nothing
    if not _is_near(url):
        return f"Nothing listens at {url}. Is the server running, and is the port right?"
    return (
        f"{url} refuses the connection. Either the server is not running there, or it listens to "
        f"its own machine only: {_opening(url)}."
    )


def when_silent(url: str, *, setting: str = "VERBATIM_BASE_URL") -> str:
    """The remedy where nothing came back, not even a refusal; `setting` holds the address."""
    if not _is_near(url):
        return (
            f"No connection to {url} in time. Check the address and port in {setting}, "
            "and that no firewall stands between."
        )
    return (
        f"No connection to {url} in time. Is that machine on, and is this its address? If so, let "
        f"its firewall accept connections to port {_port(url)}. The server must listen to other "
        f"machines, too: {_opening(url)}."
    )


def _from_the_inside(url: str, setting: str) -> str:
    parts = urlsplit(url)
    outside = f"{parts.scheme}://{_HOST_NAMES[0]}:{_port(url)}{parts.path}"
    return (
        "This runs in a container, whose localhost is the container itself. If the server runs on "
        f"the machine around it, set {setting} to {outside} and let the server listen to other "
        f"machines: {_opening(url)}."
    )


def _opening(url: str) -> str:
    return _OPENING.get(_port(url), "have it listen at 0.0.0.0 rather than 127.0.0.1")


def _port(url: str) -> int:
    parts = urlsplit(url)
    return parts.port or (443 if parts.scheme == "https" else 80)


def _is_near(url: str) -> bool:
    """Whether the address belongs to a home network, where the operator can change both ends."""
    host = urlsplit(url).hostname or ""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return "." not in host or host.endswith(_HOME_SUFFIXES)
    return not address.is_global
