"""Settings: where they come from, what is refused, and what is never said."""

import logging
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from cryptography.fernet import Fernet
from pydantic import ValidationError

from data.keys import open_keys
from data.settings import (
    REPOSITORY,
    Settings,
    SettingsError,
    load_settings,
    set_by_variables,
    variable,
)

VARIABLES = {variable(field) for field in Settings.model_fields}


def load(home: Path, dotenv: Path | None = None, **environ: str) -> Settings:
    return load_settings({"VERBATIM_HOME": str(home), **environ}, dotenv=dotenv)


def refusal(home: Path, dotenv: Path | None = None, **environ: str) -> list[str]:
    with pytest.raises(SettingsError) as caught:
        load(home, dotenv, **environ)
    return str(caught.value).splitlines()


def test_nothing_set_gives_the_defaults():
    settings = load_settings({}, dotenv=None)
    assert settings == Settings()
    assert settings.home == REPOSITORY / "var"
    assert settings.discord_token is None
    assert (settings.first_token_timeout, settings.idle_timeout) == (300, 120)


def test_only_the_given_environment_counts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("VERBATIM_MODEL", "from-the-process")
    assert load(tmp_path).model is None
    assert Settings().model is None
    assert load(tmp_path, VERBATIM_MODEL="given").model == "given"


def test_environment_wins_over_dotenv_and_dotenv_over_config(tmp_path: Path):
    dotenv = tmp_path / "dotenv"
    dotenv.write_text("VERBATIM_MODEL=dotenv\nVERBATIM_PERSONA=dotenv\nUNRELATED=1\n")
    (tmp_path / "config.toml").write_text(
        'model = "config"\npersona = "config"\nbase_url = "http://config/v1"\n'
    )
    settings = load(tmp_path, dotenv, VERBATIM_MODEL="environment")
    assert (settings.model, settings.persona) == ("environment", "dotenv")
    assert settings.base_url == "http://config/v1"


def test_blank_counts_as_unset_in_every_layer(tmp_path: Path):
    dotenv = tmp_path / "dotenv"
    dotenv.write_text("VERBATIM_MODEL=\nVERBATIM_CONTEXT_WINDOW=\n")
    (tmp_path / "config.toml").write_text('model = "config"\npersona = " "\n')
    settings = load(tmp_path, dotenv, VERBATIM_MODEL="  ", VERBATIM_IDLE_TIMEOUT="")
    assert settings.model == "config"
    assert settings.persona is None
    assert settings.context_window is None
    assert settings.idle_timeout == 120


def test_a_carriage_return_from_windows_is_not_part_of_a_value(tmp_path: Path):
    token = load(tmp_path, DISCORD_TOKEN="abc\r").discord_token
    assert token is not None
    assert token.get_secret_value() == "abc"


def test_home_in_dotenv_says_where_config_is(tmp_path: Path):
    (tmp_path / "config.toml").write_text("max_reply_tokens = 99\n")
    dotenv = tmp_path / "dotenv"
    dotenv.write_text(f"VERBATIM_HOME={tmp_path}\n")
    settings = load_settings({}, dotenv=dotenv)
    assert (settings.home, settings.max_reply_tokens) == (tmp_path, 99)


