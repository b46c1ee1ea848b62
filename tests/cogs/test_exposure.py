"""/config exposure, /config allowlist and /tool toggle, with the real service behind them."""

from pathlib import Path

from tests.cogs.town import Town, town
from tests.loopback.endpoint import Step


async def said(here: Town, path: str, **options: str) -> str:
    return await here.said(here.home_channel, here.operator, path, **options)


async def offered(here: Town) -> list[str]:
    """The tools of the next request."""
    here.operators.add(Step(text="Hello."))
    before = len(here.operators.received)
    await here.answer(here.ask(here.home_channel, here.operator, "hello"), contains="Hello")
    assert len(here.operators.received) == before + 1
    body = here.operators.received[-1].body
    return [each["function"]["name"] for each in body.get("tools", [])]


async def test_an_admin_decides_which_tools_the_model_is_shown(tmp_path: Path) -> None:
    async with town(tmp_path) as here:
        fresh = await offered(here)
        assert 1 <= len(fresh) <= 6
        assert "remember" in fresh

        shown = await said(here, "config exposure", read_only="on")
        assert "**Read-only** on" in shown
        assert "remember" not in await offered(here)
        assert "it changes something" in await said(here, "tool list")
        shown = await said(here, "config exposure", mode="search", read_only="off", web="on")
        assert "**Mode** search" in shown
        assert "**Web** on" in shown
        assert {"tool_search", "execute_tool"} <= set(await offered(here))
        assert "found by search" in await said(here, "tool list")

        shown = await said(here, "config exposure", dispatch="*")
        assert "**Stable dispatcher with** *" in shown
        assert "use_loaded_tool" in await offered(here)
        assert "name of a model" in await said(here, "config exposure", dispatch="a b, *")
        assert "no model" in await said(here, "config exposure", dispatch="off")
        assert "use_loaded_tool" not in await offered(here)
        assert "**Tools** search: " in await said(here, "config show")


async def test_an_admin_lists_the_tools_that_may_be_used(tmp_path: Path) -> None:
    async with town(tmp_path) as here:
        shown = await said(here, "config allowlist", tools="recall, `current_time`")
        assert "**Allowlist** current_time, recall" in shown
        assert await offered(here) == ["current_time", "recall"]
        refused = await said(here, "config allowlist", tools="recall, recal")
        assert "There is no tool named recal." in refused
        assert "current_time, recall" in await said(here, "config allowlist")
        assert "**Allowlist** none" in await said(here, "config allowlist", tools="none")
        assert await offered(here) == []
        await said(here, "config exposure", web="on")
        shown = await said(here, "config allowlist", tools="none")
        assert "**Allowlist** none; web_search and generate_image ask only" in shown
        assert (
            "**Allowlist** any tool\n" in await said(here, "config allowlist", tools="ANY") + "\n"
        )
        assert "roll_dice" in await offered(here)


async def test_an_admin_switches_single_tools(tmp_path: Path) -> None:
    async with town(tmp_path) as here:
        line = await said(here, "tool toggle", name="roll_dice", state="off")
        assert "`roll_dice` **off** (switched off" in line
        assert "roll_dice" not in await offered(here)
        line = await said(here, "tool toggle", name="roll_dice", state="default")
        assert "`roll_dice` **on**" in line
        assert "roll_dice" in await offered(here)
        refused = await said(here, "tool toggle", name="roll_dyce", state="on")
        assert "There is no tool named roll_dyce." in refused
        used = here.server.driver.autocomplete(
            here.home_channel, here.operator, "tool toggle", "name", "Dic"
        )
        await here.server.driver.acknowledged(used)
        assert [choice["value"] for choice in used.choices or []] == ["roll_dice"]
