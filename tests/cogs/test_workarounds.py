import discord
import pytest

from chat.config import switches
from chat.switches import SWITCHES, THEMES, SwitchSpec
from cogs.translations.saying import retold
from cogs.workarounds import FIRST, Control, read_custom_id, workarounds_panel
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
        ("stop:1", None),
    ],
)
def test_custom_ids(custom_id: str, control: Control | None) -> None:
    assert read_custom_id(custom_id) == control


def test_a_page_that_there_is_not_is_the_first() -> None:
    overview = overview_of(switches({}))
    first = workarounds_panel(overview).to_components()
    assert workarounds_panel(overview, "elsewhere").to_components() == first
