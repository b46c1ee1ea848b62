"""The key ring: what it opens, what it refuses, and what it never says."""

import stat
import sys
from pathlib import Path

import pytest
from cryptography.fernet import Fernet

from data.errors import StoreError
from data.keys import KEY_NAME, KeyLost, WrongOrigin, open_keys, origin

OLD = Fernet.generate_key().decode()
NEW = Fernet.generate_key().decode()


def test_opening_makes_nothing_and_the_first_secret_makes_a_private_key(tmp_path: Path):
    home = tmp_path / "home"
    keys = open_keys(home, None)
    assert not home.exists()
    token = keys.encrypt("hunter2 ü")
    assert "hunter2" not in token
    assert token.isascii()
    file = home / KEY_NAME
    if sys.platform != "win32":
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert keys.decrypt(token) == "hunter2 ü"
    assert open_keys(home, None).decrypt(token) == "hunter2 ü"
    assert open_keys(home, file.read_text()).decrypt(token) == "hunter2 ü"


def test_a_ring_that_was_opened_before_the_key_existed_takes_the_one_of_another(tmp_path: Path):
    first, second = open_keys(tmp_path, None), open_keys(tmp_path, "")
    token = first.encrypt("a")
    assert first.decrypt(second.encrypt("b")) == "b"
    assert second.decrypt(token) == "a"


def test_the_variable_wins_and_writes_no_file(tmp_path: Path):
    token = open_keys(tmp_path, None).encrypt("from the file")
    (tmp_path / KEY_NAME).rename(tmp_path / "aside")
    keys = open_keys(tmp_path, NEW)
    with pytest.raises(KeyLost):
        keys.decrypt(token)
    assert Fernet(NEW).decrypt(keys.encrypt("x")) == b"x"
    assert not (tmp_path / KEY_NAME).exists()


@pytest.mark.parametrize("separator", [",", " , ", "\n"])
def test_rotation_the_first_key_encrypts_and_the_others_still_decrypt(
    tmp_path: Path, separator: str
):
    before = open_keys(tmp_path, OLD).encrypt("kept")
    both = open_keys(tmp_path, separator.join((NEW, OLD)))
    assert both.decrypt(before) == "kept"
    after = both.encrypt("kept")
    assert open_keys(tmp_path, NEW).decrypt(after) == "kept"
    with pytest.raises(KeyLost, match="with another key"):
        open_keys(tmp_path, NEW).decrypt(before)


def test_a_lost_key_is_told_with_the_remedy(tmp_path: Path):
    token = open_keys(tmp_path, None).encrypt("hunter2")
    (tmp_path / KEY_NAME).unlink()
    with pytest.raises(KeyLost) as caught:
        open_keys(tmp_path, None).decrypt(token)
    words = str(caught.value)
    assert str(tmp_path / KEY_NAME) in words
    assert "Put the key file back" in words
    assert "VERBATIM_MASTER_KEY" in words


@pytest.mark.parametrize("token", ["", "hunter2", "gAAAAA==", "Schlüssel"])
def test_what_is_no_ciphertext_is_not_echoed(tmp_path: Path, token: str):
    with pytest.raises(KeyLost) as caught:
        open_keys(tmp_path, OLD).decrypt(token)
    assert not token or token not in str(caught.value)


@pytest.mark.parametrize(
    "written",
    ["hunter2", "a" * 43, f"{OLD},hunter2", "ü", ",", ""],
    ids=["word", "short", "second", "letter", "comma", "empty"],
)
def test_a_key_file_that_holds_none_is_refused_unseen(tmp_path: Path, written: str):
    (tmp_path / KEY_NAME).write_text(written, encoding="utf-8")
    with pytest.raises(StoreError, match="no usable key") as caught:
        open_keys(tmp_path, None)
    error: BaseException | None = caught.value
    while error is not None:
        assert "hunter2" not in f"{error!r}"
        error = error.__cause__ or error.__context__


def test_a_damaged_file_is_not_written_over(tmp_path: Path):
    keys = open_keys(tmp_path, None)
    (tmp_path / KEY_NAME).write_text("damaged")
    with pytest.raises(StoreError, match="no usable key"):
        keys.encrypt("x")
    assert (tmp_path / KEY_NAME).read_text() == "damaged"


def test_a_key_file_that_cannot_be_read_is_told(tmp_path: Path):
    (tmp_path / KEY_NAME).mkdir()
    with pytest.raises(StoreError, match="cannot be read"):
        open_keys(tmp_path, None)


def test_a_bound_secret_goes_to_its_origin_only(tmp_path: Path):
    keys = open_keys(tmp_path, OLD)
    token = keys.encrypt_for("https://api.example.com/v1", "hunter2")
    assert keys.decrypt_for("https://API.example.com:443/other", token) == "hunter2"
    for url in (
        "http://api.example.com/v1",
        "https://api.example.com:444/v1",
        "https://api.example.com.evil.test/v1",
        "https://api.example.com@evil.test/v1",
    ):
        with pytest.raises(WrongOrigin) as caught:
            keys.decrypt_for(url, token)
        assert "https://api.example.com:443" in str(caught.value)
        assert "hunter2" not in str(caught.value)


def test_an_unbound_secret_is_sent_nowhere(tmp_path: Path):
    keys = open_keys(tmp_path, OLD)
    for content in ("hunter2", '["https://h:443"]', '{"a": 1}'):
        with pytest.raises(KeyLost, match="without the address"):
            keys.decrypt_for("https://h", keys.encrypt(content))


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("http://127.0.0.1:8080/v1", "http://127.0.0.1:8080"),
        ("HTTP://Host./v1", "http://host:80"),
        ("https://[::1]/v1", "https://[::1]:443"),
        ("https://me:secret@host/v1", "https://host:443"),
    ],
)
def test_origin(url: str, expected: str):
    assert origin(url) == expected
