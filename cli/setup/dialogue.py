"""The dialogue of `bot.py setup`, from the first question to the written file.

Invariant: nothing is written before the last step, and then the whole file at once; leaving
earlier, by any way, leaves everything as it was.
"""

import time
from collections.abc import Mapping
from pathlib import Path
from typing import TextIO

from rich.console import Console

from cli.embedded.errors import EmbeddedError
from cli.embedded.gguf import LocalModel
from cli.setup.draft import Draft
from cli.setup.endpoint_step import EndpointStep
from cli.setup.options import Options, Unanswerable
from cli.setup.ports import Outside
from cli.setup.questions import InputEnded, Questions
from cli.setup.token_step import TokenStep
from cli.setup.trial import QUESTION, Trial, try_turn
from data.config_file import write_config
from data.errors import StoreError
from data.keys import open_keys
from data.settings import CONFIG_NAME, Settings, SettingsError, variable

INTERRUPTED = 130
_FAILED = 1
_USAGE = 2


def run_setup(
    settings: Settings,
    *,
    options: Options,
    shadowing: Mapping[str, str],
    outside: Outside,
    stdin: TextIO,
    stdout: TextIO,
) -> int:
    """Ask, try and write; returns an exit status. Blocks, so call it before a loop runs.

    `settings` are the present ones, which serve as defaults. `shadowing` are the fields that
    variables set, with their place: what is written about those does not count while they do.
    """
    ask = Questions(Console(file=stdout), stdin, assume_defaults=options.yes)
    try:
        return _Setup(settings, options, shadowing, outside, ask).run()
    except KeyboardInterrupt:
        ask.say("\nStopped. Nothing was written.")
        return INTERRUPTED
    except InputEnded:
        ask.say("\nThe input ended before the last question. Nothing was written.")
        return _FAILED
    except Unanswerable as error:
        ask.say(f"{error} Nothing was written.")
        return _USAGE
    except (SettingsError, StoreError, EmbeddedError) as error:
        ask.say(f"{error}\nNothing was written.")
        return _FAILED


def wants_setup(stdin: TextIO, stdout: TextIO) -> bool:
    """Ask on a terminal whether to begin with setup, as nothing is configured yet."""
    ask = Questions(Console(file=stdout), stdin)
    ask.say("Nothing is configured yet. Setup looks for a model server on this machine, checks the")
    ask.say("Discord token and tries a turn; without it, the bot runs a small model itself.")
    try:
        return ask.yes("Set it up now?")
    except InputEnded:
        ask.say()
        return False
    except KeyboardInterrupt:
        ask.say()
        raise


class _Setup:
    def __init__(
        self,
        settings: Settings,
        options: Options,
        shadowing: Mapping[str, str],
        outside: Outside,
        ask: Questions,
    ) -> None:
        self._draft = Draft(settings)
        self._options = options
        self._shadowing = shadowing
        self._outside = outside
        self._ask = ask

    def run(self) -> int:
        self._ask.say("Verbatim setup", "bold")
        self._ask.say("Enter takes what stands in brackets. Ctrl-C leaves everything as it was.")
        endpoint = EndpointStep(self._draft, self._options, self._ask, self._outside)
        self._step("Endpoint", 1)
        endpoint.run()
        self._step("Discord", 2)
        TokenStep(self._draft, self._options, self._ask, self._outside).run()
        self._step("Test turn", 3)
        self._try(endpoint)
        self._step("Keep it", 4)
        return self._write()

    def _step(self, title: str, number: int) -> None:
        self._ask.say()
        self._ask.say(f"{number} of 4: {title}", "bold")

    def _try(self, endpoint: EndpointStep) -> None:
        if self._options.no_test or not self._ask.yes(f'Try it now with "{QUESTION}"?'):
            self._ask.say("Not tried.")
            return
        while True:
            begun = time.monotonic()
            trial = self._trial()
            self._ask.say(trial.sentence, "" if trial.works else "yellow")
            for label, text in (("call", trial.call), ("answer", trial.answer)):
                if text:
                    self._ask.say(f"  {label:<6}  {text}")
            self._ask.say(f"  {'time':<6}  {time.monotonic() - begun:.0f} s")
            if trial.works:
                return
            if self._options.yes:
                raise Unanswerable("The test turn failed. Mend that, or pass --no-test.")
            choices = (
                "try again",
                "enter a key",
                "choose another endpoint",
                "keep it all the same",
            )
            match self._ask.choice("What now", choices, 1):
                case 2:
                    endpoint.enter_key()
                case 3:
                    endpoint.choose()
                case 4:
                    return
                case _:
                    pass

    def _trial(self) -> Trial:
        settings = self._draft.settings
        try:
            local = None if settings.base_url else self._outside.local_model(settings)
            return self._ask.wait(
                "Waiting for the model; the first answer may take minutes ...",
                self._turn(settings, local),
            )
        except EmbeddedError as error:
            return Trial(works=False, sentence=str(error))

    async def _turn(self, settings: Settings, local: LocalModel | None) -> Trial:
        async with self._outside.turns(settings, local) as turns:
            return await try_turn(turns)

    def _write(self) -> int:
        settings, changes = self._draft.settings, self._draft.changes
        path = settings.home / CONFIG_NAME
        if not changes and path.exists():
            self._ask.say(f"Nothing has changed; {path} stays as it is.")
            return 0
        for line in _summary(settings):
            self._ask.say(line)
        if not self._ask.yes(f"Write it to {path}?"):
            self._ask.say("Nothing was written.")
            return 0
        master = settings.master_key.get_secret_value() if settings.master_key else None
        backup = write_config(settings.home, changes, open_keys(settings.home, master))
        self._written(path, backup)
        return 0

    def _written(self, path: Path, backup: Path | None) -> None:
        kept = f" The file before it is {backup.name}." if backup else ""
        self._ask.say(f"Written: {path}.{kept} Secrets in it are encrypted.")
        for field in self._draft.changes:
            if place := self._shadowing.get(field):
                self._ask.say(
                    f"{variable(field)} is set in {place} and goes before it: take it out there.",
                    "yellow",
                )


def _summary(settings: Settings) -> list[str]:
    where = settings.base_url or "a model that the bot runs itself"
    model = settings.model or (settings.model_path and settings.model_path.name)
    return [
        f"  endpoint  {where}",
        f"  model     {model or 'the first that the endpoint lists'}",
        f"  API key   {'set' if settings.api_key else 'none'}",
        f"  Discord   {'token set' if settings.discord_token else 'none: chat in the terminal'}",
    ]
