"""The switches that an admin sets for a guild, with their defaults and what they do.

Invariant: SWITCHES is the one list; panel, storage and the prompt's configuration all read it.
Names, values and defaults are those of the documentation and never reused for another meaning.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from chat.scheduler import Parallelism
from prompt.values import Json
from prompt.verbatim import ToolConfig, ToolMode

_SPELLINGS = {"yes": "on", "true": "on", "1": "on", "no": "off", "false": "off", "0": "off"}
_LONGEST_NUMBER = 9
"""Digits that are read; Python refuses to convert thousands of them."""


MAX_PARALLEL = "max_parallel"


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchSpec:
    """A switch: its values, the first of which is the default, and its effect in one line.

    Where `numbers` is set, any whole number in it is a value too; those among `choices` are then
    only the ones to offer.
    """

    name: str
    choices: tuple[str, ...]
    help: str
    numbers: range | None = None

    @property
    def default(self) -> str:
        """What holds where nothing was set."""
        return self.choices[0]

    @property
    def values(self) -> str:
        """What may be set, in words."""
        if self.numbers is None:
            return f"one of: {', '.join(self.choices)}"
        words = [choice for choice in self.choices if not choice.isdecimal()]
        return f"{', '.join(words)} or a number from {self.numbers[0]} to {self.numbers[-1]}"

    def read(self, value: str) -> str | None:
        """`value` in the spelling that is stored, None if it is no value of this switch."""
        plain = value.strip().lower()
        if self.numbers is not None and plain.isascii() and plain.isdecimal():
            number = int(plain[:_LONGEST_NUMBER])
            return str(number) if number in self.numbers else None
        return next((word for word in (plain, _SPELLINGS.get(plain)) if word in self.choices), None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Switch:
    """A switch with the value that holds in a guild."""

    name: str
    value: str
    default: str
    help: str
    choices: tuple[str, ...]


SWITCHES: tuple[SwitchSpec, ...] = (
    SwitchSpec(
        name="tool_mode",
        choices=("auto", "native", "verbatim", "verbatim_only", "off"),
        help="How tools reach the model: `native` uses the tools field alone, `verbatim` adds "
        "them to the prompt, `verbatim_only` leaves the field out, `off` offers none. `auto` is "
        "verbatim until the endpoint has shown that it can do better.",
    ),
    SwitchSpec(
        name="has_tools",
        choices=("on", "off"),
        help="Whether this model is able to use tools at all.",
    ),
    SwitchSpec(
        name="nudge",
        choices=("on", "off"),
        help="One line at the prompt's end that reminds of tools, in verbatim mode.",
    ),
    SwitchSpec(
        name=MAX_PARALLEL,
        choices=("auto", "1", "2", "3", "4", "6", "8", "12", "16"),
        numbers=range(1, 65),
        help="Requests to this endpoint at once; more of them wait in line. `auto`: as many as the "
        "server has slots if it tells (llama.cpp does), else 1 on a private network and 4 "
        "elsewhere.",
    ),
    SwitchSpec(
        name="slot_hint",
        choices=("off", "per_channel"),
        help="`per_channel` asks llama.cpp to answer a channel in the same slot every time, whose "
        "cache then holds its conversation. Only where the server tells its slots.",
    ),
)


def checked(name: str, value: str) -> str:
    """`value` in the spelling that is stored. ValueError says what would be right."""
    spec = next((spec for spec in SWITCHES if spec.name == name), None)
    if spec is None:
        names = ", ".join(spec.name for spec in SWITCHES)
        raise ValueError(f"There is no switch {name!r}. There are: {names}.")
    plain = spec.read(value)
    if plain is None:
        raise ValueError(f"{name} is {spec.values}.")
    return plain


def switches(stored: Mapping[str, Json]) -> tuple[Switch, ...]:
    """Every switch with its value; what is stored but no longer valid counts as default."""
    return tuple(_switch(spec, stored.get(spec.name)) for spec in SWITCHES)


def _switch(spec: SwitchSpec, stored: Json) -> Switch:
    value = (spec.read(stored) if isinstance(stored, str) else None) or spec.default
    return Switch(
        name=spec.name,
        value=value,
        default=spec.default,
        help=spec.help,
        choices=spec.choices if value in spec.choices else (*spec.choices, value),
    )


def tool_config(stored: Mapping[str, Json]) -> ToolConfig:
    """The prompt's part of the switches."""
    values = {switch.name: switch.value for switch in switches(stored)}
    return ToolConfig(
        tool_mode=cast("ToolMode", values["tool_mode"]),
        has_tools=values["has_tools"] == "on",
        nudge=values["nudge"] == "on",
    )


def parallelism(
    stored: Mapping[str, Json], operators: Mapping[str, Json] | None = None
) -> Parallelism:
    """The scheduler's part of the switches.

    `operators` are those of the operator's own scope, for a guild that their endpoint serves: it
    can choose fewer requests at once than the operator, but not more.
    """
    most, hint = _number(stored, MAX_PARALLEL), _value(stored, "slot_hint") == "per_channel"
    if operators is None:
        return Parallelism(most=most, raises=True, slot_hint=hint)
    limit = _number(operators, MAX_PARALLEL)
    if limit is None:
        return Parallelism(most=most, slot_hint=hint)
    return Parallelism(most=min(most or limit, limit), raises=True, slot_hint=hint)


def _value(stored: Mapping[str, Json], name: str) -> str:
    return next(switch.value for switch in switches(stored) if switch.name == name)


def _number(stored: Mapping[str, Json], name: str) -> int | None:
    value = _value(stored, name)
    return int(value) if value.isdecimal() else None
