"""What the recall of each channel says rests on these."""

import sqlite3

from benchmarks.questions import Case, cases
from data.knowledge.terms import query


def matches(case: Case, question: str) -> bool:
    """Whether the full-text index finds the case's own document for a question."""
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE t USING fts5 (terms)")
    connection.execute("INSERT INTO t VALUES (?)", (f"{case.title}\n\n{case.text}",))
    found = connection.execute("SELECT 1 FROM t WHERE t MATCH ?", (query(question).terms,))
    hit = found.fetchone() is not None
    connection.close()
    return hit


def test_there_are_enough_questions_and_none_twice() -> None:
    questions = [question for case in cases() for question in (case.direct, case.paraphrased)]
    assert len(questions) == len(set(questions)) >= 200
    assert len({case.text for case in cases()}) == len(cases())


def test_a_direct_question_shares_words_with_its_document() -> None:
    assert [case.direct for case in cases() if not matches(case, case.direct)] == []


def test_a_paraphrased_question_shares_none() -> None:
    assert [
        (case.title, case.paraphrased) for case in cases() if matches(case, case.paraphrased)
    ] == []
