"""/knowledge on a loopback Discord, with the real bot, index and worker behind it."""

import asyncio
import io
import json
import re
from pathlib import Path

import pytest
from pypdf import PdfWriter

from cogs.adding import Adding
from cogs.knowledge import MENU, Knowledge
from cogs.tree import NOT_ALLOWED
from data.errors import StoreError
from tests.cogs.town import Town, shown, town
from tests.loopback.discord_server import Channel, Message, Permission, Upload, User
from tests.loopback.endpoint import Step

FACT = "4417 kilohertz"
TEXT = f"The beacon on Gull Rock transmits on {FACT}, day and night."
QUESTION = "On which frequency does the beacon transmit?"


def protected() -> bytes:
    """A PDF with a password."""
    writer, buffer = PdfWriter(), io.BytesIO()
    writer.add_blank_page(100, 100)
    writer.encrypt("secret", algorithm="RC4-128")
    writer.write(buffer)
    return buffer.getvalue()


PROTECTED = protected()
NOTES = Upload(filename="notes.txt", data=TEXT.encode())


async def made(here: Town, name: str = "K", *, used: bool = True) -> None:
    """A context in the operator's server that holds the fact."""
    channel, admin = here.home_channel, here.operator
    assert "is made" in await here.said(channel, admin, "knowledge create", name=name)
    said = await here.said(channel, admin, "knowledge add", context=name, file=NOTES)
    assert f"“notes.txt” is in “{name}” now" in said
    if used:
        assert name in await here.said(channel, admin, "knowledge use", context=name)


async def asked(here: Town, *, channel: Channel | None = None, user: User | None = None) -> Message:
    """A question about the fact, answered by a model that repeats it."""
    where = channel or here.home_channel
    here.operators.add(Step(text=f"It is {FACT}. Done."))
    question = here.ask(where, user or here.alice, QUESTION)
    return await here.server.wait_for_message(
        where, lambda m: m.reply_to is question and "Done." in m.text
    )


async def used_in(here: Town, channel: Channel, **options: str | bool) -> str:
    """What /knowledge use says of a choice for a channel."""
    used = here.server.driver.slash(
        channel, here.operator, "knowledge use", {"channel": channel, **options}
    )
    return shown(await here.server.driver.answered(used)).text


async def choices(
    here: Town, channel: Channel, user: User, path: str, option: str, **options: str
) -> list[str]:
    typed = here.server.driver.autocomplete(channel, user, path, option, "", options)
    await here.server.driver.answered(typed)
    return [choice["name"] for choice in typed.choices or []]


async def test_everything_but_the_search_is_for_those_who_may_manage_the_server(
    tmp_path: Path,
) -> None:
    async with town(tmp_path) as here:
        for path, options in (
            ("knowledge create", {"name": "K"}),
            ("knowledge delete", {"context": "K"}),
            ("knowledge list", {}),
            ("knowledge use", {"context": "K"}),
            ("knowledge add", {"context": "K", "link": "https://example.org"}),
            ("knowledge remove", {"context": "K", "document": "1"}),
            ("knowledge info", {}),
            ("knowledge access", {"members": True}),
            ("knowledge embeddings", {}),
        ):
            said = await here.said(here.home_channel, here.alice, path, **options)
            assert said == NOT_ALLOWED, path


async def test_a_file_is_added_answered_from_and_named_under_the_answer(tmp_path: Path) -> None:
    async with town(tmp_path) as here:
        await made(here)
        answer = await asked(here)
        assert FACT in json.dumps(here.operators.received[0].body)
        shot = shown(await here.slash(here.home_channel, here.operator, "tool prompt snapshot"))
        (file,) = shot.attachments
        assert b"--- knowledge | user |" not in file.data, "the history ends in an answer"
        assert re.search(r"^-# Sources: notes\.txt$", answer.text, re.MULTILINE)
        # The line is no part of what the model reads of its answer later.
        here.operators.add(Step(text="Good night. Done."))
        later = here.ask(here.home_channel, here.alice, "Good evening to everyone!")
        said = await here.answer(later, contains="Done.")
        assert "Sources" not in json.dumps(here.operators.received[1].body)
        assert "Sources" not in said
        here.server.driver.say(here.home_channel, here.alice, QUESTION)
        shot = shown(await here.slash(here.home_channel, here.operator, "tool prompt snapshot"))
        (file,) = shot.attachments
        assert b"--- knowledge | user |" in file.data
        assert FACT.encode() in file.data


