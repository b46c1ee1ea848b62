"""Short scenes on the loopback Discord: what members do, what the endpoint says, by name.

Invariant: the bot is the real one, the endpoint says its lines to the letter, and a scene is over
only when its last message has taken its last form. What a scene shows is the same in each run,
but for times.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from datetime import timedelta
from typing import TypeAlias

from chat.usage import today_in_utc
from data.usage import Amount, Spender
from tests.cogs.scripted import labels
from tests.cogs.town import Town
from tests.loopback.cast import LLAMA_CPP
from tests.loopback.discord_server import Message, User
from tests.loopback.endpoint import Step
from tests.loopback.personalities import serving

MODEL = "qwen3-8b"
"""What the endpoint calls its model."""

Play: TypeAlias = Callable[[Town], Awaitable[None]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Scenario:
    """One scene; `about` says in a line what it shows."""

    name: str
    about: str
    play: Play


def call(name: str, arguments: str) -> str:
    """A call as models write it where the server ignores tools."""
    return f'<tool_call>\n{{"name": "{name}", "arguments": {arguments}}}\n</tool_call>'


async def _press(here: Town, user: User, message: Message, button: str) -> None:
    await here.server.driver.acknowledged(here.server.driver.press(user, message, button))


async def _reply(here: Town, asked: Message, *, contains: str = "") -> Message:
    """The reply to a message, once it holds these words."""
    return await here.server.wait_for_message(
        asked.channel, lambda m: m.reply_to is asked and contains in m.text and bool(m.text)
    )


async def _settled(here: Town, message: Message) -> None:
    """Until a reply has its last buttons and its turn is stored."""
    await here.until(lambda: "Delete" in labels(message))
    async with asyncio.timeout(5):
        while message.id not in await here.store.turns.by_messages([message.id]):
            await asyncio.sleep(0.02)


async def _tool(here: Town) -> None:
    here.operators.add(
        Step(
            text="Let me work that out.\n" + call("calculate", '{"expression": "2480 * 0.175"}'),
            pause=0.004,
        ),
        Step(
            text="17.5 % of 2,480 is **434**.\n\nSplit between three of you:\n"
            "- two of you pay `144.67`\n- the third pays `144.66`",
            pause=0.012,
        ),
    )
    asked = here.ask(here.home_channel, here.alice, "What is 17.5 % of 2480, split three ways?")
    await _settled(here, await _reply(here, asked, contains="used calculate"))


async def _approval(here: Town) -> None:
    channel, alice = here.home_channel, here.alice
    await here.slash(channel, here.operator, "tool approval", tool="remember", policy="asks")
    here.operators.add(
        Step(text=call("remember", '{"fact": "Alice\'s cat is called Miso"}')),
        Step(text="Noted: your cat is called Miso.", pause=0.01),
    )
    asked = here.ask(channel, alice, "Please remember that my cat is called Miso")
    question = await here.server.wait_for_message(channel, lambda m: "Allow once" in labels(m))
    await _press(here, alice, question, "Allow once")
    await _settled(here, await _reply(here, asked, contains="called Miso."))


async def _workarounds(here: Town) -> None:
    channel, operator = here.home_channel, here.operator
    panel = (await here.slash(channel, operator, "config workarounds")).original
    assert panel is not None
    seen = len(panel.versions)
    here.server.driver.choose(operator, panel, "workarounds:tool_mode", ["verbatim_only"])
    await here.until(lambda: len(panel.versions) > seen)


_POEM = "\n".join(f"    print({n:3}, 'bottles of milk on the wall')" for n in range(99, 39, -1))


async def _long(here: Town) -> None:
    text = (
        f"Here it is, all of it:\n\n```python\ndef sing():\n{_POEM}\n```\n\nRun it with `sing()`."
    )
    here.operators.add(Step(text=text, split=40, pause=0.01))
    asked = here.ask(here.home_channel, here.alice, "Write the song as a program, without a loop")
    last = await here.server.wait_for_message(
        here.home_channel, lambda m: "Run it with" in m.text and "Delete" in labels(m)
    )
    assert last is not asked
    await _settled(here, last)


async def _stop(here: Town) -> None:
    words = " ".join(str(number) for number in range(1, 500))
    here.operators.add(Step(text=words, split=4, pause=0.02))
    asked = here.ask(here.home_channel, here.alice, "Count to five hundred")
    reply = await _reply(here, asked, contains=" 20 ")
    await _press(here, here.alice, reply, "Stop")
    await _settled(here, reply)


async def _regenerate(here: Town) -> None:
    here.operators.add(Step(text="A sparrow.", pause=0.02))
    asked = here.ask(here.home_channel, here.alice, "Which bird sings at four in the morning?")
    reply = await _reply(here, asked, contains="A sparrow.")
    await _settled(here, reply)
    here.operators.add(Step(text="A blackbird, long before the sun is up.", pause=0.05))
    await _press(here, here.alice, reply, "Regenerate")
    await _reply(here, asked, contains="the sun is up.")
    await _settled(here, reply)


async def _probe(here: Town) -> None:
    channel, operator = here.home_channel, here.operator
    async with serving(LLAMA_CPP) as endpoint:
        await here.submitted(
            channel,
            operator,
            "config setup",
            {"url": endpoint.base_url, "key": "", "model": ""},
        )
        panel = (await here.slash(channel, operator, "config test")).original
        assert panel is not None
        here.server.driver.press(operator, panel, "Test tool calling")
        await here.until(lambda: "test calls worked" in panel.text)


async def _usage(here: Town) -> None:
    today = today_in_utc()
    spender = Spender(guild_id=here.home.id, channel_id=1, member_id=here.alice.id, model=MODEL)
    for back in range(30):
        weight = 4 + (back * 7) % 11 if back % 7 < 5 else 2
        amount = Amount(
            turns=weight,
            requests=weight * 3 // 2,
            prompt_tokens=weight * 2600,
            cached_tokens=weight * 2080,
            completion_tokens=weight * 310,
            tool_calls=weight // 2,
            first_tokens=weight,
            first_token_ms=weight * (520 + (back * 37) % 240),
            total_ms=weight * 4200,
        )
        await here.store.usage.add(today - timedelta(days=back), spender, amount)
    for theme in ("dark", "light"):
        await here.slash(here.home_channel, here.operator, "usage", of="server", theme=theme)


SCENARIOS: Mapping[str, Scenario] = {
    each.name: each
    for each in (
        Scenario(name="tool", about="a streamed answer with a call of a tool", play=_tool),
        Scenario(name="approval", about="a call that a member allows first", play=_approval),
        Scenario(name="workarounds", about="the panel of switches, and one set", play=_workarounds),
        Scenario(name="long", about="an answer that is split in a code block", play=_long),
        Scenario(name="stop", about="an answer that the asker stops", play=_stop),
        Scenario(name="regenerate", about="an answer that is written anew", play=_regenerate),
        Scenario(name="probe", about="the test of tool calling on an endpoint", play=_probe),
        Scenario(name="usage", about="thirty days of use as a picture", play=_usage),
    )
}
