"""Names of MCP tools as endpoints and models see them.

Invariant: every name is unique, fit for any endpoint, and the same whenever the same tools are
named. A name is never taken apart again: who calls a tool holds its record.
"""

import hashlib
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

LONGEST = 64

_FIT = re.compile(r"[A-Za-z0-9_-]{1,64}")
_NOT_FIT = re.compile(r"[^A-Za-z0-9_-]+")
_SEPARATOR = re.compile(r"__+")
_DIGESTS = (6, 12, 32)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolKey:
    """Which tool is meant: `scope` is 0 for the operator's servers, else the guild; `server` and
    `tool` are spelt as they were given."""

    scope: int
    server: str
    tool: str


def is_server_name(name: str) -> bool:
    """Whether a server may be called so without its name being changed on the wire."""
    return bool(_FIT.fullmatch(name)) and "__" not in name


def wire_names(keys: Sequence[ToolKey]) -> list[str]:
    """A name for each key, which must differ, in their order.

    Names that would be too long end in a digest of their key. So do names that two keys would
    share, and both of them, so that neither depends on which came first.
    """
    plain = [_composite(key) for key in keys]
    names = [
        name if len(name) <= LONGEST else _marked(name, key, _DIGESTS[0])
        for name, key in zip(plain, keys, strict=True)
    ]
    # Somebody may call a tool as another one's name with its digest; a longer one decides then.
    for digits in _DIGESTS:
        shared = Counter(names)
        names = [
            name if shared[name] == 1 else _marked(first, key, digits)
            for name, first, key in zip(names, plain, keys, strict=True)
        ]
    return names


def _composite(key: ToolKey) -> str:
    server = _SEPARATOR.sub("_", _NOT_FIT.sub("_", key.server)) or "server"
    return f"mcp__{server}__{_NOT_FIT.sub('_', key.tool) or 'tool'}"


def _marked(name: str, key: ToolKey, digits: int) -> str:
    written = "\0".join((str(key.scope), key.server, key.tool))
    digest = hashlib.sha256(written.encode("utf-8", "replace")).hexdigest()[:digits]
    return f"{name[: LONGEST - digits - 1]}_{digest}"
