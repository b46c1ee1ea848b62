import asyncio
import itertools

import pytest

from cogs.delivery import CADENCE
from cogs.splitting import split
from prompt.values import Outcome
from tests.cogs.conftest import Scene
from tests.cogs.scripted import Stage
from tests.loopback.discord_server import (
    Bucket,
    Delay,
    LostAnswer,
    Message,
    Permission,
    Status,
    Throttle,
)

POST = r"/channels/\d+/messages$"
PATCH = r"/channels/\d+/messages/\d+$"


def seen(message: Message) -> list[str]:
    """The texts that stood there one after the other; buttons may have changed meanwhile."""
    return [text for text, _ in itertools.groupby(version.text for version in message.versions)]


def body(message: Message) -> str:
    """A piece's share of the answer: without fence markers that were added."""
    return message.text.removeprefix("```py\n").removesuffix("\n```")


async def test_a_reply_streams_by_edits_of_one_message_and_ends_complete(scene: Scene) -> None:
    text = " ".join(f"word{number}" for number in range(120))

    async def script(stage: Stage) -> None:
        await stage.stream(text, seconds=1.5)

    scene.service.script = script
    scene.ask("tell me")
    await scene.turns_done()
    (answer,) = scene.answers()
    assert answer.text == text
    versions = seen(answer)
    assert len(versions) > 4
    assert all(later.startswith(earlier) for earlier, later in itertools.pairwise(versions))
    assert answer.edited is not None
    assert answer.pings.users == frozenset()


