"""What a model reads of a Discord message, live and when it is read back."""

from typing import Any

from chat.ports import ChannelMessage
from tests.chat.pictures import png
from tests.cogs.conftest import Scene
from tests.loopback.discord_server import Message, Upload


async def live(scene: Scene, message: Message) -> ChannelMessage:
    """The question as it came."""
    turns = len(scene.service.stages)
    await scene.turns_done(max(turns, 1))
    request = scene.service.stages[-1].request
    assert request.message.id == message.id
    return request.message


async def read_back(scene: Scene, message: Message) -> ChannelMessage:
    """The same message out of the channel's history, as another question finds it."""
    turns = len(scene.service.stages)
    later = scene.ask("later", user=scene.bob)
    await scene.turns_done(turns + 1)
    history = scene.service.stages[-1].history
    found = await history.read(before=later.id, after=None, limit=50)
    return next(each for each in found if each.id == message.id)


async def both(scene: Scene, message: Message) -> ChannelMessage:
    """The message, which has to be the same live and read back, links to its files apart."""
    first, second = await live(scene, message), await read_back(scene, message)
    assert (first.text, first.author, first.reply_to) == (
        second.text,
        second.author,
        second.reply_to,
    )
    assert [each.id for each in first.attachments] == [each.id for each in second.attachments]
    return first


def ask(scene: Scene, text: str = "", **more: Any) -> Message:
    return scene.server.driver.say(
        scene.channel, scene.alice, f"{scene.server.bot.mention} {text}", **more
    )


WRITTEN_OUT = {
    "at <t:1777897800:R>": "at 4 May 2026, 12:30 UTC",
    "by <t:1777897800>": "by 4 May 2026, 12:30 UTC",
    "never: <t:999999999999:F>": "never: <t:999999999999:F>",
    "use </config test:123456789012345678>": "use /config test",
    "<a:wave:123456789012345678> hi": ":wave: hi",
    "who is <@123456789012345678>?": "who is <@123456789012345678>?",
    "in <#123456789012345678>": "in <#123456789012345678>",
}


async def test_what_stands_for_something_is_written_out(scene: Scene) -> None:
    message = await live(scene, ask(scene, "\n".join(WRITTEN_OUT)))
    assert message.text.splitlines() == list(WRITTEN_OUT.values())


async def test_files_stickers_and_polls_are_named(scene: Scene) -> None:
    files = [
        Upload(filename="cat.png", data=png(12, 8)),
        Upload(filename="notes.txt", data=b"x" * 2500, content_type="text/plain"),
        Upload(filename="voice.ogg", data=b"x", content_type="audio/ogg", duration=7.2),
        Upload(filename="tape.bin", data=b"x" * 1_500_000),
    ]
    asked = ask(scene, files=files, stickers=["Wave  hello"], poll=["Tea?", "Yes", "No"])
    message = await both(scene, asked)
    assert message.text.splitlines() == [
        "[image: cat.png, 12 by 8]",
        "[file: notes.txt, 2 kB]",
        "[voice message, 7 seconds]",
        "[file: tape.bin, 1.5 MB]",
        "[sticker: Wave hello]",
        "[poll: Tea?; 1. Yes; 2. No]",
    ]
    assert [(each.name, each.size, each.message_id) for each in message.attachments] == [
        ("cat.png", len(png(12, 8)), asked.id),
        ("notes.txt", 2500, asked.id),
        ("voice.ogg", 1, asked.id),
        ("tape.bin", 1_500_000, asked.id),
    ]


async def test_a_forward_shows_what_it_copies(scene: Scene) -> None:
    """In a direct message it is a question of its own: it has no words that could mention."""
    letters = scene.server.build.direct_messages(scene.alice)
    embeds = [
        {"title": "News", "description": "All\nwell", "fields": [{"name": "A", "value": "1"}]}
    ]
    source = scene.server.driver.say(
        scene.channel,
        scene.server.build.user("herald", scene.guild, bot=True),
        "Hear <:bell:123456789012345678>",
        files=[Upload(filename="map.png", data=png())],
        embeds=embeds,
    )
    forwarded = scene.server.driver.forward(letters, scene.alice, source)
    message = await live(scene, forwarded)
    assert message.text.splitlines() == [
        "[forwarded message]",
        "Hear :bell:",
        "[image: map.png, 40 by 30]",
        "[embed: News; All well; A: 1]",
        "[end of forwarded message]",
    ]
    assert [(each.name, each.message_id) for each in message.attachments] == [
        ("map.png", forwarded.id)
    ]


async def test_what_is_long_is_cut(scene: Scene) -> None:
    letters = scene.server.build.direct_messages(scene.alice)
    source = scene.server.driver.say(scene.channel, scene.alice, "x" * 2000)
    source.content *= 2  # what subscribers may write
    source.embeds = [{"type": "rich", "description": "y" * 4000} for _ in range(10)]
    message = await live(scene, scene.server.driver.forward(letters, scene.alice, source))
    assert len(message.text) < 2000 + 3 * 620 + 100
    assert message.text.count("…") == 4  # the words, and three embeds


async def test_the_preview_of_a_link_stays_out(scene: Scene) -> None:
    """It comes after the message: with it the words would change once they are read back."""
    link = "https://example.org/cat"
    asked = ask(scene, link)
    asked.embeds = [{"type": "rich", "url": link, "title": "A cat"}]
    assert (await both(scene, asked)).text == link


async def test_a_reply_quotes_what_it_answers(scene: Scene) -> None:
    files = [Upload(filename="cat.png", data=png())]
    first = scene.server.driver.say(scene.channel, scene.bob, "look\n at  this", files=files)
    message = await both(scene, ask(scene, "what is it?", reply_to=first))
    assert message.reply_to is not None
    assert (message.reply_to.author.name, message.reply_to.message_id) == ("Bob", first.id)
    assert message.reply_to.text == "look at this [image: cat.png, 40 by 30]"
    assert [(each.name, each.message_id) for each in message.attachments] == [("cat.png", first.id)]


async def test_a_long_quote_is_cut(scene: Scene) -> None:
    first = scene.server.driver.say(scene.channel, scene.bob, "word " * 300)
    message = await live(scene, ask(scene, "short?", reply_to=first))
    assert message.reply_to is not None
    assert len(message.reply_to.text) == 160
    assert message.reply_to.text.endswith("…")


async def test_a_mention_alone_in_a_reply_asks_about_what_it_answers(scene: Scene) -> None:
    first = scene.server.driver.say(scene.channel, scene.bob, "is 7 a prime?")
    message = await both(scene, ask(scene, reply_to=first))
    assert message.text == ""
    assert message.reply_to is not None
    assert message.reply_to.text == "is 7 a prime?"


async def test_a_reply_to_what_was_deleted_quotes_nothing(scene: Scene) -> None:
    first = scene.server.driver.say(scene.channel, scene.bob, "gone")
    asked = ask(scene, "what was that?", reply_to=first)
    await live(scene, asked)
    scene.server.driver.delete(first)
    assert (await read_back(scene, asked)).reply_to is None


async def test_a_nickname_does_not_change_what_is_read_back(scene: Scene) -> None:
    scene.guild.members[scene.alice.id].nick = "Queen of the hill"
    assert (await both(scene, ask(scene, "hi"))).author.name == "Alice"
