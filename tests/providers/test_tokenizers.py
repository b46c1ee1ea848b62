"""Answers to the question how many tokens a text has."""

import json

import pytest

from providers.base import Exchange
from providers.tokenizers import SAMPLE, TOKENIZERS

BY_PATH = {each.path: each for each in TOKENIZERS}


@pytest.mark.parametrize(
    ("path", "told"),
    [
        ("/tokenize", {"tokens": list(range(11))}),  # llama.cpp
        ("/tokenize", {"count": 11, "max_model_len": 4096, "tokens": list(range(11))}),  # vLLM
        ("/api/extra/tokencount", {"value": 11, "ids": list(range(11))}),  # KoboldCpp
        ("/token/encode", {"tokens": list(range(11)), "length": 11}),  # TabbyAPI
    ],
)
def test_servers_are_understood(path: str, told: object) -> None:
    answer = Exchange(status=200, text=json.dumps(told))
    assert BY_PATH[path].count(answer) == 11
    assert BY_PATH[path].is_sound(answer)


@pytest.mark.parametrize("path", BY_PATH)
@pytest.mark.parametrize(
    ("status", "text"),
    [
        (404, '{"count": 11, "value": 11, "length": 11}'),
        (200, '{"error": "Unexpected endpoint or method. (POST /tokenize). Returning 200 anyway"}'),
        (200, "<html>11</html>"),
        (200, "11"),
        (200, '{"count": true, "value": "11", "length": -11}'),
        (200, ""),
    ],
)
def test_what_is_no_count_is_none(path: str, status: int, text: str) -> None:
    assert BY_PATH[path].count(Exchange(status=status, text=text)) is None


@pytest.mark.parametrize("path", BY_PATH)
@pytest.mark.parametrize("number", [0, 3, 200])
def test_a_number_that_no_vocabulary_explains_is_no_tokenizer(path: str, number: int) -> None:
    told = {"count": number, "value": number, "length": number}
    answer = Exchange(status=200, text=json.dumps(told))
    assert not BY_PATH[path].is_sound(answer)


def test_every_request_holds_the_text_alone_and_no_start_mark() -> None:
    for each in TOKENIZERS:
        body = dict(each.body(SAMPLE, "m"))
        added = {name for name in body if name.startswith("add_") or name == "special"}
        assert added
        assert not any(body[name] for name in added)
        assert SAMPLE in body.values()
