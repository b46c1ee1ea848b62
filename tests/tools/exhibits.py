"""Tools of every kind that exposure tells apart, which note what they are run with."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from prompt.values import JsonObject, ToolSpec
from tools.registry import Tool, ToolContext, ToolOutput, tool
from tools.toolset import Offered

UP = frozenset({"web_search", "generate_image"})
TOP = (
    *("read_channel", "knowledge_search", "web_search", "generate_image"),
    *("tool_search", "execute_tool"),
)
DEFERRED = ("web_fetch", "set_reminder", "mcp__docs__lookup", "mcp__g42__ticket")
OWNER = 42
"""The guild that alone has `mcp__g42__ticket`."""


@tool(read_only=True)
async def read_channel(context: ToolContext) -> str:
    """Read the newest messages of a channel."""
    return "messages"


@tool(read_only=True)
async def knowledge_search(context: ToolContext, *, query: str = "") -> str:
    """Look into the server's documents."""
    return "passages"


@tool(read_only=True, egress=True, foreign=True)
async def web_search(context: ToolContext, *, query: str = "") -> str:
    """Search the web."""
    return "hits"


@tool(read_only=True, egress=True, foreign=True)
async def web_fetch(context: ToolContext, *, url: str = "") -> str:
    """Read a page of the web."""
    return "a page"


@tool()
async def generate_image(context: ToolContext, *, prompt: str = "") -> str:
    """Make a picture."""
    return "a picture"


@tool()
async def set_reminder(context: ToolContext, *, text: str, minutes: int) -> str:
    """Remind the member of something later."""
    return "it is set"


@tool(read_only=True)
async def lookup(context: ToolContext, *, word: str = "?") -> str:
    """Look a word up in the handbook."""
    return "an entry"


@tool(read_only=True)
async def ticket(context: ToolContext, *, number: int = 1) -> str:
    """Tell how a ticket stands."""
    return "open"


@dataclass(frozen=True, slots=True)
class Noted:
    """A tool that notes each run before it runs."""

    inner: Tool
    spec: ToolSpec
    runs: list[tuple[str, JsonObject]]

    async def run(self, context: ToolContext, arguments: JsonObject) -> ToolOutput:
        self.runs.append((self.spec.name, arguments))
        return await self.inner.run(context, arguments)


class Exhibits:
    """The tools in the order of the registry; a toolset that hides none of them from any guild."""

    def __init__(self) -> None:
        self.runs: list[tuple[str, JsonObject]] = []
        tools = (
            *(read_channel, knowledge_search, web_search),
            *(web_fetch, generate_image, set_reminder),
        )
        foreign = {"mcp__docs__lookup": lookup, "mcp__g42__ticket": ticket}
        specs = [(each, each.spec) for each in tools]
        specs += [
            (each, replace(each.spec, name=name, source=f"mcp:{name.split('__')[1]}"))
            for name, each in foreign.items()
        ]
        self.tools: Mapping[str, Tool] = {
            spec.name: Noted(each, spec, self.runs) for each, spec in specs
        }

    @property
    def specs(self) -> dict[str, ToolSpec]:
        return {name: each.spec for name, each in self.tools.items()}

    @property
    def all_offered(self) -> tuple[Offered, ...]:
        return tuple(
            Offered(tool=each, guild_id=OWNER if name == "mcp__g42__ticket" else None)
            for name, each in self.tools.items()
        )

    async def offered(self, guild_id: int) -> Sequence[Offered]:
        return self.all_offered
