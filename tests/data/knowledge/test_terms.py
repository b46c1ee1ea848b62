"""What a question asks of the index."""

import sqlite3

import pytest
from hypothesis import given
from hypothesis import strategies as st

from data.knowledge.overviews import sums_up
from data.knowledge.terms import MOST_TERMS, Query, indexed, query


@pytest.mark.parametrize(
    ("question", "terms"),
    [
        ("What is the frequency?", '"frequency"*'),
        ("Where does the cat sleep, and when?", '"cat" OR "sleep"*'),
        ("Wie hoch ist der Turm?", '"hoch"* OR "turm"*'),
        ("Quelle est la fréquence de l'émetteur ?", '"fréquence"* OR "émetteur"*'),
        ("¿Cuál es la frecuencia?", '"frecuencia"*'),
        ("Какая частота у передатчика?", '"частота"* OR "передатчика"*'),
        ("error 4417 in v2.3", '"error"* OR "4417" OR "v2" OR "3"'),
        (
            "東京タワーの高さは？",
            '"東京" OR "京タ" OR "タワ" OR "ワー" OR "ーの" OR "の高" OR "高さ"',
        ),
        ("電台的频率是多少？", '"電台" OR "频率"'),
        ("ปลาอะไร", '"ปล" OR "ลา"'),
        ("हिन्दी भाषा", '"हिन्दी" OR "भाषा"'),
        ("ＦＵＬＬ width", '"full"* OR "width"*'),
        ("cat CAT Cat", '"cat"'),
    ],
)
def test_content_words_remain(question: str, terms: str):
    assert query(question).terms == terms


@pytest.mark.parametrize(
    "question",
    [
        "summarise this",
        "Can you give me a short summary, please?",
        "what is this document about?",
        "Fasse das bitte kurz zusammen.",
        "Résume ce document",
        "¿De qué trata este documento?",
        "О чём этот документ?",
        "要約してください",
        "请总结一下这个文件",
        "Worum geht es?",
        "Worum geht's hier eigentlich?",
        "Was steht drin?",
        "Was steht da so drin?",
        "can you sum it up?",
        "Sum this up for me please",
        "tl;dr",
        "TL;DR?",
        "Give me the gist in a nutshell",
        "what are the key points?",
        "Was sind die wichtigsten Punkte?",
        "Wovon handelt das Dokument?",
        "De quoi ça parle ?",
        "Di cosa parla?",
        "Waar gaat het over?",
        "Вкратце, о чём это?",
        "요약해줘",
        "이 문서를 요약해 주세요",
        "무슨 내용이야?",
    ],
)
def test_asking_for_a_summary_leaves_no_content_word(question: str):
    asked = query(question)
    assert (asked.terms, asked.wordless) == ("", False)


@pytest.mark.parametrize(
    ("question", "terms"),
    [
        ("What is the sum insured?", '"sum" OR "insured"*'),
        ("Worum ging es in der Sitzung?", '"ging"* OR "sitzung"*'),
        ("Geht die Fähre heute?", '"geht"* OR "fähre"* OR "heute"*'),
        ("Who is Dr. Weber?", '"dr" OR "weber"*'),
        ("Fass die Hausordnung zusammen", '"hausordnung"*'),
        ("Was steht im Vertrag?", '"steht"* OR "vertrag"*'),
    ],
)
def test_the_words_of_such_a_phrase_count_elsewhere(question: str, terms: str):
    assert query(question).terms == terms


@pytest.mark.parametrize(
    ("question", "whole"),
    [
        ("What is this about?", True),
        ("요약해줘", True),
        ("要約して", True),
        ("How are you?", False),
        ("What can you do for me?", False),
    ],
)
def test_what_asks_for_an_overview(question: str, whole: bool):
    assert sums_up(question) is whole


@pytest.mark.parametrize("question", ["", " \n", "?!", "👍"])
def test_a_question_without_words(question: str):
    assert query(question) == Query(terms="", wordless=True)


def test_a_long_message_is_sought_by_its_first_words():
    assert query(" ".join(f"word{n}" for n in range(100))).terms.count(" OR ") == MOST_TERMS - 1


@given(st.text(alphabet=st.characters(), max_size=60))
def test_no_question_is_read_as_syntax(question: str):
    terms = query(question).terms
    connection = sqlite3.connect(":memory:")
    connection.execute("CREATE VIRTUAL TABLE t USING fts5 (scope, terms)")
    if terms:
        connection.execute("SELECT * FROM t WHERE t MATCH ?", (f"terms : ({terms})",)).fetchall()
    connection.close()


def test_only_scripts_without_blank_space_are_spread():
    assert indexed("plain Café 한국어") is None
    assert indexed("go 東京都 now") == "go  東京 京都 都  now"
    assert indexed("寿") == " 寿 寿 "
