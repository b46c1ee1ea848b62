"""Turns what a server answered into what the model reads and the member sees.

Invariant: the model gets words alone; pictures and other files go to the member, and the words
name them. An answer that the server calls an error leaves as one.
"""

import base64
import binascii
import json
import mimetypes

from mcp import types

from prompt.surface import canonical_json
from tools.mcp.cleaning import clean
from tools.registry import ToolFailure, ToolFile, ToolOutput

LONGEST_RESULT = 8_000
"""Characters of an answer that reach the model."""

MOST_FILES = 4
"""Files of one answer that the member gets."""

_LONGEST_ERROR = 2_000
_LONGEST_NAME = 200


def output_of(result: types.CallToolResult, *, tool: str) -> ToolOutput:
    """Raises ToolFailure with the server's words where it says that the call failed."""
    words: list[str] = []
    files: list[ToolFile] = []
    for block in result.content:
        match block:
            case types.TextContent():
                words.append(block.text)
            case types.ImageContent():
                words.append(_taken(block.data, block.mime_type, "image", tool, files))
            case types.AudioContent():
                words.append(_taken(block.data, block.mime_type, "sound", tool, files))
            case types.ResourceLink():
                words.append(_link(block))
            case types.EmbeddedResource(resource=types.TextResourceContents() as text):
                words.append(f"[resource {clean(text.uri, most=_LONGEST_NAME)}]\n{text.text}")
            case types.EmbeddedResource(resource=types.BlobResourceContents() as blob):
                kind = blob.mime_type or "application/octet-stream"
                words.append(_taken(blob.blob, kind, "file", tool, files))
            case _:
                words.append("[something that is neither text, image, sound nor resource]")
    text = "\n".join(word for word in words if word.strip())
    data = canonical_json(result.structured_content) if result.structured_content else ""
    if result.is_error:
        raise ToolFailure(_error(text, data) or "the server gave no reason")
    if not text and result.structured_content is not None:
        # Where there is text, it says the same: the protocol asks servers for that.
        text = canonical_json(result.structured_content)
    return ToolOutput(text=_clipped(text, LONGEST_RESULT), files=tuple(files))


def _error(text: str, data: str) -> str:
    """An error's words, then its part for machines, such as a code: servers say that only once."""
    if not data or _is_same(text, data):
        return _clipped(text, _LONGEST_ERROR)
    data = _clipped(data, _LONGEST_ERROR // 2)
    words = _clipped(text, _LONGEST_ERROR - len(data))
    return f"{words}\n{data}" if words else data


def _is_same(text: str, data: str) -> bool:
    try:
        return bool(json.loads(text) == json.loads(data))
    except (ValueError, RecursionError):
        return False


def _taken(data: str, kind: str, what: str, tool: str, files: list[ToolFile]) -> str:
    """Put a file under the reply; the words that stand for it."""
    kind = clean(kind.partition(";")[0].strip().lower(), most=60)
    try:
        content = base64.b64decode(data, validate=True)
    except (binascii.Error, ValueError):
        return f"[{what}: {kind}, which could not be decoded]"
    size = f"{max(1, len(content) // 1024):,} KiB"
    if len(files) >= MOST_FILES:
        return f"[{what}: {kind}, {size}; left out, since {MOST_FILES} files are shown at most]"
    ending = mimetypes.guess_extension(kind) or ".bin"
    name = f"{clean(tool, most=40).replace('/', '_')}-{len(files) + 1}{ending}"
    description = f"{what} from the tool {clean(tool, most=60)}"
    files.append(ToolFile(name=name, data=content, description=description))
    return f"[{what}: {kind}, {size}; the member sees it as {name} under your reply]"


def _link(link: types.ResourceLink) -> str:
    about = clean(link.description or "", most=_LONGEST_NAME)
    name = clean(link.title or link.name, most=_LONGEST_NAME)
    return f"[resource {name}: {clean(link.uri, most=500)}{f', {about}' if about else ''}]"


def _clipped(text: str, most: int) -> str:
    return text if len(text) <= most else f"{text[:most]}\n[cut: {len(text) - most} more]"
