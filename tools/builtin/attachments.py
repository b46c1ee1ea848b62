"""read_attachment: the text of files that members sent.

Invariant: only files of this conversation are read, each within a size, in the worker process.
"""

from collections.abc import Sequence
from pathlib import PurePosixPath
from typing import Annotated

from pydantic import Field

from prompt.values import Attachment, Rate
from tools.paging import page_of
from tools.registry import FileGone, Tool, ToolContext, ToolFailure, tool
from tools.worker.process import JobFailed, Worker

PAGE_CHARACTERS = 8_000
LARGEST = 25 * 1024 * 1024
_NAMED = 10
_SECONDS = 20.0
_RATE = Rate(calls=20, seconds=60)
_PICTURES = (".png", ".jpg", ".jpeg", ".gif", ".webp", ".bmp", ".heic", ".avif", ".tif", ".tiff")
_HEARD = (".mp3", ".ogg", ".wav", ".m4a", ".flac", ".mp4", ".mov", ".webm", ".mkv")


def attachment_tools(worker: Worker) -> Sequence[Tool]:
    """The tool read_attachment."""

    @tool(read_only=True, foreign=True, rate=_RATE)
    async def read_attachment(
        context: ToolContext,
        *,
        name: Annotated[
            str, Field(max_length=300, description="file name; empty: the newest")
        ] = "",
        start: Annotated[int, Field(ge=0, description="character to read on from")] = 0,
    ) -> str:
        """Read a text, PDF, Word, HTML or CSV file that was attached to a message."""
        attachment = _wanted(context.attachments, name)
        if refusal := _no_text(attachment):
            raise ToolFailure(f"{attachment.name} {refusal}")
        if attachment.size > LARGEST:
            raise ToolFailure(
                f"{attachment.name} is larger than {LARGEST // (1024 * 1024)} MB, the most I read."
            )
        try:
            data = await context.files.read_file(attachment, most=LARGEST)
            found = await worker.extract(
                data,
                name=attachment.name,
                content_type=attachment.content_type,
                seconds=_SECONDS,
            )
        except FileGone as error:
            raise ToolFailure(str(error)) from error
        except JobFailed as error:
            raise ToolFailure(f"{attachment.name} cannot be read. {error}") from error
        if not found.text:
            return f"{attachment.name} is empty."
        pages = f", {found.pages:,} pages" if found.pages else ""
        title = f" “{found.title[:150]}”" if found.title else ""
        head = f"{attachment.name}{title}{pages}\n\n"
        return head + page_of(found.text, start, PAGE_CHARACTERS - len(head))

    return (read_attachment,)


def _wanted(attachments: Sequence[Attachment], name: str) -> Attachment:
    """The newest attachment that is called so, or nearly so. Raises ToolFailure."""
    if not attachments:
        raise ToolFailure("No file is attached in this conversation.")
    newest_first = list(reversed(attachments))
    asked = name.strip().lower()
    if not asked:
        return next((one for one in newest_first if not _no_text(one)), newest_first[0])
    for matches in (
        [one for one in newest_first if one.name.lower() == asked],
        [one for one in newest_first if asked in one.name.lower()],
    ):
        if matches:
            return matches[0]
    named = ", ".join(dict.fromkeys(one.name for one in newest_first[:_NAMED]))
    raise ToolFailure(f"No file here is called {name!r}. There are: {named}.")


def _no_text(attachment: Attachment) -> str:
    """Why a file holds nothing to read, in words that follow its name; empty if it may."""
    kind = attachment.content_type.partition("/")[0]
    suffix = PurePosixPath(attachment.name.lower()).suffix
    if suffix in _PICTURES or (kind == "image" and suffix != ".svg"):
        return (
            "is a picture. It is shown to a model that sees pictures beside the message that it "
            "was sent with; if you do not see it there, say so instead of guessing what it shows."
        )
    if suffix in _HEARD or kind in {"audio", "video"}:
        return "is sound or video, which I cannot read."
    return ""
