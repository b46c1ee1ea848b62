"""A greeting looks for nothing in the documents, and an answer in a word asks for nothing."""

import pytest

from chat.denials import only_courteous
from chat.knowledge import question_of
from prompt.values import TextPart, Turn


def said(text: str) -> Turn:
    return Turn(role="user", author="Ada", parts=(TextPart(text=text),))


@pytest.mark.parametrize(
    "text",
    ["hi", "Thanks!", "thank you very much", "Danke dir", "hallo", "Merci à vous", "gracias",
     "谢谢", "ありがとう", "спасибо", "hi 👋"],
)  # fmt: skip
def test_greetings_and_thanks_look_for_nothing(text: str) -> None:
    assert only_courteous(text)
    assert question_of((said("Where is the beacon?"), said(text))) == ""


@pytest.mark.parametrize(
    "text",
    ["beacon", "thanks, and its power?", "Hallo, wo ist der Leuchtturm", "yes please", "why?",
     "help?", "谢谢，频率是多少", "summarise this", "👍", ""],
)  # fmt: skip
def test_whoever_asks_besides_is_answered(text: str) -> None:
    assert not only_courteous(text)
    assert question_of((said(text),)) == text