async def test_what_cannot_be_added_is_told_and_leaves_nothing_behind(tmp_path: Path) -> None:
    async with town(tmp_path) as here:
        channel, admin = here.home_channel, here.operator
        await made(here)
        for name, data, reason in (
            ("again.txt", TEXT.encode(), "“K” holds this very text already, as “notes.txt”."),
            ("broken.pdf", b"%PDF-1.7 nothing", "damaged, or is none"),
            ("locked.pdf", PROTECTED, "protected by a password"),
            ("broken.docx", b"no zip", "Nothing was added"),
            ("empty.txt", b"   ", "there is no text in it"),
            ("song.mp3", b"\x00\x01\x02" * 50, "no text that I can read"),
        ):
            file = Upload(filename=name, data=data)
            said = await here.said(channel, admin, "knowledge add", context="K", file=file)
            assert reason in said, name
        for options in ({}, {"file": NOTES, "link": "https://example.org"}):
            said = await here.said(channel, admin, "knowledge add", context="K", **options)
            assert said.startswith("Give one of the three")
        # Links go through the guard: nothing is asked for at a private address.
        link = f"{here.theirs.base_url}/models"
        said = await here.said(channel, admin, "knowledge add", context="K", link=link)
        assert said.startswith("The page cannot be added.")
        assert here.theirs.listings == 0
        listed = await here.said(channel, admin, "knowledge list", context="K")
        assert "holds 1 document:" in listed
        assert "Documents: 1 of 500" in await here.said(channel, admin, "knowledge info")


async def test_a_message_is_added_by_its_link_with_a_way_back(tmp_path: Path) -> None:
    async with town(tmp_path) as here:
        channel, admin = here.home_channel, here.operator
        await here.said(channel, admin, "knowledge create", name="K")
        await here.said(channel, admin, "knowledge use", context="K")
        told = here.server.driver.say(channel, here.alice, TEXT)
        link = f"https://discord.com/channels/{here.home.id}/{channel.id}/{told.id}"
        said = await here.said(channel, admin, "knowledge add", context="K", message=link)
        assert "“Alice in #general, " in said
        answer = await asked(here)
        assert f"](<{link}>)" in answer.text


async def test_a_message_that_the_admin_cannot_read_is_not_added(tmp_path: Path) -> None:
    async with town(tmp_path) as here:
        build, channel = here.server.build, here.home_channel
        managers = build.role(here.home, "managers", permissions=Permission.MANAGE_GUILD)
        here.home.members[here.alice.id].roles.append(managers.id)
        secret = build.channel(here.home, "secret")
        build.overwrite(secret, here.alice, deny=Permission.VIEW_CHANNEL)
        told = here.server.driver.say(secret, here.operator, TEXT)
        await here.said(channel, here.alice, "knowledge create", name="K")
        for link in (
            f"https://discord.com/channels/{here.home.id}/{secret.id}/{told.id}",
            f"https://discord.com/channels/{here.home.id}/{channel.id}/{told.id}",
            f"https://discord.com/channels/1/{channel.id}/{told.id}",
            "https://example.org/",
        ):
            said = await here.said(channel, here.alice, "knowledge add", context="K", message=link)
            assert "no such message here that you and I can read" in said, link
        assert "is empty" in await here.said(channel, here.alice, "knowledge list", context="K")


