"""What explanations call the forms of a call, and why one did not run."""

from prompt.events import CallErrorCode

OBJECT = "a JSON call object"
LIST = "a list of calls"
TAUGHT = "`name(...)` alone on its line"
TICKED = "`name(...)` in backticks, alone on its line"
CLOSING = "inline code that closes the message"
FENCE = "a fence of calls"
MARKED_NAME = "a name with a call's marker behind it"
TOOL_TAG = "the tag of a tool"
UNKNOWN_MARKUP = "markup that no table knows"
SILENT = "the last call in thinking, in a turn that says nothing else"

REASONS: dict[CallErrorCode, str] = {
    "unknown_tool": "its name is not on offer",
    "malformed": "no call can be read in it",
    "invalid_arguments": "its arguments do not fit the schema",
    "truncated": "it was cut off",
    "copied": "it also stands in text that was read in this turn",
    "too_large": "its arguments exceed the limit",
    "open_argument": "a value in it is still to be found",
}
