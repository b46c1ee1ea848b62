"""Whose server is served: approval in direct messages, and direct messages themselves."""

import asyncio
from pathlib import Path

import pytest

from cogs.operator import NOT_OPERATOR
from tests.cogs.town import OPERATORS_KEY, shown, town
from tests.loopback.discord_server import LoopbackDiscord, Message, Status
from tests.loopback.endpoint import Step


def buttons(message: Message) -> list[str]:
    return [component["label"] for row in message.components for component in row["components"]]


async def test_the_first_server_is_served_at_once(tmp_path: Path) -> None:
    async with town(tmp_path) as here:
        here.operators.add(Step(text="Hello there."))
        asked = here.ask(here.home_channel, here.alice, "hello")
        assert await here.answer(asked, contains="there.") == "Hello there."
        assert here.server.messages(here.operators_mail) == []
        assert here.operators.received[0].headers["Authorization"] == f"Bearer {OPERATORS_KEY}"


async def test_a_strangers_server_waits_for_the_operator(tmp_path: Path) -> None:
    async with town(tmp_path) as here:
        here.build_away()
        notice = await here.server.wait_for_message(here.operators_mail, lambda _: True)
        assert "**Away**" in notice.text
        assert buttons(notice) == ["Allow", "Deny"]
        refused = here.ask(here.away_channel, here.bob, "hello")
        line = await here.answer(refused)
        assert line.startswith("-# No model serves this server yet.")
        assert "/config setup" in line
        assert here.operators.received == []

        await here.allow()
        assert buttons(notice) == ["Deny"]
        here.operators.add(Step(text="Welcome."))
        assert await here.answer(here.ask(here.away_channel, here.bob, "now?"), contains="W")

        here.server.driver.press(here.operator, notice, "Deny")
        await here.until(lambda: "may not use" in notice.text)
        denied = await here.answer(here.ask(here.away_channel, here.bob, "and now?"))
        assert "No model serves this server" in denied


async def test_only_the_operator_answers_and_only_to_what_stands(tmp_path: Path) -> None:
    async with town(tmp_path) as here:
        here.build_away()
        driver = here.server.driver
        notice = await here.server.wait_for_message(here.operators_mail, lambda _: True)
        by_stranger = await driver.answered(driver.press(here.stranger, notice, "Allow"))
        assert shown(by_stranger).text == NOT_OPERATOR
        approval = await here.desk.admission.approval(here.away.id)
        assert approval is not None
        assert approval.state == "pending"

        # Meanwhile it was decided elsewhere; this message still shows both buttons.
        assert await here.desk.admission.decide(
            here.away.id, "denied", by=here.operator.id, seen="pending"
        )
        driver.press(here.operator, notice, "Allow")
        await here.until(lambda: "nothing was done" in notice.text)
        approval = await here.desk.admission.approval(here.away.id)
        assert approval is not None
        assert approval.state == "denied"
        assert buttons(notice) == ["Allow"]


async def test_a_server_is_asked_about_once_over_restarts(tmp_path: Path) -> None:
    async with town(tmp_path, away=True) as here:
        await here.server.wait_for_message(here.operators_mail, lambda _: True)
        await here.until(lambda: True)
        for guild in here.bot.guilds:
            here.bot.dispatch("guild_join", guild)
        here.bot.dispatch("ready")
        here.operators.add(Step(text="Fine."))
        await here.answer(here.ask(here.home_channel, here.alice, "hello"), contains="Fine")
        assert len(here.server.messages(here.operators_mail)) == 1


async def test_with_all_approved_nobody_is_asked(tmp_path: Path) -> None:
    async with town(tmp_path, away=True, approved="all") as here:
        here.operators.add(Step(text="Fine."))
        await here.answer(here.ask(here.away_channel, here.bob, "hello"), contains="Fine")
        assert here.server.messages(here.operators_mail) == []


async def test_direct_messages_are_the_operators_until_switched_on(tmp_path: Path) -> None:
    async with town(tmp_path) as here:
        bobs = here.server.build.direct_messages(here.alice)
        line = await here.answer(here.ask(bobs, here.alice, "psst"))
        assert "do not chat in direct messages" in line
        here.operators.add(Step(text="Yes, boss."))
        asked = here.ask(here.operators_mail, here.operator, "psst")
        assert await here.answer(asked, contains="boss.") == "Yes, boss."

        said = await here.said(here.home_channel, here.operator, "config dms", switch="on")
        assert said.startswith("Everyone may")
        here.operators.add(Step(text="Hello, you."))
        assert await here.answer(here.ask(bobs, here.alice, "now?"), contains="you.")


@pytest.mark.parametrize(("dms", "words"), [("off", "VERBATIM_DMS=off decides"), (None, "Only")])
async def test_not_everyone_and_not_everything_switches_direct_messages(
    tmp_path: Path, dms: str | None, words: str
) -> None:
    async with town(tmp_path, away=True, dms=dms) as here:
        who = here.operator if dms else here.stranger
        said = await here.said(here.away_channel, who, "config dms", switch="on")
        assert words in said
        assert not await here.desk.admission.takes_dms_of(here.bob.id)


async def test_a_team_is_the_operator_but_for_who_only_reads_or_has_not_joined(
    tmp_path: Path,
) -> None:
    accepted, invited = 2, 1

    def founded(server: LoopbackDiscord) -> None:
        add = server.build.user
        server.world.team = [
            (add("admin"), "admin", accepted),
            (add("developer"), "developer", accepted),
            (add("reader"), "read_only", accepted),
            (add("newcomer"), "admin", invited),
        ]

    async with town(tmp_path, before=founded) as here:
        people = [user for user, _, _ in here.server.world.team]
        assert here.desk.admission.operators == {user.id for user in people[:2]}
        here.build_away()
        for user in people[:2]:
            mail = here.server.build.direct_messages(user)
            await here.server.wait_for_message(mail, lambda m: "**Away**" in m.text)
        for user in people[2:]:
            assert here.server.messages(here.server.build.direct_messages(user)) == []


async def test_an_operator_who_cannot_be_reached_reads_it_in_the_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with town(tmp_path) as here:
        here.server.faults.plant("/users/@me/channels", Status(status=403, code=50007))
        here.build_away()
        async with asyncio.timeout(5):
            while "waits for your approval" not in caplog.text:
                await asyncio.sleep(0.02)
        assert "VERBATIM_APPROVED_GUILDS" in caplog.text
        approval = await here.desk.admission.approval(here.away.id)
        assert approval is not None
        assert not approval.told
