"""What a member who opted out has written is in no prompt, and all else stays as it was."""

from chat.opting_out import without_quote_of
from chat.ports import ChannelMessage, Quote
from prompt.values import Attachment
from tests.chat.house import House
from tests.chat.scripted import ADA, BOB, GUILD, NOW, say
from tests.chat.test_history import common, dialogue, encoded

SECRET = "the cellar key hangs behind the clock"


async def test_their_messages_leave_the_history_with_our_answers(house: House) -> None:
    house.channel.add(ADA, "Morning.")
    house.channel.add(BOB, SECRET)
    await house.ask(f"Did I say that {SECRET}?", [say("You did, the cellar.")], author=BOB)
    await house.ask("Hi", [say("Hello.")])
    assert house.requests[-1].words.count("cellar") == 3, "in the history before the wish"
    await house.store.opt_outs.add(GUILD, BOB.id)
    await house.ask("And now?", [say("Now too.")])
    words = house.requests[-1].words
    assert "cellar" not in words
    assert "Bob" not in words
    assert dialogue(house.requests[-1]) == [
        "Morning.\n[from Ada]",
        "Hi\n[from Ada]",
        "Hello.",
        "And now?\n[from Ada]",
    ]


async def test_prompts_still_begin_alike_after_the_wish(house: House) -> None:
    await house.store.opt_outs.add(GUILD, BOB.id)
    for number in range(3):
        house.channel.add(BOB, f"{SECRET} {number}")
        await house.ask(f"Question {number}", [say("Yes.")])
    before, after = (encoded(request) for request in house.requests[-2:])
    assert common(before, after) >= len(before) - 1


async def test_the_wish_counts_in_its_server_and_until_it_is_taken_back(house: House) -> None:
    house.channel.add(BOB, SECRET)
    await house.store.opt_outs.add(GUILD + 1, BOB.id)
    await house.ask("Hi", [say("Hello.")])
    assert SECRET in house.requests[-1].words
    await house.store.opt_outs.add(GUILD, BOB.id)
    await house.ask("Hi", [say("Hello.")])
    assert SECRET not in house.requests[-1].words
    await house.store.opt_outs.remove(GUILD, BOB.id)
    await house.ask("Hi", [say("Hello.")])
    assert SECRET in house.requests[-1].words


async def test_what_others_quote_of_them_is_left_out(house: House) -> None:
    theirs = house.channel.add(BOB, SECRET)
    house.channel.add(ADA, "Well.")
    quote = Quote(message_id=theirs.id, author=BOB, text=SECRET)
    house.channel.add(ADA, "Really?", reply_to=quote)
    await house.store.opt_outs.add(GUILD, BOB.id)
    asked = house.channel.add(ADA, "Is that true?", reply_to=quote)
    house.model.add([say("It is.")])
    await house.service.respond(house.about(asked), house.channel, house.presenter())
    assert dialogue(house.requests[-1]) == [
        "Well.\n[from Ada]",
        "Really?\n[from Ada]",
        "Is that true?\n[from Ada]",
    ]


def test_files_of_what_is_quoted_go_with_it() -> None:
    def file(message_id: int) -> Attachment:
        return Attachment(
            id=message_id, message_id=message_id, name="a", content_type="", size=1, url=""
        )

    message = ChannelMessage(
        id=2,
        author=ADA,
        text="Look.",
        at=NOW,
        reply_to=Quote(message_id=1, author=BOB, text=SECRET),
        attachments=(file(1), file(2)),
    )
    assert without_quote_of(message, [BOB.id]).attachments == (file(2),)
    assert without_quote_of(message, [ADA.id]) is message
