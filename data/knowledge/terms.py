"""Turns text and questions into what the full-text index stores and is asked.

Invariant: pure. A question becomes quoted words and nothing else, so no character of it is ever
read as syntax of the index. Text and questions pass through the same folding.

Scripts without blank space are indexed as overlapping pairs of characters: most of their words
have two, which an index of three-character sequences cannot find.
"""

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from data.knowledge.overviews import without_asking
from data.knowledge.scripts import UNSPACED
from data.knowledge.stop_words import UNSPACED_PHRASES, WORDS

MOST_TERMS = 32
"""Terms a question; what a longer message says after them is not sought."""

_PREFIX_FROM = 4
"""Letters from which on a word also finds longer ones that begin with it."""
_PREFIX_FROM_CASELESS = 2
_RUN = re.compile(f"[{UNSPACED}]+")
_HIRAGANA = re.compile("[\u3041-\u309f]+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Query:
    """What a question asks of the index. `terms` is an expression in its syntax, empty if no
    content word remains; `wordless` if the question had no word to begin with."""

    terms: str
    wordless: bool


def indexed(text: str) -> str | None:
    """What the index reads instead of `text`; None where that is the text itself."""
    folded = unicodedata.normalize("NFKC", text)
    spread = _RUN.sub(lambda run: f" {' '.join(_pairs(run[0]))} {run[0][-1]} ", folded)
    return None if spread == text else spread


def query(question: str) -> Query:
    """The content words of a question, any of which a chunk may hold."""
    folded = unicodedata.normalize("NFKC", question.encode("utf-8", "replace").decode()).lower()
    wordless = not any(_words(folded)) and _RUN.search(folded) is None
    folded = without_asking(folded)
    terms = dict.fromkeys(_term(word) for word in _words(folded) if word not in WORDS)
    for run in _RUN.findall(folded):
        terms |= dict.fromkeys(_unspaced_terms(run))
    found = [*terms][:MOST_TERMS]
    return Query(terms=" OR ".join(found), wordless=wordless)


def _words(folded: str) -> Iterator[str]:
    """Words of spaced scripts, cut where the index cuts them: at whatever is neither letter,
    digit nor mark."""
    word = ""
    for character in f"{_RUN.sub(' ', folded)} ":
        if unicodedata.category(character)[0] in "LNM":
            word += character
        elif word:
            yield word
            word = ""


def _term(word: str) -> str:
    # Endings follow a word in most languages. In scripts without case ("Lo"), Korean above all,
    # a letter is a syllable or nearly so, and words are shorter.
    caseless = any(unicodedata.category(character) == "Lo" for character in word)
    longer = word.isalpha() and len(word) >= (_PREFIX_FROM_CASELESS if caseless else _PREFIX_FROM)
    return f'"{word}"*' if longer else f'"{word}"'


def _unspaced_terms(run: str) -> Iterator[str]:
    for phrase in UNSPACED_PHRASES:
        run = run.replace(phrase, " ")
    pieces = run.split()
    pairs = [pair for piece in pieces for pair in _pairs(piece)]
    # Japanese writes its particles and endings in hiragana, and what it speaks of mostly not.
    telling = [pair for pair in pairs if not _HIRAGANA.fullmatch(pair)]
    for pair in telling or [pair for pair in pairs if len(pair) > 1]:
        yield f'"{pair}"' if len(pair) > 1 else f'"{pair}"*'


def _pairs(run: str) -> list[str]:
    return [run[at : at + 2] for at in range(max(1, len(run) - 1))]