async def test_a_message_is_added_from_its_menu(tmp_path: Path) -> None:
    async with town(tmp_path) as here:
        channel, admin, driver = here.home_channel, here.operator, here.server.driver
        told = driver.say(channel, here.alice, TEXT)
        nothing = shown(await driver.answered(driver.use_on(admin, told, MENU)))
        assert "There is no context yet" in nothing.text
        await here.said(channel, admin, "knowledge create", name="K")
        menu = shown(await driver.answered(driver.use_on(admin, told, MENU)))
        await driver.acknowledged(driver.choose(admin, menu, "context", ["K"]))
        await here.until(lambda: "is in “K” now" in menu.text)
        refused = shown(await driver.answered(driver.use_on(here.alice, told, MENU)))
        assert refused.text == NOT_ALLOWED


async def test_a_context_is_deleted_only_after_a_yes_and_then_wholly(tmp_path: Path) -> None:
    async with town(tmp_path) as here:
        channel, admin, driver = here.home_channel, here.operator, here.server.driver
        await made(here)
        kept = shown(await here.slash(channel, admin, "knowledge delete", context="K"))
        assert "with 1 document?" in kept.text
        await driver.acknowledged(driver.press(admin, kept, "Keep"))
        await here.until(lambda: "stays" in kept.text)
        gone = shown(await here.slash(channel, admin, "knowledge delete", context="K"))
        await driver.acknowledged(driver.press(admin, gone, "Delete"))
        await here.until(lambda: "is deleted" in gone.text)
        assert "no knowledge here yet" in await here.said(channel, admin, "knowledge list")
        kept_bytes = b"".join(path.read_bytes() for path in tmp_path.glob("verbatim.db*"))
        assert FACT.encode() not in kept_bytes


async def test_a_document_is_removed_by_what_is_suggested(tmp_path: Path) -> None:
    async with town(tmp_path) as here:
        channel, admin = here.home_channel, here.operator
        await made(here)
        typed = here.server.driver.autocomplete(
            channel, admin, "knowledge remove", "document", "NOTES", {"context": "K"}
        )
        await here.server.driver.answered(typed)
        (choice,) = typed.choices or []
        assert re.fullmatch(r"#\d+ notes\.txt \(0\.1 KB, \d{4}-\d\d-\d\d\)", choice["name"])
        said = await here.said(
            channel, admin, "knowledge remove", context="K", document=choice["value"]
        )
        assert said == "“notes.txt” is removed."
        assert "is empty" in await here.said(channel, admin, "knowledge list", context="K")
        said = await here.said(channel, admin, "knowledge search", query="beacon", context="K")
        assert said.startswith("There are no documents there yet.")


async def test_documents_of_one_name_are_told_apart_and_none_is_taken_for_another(
    tmp_path: Path,
) -> None:
    async with town(tmp_path) as here:
        channel, admin, driver = here.home_channel, here.operator, here.server.driver

        async def add(name: str, text: str) -> None:
            file = Upload(filename=name, data=text.encode())
            assert "now" in await here.said(channel, admin, "knowledge add", context="K", file=file)

        async def remove(document: str) -> str:
            return await here.said(
                channel, admin, "knowledge remove", context="K", document=document
            )

        await here.said(channel, admin, "knowledge create", name="K")
        await add("same.txt", "first")
        await add("same.txt", "the second one")
        typed = driver.autocomplete(
            channel, admin, "knowledge remove", "document", "same", {"context": "K"}
        )
        await driver.answered(typed)
        one, other = [choice["value"] for choice in typed.choices or []]
        first = str(one).split()[0]
        assert await remove("same.txt") == (
            f"“same.txt” fits 2 documents: {first}, {str(other).split()[0]}. "
            "Choose one from the list."
        )
        await add(first.removeprefix("#"), "named like a number")
        assert "fits 2 documents" in await remove(first.removeprefix("#"))
        listed = await here.said(channel, admin, "knowledge list", context="K")
        assert f"- `{first}` same.txt (attachment, <t:" in listed
        assert await remove(str(other)) == "“same.txt” is removed."
        assert await remove(first) == "“same.txt” is removed."
        assert "1 document" in await here.said(channel, admin, "knowledge list", context="K")


