"""Moving in from llmcord: what is taken over, what is said about the rest, and what is not said."""

import argparse
import asyncio
import io
import os
import sys
from pathlib import Path

import pytest

from cli.import_llmcord import run, translate
from data.settings import REPOSITORY, load_settings

CONFIG = """\
bot_token: hunter-token
client_id: 1234567890123456789
status_message: "beep"
max_text: 100000
max_images: 5
max_messages: 25
use_plain_responses: false
allow_dms: true
permissions:
  users: {admin_ids: [1, 2], allowed_ids: [], blocked_ids: [3]}
  roles: {allowed_ids: [4], blocked_ids: []}
  channels: {allowed_ids: [], blocked_ids: [5, 6]}
providers:
  openai:
    base_url: https://api.example.com/v1
    api_key: hunter-other
  local:
    base_url: http://127.0.0.1:8080/v1
    api_key: hunter-key
    extra_headers: {X-Secret: hunter-header}
models:
  local/qwen3:8b:
    temperature: 0.7
    max_tokens: 2048
    top_p: 0.9
  openai/gpt-x:vision:
system_prompt: |
  You are a helpful pirate. Today's date is {date}. The current time is {time}.
  Speak like one!
"""


def load(home: Path) -> dict[str, object]:
    settings = load_settings({"VERBATIM_HOME": str(home)}, dotenv=None)
    return {
        field: getattr(value, "get_secret_value", lambda value=value: value)()
        for field, value in settings
    }


def take(
    home: Path,
    text: str = CONFIG,
    *,
    typed: str = "\n",
    model: str | None = None,
    yes: bool = False,
) -> tuple[int, str]:
    file = home / "llmcord.yaml"
    file.write_text(text)
    settings = load_settings({"VERBATIM_HOME": str(home)}, dotenv=None)
    stdout = io.StringIO()
    args = argparse.Namespace(file=file, model=model, yes=yes)
    status = run(args, settings, io.StringIO(typed), stdout)
    return status, stdout.getvalue()


def test_what_has_a_counterpart_is_taken_over(tmp_path: Path) -> None:
    status, shown = take(tmp_path)
    assert status == 0
    assert "hunter" not in shown
    assert "hunter" not in (tmp_path / "config.toml").read_text()
    settings = load(tmp_path)
    assert settings["discord_token"] == "hunter-token"
    assert settings["base_url"] == "http://127.0.0.1:8080/v1"
    assert settings["api_key"] == "hunter-key"
    assert settings["model"] == "qwen3:8b"
    assert settings["temperature"] == 0.7
    assert settings["max_reply_tokens"] == 2048
    assert settings["persona"] == "You are a helpful pirate.\nSpeak like one!"
    assert settings["dms"] == "on"


@pytest.mark.parametrize(
    "line",
    [
        "  bot_token -> discord_token: kept encrypted",
        "  provider local -> base_url: http://127.0.0.1:8080/v1",
        "  provider local -> api_key: kept encrypted",
        "  model local/qwen3:8b -> model: qwen3:8b",
        "  local/qwen3:8b, temperature -> temperature: 0.7",
        "  system_prompt -> persona: 41 characters",
        "  client_id: not needed",
        "  status_message: ",
        "  max_text: ",
        "  max_images: ",
        "  max_messages: ",
        "  use_plain_responses: ",
        "  permissions, users.admin_ids (2): who runs the bot is whoever owns the application",
        "  permissions, users.blocked_ids (1): ",
        "  permissions, roles.allowed_ids (1): ",
        "  permissions, channels.blocked_ids (2): ",
        "  provider openai: ",
        "  provider local, extra_headers: ",
        "  model openai/gpt-x:vision: ",
        "  local/qwen3:8b, top_p: ",
        """  system_prompt, "Today's date is {date}.": """,
    ],
)
def test_every_entry_has_its_line(tmp_path: Path, line: str) -> None:
    _, shown = take(tmp_path)
    assert any(told.startswith(line) for told in shown.splitlines()), shown


def test_empty_lists_need_no_words(tmp_path: Path) -> None:
    assert "channels.allowed_ids" not in take(tmp_path)[1]


def test_another_model_brings_its_provider(tmp_path: Path) -> None:
    take(tmp_path, model="openai/gpt-x:vision")
    settings = load(tmp_path)
    assert settings["model"] == "gpt-x"
    assert settings["api_key"] == "hunter-other"
    assert settings["temperature"] is None


