"""Replies that another process left half-written, as the next start finds them."""

from dataclasses import asdict, replace

from cogs.leftovers import INTERRUPTED
from cogs.sending import SUBTEXT
from data.store import Store
from data.unfinished import HalfWritten, OpenQuestion
from tests.cogs.conftest import Scene
from tests.cogs.scripted import labels
from tests.loopback.discord_server import Message, Status


async def left(scene: Scene, store: Store, *texts: str) -> list[Message]:
    """A reply of these messages that nobody writes any more."""
    asked = scene.server.driver.say(scene.channel, scene.alice, "hello?")
    reply = [scene.server.driver.say(scene.channel, scene.server.bot, text) for text in texts]
    for message in reply:
        await store.unfinished.begun(
            HalfWritten(message_id=message.id, **asdict(question(scene, asked)))
        )
    return reply


def question(scene: Scene, asked: Message) -> OpenQuestion:
    return OpenQuestion(
        guild_id=scene.guild.id,
        channel_id=scene.channel.id,
        member_id=scene.alice.id,
        asked_message_id=asked.id,
        turn_id=asked.id,
    )


async def test_only_the_last_message_is_marked_and_its_status_goes(
    quiet_scene: Scene, store: Store
) -> None:
    scene = quiet_scene
    first, last = await left(scene, store, "a" * 1990, "And so\n-# running recall… 5 s")
    (waiting,) = await left(scene, store, "-# thinking")
    await scene.start()
    await scene.server.journal.until(lambda: "Delete" in labels(waiting), timeout=5)
    assert (first.text, labels(first)) == ("a" * 1990, [])
    assert last.text == f"And so\n{SUBTEXT}{INTERRUPTED}"
    assert labels(last) == ["Regenerate", "Continue", "Delete"]
    assert (waiting.text, labels(waiting)) == (SUBTEXT + INTERRUPTED, ["Regenerate", "Delete"])


async def test_where_the_line_does_not_fit_it_follows(quiet_scene: Scene, store: Store) -> None:
    scene = quiet_scene
    (full,) = await left(scene, store, "a" * 2000)
    await scene.start()
    line = await scene.server.wait_for_message(
        scene.channel, lambda m: m.text == SUBTEXT + INTERRUPTED
    )
    assert full.text == "a" * 2000
    assert labels(line) == ["Regenerate", "Continue", "Delete"]


async def test_what_is_gone_is_forgotten_and_trouble_is_tried_again(
    quiet_scene: Scene, store: Store
) -> None:
    scene = quiet_scene
    (gone,) = await left(scene, store, "gone")
    scene.server.driver.delete(gone)
    (stays,) = await left(scene, store, "stays")
    path = rf"/messages/{stays.id}$"
    scene.server.faults.plant(path, Status(status=400, code=50083), method="PATCH")
    await scene.start()
    await scene.server.journal.until(
        lambda: bool(scene.server.journal.of("rest", status=400)), timeout=5
    )
    scene.ask("hello")
    await scene.turns_done()
    await scene.stop()
    assert [each.message_id for each in await store.unfinished.all()] == [stays.id]


async def test_a_half_written_reply_that_was_deleted_was_answered_enough(
    quiet_scene: Scene, store: Store
) -> None:
    scene = quiet_scene
    (gone,) = await left(scene, store, "half")
    (half,) = await store.unfinished.all()
    await store.unfinished.asked(
        replace(question(scene, gone), asked_message_id=half.asked_message_id)
    )
    scene.server.driver.delete(gone)
    (waiting,) = await left(scene, store, "-# thinking")
    await scene.start()
    await scene.server.journal.until(lambda: "Delete" in labels(waiting), timeout=5)
    await scene.stop()
    assert [m for m in scene.answers() if m is not waiting] == []
    assert await store.unfinished.questions() == []
