"""Draws the panel of /config workarounds.

Invariant: a panel holds at most 40 components, and each control's custom id carries the page that
it stands on, a name, and which endpoint and model it is about; no rights. The first page tells the
verdict and what is not at its default; all other switches stand on a page for each theme.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import discord
from discord import ui

from chat.config import DEFAULT, Switch
from chat.overview import Overview
from chat.switches import THEMES
from cogs.forms import clipped
from cogs.sending import SUBTEXT
from cogs.translations.saying import Speaks, retold, tr

CUSTOM_ID = "workarounds:"
"""Begins the custom id of every control: then a switch's name, PAGE or ENDPOINT; then the page and
the name of an endpoint or channel, unless these are the first."""

PAGE = "page"
"""In the place of a switch's name: the menu that turns to another page."""

ENDPOINT = "endpoint"
"""In the place of a switch's name: the menu that turns to another endpoint or model."""

FIRST = "first"
"""The page that says what is known, and what differs from the defaults."""

_MAIN = "tool_mode"
"""The switch that the first page offers in any case."""

_MOST_SWITCHES = 11
"""A switch takes three of the 40 components; beside them stand up to two texts and two menus."""

_MOST_OPTIONS = 25

NO_CHOICE: Mapping[str, str] = {}

_HELP = 300
"""Characters of a switch's help."""

_HELP_ON_FIRST = 150
"""The same where switches of all themes may stand together: a panel holds 4,000 in all."""

_MODES = {
    "native": "tool calls go through the endpoint's `tools` field alone",
    "verbatim": "tools are also written into the prompt, and calls are read from the text",
    "verbatim_only": "tools are written into the prompt alone, and calls are read from the text",
}


@dataclass(frozen=True, slots=True)
class Control:
    """Which control was used, the page that it stood on, and what that was `of`: the name of an
    endpoint or of a channel's model, empty for the first."""

    name: str
    page: str
    of: str = ""


def read_custom_id(custom_id: str) -> Control | None:
    """The control of a custom id, None if it is none of this panel's."""
    if not custom_id.startswith(CUSTOM_ID):
        return None
    name, _, place = custom_id.removeprefix(CUSTOM_ID).partition(":")
    page, _, of = place.partition(":")  # names of endpoints have colons
    return Control(name, page or FIRST, of)


def _custom_id(control: Control) -> str:
    place = f":{control.page}" if control.page != FIRST or control.of else ""
    return f"{CUSTOM_ID}{control.name}{place}{control.of and f':{control.of}'}"


def workarounds_panel(
    overview: Overview,
    page: str = FIRST,
    locale: Speaks = None,
    *,
    of: str = "",
    choices: Mapping[str, str] = NO_CHOICE,
) -> ui.LayoutView:
    """One page of the panel, the first where there is no such page. `of` is the name of what
    `overview` tells about, `choices` are labels by names of all that there is.

    It is not kept in memory: a listener serves its menus.
    """
    page = page if page in THEMES else FIRST
    panel = ui.LayoutView(timeout=None)
    model = clipped(overview.model or tr(locale, "this endpoint"), 100)
    title = f"## {tr(locale, 'Workarounds for {model}', model=model)}"
    if page == FIRST:
        lines = [
            title,
            clipped(retold(locale, overview.endpoint), 200),
            tr(locale, "**In use:** {what}", what=tool_calling(overview, locale)),
            *(f"\N{WARNING SIGN} {retold(locale, note)}" for note in overview.notes),
        ]
        panel.add_item(ui.TextDisplay("\n".join(lines)))
        shown = [each for each in overview.switches if _differs(each) or each.name == _MAIN]
    else:
        panel.add_item(ui.TextDisplay(f"{title}\n### {_title(page, locale)}"))
        shown = [each for each in overview.switches if each.theme == page]
    for switch in shown[:_MOST_SWITCHES]:
        most = _HELP_ON_FIRST if page == FIRST and switch.name != _MAIN else _HELP
        about = clipped(retold(locale, switch.help), most)
        panel.add_item(ui.TextDisplay(f"**{switch.name}**: {about}"))
        panel.add_item(ui.ActionRow(_menu(switch, Control(switch.name, page, of), locale)))
    if page == FIRST:
        panel.add_item(ui.TextDisplay(SUBTEXT + _summary(overview.switches, locale)))
    if len(choices) > 1:
        panel.add_item(ui.ActionRow(_endpoints(choices, of, locale)))
    panel.add_item(ui.ActionRow(_pages(page, of, locale)))
    panel.stop()
    return panel


