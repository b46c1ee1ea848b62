"""Writing config.toml: what changes, what stays, and what never stands in it."""

import stat
import sys
import tomllib
from pathlib import Path

import pytest

from data.config_file import write_config
from data.keys import open_keys
from data.settings import Settings, SettingsError, load_settings

URL = "http://box:8080/v1"


def write(home: Path, **changes: str | float | None) -> Path | None:
    return write_config(home, changes, open_keys(home, None))


def load(home: Path) -> Settings:
    return load_settings({"VERBATIM_HOME": str(home)}, dotenv=None)


def fields(home: Path) -> dict[str, object]:
    return tomllib.loads((home / "config.toml").read_text())


def key(home: Path) -> str | None:
    value = load(home).api_key
    return None if value is None else value.get_secret_value()


def test_what_was_written_is_what_is_loaded(tmp_path: Path):
    home = tmp_path / "new"
    backup = write(
        home, base_url=URL, model="m", temperature=0.5, discord_token="tok", api_key="hunter2"
    )
    assert backup is None
    settings = load(home)
    assert (settings.base_url, settings.model, settings.temperature) == (URL, "m", 0.5)
    assert settings.discord_token is not None
    assert settings.discord_token.get_secret_value() == "tok"
    assert key(home) == "hunter2"
    text = (home / "config.toml").read_text()
    assert "hunter2" not in text
    assert '"tok"' not in text


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no such rights")
def test_the_files_are_private_whatever_they_were_before(tmp_path: Path):
    path = tmp_path / "config.toml"
    path.write_text('model = "before"\n')
    path.chmod(0o644)
    backup = write(tmp_path, model="after")
    assert backup is not None
    assert backup == tmp_path / "config.toml.bak"
    assert backup.read_text() == 'model = "before"\n'
    assert {stat.S_IMODE(file.stat().st_mode) for file in (path, backup)} == {0o600}
    assert sorted(file.name for file in tmp_path.iterdir()) == ["config.toml", "config.toml.bak"]


def test_other_fields_stay_and_none_removes(tmp_path: Path):
    (tmp_path / "config.toml").write_text(
        'model = "m"\npersona = """\nA\nB\n"""\nidle_timeout = 60\n'
    )
    write(tmp_path, model=None, log_level="debug")
    assert fields(tmp_path) == {"persona": "A\nB\n", "idle_timeout": 60, "log_level": "debug"}


def test_a_secret_in_the_clear_is_encrypted_in_passing(tmp_path: Path):
    (tmp_path / "config.toml").write_text(
        f'base_url = "{URL}"\ndiscord_token = "tok"\napi_key = "hunter2"\n'
    )
    write(tmp_path, model="m")
    assert set(fields(tmp_path)) == {
        "base_url",
        "model",
        "discord_token_encrypted",
        "api_key_encrypted",
    }
    assert key(tmp_path) == "hunter2"


def test_a_key_in_the_clear_whose_url_stands_elsewhere_is_left_alone(tmp_path: Path):
    (tmp_path / "config.toml").write_text('api_key = "hunter2"\n')
    write(tmp_path, model="m")
    assert fields(tmp_path) == {"api_key": "hunter2", "model": "m"}


@pytest.mark.parametrize("stored", ["encrypted", "clear"])
@pytest.mark.parametrize("url", ["http://other:8080/v1", None])
def test_another_origin_loses_the_key(tmp_path: Path, stored: str, url: str | None):
    if stored == "clear":
        (tmp_path / "config.toml").write_text(f'base_url = "{URL}"\napi_key = "hunter2"\n')
    else:
        write(tmp_path, base_url=URL, api_key="hunter2")
    write(tmp_path, base_url=url)
    assert set(fields(tmp_path)) == ({"base_url"} if url else set())


def test_the_same_origin_keeps_the_key_and_another_one_can_bring_its_own(tmp_path: Path):
    write(tmp_path, base_url=URL, api_key="hunter2")
    write(tmp_path, base_url="http://box:8080/api")
    assert key(tmp_path) == "hunter2"
    write(tmp_path, base_url="https://box/v1", api_key="hunter3")
    assert key(tmp_path) == "hunter3"
    write(tmp_path, api_key=None)
    assert key(tmp_path) is None


def test_what_cannot_be_read_is_not_written_over(tmp_path: Path):
    path = tmp_path / "config.toml"
    path.write_text("api_key = hunter2\n")
    with pytest.raises(SettingsError) as caught:
        write(tmp_path, model="m")
    assert "hunter2" not in str(caught.value)
    assert path.read_text() == "api_key = hunter2\n"
    assert list(tmp_path.iterdir()) == [path]
