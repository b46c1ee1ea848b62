"""Tells how much two texts have to do with each other, by the words that stand in both.

Invariant: pure. Endings are cut off and common words weigh little; of texts in different languages
nothing but names and numbers can be told this way, so it is also told which language a text is in.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Mapping

from data.knowledge.common_words import WORDS as COMMON
from data.knowledge.scripts import UNSPACED
from data.knowledge.stop_words import LANGUAGES, UNSPACED_PHRASES, WORDS

_WORD = re.compile(r"\w+")
_RUN = re.compile(f"[{UNSPACED}]+")
_STEM = 5
"""Letters after which words count as alike: endings follow."""
_ENDINGS = ("ing", "ed", "en", "er", "es", "em", "et", "s", "e", "n", "t", "y")
_CASELESS_STEM = 2
_LOOKED_AT = 4000
"""Characters of a text in which its language shows."""

_COMMON_WEIGHT = 0.3
_PAIR_WEIGHT = 0.5
"""Of two characters of a script without blank space: less than a word."""


def content(text: str) -> Mapping[str, float]:
    """The stems of a text's content words and its numbers, each with its weight: 1 for a word,
    less for a common one, more for a number that is hardly met by chance."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    found = {_stem(word): _weight(word) for word in words_of(folded) if word not in WORDS}
    for run in _RUN.findall(folded):
        pairs = (piece[at : at + 2] for piece in _pieces(run) for at in range(len(piece) - 1))
        found |= dict.fromkeys(pairs, _PAIR_WEIGHT)
    return {stem: weight for stem, weight in found.items() if weight}


def words_of(folded: str) -> list[str]:
    """The words of scripts that set them apart."""
    return _WORD.findall(_RUN.sub(" ", folded))


def language(text: str) -> tuple[str, int | None]:
    """The script that a text is mostly in, and which of the known languages in that script."""
    part = unicodedata.normalize("NFKC", text[:_LOOKED_AT]).casefold()
    scripts = Counter(
        unicodedata.name(character, "?").split()[0] for character in part if character.isalpha()
    )
    if scripts["HIRAGANA"] or scripts["KATAKANA"]:
        return "JAPANESE", None
    script = scripts.most_common(1)[0][0] if scripts else ""
    words = words_of(part)
    hits = [sum(word in known for word in words) for known in LANGUAGES]
    most = max(hits)
    return script, hits.index(most) if most and hits.count(most) == 1 else None


def same_language(one: tuple[str, int | None], other: tuple[str, int | None]) -> bool | None:
    """Whether two texts are in the same language; None where that cannot be told."""
    if one[0] != other[0] and one[0] and other[0]:
        return False
    if one[0] == other[0] and one[0] not in {"LATIN", "CYRILLIC", "CJK", ""}:
        return True
    if one[1] is None or other[1] is None:
        return None
    return one[1] == other[1]


def _pieces(run: str) -> list[str]:
    for phrase in UNSPACED_PHRASES:
        run = run.replace(phrase, " ")
    return run.split()


def _stem(word: str) -> str:
    if word.isdecimal():
        return word
    if any(unicodedata.category(character) == "Lo" for character in word):
        return word[:_CASELESS_STEM]
    ending = next(
        (each for each in _ENDINGS if word.endswith(each) and len(word) - len(each) >= 4), ""
    )
    return word.removesuffix(ending)[:_STEM]


_COMMON_STEMS = frozenset(_stem(word) for word in COMMON)


def _weight(word: str) -> float:
    if word.isdecimal():
        return min(0.5 * len(word), 2)
    caseless = any(unicodedata.category(character) == "Lo" for character in word)
    if len(word) < (2 if caseless else 3):
        return 0
    if word in COMMON:
        return _COMMON_WEIGHT
    # A keeper is more than somebody who keeps.
    return _COMMON_WEIGHT if _stem(word) in _COMMON_STEMS and not word.endswith("er") else 1
