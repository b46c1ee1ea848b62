"""Asks the operator, on a terminal or through a pipe.

Invariant: a secret is never shown: not while it is typed on a terminal, and not as a default.
"""

import asyncio
import getpass
from collections.abc import Coroutine, Sequence
from typing import Any, TextIO, TypeVar

from rich.console import Console
from rich.text import Text

from cli.terminal import printable

Result = TypeVar("Result")

_YES = {"y": True, "yes": True, "n": False, "no": False}


class InputEnded(Exception):
    """The input ended before the last question was answered."""


class Questions:
    """A conversation. With `assume_defaults` nothing is asked: every question gets its default."""

    def __init__(self, console: Console, stdin: TextIO, *, assume_defaults: bool = False) -> None:
        self._console = console
        self._stdin = stdin
        self.assume_defaults = assume_defaults

    def say(self, text: str = "", style: str = "") -> None:
        """A line, or several. It is not wrapped, so that links can be copied whole."""
        shown = Text(printable(text), style=style)
        self._console.print(shown, highlight=False, soft_wrap=True)

    def line(self, prompt: str, default: str = "") -> str:
        """One line; empty input is `default`, which is shown."""
        self._prompt(f"{prompt} [{default}]: " if default else f"{prompt}: ")
        if self.assume_defaults:
            self.say(default)
            return default
        return self._read().strip() or default

    def yes(self, prompt: str, *, default: bool = True) -> bool:
        """Yes or no."""
        while True:
            answer = self.line(f"{prompt} {'[Y/n]' if default else '[y/N]'}").lower()
            if not answer:
                return default
            if answer in _YES:
                return _YES[answer]

    def choice(self, prompt: str, options: Sequence[str], default: int) -> int:
        """The number of one of `options`, which are shown counted from 1."""
        for number, option in enumerate(options, 1):
            self.say(f"  {number}  {option}")
        while True:
            answer = self.line(prompt, str(default))
            if answer.isdecimal() and 1 <= int(answer) <= len(options):
                return int(answer)
            self.say(f"A number from 1 to {len(options)}, please.")

    def secret(self, prompt: str) -> str:
        """One line that is not echoed on a terminal; empty where it is left out."""
        if self.assume_defaults:
            return ""
        if not self._stdin.isatty():
            self._prompt(f"{prompt}: ")
            return self._read().strip()
        try:
            return getpass.getpass(f"{prompt}: ").strip()
        except EOFError:
            raise InputEnded from None

    def wait(self, what: str, work: Coroutine[Any, Any, Result]) -> Result:
        """Run `work` in a loop of its own, telling meanwhile what is waited for."""
        with self._console.status(Text(what)):
            return asyncio.run(work)

    def _prompt(self, text: str) -> None:
        self._console.print(Text(printable(text)), highlight=False, soft_wrap=True, end="")

    def _read(self) -> str:
        line = self._stdin.readline()
        if not line:
            raise InputEnded
        if not self._stdin.isatty():
            self.say()  # nobody's Enter ends the line of the prompt
        return line
