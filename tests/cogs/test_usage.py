"""/usage, and the forms that set limits, budgets and prices, with real turns behind them."""

import asyncio
import io
from pathlib import Path

from PIL import Image

from chat.quotas import Budget, Limit, Limits
from chat.usage import Price, today_in_utc
from cogs.chart import SIZE
from data.usage import Amount, Spender, Whose
from tests.cogs.town import Town, shown, town
from tests.loopback.discord_server import Permission
from tests.loopback.endpoint import Step


async def until_kept(t: Town) -> None:
    """Wait until the account of a turn is written, which comes after its last word is shown."""
    day = today_in_utc()
    async with asyncio.timeout(5):
        while not (await t.store.usage.total(Whose(), since=day, until=day)).turns:
            await asyncio.sleep(0.01)


async def test_everyone_sees_what_they_may_and_no_more(tmp_path: Path) -> None:
    async with town(tmp_path) as t:
        admin = t.server.build.user("admin")
        managers = t.server.build.role(t.home, "managers", permissions=Permission.MANAGE_GUILD)
        t.server.build.member(t.home, admin, managers)
        t.operators.add(Step(text="Hello."))
        await t.answer(t.ask(t.home_channel, t.alice, "hello"), contains="Hello.")
        await until_kept(t)
        day, home = today_in_utc(), t.home.id
        for guild_id, member_id, tokens in ((home, 7, 1_000_000), (99, 8, 30_000_000)):
            await t.store.usage.add(
                day,
                Spender(guild_id=guild_id, channel_id=1, member_id=member_id, model="other"),
                Amount(turns=1, requests=1, prompt_tokens=tokens),
            )
        mine = await t.slash(t.home_channel, t.alice, "usage")
        assert "answers: 1, requests: 1" in shown(mine).text
        assert "`big`" in shown(mine).text
        assert "`other`" not in shown(mine).text
        (picture,) = shown(mine).attachments
        assert Image.open(io.BytesIO(picture.data)).size == SIZE
        server = await t.said(t.home_channel, admin, "usage", of="server", period="week")
        assert "1,000," in server
        assert "30,000," not in server
        everywhere = await t.said(t.home_channel, t.operator, "usage", of="everywhere")
        assert "31,000," in everywhere
        assert "Manage Server" in await t.said(t.home_channel, t.alice, "usage", of="server")
        assert "operator" in await t.said(t.home_channel, admin, "usage", of="everywhere")
        quiet = await t.said(t.home_channel, admin, "usage", of="me", theme="light")
        assert "Nothing was used." in quiet


async def test_a_turn_is_priced_and_a_limit_stops_the_next(tmp_path: Path) -> None:
    async with town(tmp_path) as t:
        boss, channel = t.operator, t.home_channel
        opened = await t.slash(channel, boss, "config prices", model="big", whose="operator")
        sent = t.server.driver.submit(
            boss, opened, {"prompt": "2", "cached": "", "completion": "8,5"}
        )
        said = shown(await t.server.driver.answered(sent)).text
        assert said.startswith("**big** 2 for a million tokens of the prompt, 2 of a cached one")
        assert await t.desk.usage.prices(0) == {
            "big": Price(prompt=2.0, cached=2.0, completion=8.5)
        }
        opened = await t.slash(channel, boss, "config limits", whose="member")
        sent = t.server.driver.submit(boss, opened, {"hour": "1"})
        assert "Questions an hour: 1" in shown(await t.server.driver.answered(sent)).text
        assert await t.desk.quotas.limits(t.home.id) == Limits(member=Limit(hour=1))
        t.operators.add(Step(text="Hello."))
        await t.answer(t.ask(channel, t.alice, "hello"), contains="Hello.")
        await until_kept(t)
        day = today_in_utc()
        used = await t.store.usage.total(Whose(owner=0), since=day, until=day)
        assert used.cost_micros > 0
        stopped = await t.answer(t.ask(channel, t.alice, "more"), contains="I answer again")
        assert "1 question an hour" in stopped


async def test_what_is_entered_is_checked_and_only_the_operator_sets_the_operators(
    tmp_path: Path,
) -> None:
    async with town(tmp_path, away=True) as t:
        for path in ("config budget", "config prices"):
            told = await t.said(t.away_channel, t.stranger, path, whose="operator")
            assert "Only the bot's operator" in told
        told = await t.said(t.away_channel, t.stranger, "config limits", whose="direct messages")
        assert "Only the bot's operator" in told
        wrong = await t.submitted(t.away_channel, t.stranger, "config budget", {"money": "lots"})
        assert wrong.startswith("Nothing was changed.")
        fine = await t.submitted(t.away_channel, t.stranger, "config budget", {"money": "2.5"})
        assert "2.50 in money" in fine
        assert await t.desk.quotas.budget(t.away.id) == Budget(money=2.5)
        assert await t.desk.quotas.budget(0) == Budget()
        told = await t.said(t.away_channel, t.stranger, "config limits", managers="unlimited")
        assert "ask without limits" in told
