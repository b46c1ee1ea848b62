"""Where the tools of a server are offered, and what of a call reaches the server."""

from dataclasses import dataclass, field

import pytest

from data.store import Store
from prompt.values import JsonObject
from tests.tools.conftest import Contexts
from tools.actions import ChannelText, NewPoll
from tools.builtin.server import NO_DISCORD, NO_SERVER, ServerTools
from tools.registry import ToolContext, ToolFailure, ToolOutput

REMINDERS = ("set_reminder", "list_reminders", "cancel_reminder")
OTHERS = ("read_channel", "server_info", "member_info", "create_poll")


@dataclass
class Server:
    """A server of whose every channel there is one message."""

    polls: list[NewPoll] = field(default_factory=list[NewPoll])

    async def read_channel(self, context: ToolContext, channel: str, *, most: int) -> ChannelText:
        return ChannelText(channel_id=77, text=f"{most} messages of {channel}")

    async def describe_server(self, context: ToolContext) -> str:
        return f"Server {context.guild_id}"

    async def describe_member(self, context: ToolContext, name: str) -> str:
        return f"Member {name or context.member_id}"

    async def post_poll(self, context: ToolContext, poll: NewPoll) -> None:
        self.polls.append(poll)


@pytest.fixture
def tools(store: Store) -> ServerTools:
    return ServerTools(store.reminders, lambda: None)


async def run(
    tools: ServerTools, context: ToolContext, name: str, arguments: JsonObject
) -> ToolOutput:
    (found,) = (each.tool for each in await tools.offered(1) if each.tool.spec.name == name)
    return await found.run(context, arguments)


async def off(tools: ServerTools, guild_id: int) -> dict[str, str]:
    return {each.tool.spec.name: each.off for each in await tools.offered(guild_id)}


async def test_without_discord_all_are_off_and_say_so(tools: ServerTools) -> None:
    for guild_id in (0, 1):
        assert await off(tools, guild_id) == dict.fromkeys((*REMINDERS, *OTHERS), NO_DISCORD)


async def test_in_direct_messages_there_are_reminders_alone(tools: ServerTools) -> None:
    tools.connect(Server())
    assert await off(tools, 1) == dict.fromkeys((*REMINDERS, *OTHERS), "")
    assert await off(tools, 0) == {
        **dict.fromkeys(REMINDERS, ""),
        **dict.fromkeys(OTHERS, NO_SERVER),
    }


async def test_all_wait_for_an_admin_and_have_a_rate(tools: ServerTools) -> None:
    for each in await tools.offered(1):
        assert each.optional
        assert each.tool.spec.rate is not None


async def test_what_each_says_of_itself(tools: ServerTools) -> None:
    specs = {each.tool.spec.name: each.tool.spec for each in await tools.offered(1)}
    assert {name for name, spec in specs.items() if not spec.read_only} == {
        "set_reminder",
        "cancel_reminder",
        "create_poll",
    }
    assert {name for name, spec in specs.items() if spec.foreign} == {
        "read_channel",
        "member_info",
    }
    assert specs["create_poll"].permission == "create_polls"
    assert specs["set_reminder"].parameters["required"] == ["text", "when"]
    assert not any(spec.egress or spec.destructive for spec in specs.values())


async def test_what_is_read_of_a_channel_names_the_channel(
    tools: ServerTools, context: Contexts
) -> None:
    tools.connect(Server())
    read = await run(tools, context(), "read_channel", {"channel": "news"})
    assert (read.text, read.channels) == ("20 messages of news", (77,))
    assert (await run(tools, context(), "server_info", {})).text == "Server 1"
    assert (await run(tools, context(), "member_info", {})).text == "Member 10"
    with pytest.raises(ToolFailure, match="messages"):
        await run(tools, context(), "read_channel", {"channel": "news", "messages": 51})


async def test_a_poll_is_posted_as_it_was_asked_for(tools: ServerTools, context: Contexts) -> None:
    server = Server()
    tools.connect(server)
    arguments = {"question": " Pizza? ", "answers": ["Yes", " No "], "hours": 2}
    posted = await run(tools, context(), "create_poll", arguments)
    assert posted.posted
    assert server.polls == [
        NewPoll(question="Pizza?", answers=("Yes", "No"), hours=2, multiple=False)
    ]


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"answers": ["Yes", "yes "]}, "Two answers are alike"),
        ({"answers": ["Yes", "  "]}, "need words"),
        ({"question": " "}, "need words"),
        ({"answers": []}, "answers"),
        ({"answers": [str(number) for number in range(11)]}, "answers"),
        ({"answers": ["x" * 56]}, "answers"),
        ({"question": "x" * 301}, "question"),
        ({"hours": 0}, "hours"),
        ({"hours": 769}, "hours"),
    ],
)
async def test_a_poll_that_discord_would_refuse_is_not_posted(
    tools: ServerTools, context: Contexts, changes: JsonObject, reason: str
) -> None:
    server = Server()
    tools.connect(server)
    arguments = {"question": "Pizza?", "answers": ["Yes", "No"], **changes}
    with pytest.raises(ToolFailure, match=reason):
        await run(tools, context(), "create_poll", arguments)
    assert server.polls == []
