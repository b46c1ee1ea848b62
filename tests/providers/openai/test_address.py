import pytest

from providers.openai.address import is_loopback, normalised, without_credentials


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("http://box:11434", "http://box:11434/v1"),
        ("http://box:11434/", "http://box:11434/v1"),
        ("box:11434", "http://box:11434/v1"),
        (" https://api.example/v1/ ", "https://api.example/v1"),
        ("http://box/v1/chat/completions", "http://box/v1"),
        ("http://box/v1/models", "http://box/v1"),
        ("http://box/openai/v1", "http://box/openai/v1"),
        ("http://[::1]:8080", "http://[::1]:8080/v1"),
    ],
)
def test_base_urls_are_put_right(given: str, meant: str) -> None:
    assert normalised(given) == meant
    assert normalised(meant) == meant


@pytest.mark.parametrize(
    ("url", "local"),
    [
        ("http://localhost:1/v1", True),
        ("http://api.localhost/v1", True),
        ("http://127.0.0.2/v1", True),
        ("http://[::1]/v1", True),
        ("http://192.168.0.2/v1", False),
        ("http://localhost.example/v1", False),
        ("https://api.example/v1", False),
    ],
)
def test_loopback(url: str, local: bool) -> None:
    assert is_loopback(url) is local


def test_credentials_are_cut_out() -> None:
    assert without_credentials("http://ada:x@box:1/v1") == "http://box:1/v1"
