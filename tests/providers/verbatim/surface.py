"""The tools that the parser's tests offer."""

from prompt.surface import ToolSurface
from prompt.values import Json, ToolSpec

TEXT = {"type": "string"}
WHOLE = {"type": "integer"}


def tool(
    name: str,
    properties: dict[str, Json] | None = None,
    required: tuple[str, ...] = (),
    *,
    read_only: bool = False,
) -> ToolSpec:
    return ToolSpec(
        name=name,
        description=f"The tool {name}.",
        parameters={
            "type": "object",
            "properties": properties or {},
            "required": list(required),
            "additionalProperties": False,
        },
        read_only=read_only,
    )


WEATHER = tool("get_weather", {"city": TEXT, "days": WHOLE}, ("city",), read_only=True)
SEARCH = tool("web_search", {"query": TEXT, "count": WHOLE}, ("query",), read_only=True)
DICE = tool("roll_dice", {"sides": WHOLE, "count": WHOLE}, ("sides",))
REMEMBER = tool("remember", {"fact": TEXT}, ("fact",))
RULES = tool("server_rules", read_only=True)
NOTE = tool(
    "save_note",
    {
        "title": TEXT,
        "body": TEXT,
        "tags": {"type": "array", "items": TEXT},
        "pinned": {"type": "boolean"},
        "place": {
            "type": "object",
            "properties": {"room": TEXT, "shelf": WHOLE},
            "required": ["room"],
        },
        "weight": {"type": "number"},
        "colour": {"enum": ["red", "green"]},
    },
    ("title", "body"),
)

SURFACE = ToolSurface(direct=(WEATHER, SEARCH, DICE, REMEMBER, RULES), deferred=(NOTE,))