def test_paths_become_absolute_and_know_the_tilde(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("HOME", str(tmp_path / "me"))
    settings = load_settings(
        {"VERBATIM_HOME": "here", "VERBATIM_MODEL_PATH": "~/m.gguf"}, dotenv=None
    )
    assert settings.home == tmp_path / "here"
    assert settings.model_path == tmp_path / "me" / "m.gguf"


@pytest.mark.parametrize(
    ("written", "read"),
    [
        ("https://api.example.com/v1/", "https://api.example.com/v1"),
        ("http://127.0.0.1:8080", "http://127.0.0.1:8080/v1"),
        ("http://127.0.0.1:8080/", "http://127.0.0.1:8080/v1"),
        ("http://[::1]:8080/api", "http://[::1]:8080/api"),
        ("https://host/v1/chat/completions", "https://host/v1"),
        ("https://host/chat/completions/", "https://host/v1"),
    ],
)
def test_base_url_is_brought_to_one_form(tmp_path: Path, written: str, read: str):
    assert load(tmp_path, VERBATIM_BASE_URL=written).base_url == read


@pytest.mark.parametrize(
    ("written", "problem"),
    [
        ("localhost:8080/v1", "http:// or https://"),
        ("ftp://host/v1", "http:// or https://"),
        ("http://", "no host"),
        ("http://host:port/v1", "no valid URL"),
        ("http://me:hunter2@host/v1", "VERBATIM_API_KEY"),
        ("http://host/v1?key=hunter2", "without ? and #"),
    ],
)
def test_base_url_that_cannot_be_used(tmp_path: Path, written: str, problem: str):
    (line,) = refusal(tmp_path, VERBATIM_BASE_URL=written)
    assert line.startswith("VERBATIM_BASE_URL (from the environment): ")
    assert problem in line
    assert "hunter2" not in line


def test_every_problem_has_one_line_with_name_origin_and_remedy(tmp_path: Path):
    dotenv = tmp_path / "dotenv"
    dotenv.write_text("VERBATIM_TEMPERATURE=nan\n")
    (tmp_path / "config.toml").write_text('log_level = "loud"\nmodel = 5\n')
    lines = refusal(tmp_path, dotenv, VERBATIM_IDLE_TIMEOUT="inf", VERBATIM_FIRST_TOKEN_TIMEOUT="0")
    assert [line.split(":")[0] for line in lines] == [
        f"VERBATIM_MODEL (from {tmp_path / 'config.toml'})",
        f"VERBATIM_TEMPERATURE (from {dotenv})",
        "VERBATIM_FIRST_TOKEN_TIMEOUT (from the environment)",
        "VERBATIM_IDLE_TIMEOUT (from the environment)",
        f"VERBATIM_LOG_LEVEL (from {tmp_path / 'config.toml'})",
    ]
    assert all(line.endswith(", or leave it unset.") for line in lines)


def test_a_reply_as_long_as_the_window_is_refused(tmp_path: Path):
    (line,) = refusal(tmp_path, VERBATIM_CONTEXT_WINDOW="2048", VERBATIM_MAX_REPLY_TOKENS="2048")
    assert "VERBATIM_MAX_REPLY_TOKENS must be less than VERBATIM_CONTEXT_WINDOW" in line


@pytest.mark.parametrize("name", ["DISCORD_TOKEN", "VERBATIM_API_KEY"])
@pytest.mark.parametrize("secret", ["hunter2 hunter2", "hunter2\nhunter2", "hunter2\u00e9"])
def test_a_bad_secret_is_named_and_not_shown(tmp_path: Path, name: str, secret: str):
    with pytest.raises(SettingsError) as caught:
        load_settings({"VERBATIM_HOME": str(tmp_path), name: secret}, dotenv=None)
    assert name in str(caught.value)
    error: BaseException | None = caught.value
    while error is not None:
        assert "hunter2" not in f"{error} {error!r}"
        error = error.__cause__ or error.__context__


def test_an_error_from_the_class_itself_shows_no_secret_either():
    with pytest.raises(ValidationError) as caught:
        Settings.model_validate({"api_key": "hunter2 hunter2"})
    assert "hunter2" not in f"{caught.value} {caught.value!r}"


def test_no_repr_shows_a_secret(tmp_path: Path, caplog: pytest.LogCaptureFixture):
    caplog.set_level(logging.DEBUG)
    settings = load(tmp_path, DISCORD_TOKEN="hunter2", VERBATIM_API_KEY="hunter3")
    logging.getLogger(__name__).info("%s %r %s", settings, settings, settings.model_dump())
    assert "hunter" not in caplog.text


def test_settings_do_not_change(tmp_path: Path):
    settings = load(tmp_path)
    with pytest.raises(ValidationError):
        settings.model = "other"


@pytest.mark.parametrize(
    ("key", "words"),
    [
        ("base_ulr", "Did you mean base_url?"),
        ("VERBATIM_MODEL", "Did you mean model?"),
        ("idle-timeout", "Did you mean idle_timeout?"),
        ("token", "Did you mean discord_token?"),
        ("home", "Set VERBATIM_HOME instead."),
        ("master_key", "Set VERBATIM_MASTER_KEY instead."),
    ],
)
def test_an_unknown_key_in_config_is_refused(tmp_path: Path, key: str, words: str):
    (tmp_path / "config.toml").write_text(f'{key} = "x"\n')
    (line,) = refusal(tmp_path)
    assert line.endswith(words)


def test_config_that_is_not_toml(tmp_path: Path):
    (tmp_path / "config.toml").write_text('model = "a"\napi_key = hunter2\n')
    (line,) = refusal(tmp_path)
    assert "not valid TOML" in line
    assert "line 2" in line
    assert "hunter2" not in line


@pytest.mark.parametrize("name", ["config.toml", "dotenv"])
def test_a_file_that_is_not_text(tmp_path: Path, name: str):
    (tmp_path / name).write_bytes(b"model = '\xff\xfe'\n")
    (line,) = refusal(tmp_path, tmp_path / "dotenv")
    assert f"{tmp_path / name} cannot be read: it is not UTF-8 text." in line


def test_config_that_is_a_directory(tmp_path: Path):
    (tmp_path / "config.toml").mkdir()
    (line,) = refusal(tmp_path)
    assert "config.toml cannot be read: Is a directory." in line


def test_a_home_that_is_a_file(tmp_path: Path):
    home = tmp_path / "home"
    home.write_text("")
    (line,) = refusal(home)
    assert line == f"{home} is no directory. Set VERBATIM_HOME to one."


def test_a_number_that_is_none_is_refused_in_plain_words(tmp_path: Path):
    with pytest.raises(SettingsError) as caught:
        load(tmp_path, VERBATIM_CONTEXT_WINDOW="8k")
    assert "must be a valid integer. Give the model's context window" in str(caught.value)


def test_importing_reads_no_settings(tmp_path: Path):
    environ = {**os.environ, "VERBATIM_IDLE_TIMEOUT": "not a number"}
    child = subprocess.run(
        [sys.executable, "-c", "import data.settings, data.store"],
        cwd=REPOSITORY,
        env=environ,
        capture_output=True,
        check=False,
    )
    assert (child.returncode, child.stderr) == (0, b"")


@pytest.mark.parametrize("name", [".env.example", "docs/configuration.md"])
def test_written_down_are_all_variables_and_no_others(name: str):
    text = (REPOSITORY / name).read_text(encoding="utf-8")
    assert set(re.findall(r"\b(?:DISCORD_TOKEN|VERBATIM_[A-Z_]+)\b", text)) == VARIABLES


def test_fallbacks_come_from_a_variable_or_from_tables(tmp_path: Path):
    (tmp_path / "config.toml").write_text(
        '[[fallbacks]]\nbase_url = "http://a.example"\n'
        '[[fallbacks]]\nbase_url = "http://b.example/v1"\nmodel = "m"\napi_key = "secret-b"\n'
    )
    first, second = load(tmp_path).fallbacks
    assert (first.base_url, first.model, first.api_key) == ("http://a.example/v1", None, None)
    assert (second.base_url, second.model) == ("http://b.example/v1", "m")
    assert "secret-b" not in repr(second)
    assert "secret-b" in load(tmp_path).secrets()
    given = '[{"base_url": "https://c.example/v1"}]'
    (only,) = load(tmp_path, VERBATIM_FALLBACKS=given).fallbacks
    assert only.base_url == "https://c.example/v1"


@pytest.mark.parametrize(
    "written",
    ["https://c.example", '{"base_url": "x"}', '[{"url": "x-secret"}]', '[{"base_url": "ftp:x"}]'],
)
def test_fallbacks_that_cannot_be_used_are_told_without_what_they_hold(
    tmp_path: Path, written: str
):
    (line,) = refusal(tmp_path, VERBATIM_FALLBACKS=written)[:1]
    assert line.startswith("VERBATIM_FALLBACKS (from the environment): ")
    assert "secret" not in line


def test_the_example_as_it_stands_changes_nothing(tmp_path: Path):
    dotenv = REPOSITORY / ".env.example"
    names = re.findall(r"^([A-Z_]+)=", dotenv.read_text(encoding="utf-8"), re.MULTILINE)
    assert sorted(names) == sorted(VARIABLES)
    assert load(tmp_path, dotenv) == load(tmp_path)


def test_defaults_in_the_documentation_are_the_real_ones():
    text = (REPOSITORY / "docs/configuration.md").read_text(encoding="utf-8")
    rows = {
        cells[1].strip(" `"): cells[3].strip(" `")
        for cells in (line.split("|") for line in text.splitlines() if line.startswith("| `"))
        if cells[1].strip(" `") in VARIABLES
    }
    for field in ("max_reply_tokens", "first_token_timeout", "idle_timeout", "log_level"):
        assert rows[variable(field)] == str(Settings.model_fields[field].default)


def secret(settings: Settings, field: str) -> str | None:
    value = getattr(settings, field)
    return None if value is None else value.get_secret_value()


@pytest.fixture
def sealed(tmp_path: Path) -> Path:
    """A home whose config.toml holds a token, and a key for http://box:8080, both encrypted."""
    keys = open_keys(tmp_path, None)
    token = keys.encrypt("hunter-token")
    key = keys.encrypt_for("http://box:8080/v1", "hunter-key")
    (tmp_path / "config.toml").write_text(
        f'base_url = "http://box:8080"\n'
        f'discord_token_encrypted = "{token}"\napi_key_encrypted = "{key}"\n'
    )
    return tmp_path


def test_encrypted_secrets_are_decrypted(sealed: Path):
    settings = load(sealed)
    assert secret(settings, "discord_token") == "hunter-token"
    assert secret(settings, "api_key") == "hunter-key"
    key = (sealed / "master.key").read_text().strip()
    (sealed / "master.key").unlink()
    assert secret(load(sealed, VERBATIM_MASTER_KEY=key), "api_key") == "hunter-key"


def test_environment_and_dotenv_win_over_encrypted_secrets(sealed: Path, tmp_path: Path):
    dotenv = tmp_path / "dotenv"
    dotenv.write_text("VERBATIM_API_KEY=from-dotenv\n")
    (sealed / "master.key").unlink()  # so that nothing could be decrypted
    settings = load(sealed, dotenv, DISCORD_TOKEN="from-environment")
    assert secret(settings, "discord_token") == "from-environment"
    assert secret(settings, "api_key") == "from-dotenv"


@pytest.mark.parametrize("url", ["http://box:8081/v1", "https://box:8080/v1", "http://evil:8080"])
def test_a_key_for_another_origin_is_not_used_and_one_line_says_so(
    sealed: Path, caplog: pytest.LogCaptureFixture, url: str
):
    settings = load(sealed, VERBATIM_BASE_URL=url)
    assert settings.api_key is None
    assert secret(settings, "discord_token") == "hunter-token"
    (line,) = caplog.messages
    assert line.startswith("A key was entered for http://box:8080 and is not sent to ")
    assert "hunter" not in line


def test_another_path_at_the_same_origin_keeps_the_key(
    sealed: Path, caplog: pytest.LogCaptureFixture
):
    assert secret(load(sealed, VERBATIM_BASE_URL="http://BOX:8080/api"), "api_key") == "hunter-key"
    assert not caplog.messages


def test_without_an_endpoint_its_key_is_left_alone(sealed: Path, caplog: pytest.LogCaptureFixture):
    path = sealed / "config.toml"
    path.write_text(path.read_text().replace("base_url", "#"))
    assert load(sealed).api_key is None
    assert not caplog.messages


def test_a_bad_url_is_told_about_rather_than_its_key(sealed: Path):
    (line,) = refusal(sealed, VERBATIM_BASE_URL="http://box:port")
    assert "is no valid URL" in line


def test_a_lost_master_key_is_told_with_the_remedy(sealed: Path, caplog: pytest.LogCaptureFixture):
    (sealed / "master.key").unlink()
    (line,) = refusal(sealed)
    assert f"{sealed / 'master.key'} is missing" in line
    assert "or enter the secret again" in line
    environ = {"VERBATIM_HOME": str(sealed)}
    settings = load_settings(environ, dotenv=None, tolerate_lost_keys=True)
    assert (settings.discord_token, settings.api_key) == (None, None)
    assert settings.base_url == "http://box:8080/v1"
    assert caplog.messages == [line, line]


def test_another_master_key_is_told_too(sealed: Path):
    (line,) = refusal(sealed, VERBATIM_MASTER_KEY=Fernet.generate_key().decode())
    assert "another key than the one in VERBATIM_MASTER_KEY" in line


def test_a_damaged_master_key_is_an_error_even_for_the_tolerant(sealed: Path):
    (sealed / "master.key").write_text("damaged")
    with pytest.raises(SettingsError, match="holds no usable key"):
        load_settings({"VERBATIM_HOME": str(sealed)}, dotenv=None, tolerate_lost_keys=True)


def test_a_secret_stands_in_config_once(sealed: Path):
    with (sealed / "config.toml").open("a") as file:
        file.write('discord_token = "hunter2"\n')
    (line,) = refusal(sealed)
    assert "holds both discord_token and discord_token_encrypted" in line
    assert "hunter2" not in line


def test_what_variables_set_is_known_with_its_place(tmp_path: Path):
    dotenv = tmp_path / "dotenv"
    dotenv.write_text("VERBATIM_MODEL=m\nVERBATIM_PERSONA=p\n")
    environ = {"VERBATIM_MODEL": "other", "DISCORD_TOKEN": " "}
    assert set_by_variables(environ, dotenv=dotenv) == {
        "model": "the environment",
        "persona": str(dotenv),
    }


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("ask", "ask"),
        ("ALL", "all"),
        ("12", frozenset({12})),
        (" 12, 34 56 ", frozenset({12, 34, 56})),
    ],
)
def test_approved_guilds_are_a_word_or_a_list(tmp_path: Path, written: str, meant: object):
    assert load(tmp_path, VERBATIM_APPROVED_GUILDS=written).approved_guilds == meant


def test_approved_guilds_in_the_file_may_be_a_list_too(tmp_path: Path):
    (tmp_path / "config.toml").write_text("approved_guilds = [12, 34]\n")
    assert load(tmp_path).approved_guilds == frozenset({12, 34})


@pytest.mark.parametrize("written", ["some", "12, mine", "-1", "1.5", ","])
def test_other_approved_guilds_are_refused_in_one_line(tmp_path: Path, written: str):
    with pytest.raises(SettingsError) as caught:
        load(tmp_path, VERBATIM_APPROVED_GUILDS=written)
    (line,) = str(caught.value).splitlines()
    assert "must be ask, all, or the ids of servers" in line
