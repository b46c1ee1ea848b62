"""Faults that a test plants: what the next matching requests meet instead of an answer.

Invariant: a fault is used up by the requests that it meets, so that a test that plants one
knows when it is over.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, TypeAlias

from tests.loopback.discord_server.wire import Payload


@dataclass(frozen=True, slots=True, kw_only=True)
class Status:
    """An error of Discord's own, with a JSON body."""

    status: int
    code: int = 0
    message: str = "fault"

    def body(self) -> Payload:
        """The JSON object that the client receives."""
        return {"message": f"{self.status}: {self.message}", "code": self.code}


@dataclass(frozen=True, slots=True, kw_only=True)
class GatewayPage:
    """An error of the proxy in front of Discord, with a page of HTML."""

    status: int = 502


@dataclass(frozen=True, slots=True, kw_only=True)
class Delay:
    """The request is served, after some seconds."""

    seconds: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Throttle:
    """A 429 that no bucket announced."""

    retry_after: float = 1.0
    scope: str = "user"
    everywhere: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Reset:
    """The connection is cut and nothing was done."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LostAnswer:
    """The request is carried out, then the connection is cut before the answer."""


Effect: TypeAlias = Status | GatewayPage | Delay | Throttle | Reset | LostAnswer
EFFECTS: dict[str, type[Effect]] = {
    "status": Status,
    "page": GatewayPage,
    "delay": Delay,
    "throttle": Throttle,
    "reset": Reset,
    "lost_answer": LostAnswer,
}


@dataclass(slots=True, eq=False)
class Fault:
    """An effect on requests whose path matches `route`, a regular expression.

    `times` requests meet it, after `skip` others passed unharmed. Method "*" is any.
    """

    route: str
    effect: Effect
    method: str = "*"
    times: int = 1
    skip: int = 0

    def matches(self, method: str, path: str) -> bool:
        """Whether this request is meant."""
        return self.method in ("*", method) and re.search(self.route, path) is not None


class Faults:
    """The faults that are still to come."""

    def __init__(self) -> None:
        self._planted: list[Fault] = []

    def plant(
        self, route: str, effect: Effect, *, method: str = "*", times: int = 1, skip: int = 0
    ) -> None:
        """Let the next matching requests meet an effect; see Fault."""
        self._planted.append(Fault(route, effect, method=method, times=times, skip=skip))

    def plant_json(self, description: Payload) -> None:
        """Plant what another process describes: an effect's name, its fields and those of Fault."""
        fields: dict[str, Any] = dict(description)
        effect_type = EFFECTS[fields.pop("effect")]
        planting = {k: fields.pop(k) for k in ("method", "times", "skip") if k in fields}
        route = fields.pop("route")
        self.plant(route, effect_type(**fields), **planting)

    def meet(self, method: str, path: str) -> Iterator[Effect]:
        """The effects on this request, in the order in which they were planted."""
        for fault in tuple(self._planted):
            # Between two effects others are met, which may have used it up.
            if fault not in self._planted or not fault.matches(method, path):
                continue
            if fault.skip > 0:
                fault.skip -= 1
                continue
            fault.times -= 1
            if fault.times <= 0:
                self._planted.remove(fault)
            yield fault.effect