def tool_calling(overview: Overview, locale: Speaks) -> str:
    """How tools reach the model of an endpoint, and why."""
    reason = clipped(retold(locale, overview.verdict.reason), 300).rstrip(".")
    known = tr(locale, "What is known of the endpoint: {reason}.", reason=reason)
    if overview.mode == "off":
        return f"{tr(locale, 'off: the model is offered no tools.')} {known}"
    chosen = (
        tr(locale, "chosen by itself")
        if overview.tool_mode == "auto"
        else tr(locale, "set by an admin")
    )
    return f"{overview.mode} ({chosen}): {retold(locale, _MODES[overview.mode])}. {known}"


def _differs(switch: Switch) -> bool:
    return switch.value != switch.default


def _summary(switches: Sequence[Switch], locale: Speaks) -> str:
    changed = [
        tr(
            locale,
            "`{name}` is {value} (learnt; default {default})",
            name=switch.name,
            value=switch.value,
            default=switch.default,
        )
        if switch.is_learnt
        else tr(
            locale,
            "`{name}` is {value} (default {default})",
            name=switch.name,
            value=switch.value,
            default=switch.default,
        )
        for switch in switches
        if _differs(switch)
    ]
    if not changed:
        return tr(locale, "At its default: everything")
    return tr(locale, "Not at its default: {switches}", switches=clipped("; ".join(changed), 900))


def _menu(switch: Switch, control: Control, locale: Speaks) -> ui.Select[ui.LayoutView]:
    options = [
        discord.SelectOption(
            label=choice,
            value=choice,
            description=_about(switch, choice, locale),
            default=choice == switch.value,
        )
        for choice in switch.choices
    ]
    if switch.is_set:
        options.append(
            discord.SelectOption(
                label=tr(locale, "not set"),
                value=DEFAULT,
                description=tr(locale, "go back to what was learnt, or else to the default"),
            )
        )
    return ui.Select(custom_id=_custom_id(control), options=options)


def _about(switch: Switch, choice: str, locale: Speaks) -> str | None:
    words = [
        *([tr(locale, "default")] if choice == switch.default else []),
        *([tr(locale, "learnt from this endpoint")] if choice == switch.learnt else []),
    ]
    return ", ".join(words) or None


def _endpoints(choices: Mapping[str, str], of: str, locale: Speaks) -> ui.Select[ui.LayoutView]:
    shown = list(choices.items())[:_MOST_OPTIONS]
    current = of if of in choices else shown[0][0]
    return ui.Select(
        custom_id=_custom_id(Control(ENDPOINT, FIRST)),
        placeholder=tr(locale, "Another endpoint or model"),
        options=[
            discord.SelectOption(label=label, value=name, default=name == current)
            for name, label in shown
        ],
    )


def _pages(current: str, of: str, locale: Speaks) -> ui.Select[ui.LayoutView]:
    pages = {
        FIRST: tr(locale, "Overview"),
        **{theme: tr(locale, "Advanced: {theme}", theme=_title(theme, locale)) for theme in THEMES},
    }
    return ui.Select(
        custom_id=_custom_id(Control(PAGE, FIRST, of)),
        placeholder=tr(locale, "Advanced"),
        options=[
            discord.SelectOption(label=label, value=page, default=page == current != FIRST)
            for page, label in pages.items()
        ],
    )


def _title(page: str, locale: Speaks) -> str:
    return next(retold(locale, name) for theme, name in THEMES.items() if theme == page)
