"""What the switches of a guild and model amount to, each part for the one who obeys it.

Invariant: what an admin set wins over what was learnt, and that over the default; a stored value
that is no longer valid counts as not set.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import cast

from chat.reply import ReplyStyle
from chat.scheduler import Parallelism
from chat.switches import MAX_PARALLEL, SWITCHES, SwitchSpec, Theme
from prompt.schema_level import SchemaLevel
from prompt.values import Json
from prompt.verbatim import ClockPlace, ToolConfig, ToolMode
from providers.wire import WIRE_NAMES, Change, Wire

NOTHING_LEARNT: Mapping[str, str] = {}

DEFAULT = "default"
"""Given as a value, it takes back what was set."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Switch:
    """A switch with the value that holds in a guild.

    `is_set` tells that an admin chose it, `learnt` what the endpoint has shown, if anything.
    """

    name: str
    value: str
    default: str
    help: str
    choices: tuple[str, ...]
    theme: Theme = "calls"
    is_set: bool = False
    learnt: str | None = None

    @property
    def is_learnt(self) -> bool:
        """Whether the value is one that the endpoint has taught."""
        return not self.is_set and self.learnt is not None


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnConfig:
    """What a turn is run with.

    `context_window` is in tokens, None where nobody knows. `on_empty` is the switch empty_reply,
    `repeats` how often the same call runs, `tool_budget_percent` what share of the window tools may
    take before some of them wait behind a search. `sees` tells that images are sent.
    """

    tools: ToolConfig = field(default=ToolConfig())
    wire: Wire = field(default=Wire())
    schema_level: SchemaLevel = "simple"
    context_window: int | None = None
    on_empty: str = "nudge_once"
    repeats: int = 2
    tool_budget_percent: int = 10
    sees: bool = False
    style: ReplyStyle = field(default=ReplyStyle())


def spec_of(name: str) -> SwitchSpec | None:
    """The switch of this name."""
    return next((spec for spec in SWITCHES if spec.name == name), None)


def checked(name: str, value: str) -> str:
    """`value` in the spelling that is stored. ValueError says what would be right."""
    spec = spec_of(name)
    if spec is None:
        names = ", ".join(spec.name for spec in SWITCHES)
        raise ValueError(f"There is no switch {name!r}. There are: {names}.")
    plain = spec.read(value)
    if plain is None:
        raise ValueError(f"{name} is {spec.values}.")
    return plain


def as_word(value: Json) -> str:
    """A value as somebody who sets it writes it: JSON has words for on and off, and numbers, of its
    own. Empty for what is neither."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value) if isinstance(value, str | int) else ""


def switches(
    stored: Mapping[str, Json], learnt: Mapping[str, str] = NOTHING_LEARNT
) -> tuple[Switch, ...]:
    """Every switch with its value; what is stored but no longer valid counts as default."""
    return tuple(_switch(spec, stored.get(spec.name), learnt.get(spec.name)) for spec in SWITCHES)


def _switch(spec: SwitchSpec, stored: Json, learnt: str | None) -> Switch:
    own = spec.read(as_word(stored))
    taught = None if learnt is None else spec.read(learnt)
    value = own or taught or spec.default
    return Switch(
        name=spec.name,
        value=value,
        default=spec.default,
        help=spec.help,
        choices=spec.choices if value in spec.choices else (*spec.choices, value),
        theme=spec.theme,
        is_set=own is not None,
        learnt=taught,
    )


def turn_config(
    stored: Mapping[str, Json], learnt: Mapping[str, str] = NOTHING_LEARNT
) -> TurnConfig:
    """All that a turn takes from the switches."""
    values = {switch.name: switch.value for switch in switches(stored, learnt)}
    wire = Wire()
    for name in WIRE_NAMES:
        wire = wire.changed(name, values[name])
    return TurnConfig(
        tools=tool_config(stored, learnt),
        wire=wire,
        schema_level=cast("SchemaLevel", values["schema_level"]),
        context_window=_as_number(values["context_window"]),
        on_empty=values["empty_reply"],
        repeats=int(values["repeat_limit"]),
        tool_budget_percent=int(values["tool_budget_percent"]),
        sees=values["vision"] == "on",
        style=ReplyStyle(
            most_messages=_as_number(values["long_answers"]),
            yields=values["follow_up"] == "interrupt",
            shows_thinking=values["show_thinking"] == "on",
        ),
    )


def tool_config(
    stored: Mapping[str, Json], learnt: Mapping[str, str] = NOTHING_LEARNT
) -> ToolConfig:
    """The prompt's part of the switches."""
    values = {switch.name: switch.value for switch in switches(stored, learnt)}
    return ToolConfig(
        tool_mode=cast("ToolMode", values["tool_mode"]),
        has_tools=values["has_tools"] == "on",
        nudge=values["nudge"] == "on",
        clock=cast("ClockPlace", values["time_in_prompt"]),
    )


def is_open(stored: Mapping[str, Json], learnt: Mapping[str, str], change: Change) -> bool:
    """Whether `change` would alter something that no admin has set."""
    spec = spec_of(change.name)
    if spec is None or spec.read(change.value) is None:
        return False
    switch = _switch(spec, stored.get(change.name), learnt.get(change.name))
    return not switch.is_set and switch.value != change.value


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


def warms_up(stored: Mapping[str, Json], *, near: bool) -> bool:
    """Whether an endpoint reads prompts ahead; `near` is one in a private network."""
    value = _value(stored, "warm_up")
    return near if value == "auto" else value == "on"


def _value(stored: Mapping[str, Json], name: str) -> str:
    return next(switch.value for switch in switches(stored) if switch.name == name)


def _number(stored: Mapping[str, Json], name: str) -> int | None:
    return _as_number(_value(stored, name))


def _as_number(value: str) -> int | None:
    return int(value) if value.isdecimal() else None