def test_a_model_that_is_not_there_is_an_error(tmp_path: Path) -> None:
    status, shown = take(tmp_path, model="local/other")
    assert status == 1
    assert "only: local/qwen3:8b, openai/gpt-x:vision" in shown
    assert not (tmp_path / "config.toml").exists()


def test_the_older_form_with_one_model() -> None:
    takeover = translate(
        {
            "model": "ollama/llama3",
            "providers": {"ollama": {"base_url": "http://localhost:11434/v1"}},
            "extra_api_parameters": {"max_completion_tokens": 512, "temperature": 1.0},
        }
    )
    assert takeover.changes == {
        "model": "llama3",
        "base_url": "http://localhost:11434/v1",
        "max_reply_tokens": 512,
        "temperature": 1.0,
    }


def test_what_is_not_valid_here_is_left_with_the_reason() -> None:
    takeover = translate(
        {
            "bot_token": "two words",
            "models": {"p/m": {"temperature": 9}},
            "providers": {"p": {"base_url": "box:80", "api_key": "hunter2"}},
            "surprise": 1,
        }
    )
    assert takeover.changes == {"model": "m"}
    left = "\n".join(takeover.left)
    assert "provider p: must start with http:// or https://" in left
    assert "bot_token: must be one word" in left
    assert "p/m, temperature: " in left
    assert "surprise: not known here" in left
    assert "two words" not in left
    assert "hunter2" not in left


def test_the_key_that_stands_for_none_is_not_kept() -> None:
    takeover = translate(
        {
            "models": {"p/m": None},
            "providers": {"p": {"base_url": "http://box/v1", "api_key": "sk-no-key-required"}},
        }
    )
    assert "api_key" not in takeover.changes


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("bot_token: hunter2: [\n", "not valid YAML in line 1"),
        (
            "a: !!python/object/apply:os.system ['true']\nproviders: {}\n",
            "not valid YAML in line 1",
        ),
        ("- hunter2\n", "no configuration of llmcord"),
        ("unrelated: hunter2\n", "no configuration of llmcord"),
        ("", "no configuration of llmcord"),
        ("[" * 5000, "not valid YAML"),
    ],
)
def test_what_is_no_configuration_is_told_unquoted(tmp_path: Path, text: str, words: str) -> None:
    status, shown = take(tmp_path, text)
    assert status == 1
    assert words in shown
    assert "hunter2" not in shown
    assert not (tmp_path / "config.toml").exists()


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    settings = load_settings({"VERBATIM_HOME": str(tmp_path)}, dotenv=None)
    stdout = io.StringIO()
    args = argparse.Namespace(file=tmp_path / "none.yaml", model=None, yes=True)
    assert run(args, settings, io.StringIO(), stdout) == 1
    assert "cannot be read: No such file" in stdout.getvalue()


@pytest.mark.parametrize("typed", ["n\n", ""])
def test_an_existing_file_is_changed_only_after_a_yes(tmp_path: Path, typed: str) -> None:
    path = tmp_path / "config.toml"
    path.write_text('model = "mine"\nidle_timeout = 60\n')
    _, shown = take(tmp_path, typed=typed)
    assert f"Change {path}, which exists?" in shown
    assert path.read_text() == 'model = "mine"\nidle_timeout = 60\n'
    take(tmp_path, typed="", yes=True)
    assert (load(tmp_path)["model"], load(tmp_path)["idle_timeout"]) == ("qwen3:8b", 60)
    assert (tmp_path / "config.toml.bak").exists()


async def test_as_a_command(tmp_path: Path) -> None:
    (tmp_path / "llmcord.yaml").write_text(CONFIG)
    process = await asyncio.create_subprocess_exec(
        sys.executable,
        *("bot.py", "import-llmcord", str(tmp_path / "llmcord.yaml"), "--yes"),
        cwd=REPOSITORY,
        env={"PATH": os.environ["PATH"], "VERBATIM_HOME": str(tmp_path)},
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.STDOUT,
    )
    shown, _ = await process.communicate()
    assert process.returncode == 0, shown.decode()
    assert b"hunter" not in shown
    assert load(tmp_path)["api_key"] == "hunter-key"
