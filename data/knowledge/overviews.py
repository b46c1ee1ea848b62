"""Knows the questions that ask for an overview of what there is, and for nothing in it.

Invariant: pure. Such a phrase goes as a whole, so that its words are still searched for where they
stand in other questions: "sum" is one in "the sum insured", and none in "sum it up".
"""

import re
import unicodedata

from data.knowledge.stop_words import SUMMING, SUMMING_PHRASES

_PHRASES = re.compile(
    "|".join(
        (
            # English
            r"\btl ?[;:,/-]? ?dr\b",
            r"\b(?:sum|summing|summed|wrap|boil)\b"
            r"(?: (?:it|this|that|them|these|all|everything|things?))* ?(?:up|down)\b",
            r"\bin (?:a nutshell|a few words|short|brief)\b",
            r"\b(?:main|key|most important) (?:points?|ideas?|takeaways?|things?|facts?)\b",
            r"\btake-?aways?\b",
            r"\bwhat(?:['’]?s| is| are)"
            r"(?: (?:it|this|that|these|those|all|here|the|documents?|files?|texts?))* about\b",
            r"\bwhat['’]?s (?:this|that|it|in (?:it|here|there|this))\b",
            # German
            r"\b(?:worum|um was)\b(?: (?:es|das|er|sie|sich|denn))* (?:geht|handelt|dreht)"
            r"(?:['’]?s)?\b"
            r"(?: (?:es|das|sich|hier|da|dort|darin|eigentlich|genau|denn|überhaupt))*",
            r"\b(?:wovon|von was|womit)\b(?: (?:es|das|er|sie|sich))* (?:handelt|befasst)\b",
            r"\bwas (?:alles )?(?:steht|stand|findet sich|ist)\b"
            r"(?: (?:da|denn|so|alles|hier|eigentlich))* (?:drin|drinnen|drauf|darin|da|dort)\b",
            r"\b(?:wichtigsten?|wesentlichen?|zentralen?) (?:punkte?|aussagen?|dinge?|fakten?)\b",
            r"\bdas (?:wichtigste|wesentliche)\b",
            r"\b(?:kurz ?fassung|in (?:kürze|(?:wenigen|ein paar) worten))\b",
            # French, Spanish, Portuguese, Italian
            r"\bde quoi (?:ça|cela|il|s['’]agit|est|parle)\w*(?: (?:parle|s['’]agit|question))*",
            r"\b(?:ça parle|en bref|en résumé|points? (?:clés?|principaux))\b",
            r"\b(?:de qué (?:va|trata|habla)|qué dice|en (?:pocas palabras|resumen|breve))\b",
            r"\b(?:puntos|ideas) (?:clave|principales)\b",
            r"\b(?:(?:do|de) que (?:se )?(?:trata|fala)|em (?:poucas palavras|resumo))\b",
            r"\b(?:di (?:che )?cosa (?:parla|tratta)|in breve|punti (?:chiave|principali))\b",
            # Dutch, Swedish, Polish, Russian, Turkish
            r"\bwaar (?:gaat|handelt)\b(?: (?:het|dit|dat))? over\b",
            r"\b(?:wat staat er(?: in)?|kort gezegd)\b",
            r"\b(?:vad handlar(?: (?:det|den|detta))? om|vad står det)\b",
            r"\b(?:o czym (?:jest|mówi)|w skrócie|co tam jest)\b",
            r"\bо ч[её]м (?:это|этот|эта|ид[её]т речь|говорится|тут|здесь)\b",
            r"\b(?:в двух словах|вкратце|ne hakkında|ne anlatıyor|kısaca)\b",
            # Korean, whose endings are many
            r"(?:요약|정리|개괄)\w*(?: (?:주\w*|줘\w*|부탁\w*|드\w*|좀))*",
            r"(?:무슨|어떤) (?:내용|이야기|얘기|문서|글)\w*",
            r"내용이? (?:뭐|무엇|뭔)\w*",
            r"(?:뭐라고|무엇이|뭐가) (?:써|쓰여|적혀|나와)\w*(?: ?있\w*)?",
            r"\b(?:핵심|개요|요점|줄거리)\w*",
        )
    )
)
_WORD = re.compile(r"\w+")
_ASKING = frozenset("?？؟;՞")
"""Question marks; Greek writes a semicolon."""
_ANSWERS = 2
"""Words of which "yes please", "go on" and their like are made."""


def without_asking(folded: str) -> str:
    """A question, folded to lower case, without the phrases that ask for an overview."""
    return _PHRASES.sub(" ", folded)


def asks(question: str) -> bool:
    """Whether words of which none says what they are after ask for anything: "and what is in here"
    does, "yes please" does not. So short a message asks with a question mark, if at all."""
    if sums_up(question) or not _ASKING.isdisjoint(question):
        return True
    folded = unicodedata.normalize("NFKC", question)
    return len(_WORD.findall(folded)) > _ANSWERS


def sums_up(question: str) -> bool:
    """Whether the question asks for an overview, be it of one thing."""
    folded = unicodedata.normalize("NFKC", question).lower()
    return (
        _PHRASES.search(folded) is not None
        or not SUMMING.isdisjoint(_WORD.findall(folded))
        or any(phrase in folded for phrase in SUMMING_PHRASES)
    )
