"""Passages of a guild's documents as prompt items.

Invariant: one item a passage, ranked by `priority`, so that over budget the worst one goes first
and what is left is still whole. What a document says holds no tokens of chat templates any more.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from prompt.defused import defused
from prompt.values import PromptItem, Zone

KNOWLEDGE_TAG = "knowledge"


@dataclass(frozen=True, slots=True, kw_only=True)
class Snippet:
    """A passage that was retrieved for a turn.

    `document` is the name of what it is from, `url` where that came from, empty if nowhere.
    `page` counts from 1; None in a document without pages. `likeness` is how near in sense it is to
    what was asked, 0 where that is not known; `sought` what a call of the model looked for, empty
    for a passage that was there from the first.
    """

    document_id: int
    document: str
    url: str
    text: str
    page: int | None = None
    likeness: float = 0.0
    sought: str = ""

    @property
    def told(self) -> str:
        """The passage as a model reads it."""
        page = f", page {self.page}" if self.page is not None else ""
        name = " ".join(self.document.split()).replace('"', "'")
        return defused(f'[From this server\'s document "{name}"{page}:]\n{self.text.strip()}')


def knowledge_items(snippets: Sequence[Snippet]) -> Sequence[PromptItem]:
    """An item for each of the snippets, which come best first."""
    return [
        PromptItem(
            tag=KNOWLEDGE_TAG,
            role="user",
            text=snippet.told,
            zone=Zone.TAIL,
            priority=float(-rank),
            source=snippet.document,
        )
        for rank, snippet in enumerate(snippets)
    ]
