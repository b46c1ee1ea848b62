"""read_attachment over files that members sent."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

import pytest

from prompt.values import Attachment
from tests.tools.conftest import Contexts
from tests.tools.worker.test_documents import docx_of, pdf_of
from tools.builtin.attachments import LARGEST, PAGE_CHARACTERS, attachment_tools
from tools.registry import FileGone, ToolContext, ToolFailure
from tools.worker.process import Worker


@dataclass(frozen=True, slots=True)
class Files:
    """The files of a conversation, by name; what is not there is gone."""

    held: Mapping[str, bytes]

    async def read_file(self, attachment: Attachment, *, most: int) -> bytes:
        assert most == LARGEST
        if attachment.name not in self.held:
            raise FileGone(f"{attachment.name} was deleted.")
        return self.held[attachment.name]


def sent(name: str, content_type: str = "", size: int = 10) -> Attachment:
    return Attachment(
        id=1,
        message_id=2,
        name=name,
        content_type=content_type,
        size=size,
        url="https://cdn.example/x",
    )


@pytest.fixture
def conversation(context: Contexts) -> ToolContext:
    return replace(
        context(),
        attachments=(
            sent("Report.pdf", "application/pdf"),
            sent("minutes.docx"),
            sent("gone.txt"),
            sent("huge.txt", size=LARGEST + 1),
            sent("empty.txt"),
            sent("long.csv", "text/csv"),
            sent("song.ogg", "audio/ogg"),
            sent("owl.png", "image/png"),
        ),
        files=Files(
            {
                "Report.pdf": pdf_of("Tide report", "Page two"),
                "minutes.docx": docx_of("The crane is out."),
                "empty.txt": b"",
                "long.csv": b"north,12\n" * 2000,
                "huge.txt": b"x",
            }
        ),
    )


@pytest.mark.parametrize(
    ("name", "start", "words"),
    [
        ("report.PDF", 0, "Report.pdf, 2 pages\n\nTide report\n\nPage two"),
        ("minutes", 0, "minutes.docx “Minutes”\n\nHarbour board\nThe crane is out."),
        ("", 0, "long.csv\n\nnorth,12\n"),
        ("empty.txt", 0, "empty.txt is empty."),
    ],
)
async def test_a_file_is_found_by_its_name_or_the_newest_is_read(
    name: str, start: int, words: str, conversation: ToolContext, worker: Worker
) -> None:
    (read,) = attachment_tools(worker)
    told = (await read.run(conversation, {"name": name, "start": start})).text
    assert told.startswith(words)
    assert len(told) <= PAGE_CHARACTERS


async def test_a_long_file_is_read_on(conversation: ToolContext, worker: Worker) -> None:
    (read,) = attachment_tools(worker)
    first = (await read.run(conversation, {"name": "long.csv"})).text
    start = int(first.partition("start=")[2].split()[0])
    second = (await read.run(conversation, {"name": "long.csv", "start": start})).text
    assert second.startswith("long.csv\n\nnorth,12\n")
    assert f"[characters {start:,} to " in second


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("owl.png", "is a picture.*instead of guessing"),
        ("song.ogg", "sound or video"),
        ("gone.txt", "was deleted"),
        ("huge.txt", "larger than 25 MB"),
        ("nothing.txt", "There are: owl.png, song.ogg, long.csv"),
    ],
)
async def test_what_cannot_be_read_is_told(
    name: str, words: str, conversation: ToolContext, worker: Worker
) -> None:
    (read,) = attachment_tools(worker)
    with pytest.raises(ToolFailure, match=words):
        await read.run(conversation, {"name": name})


async def test_without_files_it_says_so(context: Contexts, worker: Worker) -> None:
    (read,) = attachment_tools(worker)
    with pytest.raises(ToolFailure, match="No file is attached"):
        await read.run(context(), {})
    with pytest.raises(ToolFailure, match="cannot be read here"):
        await read.run(replace(context(), attachments=(sent("a.txt"),)), {})
