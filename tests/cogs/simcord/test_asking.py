from tests.cogs.simcord.conftest import Sim


async def test_a_question_about_a_message_is_asked_in_a_form(sim: Sim) -> None:
    message = await sim.boss.send(sim.channel, "The office is closed on Fridays.")
    opened = await sim.alice.context_menu(sim.channel, "Ask about this message", message)
    assert opened.modal is not None
