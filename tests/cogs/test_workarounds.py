import discord
import pytest

from chat.config import switches
from chat.switches import SWITCHES, THEMES, SwitchSpec
from cogs.translations.saying import retold
from cogs.workarounds import ENDPOINT, FIRST, Control, read_custom_id, workarounds_panel
from tests.cogs.scripted import overview_of

STORED = [{}, {spec.name: spec.choices[-1] for spec in SWITCHES}]
LONGEST_PANEL = 4000
"""Characters of all texts together, and 40 components: what Discord takes."""


@pytest.mark.parametrize("stored", STORED, ids=["defaults", "all set"])
@pytest.mark.parametrize("page", [FIRST, *THEMES])
@pytest.mark.parametrize("locale", [None, discord.Locale.german], ids=["en", "de"])
def test_every_page_keeps_to_what_discord_takes(
    page: str, stored: dict[str, str], locale: discord.Locale | None
) -> None:
    panel = workarounds_panel(overview_of(switches(stored)), page, locale)
    assert panel.total_children_count <= 40
    assert panel.content_length() <= LONGEST_PANEL


@pytest.mark.parametrize("spec", SWITCHES, ids=lambda spec: spec.name)
def test_help_is_never_clipped_in_another_language(spec: SwitchSpec) -> None:
    german = retold(discord.Locale.german, spec.help)
    assert german != spec.help
    assert len(german) <= 300


def test_the_switch_that_always_stands_first_is_explained_whole() -> None:
    (main,) = (spec for spec in SWITCHES if spec.name == "tool_mode")
    assert main.help in str(workarounds_panel(overview_of(switches({}))).to_components())


@pytest.mark.parametrize(
    ("custom_id", "control"),
    [
        ("workarounds:nudge", Control("nudge", FIRST)),
        ("workarounds:nudge:calls", Control("nudge", "calls")),
        ("workarounds:page", Control("page", FIRST)),
        ("workarounds:nudge:calls:operator:1", Control("nudge", "calls", "operator:1")),
        ("workarounds:page:first:channel:5", Control("page", FIRST, "channel:5")),
        ("workarounds:endpoint", Control("endpoint", FIRST)),
        ("stop:1", None),
    ],
)
def test_custom_ids(custom_id: str, control: Control | None) -> None:
    assert read_custom_id(custom_id) == control


@pytest.mark.parametrize("page", [FIRST, *THEMES])
def test_a_panel_of_another_endpoint_keeps_to_what_discord_takes(page: str) -> None:
    name = f"guild:{2**63}:{'0' * 16}"
    choices = {f"{name[:-2]}{number:02}": f"{number + 1}. {'x' * 70}" for number in range(40)}
    stored = {spec.name: spec.choices[-1] for spec in SWITCHES}
    panel = workarounds_panel(overview_of(switches(stored)), page, of=name, choices=choices)
    assert panel.total_children_count <= 40
    menus = [each for each in panel.walk_children() if isinstance(each, discord.ui.Select)]
    assert {len(menu.options) <= 25 for menu in menus} == {True}
    assert {len(menu.custom_id) <= 100 for menu in menus} == {True}
    controls = [read_custom_id(menu.custom_id) for menu in menus]
    others = {each.of for each in controls if each is not None and each.name != ENDPOINT}
    assert others == {name}


def test_a_page_that_there_is_not_is_the_first() -> None:
    overview = overview_of(switches({}))
    first = workarounds_panel(overview).to_components()
    assert workarounds_panel(overview, "elsewhere").to_components() == first
