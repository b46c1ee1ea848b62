"""Finds the tool that a written name means.

Invariant: a name is found only if exactly one offered tool can be meant. A damaged name is
never guessed; the near ones are for suggesting.
"""

import re
from difflib import get_close_matches

from prompt.surface import ToolSurface
from prompt.values import ToolSpec

_JOINTS = re.compile(r"[_\-. ]+")
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")
_NAMESPACE = re.compile(r"::|[.:/]")
_TEMPLATE_TOKEN = re.compile(r"<[|｜]")
_SUGGESTIONS = 3
_LISTED = 20
_SHOWN = 64


class NameIndex:
    """The offered names of one surface, ready to be looked up in any spelling."""

    def __init__(self, surface: ToolSurface) -> None:
        self._specs = surface.callable
        self._folded: dict[str, list[ToolSpec]] = {}
        self._suffixes: dict[str, list[ToolSpec]] = {}
        for name, spec in self._specs.items():
            self._folded.setdefault(_fold(name), []).append(spec)
            parts = name.split("__")
            for first in range(1, len(parts)):
                suffix = _fold("__".join(parts[first:]))
                self._suffixes.setdefault(suffix, []).append(spec)

    @property
    def offered(self) -> list[str]:
        """The names as the model was told, in their order."""
        return list(self._specs)

    @property
    def specs(self) -> list[ToolSpec]:
        """The tools on offer."""
        return list(self._specs.values())

    def resolve(self, written: str) -> ToolSpec | None:
        """The tool meant, by exact name, then spelling, namespace prefix or `__` suffix."""
        name = _TEMPLATE_TOKEN.split(written, maxsplit=1)[0].strip(" \t\r\n\"'`")
        if name in self._specs:
            return self._specs[name]
        pieces = _NAMESPACE.split(name)
        tails = [name, *(piece for piece in (_tail(name, n) for n in range(1, len(pieces))))]
        for tail in tails:
            if tail in self._specs:
                return self._specs[tail]
            found = self._folded.get(_fold(tail), [])
            if found:
                return found[0] if len(found) == 1 else None
        for tail in tails:
            found = self._suffixes.get(_fold(tail), [])
            if found:
                return found[0] if len(found) == 1 else None
        return None

    def exactly(self, name: str) -> ToolSpec | None:
        """The tool of exactly this name."""
        return self._specs.get(name)

    def begins(self, written: str) -> bool:
        """Whether `written` may still grow into the spelling of an offered name."""
        folded = _fold(written)
        return any(name.startswith(folded) for name in self._folded)

    def closest(self, written: str) -> list[str]:
        """Offered names that resemble `written`, the nearest first."""
        by_spelling = {_fold(name): name for name in self._specs}
        by_words = {_sorted_words(name): name for name in self._specs}
        near = [
            by_spelling[key]
            for key in get_close_matches(_fold(written), by_spelling, _SUGGESTIONS, 0.6)
        ]
        near += [
            by_words[key]
            for key in get_close_matches(_sorted_words(written), by_words, _SUGGESTIONS, 0.75)
        ]
        return list(dict.fromkeys(near))[:_SUGGESTIONS]

    def unknown(self, written: str) -> str:
        """What the model is told of a name that no tool has."""
        name = written if len(written) <= _SHOWN else f"{written[:_SHOWN]}..."
        near = self.closest(written[:_SHOWN])
        if near:
            return f"There is no tool named {name}. Did you mean {' or '.join(near)}?"
        listed = ", ".join(self.offered[:_LISTED]) or "none"
        more = "" if len(self.offered) <= _LISTED else ", and others"
        return f"There is no tool named {name}. The tools are: {listed}{more}."


def _tail(name: str, cut: int) -> str:
    """`name` without its first `cut` namespace parts."""
    rest = name
    for _ in range(cut):
        rest = _NAMESPACE.split(rest, maxsplit=1)[-1]
    return rest


def _fold(name: str) -> str:
    return _JOINTS.sub("", name).casefold()


def _sorted_words(name: str) -> str:
    words = _JOINTS.split(_HUMP.sub("_", name))
    return " ".join(sorted(word.casefold() for word in words if word))
