"""Measures which documents stand under an answer: how often the right one, and how many others.

Invariant: no model is asked. Answers are of five kinds, put together from the documents and
questions of `retrieval_data`: the sentence of the document that says it; other words, without one
of the document's; other languages; that nothing was found; and small talk, to which no document
belongs.
"""

import re
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import TypeAlias

from benchmarks.questions import Case
from chat.evidence import content
from chat.knowledge import snippets_of
from chat.sources import sources_of
from data.knowledge import Passage
from prompt.values import Json

Search: TypeAlias = Callable[[str], Awaitable[Sequence[Passage]]]

_ELSEWHERE = (
    "Das ist dort seit langem so geregelt und wird streng eingehalten.",
    "それは昔からそのように決められています。",
    "Так заведено там с давних пор.",
)
_NOTHING = (
    "I found nothing about that in what I have.",
    "I don't know.",
    "The documents do not mention this.",
    "Dazu steht nichts in den Unterlagen.",
    "Je ne sais pas.",
    "分かりません。",
)
_SMALL_TALK = (
    ("How are you?", "Fine, thanks!"),
    ("Thanks a lot!", "You're welcome!"),
    ("Have a nice day", "Thank you, you too!"),
    ("Tell me a joke about ships", "Why did the ship blush? It saw the ocean's bottom."),
    ("What is 17 times 3?", "17 times 3 is 51."),
    ("Write a poem about the moon", "Silver moon above the sea, shine your gentle light on me."),
    ("Which height does Mount Kailash have?", "Mount Kailash is 6,638 metres high."),
    ("What's the capital of France?", "Paris."),
    ("roll two dice please", "You rolled a 4 and a 2."),
    ("Who won the world cup in 2014?", "Germany won it, one to nil against Argentina."),
    ("How do I reverse a list in Python?", "Use `items.reverse()`, or `items[::-1]` for a copy."),
    ("remind me in ten minutes to drink water", "I will remind you in ten minutes."),
    ("what do you think of cats?", "Cats are curious and independent."),
    ("Please use another word for big", "You could say large, huge or vast."),
    ("I work every day, is that healthy?", "A day off each week helps body and mind to rest."),
    (
        "Recommend chocolate pudding recipes",
        "Melt dark chocolate with cream, whisk in eggs and sugar, and chill it for two hours.",
    ),
)


async def named(cases: Sequence[Case], search: Search) -> Json:
    """Shares of all answers: with the right document `shown` to the model, with it named, and how
    many `others` were named an answer."""
    kinds: Mapping[str, tuple[Callable[[Case], str], Callable[[Case], Sequence[str]]]] = {
        "direct, its own sentence": (_direct, _own),
        "direct, other words": (_direct, lambda case: [f"{case.paraphrased.rstrip('?')}."]),
        "direct, other languages": (_direct, lambda case: _ELSEWHERE),
        "direct, nothing found": (_direct, lambda case: _NOTHING),
        "paraphrased, its own sentence": (_paraphrased, _own),
        "paraphrased, other languages": (_paraphrased, lambda case: _ELSEWHERE),
        "paraphrased, nothing found": (_paraphrased, lambda case: _NOTHING),
    }
    result: dict[str, Json] = {}
    for kind, (ask, answers) in kinds.items():
        shown = right = others = count = 0
        for case in cases:
            question = ask(case)
            snippets = snippets_of(await search(question))
            for answer in answers(case):
                documents = [one.document for one in sources_of(snippets, answer, question)]
                count += 1
                shown += case.title in {snippet.document for snippet in snippets}
                right += case.title in documents
                others += len(documents) - (case.title in documents)
        result[kind] = {
            "shown": round(shown / count, 3),
            "named": round(right / count, 3),
            "others": round(others / count, 3),
        }
    talked = [
        len(sources_of(snippets_of(await search(question)), answer, question))
        for question, answer in _SMALL_TALK
    ]
    result["small talk"] = {"exchanges": len(talked), "with sources": sum(map(bool, talked))}
    return result


def _direct(case: Case) -> str:
    return case.direct


def _paraphrased(case: Case) -> str:
    return case.paraphrased


def _own(case: Case) -> Sequence[str]:
    """The sentence that has most in common with the direct question."""
    asked = content(case.direct).keys()
    sentences = re.split(r"(?<=[.;]) ", case.text)
    return [max(sentences, key=lambda sentence: len(content(sentence).keys() & asked))]
