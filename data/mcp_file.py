"""Reads the operator's MCP servers from a file of the shape that MCP clients share.

Invariant: no value of the file appears in an error, since it may hold secrets; every problem is
named at once.
"""

import json
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self, cast
from urllib.parse import urlsplit

from pydantic import (
    BaseModel,
    ConfigDict,
    Field,
    TypeAdapter,
    ValidationError,
    model_validator,
)

from data.mcp_servers import HttpServer, StdioServer
from data.settings import SettingsError
from prompt.values import Json

MCP_FILE_NAME = "mcp.json"
"""Looked for in the home directory."""

_NAME = re.compile(r"(?!.*__)[A-Za-z0-9_-]{1,64}")
_VARIABLE = re.compile(r"\$\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)\}")
_FILE = TypeAdapter(dict[str, dict[str, Any]])
_TYPES = frozenset({"stdio", "http", "streamable-http", "streamableHttp"})


class _Entry(BaseModel):
    """One server, as the file has it."""

    model_config = ConfigDict(extra="forbid", hide_input_in_errors=True, strict=True)

    type: str | None = None
    command: str | None = None
    args: list[str] = Field(default_factory=list)
    env: dict[str, str] = Field(default_factory=dict)
    cwd: str | None = None
    url: str | None = None
    headers: dict[str, str] = Field(default_factory=dict)
    disabled: bool = False
    trusted: bool = False

    @model_validator(mode="after")
    def _is_one_of_two(self) -> Self:
        if (self.command is None) == (self.url is None):
            raise ValueError("give either command, for a program, or url, for a server over HTTP")
        if self.type is not None and self.type not in _TYPES:
            raise ValueError("type must be stdio or http; the older sse is not spoken here")
        if self.url is not None and urlsplit(self.url).scheme not in {"http", "https"}:
            raise ValueError("url must start with https:// or http://")
        return self


def load_mcp_servers(
    path: Path, environ: Mapping[str, str]
) -> tuple[StdioServer | HttpServer, ...]:
    """The servers of the file at `path`, none if there is no such file.

    `${NAME}` in a value stands for that variable of `environ`. Raises SettingsError.
    """
    listed = _read(path)
    servers: list[StdioServer | HttpServer] = []
    problems: list[str] = []
    for name, value in listed.items():
        try:
            entry = _Entry.model_validate(_filled(value, environ))
        except ValidationError as error:
            problems += [f"{path}: {name}: {_problem(detail)}." for detail in error.errors()]
        except KeyError as error:
            problems.append(f"{path}: {name}: the variable {error.args[0]} is not set. Set it.")
        else:
            if not _NAME.fullmatch(name):
                problems.append(
                    f"{path}: a server's name must be 1 to 64 letters, digits, - and _, without "
                    f"two _ in a row. Rename {name!r:.80}."
                )
            servers.append(_server(name, entry))
    if problems:
        raise SettingsError("\n".join(problems))
    return tuple(servers)


def _read(path: Path) -> Mapping[str, Json]:
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except json.JSONDecodeError as error:
        raise SettingsError(
            f"{path} is not valid JSON: line {error.lineno}, column {error.colno}. Mend that line."
        ) from None
    except (OSError, UnicodeDecodeError, RecursionError):
        raise SettingsError(
            f"{path} cannot be read. Make it a UTF-8 text file that the user that runs Verbatim "
            "can read, or remove it."
        ) from None
    try:
        return _FILE.validate_python(content)["mcpServers"]
    except (ValidationError, KeyError):
        raise SettingsError(
            f'{path} must hold an object with the key mcpServers, as in {{"mcpServers": {{"time": '
            '{"command": "mcp-server-time"}}.'
        ) from None


def _filled(value: Json, environ: Mapping[str, str]) -> Json:
    """`value` with variables put in. Raises KeyError with the name of one that is not set."""
    if isinstance(value, str):
        return _VARIABLE.sub(lambda found: environ[found[1]], value)
    if isinstance(value, list):
        return [_filled(one, environ) for one in cast("list[Json]", value)]
    if isinstance(value, dict):
        fields = cast("dict[str, Json]", value)
        return {key: _filled(one, environ) for key, one in fields.items()}
    return value


def _problem(detail: Any) -> str:
    where = ".".join(str(step) for step in detail["loc"])
    message = str(detail["msg"]).removeprefix("Value error, ").replace("Input should", "must")
    if detail["type"] == "extra_forbidden":
        return f"{where} is not known; {', '.join(_Entry.model_fields)} are"
    return f"{where} {message}" if where else message


def _server(name: str, entry: _Entry) -> StdioServer | HttpServer:
    if entry.command is not None:
        return StdioServer(
            name=name,
            command=entry.command,
            args=tuple(entry.args),
            env=entry.env,
            cwd=entry.cwd,
            trusted=entry.trusted,
            enabled=not entry.disabled,
        )
    return HttpServer(
        name=name,
        url=entry.url or "",
        headers=entry.headers,
        allow_private=True,
        trusted=entry.trusted,
        enabled=not entry.disabled,
    )
