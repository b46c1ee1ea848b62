"""Which documents an answer names."""

import pytest

from chat.denials import denies
from chat.evidence import language, same_language
from chat.sources import sources_of
from prompt.knowledge import Snippet


def snippet(text: str, number: int = 1, *, likeness: float = 0.0, sought: str = "") -> Snippet:
    return Snippet(
        document_id=number,
        document=f"{number}.txt",
        url="",
        text=text,
        likeness=likeness,
        sought=sought,
    )


BEACON = snippet("The beacon on Gull Rock transmits on 4417 kilohertz, day and night.")
LAMP = snippet("The keeper inspects the lamp every spring and replaces the wick.", 2)
HARBOUR = snippet("Ships use the harbour every day; payment is due on arrival.", 3)
HAFEN = snippet("Die Lampe am Hafen leuchtet grün. Der Wärter prüft sie im Frühjahr.", 4)
YOKOHAMA = snippet("横浜港の灯台は緑色です。毎年春に点検します。", 5)
MUSEUM = snippet("Музей открыт с десяти утра, вход стоит двести рублей.", 6)
PHARE = snippet("Le gardien du phare allume la lampe à dix-neuf heures.", 7)
KOREAN = snippet("등대의 램프는 매년 봄에 점검합니다. 전화번호는 4417입니다.", 8)
CHINESE = snippet("灯塔每年春天检查一次，门票二十元。", 9)

INSPECTED = "When is the lamp inspected?"


