"""Child processes: no secrets go in, an error comes out in words."""

from pathlib import Path

import pytest

from cli.embedded.children import PipFailed, child_environment, run_pip
from cli.embedded.errors import InstallError
from cli.embedded.install import install


def test_children_do_not_inherit_secrets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DISCORD_TOKEN", "secret")
    monkeypatch.setenv("VERBATIM_API_KEY", "secret")
    monkeypatch.setenv("KEPT", "yes")
    environment = child_environment(ADDED="too")
    assert "secret" not in environment.values()
    assert (environment["KEPT"], environment["ADDED"]) == ("yes", "too")


def test_pip_fails_in_its_own_last_words(tmp_path: Path, index: Path) -> None:
    with pytest.raises(PipFailed, match="No matching distribution found for absent") as caught:
        run_pip(["download", "absent"], scratch=tmp_path / "scratch")
    assert "\n" not in str(caught.value)


def test_a_failing_install_names_the_ways_on(
    tmp_path: Path, index: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    # An own target keeps pip from finding the package installed already.
    monkeypatch.setenv("PIP_TARGET", str(tmp_path / "target"))
    with pytest.raises(InstallError, match=r"xllamacpp(.|\n)*VERBATIM_BASE_URL(.|\n)*try again"):
        install()
