"""Finds the tool whose schema a server cannot take, by leaving halves of the tools out.

Invariant: pure. Servers compile the schemas of all tools into one grammar, and tell only that it
failed. Each request here is one that a turn needs anyway: where one with half of the tools passes,
it has its answer, and the next turn looks on in the other half. Tools are known by a mark of their
definition, so that one whose server mends it is tried again.
"""

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeAlias, cast

from prompt.surface import canonical_json
from prompt.values import Json, ToolSpec

HUNT = "left_out_tools"
"""What is known is kept among what was learnt of an endpoint, under this name."""

BROKEN = "the model server cannot take its schema; `/config test` has it tried again"
SUSPECTED = "left out while I look for the tool whose schema the model server cannot take"

_MARK = 12
_MOST = 100
"""Tools that are known to be broken; those found first are forgotten, and found again."""

_Group: TypeAlias = tuple[str, ...]


def mark_of(spec: ToolSpec) -> str:
    """What tells a tool's definition from others, also from what it was before a change."""
    definition = canonical_json([spec.name, spec.parameters])
    return hashlib.sha256(definition.encode("utf-8", "replace")).hexdigest()[:_MARK]


@dataclass(frozen=True, slots=True, kw_only=True)
class Hunt:
    """What is known of the tools of an endpoint and model, by their marks.

    `broken` are found; one of each of `groups` may be broken too. The first group is offered, to
    be tried, the others wait.
    """

    broken: _Group = ()
    groups: tuple[_Group, ...] = ()

    def why_off(self, spec: ToolSpec) -> str:
        """Why requests go without a tool, in words; empty where they do not."""
        if not self:
            return ""
        mark = mark_of(spec)
        if mark in self.broken:
            return BROKEN
        return SUSPECTED if any(mark in group for group in self.groups[1:]) else ""

    def __bool__(self) -> bool:
        return bool(self.broken or self.groups)

    def among(self, marks: Collection[str]) -> "Hunt":
        """This where those tools are all that there are: a tool that is gone, or switched off,
        will not be tried, and must not keep others waiting."""
        groups = (tuple(mark for mark in group if mark in marks) for group in self.groups)
        return Hunt(broken=self.broken, groups=tuple(filter(None, groups)))

    def failed(self, offered: Iterable[str], *, asks_others: bool = False) -> "Hunt":
        """This after a request with the `offered` tools has failed. `asks_others` lets the next
        one have all but the group that has failed, if there are others, instead of half of it."""
        marks = tuple(offered)
        groups = self.groups
        if not groups or not set(groups[0]) & set(marks):
            groups = (marks, *groups)
        group = tuple(mark for mark in groups[0] if mark in marks)
        rest = _flat(groups[1:])
        if len(group) == 1:
            return self._found(group, rest)
        if asks_others and (rest or len(group) < len(marks)):
            return Hunt(broken=self.broken, groups=(rest, group))
        return Hunt(broken=self.broken, groups=(*_halves(group), *groups[1:]))

    def passed(self, offered: Iterable[str]) -> "Hunt":
        """This after a request with the `offered` tools has passed: what is broken is in the group
        that stands next then."""
        if not self.groups or not set(self.groups[0]) <= set(offered):
            return self
        _, *rest = self.groups
        if not rest:
            return Hunt(broken=self.broken)
        suspects, *others = rest
        if len(suspects) == 1:
            return self._found(suspects, _flat(others))
        return Hunt(broken=self.broken, groups=(*_halves(suspects), *others))

    def _found(self, broken: _Group, rest: _Group) -> "Hunt":
        """This once one tool is found: the others are likely to be fine together."""
        return Hunt(broken=(*self.broken, *broken)[-_MOST:], groups=(rest,) if rest else ())

    def stored(self) -> str:
        """This as it is kept."""
        return canonical_json({"broken": list(self.broken), "groups": list(map(list, self.groups))})


def hunt_of(learnt: Mapping[str, str]) -> Hunt:
    """What is known; nothing where that cannot be read."""
    try:
        kept: Json = json.loads(learnt.get(HUNT, "{}"))
        groups = cast("Sequence[Sequence[str]]", kept.get("groups", ()))
        return Hunt(broken=tuple(kept.get("broken", ())), groups=tuple(map(tuple, groups)))
    except (ValueError, TypeError, AttributeError):
        return Hunt()


def _halves(group: _Group) -> tuple[_Group, _Group]:
    middle = (len(group) + 1) // 2
    return group[:middle], group[middle:]


def _flat(groups: Iterable[_Group]) -> _Group:
    return tuple(mark for group in groups for mark in group)