async def test_every_document_stands_on_some_page_of_the_list(tmp_path: Path) -> None:
    async with town(tmp_path) as here:
        channel, admin = here.home_channel, here.operator
        await here.said(channel, admin, "knowledge create", name="K")
        for number in range(21):
            file = Upload(filename=f"n{number}.txt", data=f"pebble {number}".encode())
            await here.said(channel, admin, "knowledge add", context="K", file=file)
        seen: set[str] = set()
        for page, count in ((1, 20), (2, 1), (3, 1)):
            used = await here.slash(channel, admin, "knowledge list", context="K", page=page)
            told = "\n".join([shown(used).text, *(each.text for each in used.followups)])
            found = set(re.findall(r"n\d+\.txt", told))
            assert len(found) == count
            assert f"Page {min(page, 2)} of 2" in told
            seen |= found
        assert len(seen) == 21


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (
            StoreError("no space", remedy="Make room."),
            "Die Datenbank des Bots hat ein Problem, „K“ ist deshalb",
        ),
        (RuntimeError("a bug"), "Im Bot ist etwas schiefgegangen."),
    ],
    ids=["database", "bug"],
)
async def test_a_deletion_that_fails_does_not_stay_under_way(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: Exception, said: str
) -> None:
    async with town(tmp_path) as here:
        channel, admin, driver = here.home_channel, here.operator, here.server.driver
        await made(here)

        async def broken(guild_id: int, name: str) -> None:
            raise fault

        monkeypatch.setattr(here.desk.knowledge, "delete", broken)
        admin.locale = "de"
        gone = shown(await here.slash(channel, admin, "knowledge delete", context="K"))
        await driver.acknowledged(driver.press(admin, gone, "Löschen"))
        await here.until(lambda: said in gone.text)
        assert not gone.components


async def test_reasons_are_told_in_the_admins_language(tmp_path: Path) -> None:
    async with town(tmp_path) as here:
        channel, admin = here.home_channel, here.operator
        await here.said(channel, admin, "knowledge create", name="K")
        admin.locale = "de"
        for option, given, reason in (
            ("file", Upload(filename="a.pdf", data=PROTECTED), "Das PDF ist mit einem Passwort"),
            ("file", Upload(filename="a.docx", data=b"PK\x03\x04x"), "Es ist keine Word-Datei"),
            ("file", Upload(filename="a.zip", data=b"PK"), "Es ist ein Archiv"),
            ("file", Upload(filename="a.bin", data=b"\0\1" * 9), "Es enthält keinen Text, den"),
            ("link", "http://127.0.0.1/x", "127.0.0.1 führt zu der Maschine, auf der der Bot"),
            ("link", "file:///etc/passwd", "Die URL muss mit https:// oder http:// beginnen."),
            ("link", "https://", "Die URL nennt keinen Host."),
        ):
            said = await here.said(channel, admin, "knowledge add", context="K", **{option: given})
            assert reason in said
            assert not re.search(r"\b(the|is|It|Only|Send|Save)\b", said), said


async def test_members_search_what_their_channel_uses_once_that_is_allowed(tmp_path: Path) -> None:
    async with town(tmp_path) as here:
        channel = here.home_channel
        await made(here)
        options = {"query": "beacon"}
        said = await here.said(channel, here.alice, "knowledge search", **options)
        assert "opens it to all" in said
        await here.said(channel, here.operator, "knowledge access", members=True)
        said = await here.said(channel, here.alice, "knowledge search", **options)
        assert FACT in said
        await here.said(channel, here.operator, "knowledge use")
        # To a member, a context that is not in use here is none, also by its name.
        said = await here.said(channel, here.alice, "knowledge search", query="beacon", context="K")
        assert said == "No knowledge is in use in this channel."
        said = await here.said(
            channel, here.operator, "knowledge search", query="beacon", context="K"
        )
        assert FACT in said


