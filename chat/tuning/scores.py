"""Judges what a model did with a request, and adds the judgements up.

Invariant: pure. Each case gets one outcome; an outcome other than `right` says what went wrong.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias, cast

from chat.tuning.cases import KINDS, Case, Expected, Kind
from prompt.values import Json, JsonObject, ToolCall

Outcome: TypeAlias = Literal["right", "wrong", "missed", "false", "silent", "failed"]
"""`wrong`: another tool, other arguments, or a call that could not be read. `missed`: no call where
one was needed. `false`: a call where none was. `silent`: the right calls, but the answer does not
tell what it has to. `failed`: the endpoint gave no answer."""

_WORST_OF_RUN: Sequence[Outcome] = ("failed", "wrong", "false", "missed", "silent", "right")


@dataclass(frozen=True, slots=True, kw_only=True)
class Did:
    """What a model did: its calls in order, how many it failed to write, its words, and each
    response as it came."""

    calls: Sequence[ToolCall] = ()
    errors: int = 0
    text: str = ""
    raw: Sequence[str] = ()
    prompt_tokens: int | None = None
    failure: str = ""

    @property
    def repaired(self) -> int:
        """Calls that were read although they were not valid as they stood."""
        return sum(call.repaired for call in self.calls)


def outcome(case: Case, did: Did) -> Outcome:
    """What became of a request. In a turn of several steps the right calls may come in any number
    of rounds, but in order, and each once."""
    if did.failure:
        return "failed"
    if not case.expect:
        if did.calls or did.errors:
            return "false"
        return "right" if _told(case, did) else "silent"
    if not did.calls:
        return "wrong" if did.errors else "missed"
    if len(did.calls) < len(case.expect):
        return "missed" if all(map(matches, case.expect, did.calls)) else "wrong"
    fits = all(map(matches, case.expect, did.calls))
    if not fits or len(did.calls) > len(case.expect):
        return "wrong"
    return "right" if _told(case, did) else "silent"


def matches(expected: Expected, call: ToolCall) -> bool:
    """Whether a call is the one that was expected."""
    return call.name == expected.name and fits(expected.arguments, call.arguments)


def fits(wanted: JsonObject, arguments: JsonObject) -> bool:
    """Whether arguments hold what is wanted of them."""
    return all(name in arguments and _is(arguments[name], value) for name, value in wanted.items())


def _is(value: Json, wanted: Json) -> bool:
    if isinstance(wanted, Mapping) and list(fields := cast("JsonObject", wanted)) == ["contains"]:
        texts = fields["contains"]
        return any(_plain(text) in _plain(value) for text in _listed(texts))
    if isinstance(wanted, str):
        return isinstance(value, str) and _plain(value) == _plain(wanted)
    if isinstance(wanted, bool) or isinstance(value, bool):
        return value is wanted
    return bool(value == wanted)


def _told(case: Case, did: Did) -> bool:
    return not case.says or any(_plain(text) in _plain(did.text) for text in case.says)


def _plain(value: Json) -> str:
    return " ".join(str(value).casefold().split())


def _listed(value: Json) -> Sequence[Json]:
    return cast("Sequence[Json]", value) if isinstance(value, list) else [value]


def summary(judged: Iterable[tuple[Case, Did, Outcome]]) -> dict[str, Json]:
    """Outcomes by kind of case, and what else is worth knowing of a run."""
    rows = list(judged)
    found: dict[str, Json] = {}
    for kind in KINDS:
        outcomes: list[Outcome] = [became for case, _, became in rows if case.kind == kind]
        if outcomes:
            found[kind] = {"of": len(outcomes), **_counted(outcomes)}
    found["repaired"] = sum(did.repaired for _, did, _ in rows)
    tokens = [did.prompt_tokens for _, did, _ in rows if did.prompt_tokens is not None]
    found["prompt_tokens"] = {"least": min(tokens), "most": max(tokens)} if tokens else None
    return found


def _counted(outcomes: Sequence[Outcome]) -> dict[str, int]:
    counts = Counter(outcomes)
    return {
        name: counts[name] for name in reversed(_WORST_OF_RUN) if counts[name] or name == "right"
    }


def share(found: dict[str, Json], kind: Kind) -> str:
    """`right/of` of a kind, as a table shows it."""
    counts = found.get(kind)
    return f"{counts['right']}/{counts['of']}" if counts else "-"