async def test_typing_shows_at_once_and_the_first_words_within_a_second(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cogs.delivery._TYPING_EVERY", 0.3)

    async def script(stage: Stage) -> None:
        await asyncio.sleep(0.5)
        await stage.stream("one two three four", seconds=0.8, pieces=10)

    scene.service.script = script
    scene.ask("tell me")
    asked_at = scene.server.journal.now()
    answer = await scene.server.wait_for_message(scene.channel, lambda _: True)
    (typing,) = scene.server.typing(scene.channel)
    assert typing.start - asked_at < 0.3
    assert answer.versions[0].at - asked_at < 0.5 + 1.0
    assert typing.end == pytest.approx(answer.versions[0].at, abs=0.05)
    await scene.turns_done()
    assert scene.server.typing(scene.channel) == [typing]


async def test_typing_ends_with_a_turn_that_shows_nothing_while_it_runs(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cogs.delivery._TYPING_EVERY", 0.2)

    async def script(stage: Stage) -> None:
        await asyncio.sleep(1.0)

    scene.service.script = script
    scene.ask("think")
    await scene.turns_done()
    assert 4 <= len(scene.server.journal.of("typing")) <= 7
    await asyncio.sleep(0.5)
    ended = scene.server.journal.of("message", author=scene.server.bot.id)[-1].at
    assert all(record.at <= ended for record in scene.server.journal.of("typing"))
    assert [answer.text for answer in scene.answers()] == [
        "-# There is no answer. Asking again may help."
    ]


async def test_an_answer_that_is_to_stay_empty_posts_nothing(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cogs.delivery._TYPING_EVERY", 0.2)

    async def script(stage: Stage) -> None:
        stage.reply.silent = True
        await asyncio.sleep(0.3)

    scene.service.script = script
    scene.ask("think")
    await scene.turns_done()
    assert scene.answers() == []
    typed = len(scene.server.journal.of("typing"))
    await asyncio.sleep(0.5)
    assert len(scene.server.journal.of("typing")) == typed


async def test_an_answer_that_is_to_stay_empty_still_shows_its_notices(scene: Scene) -> None:
    async def notice(stage: Stage) -> None:
        stage.reply.silent = True
        stage.reply.notices.append("Stopped.")

    scene.service.script = notice
    scene.ask("again")
    await scene.turns_done()
    assert [answer.text for answer in scene.answers()] == ["-# Stopped."]


async def test_a_long_answer_overflows_into_messages_that_are_then_left_alone(
    scene: Scene,
) -> None:
    text = "\n\n".join(f"Paragraph {number}. " + "lorem ipsum " * 20 for number in range(40))
    text = text.strip()

    async def script(stage: Stage) -> None:
        await stage.stream(text, seconds=2.0, pieces=200)

    scene.service.script = script
    scene.ask("write")
    await scene.turns_done()
    answers = scene.answers()
    assert [answer.text for answer in answers] == split(text)
    assert len(answers) >= 5
    assert scene.service.shown == [[answer.id for answer in answers]]
    assert answers[0].reply_to is not None
    assert all(answer.reply_to is None for answer in answers[1:])
    for earlier, later in itertools.pairwise(answers):
        assert earlier.versions[-1].text == earlier.text
        # Within the look-ahead the border may still move; then a message is frozen.
        assert len([v for v in earlier.versions if v.at > later.versions[0].at]) <= 1


async def test_what_a_full_message_does_not_hold_follows_at_once(quiet_scene: Scene) -> None:
    # A cadence of its own for it would keep the words back twice as long as any others.
    buckets = quiet_scene.server.limits.buckets
    buckets.update(dict.fromkeys(buckets, Bucket(requests=40, seconds=1.0)))
    await quiet_scene.start(cadence=1.5)

    async def script(stage: Stage) -> None:
        stage.say("lorem ipsum " * 10)
        await quiet_scene.server.wait_for_message(quiet_scene.channel, lambda _: True)
        stage.say("dolor sit amet " * 200)
        await asyncio.sleep(3.5)

    quiet_scene.service.script = script
    quiet_scene.ask("write")
    await quiet_scene.turns_done()
    first, second = quiet_scene.answers()
    filled = next(v.at for v in first.versions if len(v.text) > 1000)
    assert second.versions[0].at - filled < 0.75


async def test_a_fence_goes_on_in_the_next_message(scene: Scene) -> None:
    code = "\n".join(f"value_{number} = {number}" for number in range(300))

    async def script(stage: Stage) -> None:
        stage.say(f"```py\n{code}\n```")

    scene.service.script = script
    scene.ask("code")
    await scene.turns_done()
    answers = scene.answers()
    assert len(answers) > 2
    assert all(a.text.startswith("```py\n") and a.text.endswith("\n```") for a in answers)
    assert "\n".join(body(answer) for answer in answers) == code


async def test_the_final_text_is_whole_where_a_preview_would_not_fit(scene: Scene) -> None:
    async def script(stage: Stage) -> None:
        stage.say("a")
        await asyncio.sleep(0.7)
        stage.say("b" * 4500)

    scene.service.script = script
    scene.ask("burst")
    await scene.turns_done()
    assert "".join(answer.text for answer in scene.answers()) == "a" + "b" * 4500


async def test_a_running_tool_is_one_quiet_line_that_vanishes(scene: Scene) -> None:
    async def script(stage: Stage) -> None:
        stage.say("Let me roll.")
        run = stage.begin_tool("roll_dice")
        await asyncio.sleep(1.0)
        stage.end_tool(run)
        await asyncio.sleep(0.5)
        stage.say("You rolled a 6.")
        await asyncio.sleep(0.5)

    scene.service.script = script
    scene.ask("roll")
    await scene.turns_done()
    (answer,) = scene.answers()
    assert "Let me roll.\n-# running roll_dice" in seen(answer)
    assert "Let me roll.\n-# thinking" in seen(answer)
    assert answer.text == "Let me roll.\n\nYou rolled a 6.\n-# used roll_dice"


async def test_a_tool_that_ran_is_told_as_used_though_a_repeat_was_denied(scene: Scene) -> None:
    async def script(stage: Stage) -> None:
        runs: list[tuple[str, Outcome]] = [
            ("roll_dice", "ok"),
            ("roll_dice", "denied"),
            ("forget", "denied"),
            ("recall", "ok"),
            ("recall", "failed"),
        ]
        for name, outcome in runs:
            stage.end_tool(stage.begin_tool(name), outcome)
        stage.say("You rolled a 6.")

    scene.service.script = script
    scene.ask("roll")
    await scene.turns_done()
    (answer,) = scene.answers()
    assert answer.text.endswith("-# used roll_dice, forget (denied), recall (failed)")


async def test_a_tool_before_any_words_shows_its_line_alone(scene: Scene) -> None:
    async def script(stage: Stage) -> None:
        run = stage.begin_tool("current_time")
        await asyncio.sleep(0.8)
        stage.end_tool(run)
        stage.say("Noon.")

    scene.service.script = script
    scene.ask("time?")
    await scene.turns_done()
    (answer,) = scene.answers()
    assert seen(answer)[0] == "-# running current_time"
    assert answer.text == "Noon.\n-# used current_time"


async def test_a_tool_of_an_mcp_server_is_named_as_people_would(scene: Scene) -> None:
    async def script(stage: Stage) -> None:
        stage.end_tool(stage.begin_tool("mcp__docs__look_up"))
        stage.say("Found.")

    scene.service.script = script
    scene.ask("look it up")
    await scene.turns_done()
    (answer,) = scene.answers()
    assert answer.text == "Found.\n-# used look_up (docs)"


async def test_notices_stand_under_the_answer_or_after_a_full_one(scene: Scene) -> None:
    async def script(stage: Stage) -> None:
        stage.say(stage.request.message.text)
        stage.reply.notices.append("The answer was cut short\nby the length limit.")

    scene.service.script = script
    scene.ask("short")
    await scene.turns_done()
    scene.ask("x" * 1970)
    await scene.turns_done(2)
    texts = [answer.text for answer in scene.answers()]
    notice = "-# The answer was cut short by the length limit."
    assert texts == [f"short\n{notice}", "x" * 1970, notice]


async def test_text_that_is_taken_back_disappears(scene: Scene) -> None:
    thoughts = "Thinking aloud. " * 300

    async def script(stage: Stage) -> None:
        stage.say(thoughts)
        await asyncio.sleep(1.2)
        assert len(scene.answers()) == 3
        stage.reply.take_back((0, len(thoughts)))
        stage.say("The answer.")

    scene.service.script = script
    scene.ask("think")
    await scene.turns_done()
    assert [answer.text for answer in scene.answers()] == ["The answer."]


async def test_mentions_in_the_models_text_ping_nobody(scene: Scene) -> None:
    role = scene.server.build.role(scene.guild, "mods")
    scene.server.build.overwrite(scene.channel, scene.server.bot, allow=Permission.MENTION_EVERYONE)
    text = f"@everyone @here {scene.bob.mention} <@&{role.id}> [x](https://example.org)"

    async def script(stage: Stage) -> None:
        stage.say(text[:20])
        await asyncio.sleep(0.7)
        stage.say(text[20:])

    scene.service.script = script
    scene.ask("ping them")
    await scene.turns_done()
    (answer,) = scene.answers()
    assert answer.text == text
    assert (answer.pings.users, answer.pings.roles) == (frozenset(), frozenset())
    assert not answer.pings.everyone


@pytest.mark.parametrize(
    ("bucket", "seconds"),
    [(Bucket(requests=5, seconds=5.0), 4.2), (Bucket(requests=2, seconds=2.0), 3.0)],
)
async def test_rate_limited_edits_hold_up_neither_the_stream_nor_the_final_text(
    quiet_scene: Scene, bucket: Bucket, seconds: float
) -> None:
    scene, text = quiet_scene, "word " * 400
    scene.server.limits.buckets["message_patch"] = bucket
    await scene.start(cadence=CADENCE)
    started = ended = 0.0

    async def script(stage: Stage) -> None:
        nonlocal started, ended
        started = scene.server.journal.now()
        await stage.stream(text, seconds=seconds, pieces=60)
        ended = scene.server.journal.now()

    scene.service.script = script
    scene.ask("stream")
    await scene.turns_done(within=20)
    (answer,) = scene.answers()
    assert ended - started < seconds + 1.0
    assert answer.text == text.strip()
    gaps = [b.at - a.at for a, b in itertools.pairwise(answer.versions[:-1])]
    assert min(gaps) > CADENCE - 0.1
    if bucket.requests == 5:
        assert max(gaps) < CADENCE + 1.0  # far from the five seconds of the bucket
        assert answer.versions[-1].at - ended < 1.0
    else:
        assert max(gaps) < bucket.seconds
        assert answer.versions[-1].at - ended < bucket.seconds


async def test_a_deleted_reply_ends_the_turn(
    scene: Scene, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("INFO")

    async def script(stage: Stage) -> None:
        await stage.stream("word " * 200, seconds=20.0, pieces=200)

    scene.service.script = script
    scene.ask("go on")
    answer = await scene.server.wait_for_message(scene.channel, lambda _: True)
    scene.server.driver.delete(answer)
    await scene.turns_done(within=3)
    assert scene.service.cancelled == 1
    assert scene.answers() == []
    assert caplog.text.count("was deleted while it was written") == 1


async def test_a_deleted_question_is_answered_without_a_reference(scene: Scene) -> None:
    begun, release = asyncio.Event(), asyncio.Event()

    async def script(stage: Stage) -> None:
        stage.changed()  # the model has begun, so that the question is not just forgotten
        begun.set()
        await release.wait()
        stage.say("Here you are.")

    scene.service.script = script
    question = scene.ask("gone soon")
    await asyncio.wait_for(begun.wait(), 5)
    scene.server.driver.delete(question)
    release.set()
    await scene.turns_done()
    (answer,) = scene.answers()
    assert (answer.text, answer.reply_to) == ("Here you are.", None)
    posts = [r for r in scene.server.journal.of("rest", method="POST") if "messages" in r["path"]]
    assert [record["status"] for record in posts] == [200]


async def test_without_read_message_history_it_answers_without_a_reference(scene: Scene) -> None:
    scene.server.build.overwrite(
        scene.channel, scene.server.bot, deny=Permission.READ_MESSAGE_HISTORY
    )
    scene.ask("hello")
    await scene.turns_done()
    (answer,) = scene.answers()
    assert (answer.text, answer.reply_to) == ("Hello.", None)


async def test_a_permission_lost_in_mid_reply_is_told_by_another_way(
    scene: Scene, caplog: pytest.LogCaptureFixture
) -> None:
    async def script(stage: Stage) -> None:
        stage.say("x" * 1900)
        await asyncio.sleep(0.8)
        scene.server.build.overwrite(scene.channel, scene.server.bot, deny=Permission.SEND_MESSAGES)
        await stage.stream("y" * 1900, seconds=10.0)

    scene.service.script = script
    scene.ask("go on")
    direct = scene.server.build.direct_messages(scene.alice)
    told = await scene.server.wait_for_message(direct, lambda _: True)
    await scene.turns_done(within=3)
    assert "I lack the permission Send Messages there" in told.text
    assert "Send Messages" in caplog.text
    assert scene.service.cancelled == 1


async def test_a_thread_that_is_archived_in_mid_reply_is_told_by_another_way(scene: Scene) -> None:
    thread = scene.server.build.thread(scene.channel, "topic", owner=scene.alice)

    async def script(stage: Stage) -> None:
        stage.say("one")
        await asyncio.sleep(0.7)
        assert thread.thread is not None
        thread.thread.archived = True
        await stage.stream("two three four", seconds=10.0)

    scene.service.script = script
    scene.server.driver.say(thread, scene.alice, f"{scene.server.bot.mention} go on")
    direct = scene.server.build.direct_messages(scene.alice)
    told = await scene.server.wait_for_message(direct, lambda _: True)
    assert "the thread is archived" in told.text
    await scene.turns_done(within=3)


async def test_closed_direct_messages_leave_a_reaction(scene: Scene) -> None:
    scene.server.faults.plant("/users/@me/channels", Status(status=403, code=50007))
    scene.server.build.overwrite(scene.channel, scene.server.bot, deny=Permission.SEND_MESSAGES)
    await asyncio.sleep(0.1)
    question = scene.ask("hello?")
    reaction = await scene.server.wait_for(lambda record: record.kind == "reaction")
    assert reaction["id"] == question.id


@pytest.mark.parametrize(
    "fault", [LostAnswer(), Status(status=503), Status(status=500), Throttle(retry_after=0.3)]
)
async def test_trouble_while_creating_a_message_neither_loses_nor_doubles_it(
    scene: Scene, fault: LostAnswer | Status | Throttle
) -> None:
    scene.server.faults.plant(POST, fault, method="POST")

    async def script(stage: Stage) -> None:
        await stage.stream("one two three four five", seconds=1.0)

    scene.service.script = script
    scene.ask("count")
    await scene.turns_done()
    assert [answer.text for answer in scene.answers()] == ["one two three four five"]
    assert bool(scene.server.journal.of("nonce_dedupe")) is isinstance(fault, LostAnswer)


async def test_trouble_in_a_later_chunk_resumes_at_that_chunk(scene: Scene) -> None:
    scene.server.faults.plant(POST, LostAnswer(), method="POST", skip=1)
    scene.server.faults.plant(PATCH, Status(status=503), method="PATCH")

    async def script(stage: Stage) -> None:
        stage.say("a" * 1990)
        await asyncio.sleep(0.7)
        stage.say("\n" + "b" * 1990 + "\n" + "c" * 100)

    scene.service.script = script
    scene.ask("three")
    await scene.turns_done()
    assert [answer.text[0] for answer in scene.answers()] == ["a", "b", "c"]
    assert "".join(a.text for a in scene.answers()) == "a" * 1990 + "b" * 1990 + "c" * 100


async def test_a_slow_edit_does_not_hold_up_the_turn(scene: Scene) -> None:
    scene.server.faults.plant(PATCH, Delay(seconds=3.0), method="PATCH")
    took = 0.0

    async def script(stage: Stage) -> None:
        nonlocal took
        started = scene.server.journal.now()
        await stage.stream("word " * 60, seconds=1.0)
        took = scene.server.journal.now() - started

    scene.service.script = script
    scene.ask("go")
    await scene.turns_done()
    assert took < 2.8
    assert [answer.text for answer in scene.answers()] == [("word " * 60).strip()]


async def test_an_outage_is_given_up_and_logged(
    scene: Scene, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("cogs.delivery._LONGEST_PAUSE", 0.05)
    scene.server.faults.plant(POST, Status(status=503), method="POST", times=9)
    scene.ask("hello")
    await scene.turns_done()
    assert scene.service.shown == [[]]
    assert "A reply is incomplete" in caplog.text


async def test_a_table_is_shown_in_columns_while_it_grows_and_in_the_end(scene: Scene) -> None:
    rows = "\n".join(f"| {name} | {len(name)} |" for name in ("りんご", "pear", "fig", "plum"))

    async def script(stage: Stage) -> None:
        stage.say("Fruit:\n\n| Name | Letters |\n|---|--:|\n")
        await stage.stream(f"{rows}\n\nEnjoy!", seconds=1.0)

    scene.service.script = script
    scene.ask("fruit")
    await scene.turns_done()
    (answer,) = scene.answers()
    assert answer.text.splitlines() == [
        "Fruit:",
        "",
        "```",
        "Name   | Letters",
        "-------+--------",
        "りんご |       3",
        "pear   |       4",
        "fig    |       3",
        "plum   |       4",
        "```",
        "",
        "Enjoy!",
    ]
    assert not any("|---|" in version.text for version in answer.versions)
