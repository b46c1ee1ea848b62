from cogs.operator import NOT_OPERATOR
from tests.cogs.simcord.conftest import Sim, private


async def test_limits_are_shown_to_managers(sim: Sim) -> None:
    assert "no limit" in private(await sim.for_managers_alone("config limits"))


async def test_a_budget_is_entered_in_a_form_and_checked(sim: Sim) -> None:
    opened = await sim.for_managers_alone("config budget")
    assert opened.modal is not None
    assert opened.modal["title"] == "Budget of a day"
    wrong = await sim.boss.submit_modal(opened, {"money": "lots"})
    assert private(wrong).startswith("Nothing was changed.")


async def test_the_operators_limits_are_the_operators(sim: Sim) -> None:
    for path in ("config budget", "config prices"):
        assert await sim.privately(sim.boss, path, whose="operator") == NOT_OPERATOR
