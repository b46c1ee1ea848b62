"""Phi: `functools[{"name": ..., "arguments": {...}}]`, at the start of a line."""

from providers.verbatim.candidate import Candidate
from providers.verbatim.grammar import Dialect, Grammar, Wrapper
from providers.verbatim.payloads import read_wrapper
from providers.verbatim.scanner import Wait

_WRAPPER = Wrapper(opener="functools[", strict=False)


def _read(c: Candidate, grammar: Grammar, _start: int, pos: int) -> Wait[int | None]:
    return (yield from read_wrapper(c, grammar, _WRAPPER, pos))


DIALECT = Dialect(name="functools", lines={"functools[": _read})
