import json
from pathlib import Path
from typing import Any

import pytest

from data.mcp_file import load_mcp_servers
from data.mcp_servers import HttpServer, StdioServer
from data.settings import SettingsError


def write(home: Path, content: Any) -> Path:
    path = home / "mcp.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def servers(**entries: Any) -> dict[str, Any]:
    return {"mcpServers": entries}


def problem(home: Path, content: Any) -> str:
    with pytest.raises(SettingsError) as raised:
        load_mcp_servers(write(home, content), {})
    return str(raised.value)


def test_without_a_file_there_are_no_servers(tmp_path: Path):
    assert load_mcp_servers(tmp_path / "mcp.json", {}) == ()


def test_programs_and_servers_over_http(tmp_path: Path):
    content = servers(
        time={"command": "mcp-server-time", "args": ["--local-timezone", "${TZ}"]},
        docs={
            "type": "http",
            "url": "https://docs.example/mcp",
            "headers": {"Authorization": "Bearer ${env:DOCS_TOKEN}"},
            "trusted": True,
            "disabled": True,
        },
    )
    environ = {"TZ": "Europe/Berlin", "DOCS_TOKEN": "s3cret"}
    time, docs = load_mcp_servers(write(tmp_path, content), environ)
    assert time == StdioServer(
        name="time", command="mcp-server-time", args=("--local-timezone", "Europe/Berlin")
    )
    assert docs == HttpServer(
        name="docs",
        url="https://docs.example/mcp",
        headers={"Authorization": "Bearer s3cret"},
        allow_private=True,
        trusted=True,
        enabled=False,
    )
    assert "s3cret" not in repr(docs)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("{", "is not valid JSON: line 1, column 2"),
        ("[]", "must hold an object with the key mcpServers"),
        ({}, "must hold an object with the key mcpServers"),
        (servers(a={}), "a: give either command, for a program, or url"),
        (servers(a={"command": "x", "url": "https://h/mcp"}), "give either command"),
        (servers(a={"url": "ftp://h"}), "a: url must start with https:// or http://"),
        (servers(a={"url": "https://h/sse", "type": "sse"}), "the older sse is not spoken here"),
        (servers(a={"command": "x", "comand": 1}), "a: comand is not known; type, command,"),
        (servers(a={"command": 5}), "a: command must be a valid string"),
        (servers(a={"command": "x", "env": {"K": "${NOPE}"}}), "the variable NOPE is not set"),
        (servers(**{"a b": {"command": "x"}}), "Rename 'a b'"),
        (servers(a__b={"command": "x"}), "Rename 'a__b'"),
    ],
)
def test_what_is_wrong_is_named(tmp_path: Path, content: Any, words: str):
    assert words in problem(tmp_path, content)


def test_every_problem_is_told_and_no_value(tmp_path: Path):
    told = problem(
        tmp_path,
        servers(a={"command": "x", "env": {"K": ["s3cret"]}}, b={"url": "s3cret"}),
    )
    assert len(told.splitlines()) == 2
    assert "s3cret" not in told
