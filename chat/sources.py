"""Names the documents that an answer rests on.

Invariant: only what reached the model is named, each document once, best first. A passage that was
there for nothing, as beside small talk, shares no word with the answer and is left out.
"""

import re
import unicodedata
from collections.abc import Iterable, Sequence

from chat.planning import Plan
from chat.turn import TurnRun
from data.knowledge.scripts import UNSPACED
from data.knowledge.stop_words import WORDS
from prompt.knowledge import Snippet

_WORD = re.compile(r"\w+")
_RUN = re.compile(f"[{UNSPACED}]+")
_STEM = 5
"""Letters after which words count as alike: endings follow."""


def cited(plan: Plan, run: TurnRun, answer: str) -> tuple[Snippet, ...]:
    """The sources of the turn that `run` has run."""
    return sources_of(plan.gathered.grounding.shown(run.read), answer)


def sources_of(snippets: Iterable[Snippet], answer: str) -> tuple[Snippet, ...]:
    """One snippet for each document that shows in `answer`, by a content word or a number that
    stands in both; all of them where the answer has neither, as "Yes." """
    told = _content(answer)
    found: dict[int, Snippet] = {}
    if not answer.strip():
        return ()
    for snippet in snippets:
        if not told or told & _content(snippet.text):
            found.setdefault(snippet.document_id, snippet)
    return tuple(found.values())


def _content(text: str) -> frozenset[str]:
    folded = unicodedata.normalize("NFKC", text).casefold()
    spaced = _WORD.findall(_RUN.sub(" ", folded))
    return frozenset(
        (
            *(word[:_STEM] for word in spaced if word not in WORDS and _tells(word)),
            *(pair for run in _RUN.findall(folded) for pair in _pairs(run)),
        )
    )


def _tells(word: str) -> bool:
    return len(word) > 2 or word.isdecimal()


def _pairs(run: str) -> Sequence[str]:
    return [run[at : at + 2] for at in range(len(run) - 1)]
