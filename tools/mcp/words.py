"""Says in plain words why a server could not be reached or did not do it.

Invariant: what comes out holds no token, no header and nothing of a body that was sent.
"""

import httpx2
from mcp import MCPError, types
from pydantic import ValidationError

from net.guard import AddressRefused
from tools.mcp.cleaning import clean
from tools.mcp.link import HttpRefused, cause_of
from tools.mcp.pipes import NotStarted

_LONGEST = 300


def in_words(error: BaseException) -> str:
    """The nearest cause that says something."""
    cause = cause_of(error)
    match cause:
        case NotStarted() | HttpRefused() | AddressRefused():
            return str(cause)
        case httpx2.ConnectError() if isinstance(cause.__cause__, AddressRefused):
            return str(cause.__cause__)
        case TimeoutError() | httpx2.TimeoutException():
            return "It did not answer in time."
        case httpx2.ConnectError():
            return "It cannot be connected to. Check that it runs, and its URL."
        case httpx2.ReadError() if "too long" in str(cause):
            return "Its answer is too long."
        case httpx2.ReadError() if "compressed" in str(cause):
            return "Its answer is compressed, which was not asked for."
        case httpx2.HTTPError():
            return "The connection to it broke."
        case MCPError(code=types.PARSE_ERROR):
            return "Its answer is no valid JSON-RPC message."
        case MCPError(code=types.CONNECTION_CLOSED):
            return "It closed the connection."
        case MCPError():
            return f"It answered with an error: {clean(cause.message, most=_LONGEST)}"
        case ValidationError():
            return "What it says does not follow the protocol."
        case _:
            return f"It could not be spoken to ({type(cause).__name__})."