@pytest.mark.parametrize(
    ("given", "question", "answer", "named"),
    [
        # the document's own words
        ([BEACON], "On which frequency does the beacon transmit?", "On 4417 kHz.", [1]),
        ([LAMP, HARBOUR], INSPECTED, "The keeper inspects it every spring.", [2]),
        ([HAFEN], "Welche Farbe hat die Lampe?", "Sie leuchtet grün.", [4]),
        ([PHARE], "Qui allume la lampe du phare ?", "Le gardien, à dix-neuf heures.", [7]),
        ([MUSEUM], "Сколько стоит вход в музей?", "Двести рублей.", [6]),
        ([YOKOHAMA], "横浜港の灯台は何色ですか？", "緑色です。", [5]),
        ([CHINESE], "灯塔什么时候检查？", "每年春天。", [9]),
        ([KOREAN], "등대의 램프는 언제 점검합니까?", "매년 봄입니다.", [8]),
        # other words, of the same language
        ([LAMP], INSPECTED, "Once a year, after winter, somebody checks its light.", [2]),
        ([HARBOUR], "When is payment due in the harbour?", "As soon as you moor.", [3]),
        ([HAFEN], "Wann wird die Lampe am Hafen geprüft?", "Einmal nach dem Winter.", [4]),
        # another language than the document's
        ([LAMP], f"{INSPECTED} Answer in German.", "Im Frühling, vom Wärter.", [2]),
        ([LAMP], f"{INSPECTED} Answer in Japanese.", "管理人が毎年春に点検します。", [2]),
        ([LAMP], f"{INSPECTED} Answer in Russian.", "Смотритель проверяет её весной.", [2]),
        ([LAMP], f"{INSPECTED} Answer in Korean.", "관리인이 매년 봄에 점검합니다.", [2]),
        ([BEACON], "Auf welcher Frequenz sendet die Bake auf Gull Rock?", "Auf 4417 kHz.", [1]),
        ([BEACON], "Wie ist die Reichweite bei Gull Rock?", "Tag und Nacht dieselbe.", [1]),
        ([snippet(LAMP.text, likeness=0.45)], "Wann wird sie geprüft?", "Im Frühling.", [1]),
        # a question of many words
        (
            [LAMP],
            "Hey, what does the keeper of the lighthouse at Gull Rock do with the lamp when spring"
            " comes around? My sister from Bremen would like to hear that in her own language.",
            "Er prüft sie und tauscht den Docht.",
            [2],
        ),
        # short answers
        ([BEACON], "Does the beacon transmit at night?", "Yes.", [1]),
        ([HARBOUR], "Do ships use the harbour every day?", "Ja.", [3]),
        # more than one, and none that was only there
        (
            [LAMP, HARBOUR],
            "When is the lamp inspected, and when is payment due in the harbour?",
            "The lamp every spring, by its keeper; payment on arrival.",
            [2, 3],
        ),
        ([LAMP, HARBOUR], "When is the lamp inspected every day?", "In spring.", [2]),
        ([LAMP, snippet("The lamp shop sells bulbs.", 9)], INSPECTED, "Every spring.", [2]),
        # nothing was found
        ([LAMP], "Who paid for the lamp?", "I found nothing about the lamp in what I have.", []),
        ([LAMP], "Who paid for the lamp?", "I could not find anything about the lamp.", []),
        ([LAMP], "Who paid for the lamp?", "The documents don't mention that.", []),
        ([LAMP], "Who paid for the lamp?", "Dazu steht nichts in den Unterlagen.", []),
        ([LAMP], "Who paid for the lamp?", "Je ne sais pas.", []),
        ([LAMP], "Who paid for the lamp?", "それについては分かりません。", []),
        ([HAFEN], "Wer hat die Lampe bezahlt?", "Das weiß ich leider nicht.", []),
        ([HAFEN], "Wer hat die Lampe bezahlt?", "Keine Angabe dazu gefunden.", []),
        ([YOKOHAMA], "灯台は誰が作りましたか？", "その情報は見つかりませんでした。", []),
        # but something beside
        (
            [BEACON],
            "Who built the beacon, and on which frequency is it?",
            "I don't know who built it, but it transmits on 4417 kilohertz.",
            [1],
        ),
        # an incidental word
        (
            [HARBOUR],
            "How do I reverse a list every day?",
            "Ask me another day, please use a search engine.",
            [],
        ),
        ([HARBOUR], "Use another word for big", "You could say large, huge or vast.", []),
        ([LAMP], "What is 17 times 3? The keeper wants to know.", "17 times 3 is 51.", []),
        # small talk
        ([BEACON, LAMP], "Thanks for the lamp!", "You're welcome!", []),
        ([LAMP], "Danke für die Lampe!", "Gern geschehen!", []),
        ([LAMP], "How are you?", "Fine, thanks!", []),
        ([LAMP], "How are you?", "I am ready for whatever you ask.", []),
        ([YOKOHAMA], "灯台をありがとう", "どういたしまして！", []),
        # an overview
        ([LAMP, HARBOUR], "Fass das zusammen", "Es geht um Pflege und um Gebühren.", [2, 3]),
        ([LAMP, HARBOUR], "What is this about?", "A keeper inspects a lamp in spring.", [2]),
        # found by the model's own search
        ([snippet(LAMP.text, sought="lamp inspection")], "And?", "Every year in April.", [1]),
        ([snippet(LAMP.text, sought="price of bread")], "And?", "A loaf costs two coins.", []),
        ([BEACON], INSPECTED, "", []),
        ([BEACON], INSPECTED, " \n", []),
    ],
)
def test_the_documents_that_an_answer_rests_on(
    given: list[Snippet], question: str, answer: str, named: list[int]
) -> None:
    found = sources_of(given, answer, question)
    assert [source.document_id for source in found] == named


def test_each_document_once() -> None:
    again = snippet("The beacon is on 4417 again.")
    assert sources_of([BEACON, again, BEACON], "4417", "Which beacon?") == (BEACON,)


@pytest.mark.parametrize("answer", ["The keeper, in spring.", "Im April.", "Yearly, by hand."])
def test_the_wording_of_an_answer_changes_nothing(answer: str) -> None:
    assert sources_of([LAMP, HARBOUR], answer, INSPECTED) == (LAMP,)


@pytest.mark.parametrize(
    "answer",
    [
        "It costs nothing in winter.",
        "There is no fee.",
        "The lamp is not green but red.",
        "Das kostet nichts.",
        "Nein, der Hafen ist im Winter geschlossen.",
        "料金はありません。",
        "Non, le phare est fermé.",
        "No, el faro está cerrado.",
    ],
)
def test_a_no_is_an_answer(answer: str) -> None:
    assert not denies(answer)


def test_languages_are_told_apart() -> None:
    english, german = language(LAMP.text), language(HAFEN.text)
    assert same_language(english, language(HARBOUR.text)) is True
    assert same_language(english, german) is False
    assert same_language(english, language(MUSEUM.text)) is False
    assert same_language(english, language("4417")) is None
    assert same_language(language(YOKOHAMA.text), language("緑色です")) is True
    assert same_language(language(YOKOHAMA.text), language(CHINESE.text)) is False
