"""What a base URL means: the form that requests use, and whether it stays on this machine."""

import ipaddress
import re
from urllib.parse import urlsplit, urlunsplit

_PASTED = re.compile(r"/(chat/)?completions$|/models$")


def normalised(base_url: str) -> str:
    """The base URL below which `/chat/completions` lies.

    Operators paste it without a scheme, without the `/v1` that nearly every server wants, or
    with the path of one call at its end.
    """
    text = base_url.strip()
    parts = urlsplit(text if "://" in text else f"http://{text}")
    path = _PASTED.sub("", parts.path.rstrip("/"))
    return urlunsplit((parts.scheme, parts.netloc, path or "/v1", "", ""))


def without_credentials(url: str) -> str:
    """The URL without a user name and password, for showing and storing."""
    parts = urlsplit(url)
    return urlunsplit((parts.scheme, parts.netloc.rpartition("@")[2], parts.path, "", ""))


def properties_url(url: str) -> str:
    """Where llama.cpp's server tells about itself, beside the API below `url`."""
    parts = urlsplit(url)
    path = parts.path.removesuffix("/v1")
    return urlunsplit((parts.scheme, parts.netloc, f"{path}/props", "", ""))


def is_loopback(url: str) -> bool:
    """Whether the address is this machine, which no proxy can reach in our place."""
    host = urlsplit(url).hostname or ""
    if host == "localhost" or host.endswith(".localhost"):
        return True
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return False
