"""Functionary: `>>>get_weather`, a line break and a JSON object; `>>>all` before words."""

from providers.verbatim.candidate import Candidate
from providers.verbatim.grammar import Dialect, Grammar
from providers.verbatim.payloads import read_arguments
from providers.verbatim.scanner import Wait


def _read(c: Candidate, grammar: Grammar, start: int, pos: int) -> Wait[int | None]:
    end = yield from c.name(pos)
    name = c.scan.slice(pos, end)
    after = yield from c.scan.skip(end)
    if name == "all" and c.scan.at(end) == "\n":
        c.hide(after, "a recipient")
        return after
    if c.names.resolve(name) is None:
        return None
    return (yield from read_arguments(c, grammar, name, start, after))


DIALECT = Dialect(name="functionary", lines={">>>": _read})
