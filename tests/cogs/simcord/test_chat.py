from tests.cogs.simcord.conftest import Sim


async def test_a_mention_is_answered_in_public_by_a_reply_that_pings_nobody(sim: Sim) -> None:
    asked = await sim.ask("hello")
    (answer,) = sim.answers()
    assert (answer.content, answer.flags.ephemeral) == ("Hello.", False)
    assert answer.reference is not None
    assert answer.reference.message_id == asked.id
    assert answer.mentions == []


async def test_what_is_not_for_it_is_left_alone(sim: Sim) -> None:
    await sim.alice.send(sim.channel, "good morning everyone")
    robot = sim.guild.add_member(sim.env.create_user("robot", bot=True))
    await sim.ask("hello", who=robot)
    assert sim.answers() == []


async def test_direct_messages_are_answered(sim: Sim) -> None:
    await sim.alice.send_dm("hello")
    assert [stage.request.place.guild_id for stage in sim.service.stages] == [None]
