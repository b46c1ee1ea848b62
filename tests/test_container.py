"""The image and the composition, as far as they can be judged without building them."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import yaml

import run
from cli.embedded.install import LOCK
from data.heartbeat import STALE
from data.settings import variable
from providers.openai.reach import in_container

ROOT = Path(__file__).parents[1]


def instructions() -> list[tuple[str, str]]:
    """Name and argument of each instruction of the Dockerfile, continued lines joined."""
    text = re.sub(r"^\s*#.*\n", "", (ROOT / "Dockerfile").read_text(), flags=re.MULTILINE)
    lines = text.replace("\\\n", " ").splitlines()
    return [
        (name, rest.strip()) for name, _, rest in (line.partition(" ") for line in lines) if name
    ]


def last(name: str) -> str:
    return [argument for instruction, argument in instructions() if instruction == name][-1]


def copied() -> set[str]:
    """What the image takes from this folder."""
    copies = [argument.split() for name, argument in instructions() if name == "COPY"]
    return {
        source for words in copies if not words[0].startswith("--from=") for source in words[:-1]
    }


def environment() -> dict[str, str]:
    return dict(pair.split("=", 1) for pair in last("ENV").split())


@pytest.fixture(scope="module")
def compose() -> dict[str, Any]:
    return yaml.safe_load((ROOT / "compose.yaml").read_text())


def test_all_packages_and_files_go_in_and_nothing_else() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())
    packages = set(project["tool"]["importlinter"]["root_packages"])
    files = {"LICENSE", "bot.py", LOCK.name, run.RUNTIME_LOCK.name}
    assert copied() == packages | files
    assert all((ROOT / name).exists() for name in copied())


def test_the_build_sees_what_it_copies_and_no_secrets() -> None:
    lines = (ROOT / ".dockerignore").read_text().splitlines()
    rules = [line for line in lines if line and not line.startswith("#")]
    assert rules[0] == "*"
    assert {rule.removeprefix("!").rstrip("/") for rule in rules[1:-1]} == copied()
    assert all(rule.startswith("!") for rule in rules[1:-1])
    assert rules[-1] == "**/__pycache__/"


def test_its_python_is_one_that_the_project_supports() -> None:
    bases = [argument.split()[0] for name, argument in instructions() if name == "FROM"]
    versions = {re.fullmatch(r"python:3\.(\d+)-slim", base) for base in bases}
    for found in versions:
        assert found is not None
        assert run.OLDEST <= (3, int(found[1])) <= run.NEWEST


def test_packages_are_installed_by_hash() -> None:
    (install,) = [rest for name, rest in instructions() if name == "RUN" and "pip install" in rest]
    assert "--require-hashes" in install
    assert f"/{run.RUNTIME_LOCK.name}" in install


def test_it_does_not_run_as_root_and_stops_like_the_bot() -> None:
    assert int(last("USER")) > 0
    assert last("STOPSIGNAL") == "SIGTERM"
    order = [name for name, _ in instructions()]
    assert order.index("USER") < order.index("ENTRYPOINT")


def test_home_volume_and_health_check_are_one_place() -> None:
    home = environment()["VERBATIM_HOME"]
    assert last("VOLUME") == home
    assert home == f"{last('WORKDIR')}/var"
    check = last("HEALTHCHECK")
    assert f'["python", "-m", "data.heartbeat", "{home}"]' in check
    start = re.search(r"--start-period=(\d+)s", check)
    assert start is not None
    assert int(start[1]) >= STALE


def test_the_image_says_that_it_is_a_container(tmp_path: Path) -> None:
    assert in_container(environment(), root=tmp_path)


def test_nothing_secret_stands_in_the_files(compose: dict[str, Any]) -> None:
    secrets = {variable("discord_token"), variable("api_key")}
    assert not secrets & environment().keys()
    assert compose["services"]["bot"]["env_file"] == ".env"


def test_the_composition_hangs_together(compose: dict[str, Any]) -> None:
    bot, model = compose["services"]["bot"], compose["services"]["model"]
    assert bot["volumes"] == [f"var:{environment()['VERBATIM_HOME']}"]
    assert "host.docker.internal:host-gateway" in bot["extra_hosts"]
    assert "profiles" not in bot
    assert model["profiles"] == ["model"]
    mounted = {volume.split(":")[0] for volume in bot["volumes"] + model["volumes"]}
    assert mounted == compose["volumes"].keys()


def test_it_decides_nothing_but_the_home(compose: dict[str, Any]) -> None:
    """The environment wins over what `setup` wrote, so a default here could not be undone."""
    written = compose["services"]["bot"]["environment"]
    assert written == {variable("home"): environment()["VERBATIM_HOME"]}
