"""The switches that an admin sets for a guild, with their defaults and what they do.

Invariant: SWITCHES is the one list; panel, storage and the prompt's configuration all read it.
Names, values and defaults are those of the documentation and never reused for another meaning.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import cast

from prompt.values import Json
from prompt.verbatim import ToolConfig, ToolMode


@dataclass(frozen=True, slots=True, kw_only=True)
class SwitchSpec:
    """A switch: its values, the first of which is the default, and its effect in one line."""

    name: str
    choices: tuple[str, ...]
    help: str

    @property
    def default(self) -> str:
        """What holds where nothing was set."""
        return self.choices[0]


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
)

_SPELLINGS = {"yes": "on", "true": "on", "1": "on", "no": "off", "false": "off", "0": "off"}


def checked(name: str, value: str) -> str:
    """`value` in the spelling that is stored. ValueError says what would be right."""
    spec = next((spec for spec in SWITCHES if spec.name == name), None)
    if spec is None:
        names = ", ".join(spec.name for spec in SWITCHES)
        raise ValueError(f"There is no switch {name!r}. There are: {names}.")
    plain = value.strip().lower()
    if plain not in spec.choices:
        plain = _SPELLINGS.get(plain, plain)
    if plain not in spec.choices:
        raise ValueError(f"{name} is one of: {', '.join(spec.choices)}.")
    return plain


def switches(stored: Mapping[str, Json]) -> tuple[Switch, ...]:
    """Every switch with its value; what is stored but no longer valid counts as default."""
    return tuple(
        Switch(
            name=spec.name,
            value=str(stored[spec.name]) if stored.get(spec.name) in spec.choices else spec.default,
            default=spec.default,
            help=spec.help,
            choices=spec.choices,
        )
        for spec in SWITCHES
    )


def tool_config(stored: Mapping[str, Json]) -> ToolConfig:
    """The prompt's part of the switches."""
    values = {switch.name: switch.value for switch in switches(stored)}
    return ToolConfig(
        tool_mode=cast("ToolMode", values["tool_mode"]),
        has_tools=values["has_tools"] == "on",
        nudge=values["nudge"] == "on",
    )
