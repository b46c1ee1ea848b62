"""A member's own facts over real sockets."""

from pathlib import Path

from data.facts import MAX_FACTS
from tests.cogs.town import Town, town
from tests.loopback.discord_server import User


async def said(here: Town, user: User, path: str, **options: str) -> str:
    return await here.said(here.home_channel, user, f"memory {path}", **options)


async def test_a_fact_is_added_listed_and_forgotten(tmp_path: Path) -> None:
    async with town(tmp_path) as here:
        assert "nothing about you" in await said(here, here.alice, "list")
        assert await said(here, here.alice, "add", fact="Likes  @everyone") == (
            "Remembered: `Likes @everyone`"
        )
        await said(here, here.alice, "add", fact="Has a cat")
        assert await said(here, here.alice, "list") == (
            "I remember 2 facts about you:\n- `Has a cat`\n- `Likes @everyone`"
        )
        assert "nothing about you" in await said(here, here.operator, "list")
        typed = here.server.driver.autocomplete(
            here.home_channel, here.alice, "memory forget", "fact", "cat"
        )
        (choice,) = list((await here.server.driver.answered(typed)).choices or ())
        assert choice["name"] == "Has a cat"
        theirs = await said(here, here.operator, "forget", fact=choice["value"])
        assert theirs.startswith("There is no such fact.")
        assert await said(here, here.alice, "forget", fact=choice["value"]) == (
            "Forgotten: `Has a cat`"
        )
        assert await said(here, here.alice, "forget", fact="likes @EVERYONE") == (
            "Forgotten: `Likes @everyone`"
        )
        assert "no such fact" in await said(here, here.alice, "forget", fact="Likes @everyone")


async def test_a_limit_is_told_in_the_members_language(tmp_path: Path) -> None:
    async with town(tmp_path) as here:
        for number in range(MAX_FACTS):
            await here.store.facts.remember(here.home.id, here.alice.id, f"Fact {number}")
        here.alice.locale = "de"
        assert await said(here, here.alice, "add", fact="One more") == (
            f"Es sind schon {MAX_FACTS} Sachen gemerkt; erst muss eine vergessen werden."
        )
        here.alice.locale = "fr"
        assert (await said(here, here.alice, "add", fact="One more")).startswith("200 facts")