async def test_a_channels_choice_comes_before_the_servers(tmp_path: Path) -> None:
    async with town(tmp_path) as here:
        channel, admin = here.home_channel, here.operator
        await made(here)
        await here.said(channel, admin, "knowledge create", name="Empty")
        said = await used_in(here, channel, context="Empty")
        assert f"in <#{channel.id}>" in said
        await asked(here)
        assert FACT not in json.dumps(here.operators.received[0].body)
        said = await used_in(here, channel, context="K", also=True)
        assert "“Empty”" in said
        assert "“K”" in said
        info = await here.said(channel, admin, "knowledge info")
        assert "Used on the whole server: “K”" in info
        assert "Documents: 1 of 500" in info


async def test_another_server_sees_and_reaches_nothing_of_it(tmp_path: Path) -> None:
    async with town(tmp_path, away=True, approved="all") as here:
        await made(here)
        there, stranger = here.away_channel, here.stranger
        for path in ("delete", "list", "use", "add", "remove", "search"):
            assert await choices(here, there, stranger, f"knowledge {path}", "context") == []
            assert await choices(
                here, here.home_channel, here.operator, f"knowledge {path}", "context"
            ) == ["K"]
            assert (
                await choices(here, here.home_channel, here.alice, f"knowledge {path}", "context")
                == []
            )
        assert (
            await choices(here, there, stranger, "knowledge remove", "document", context="K") == []
        )
        gone = "There is no such context here. /knowledge list shows them all."
        for path, options in (
            ("use", {"context": "K"}),
            ("list", {"context": "K"}),
            ("delete", {"context": "K"}),
            ("remove", {"context": "K", "document": "1"}),
            ("search", {"query": "beacon", "context": "K"}),
            ("add", {"context": "K", "link": "https://example.org"}),
        ):
            assert await here.said(there, stranger, f"knowledge {path}", **options) == gone, path
        assert "no knowledge here yet" in await here.said(there, stranger, "knowledge list")
        assert "Documents: 0 of 500" in await here.said(there, stranger, "knowledge info")
        # A message over there cannot be taken by its link either.
        told = here.server.driver.say(here.home_channel, here.alice, TEXT)
        link = f"https://discord.com/channels/{here.home.id}/{here.home_channel.id}/{told.id}"
        await here.said(there, stranger, "knowledge create", name="Mine")
        said = await here.said(there, stranger, "knowledge add", context="Mine", message=link)
        assert "no such message here" in said
        exported = shown(await here.slash(there, stranger, "config export"))
        assert all(FACT.encode() not in file.data for file in exported.attachments)
        snapshot = shown(await here.slash(there, stranger, "tool prompt snapshot"))
        assert all(FACT.encode() not in file.data for file in snapshot.attachments)


async def test_long_work_is_told_of_and_goes_on_once_discord_waits_no_longer(
    tmp_path: Path,
) -> None:
    async with town(tmp_path) as here:
        channel, admin, bot = here.home_channel, here.operator, here.bot
        await here.said(channel, admin, "knowledge create", name="K")
        for hand_over, number in ((60.0, 1), (0.05, 2)):
            await bot.remove_cog("Knowledge")
            adding = Adding(here.desk.knowledge, every=0.01, hand_over=hand_over)
            assert bot.user is not None
            await bot.add_cog(Knowledge(bot, bot.user, here.desk.knowledge, adding))
            long = Upload(filename=f"{number}.txt", data=f"{number} ".encode() * 300_000)
            said = shown(await here.slash(channel, admin, "knowledge add", context="K", file=long))
            ending = f"“{number}.txt” is in “K” now" if number == 1 else "It goes on"
            await here.until(lambda: ending in said.text)  # noqa: B023
            if number == 1:
                assert any("Storing: " in version.text for version in said.versions)
        async with asyncio.timeout(20):
            while "2.txt" not in await here.said(channel, admin, "knowledge list", context="K"):
                await asyncio.sleep(0.1)
