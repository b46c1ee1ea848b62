"""What an endpoint's prefix cache lives on: requests that begin with the bytes of earlier ones."""

import json
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest

from prompt.assemble import assemble
from prompt.dialogue import turn_item
from prompt.prompt import Prompt
from prompt.snapshot import Budget, Snapshot
from prompt.values import Turn, Zone
from prompt.verbatim import ToolConfig, ToolMode
from tests.prompt.builders import NOON, asked, called, got, said, snapshot
from tests.providers.openai.encoded import encode_messages

MODES: list[ToolMode] = ["native", "verbatim", "verbatim_only", "off"]
modes = pytest.mark.parametrize("mode", MODES)

ASKED = asked("Roll a die.")
CALL, RESULT = said("assistant", "Let me roll.", called()), said("tool", got())
ANSWER = said("assistant", "A four.")


def built(mode: ToolMode, *dialogue: Turn) -> Prompt:
    return assemble(snapshot(config=ToolConfig(tool_mode=mode), dialogue=dialogue), Budget())


def encoded(messages: Sequence[dict[str, Any]]) -> list[str]:
    return [json.dumps(message, ensure_ascii=False) for message in messages]


def common(first: Sequence[str], second: Sequence[str]) -> int:
    """How many messages the two begin with alike."""
    pairs = enumerate(zip(first, second, strict=False))
    return next((at for at, (a, b) in pairs if a != b), min(len(first), len(second)))


@modes
def test_within_a_turn_requests_only_grow(mode: ToolMode) -> None:
    prompt = built(mode, ASKED)
    requests = [encoded(encode_messages(prompt))]
    for number in range(3):
        prompt = prompt.grown(turn_item(CALL), turn_item(said("tool", got(str(number)))))
        requests.append(encoded(encode_messages(prompt)))
    for earlier, later in pairwise(requests):
        assert len(later) == len(earlier) + 2
        assert later[: len(earlier)] == earlier


@modes
def test_across_turns_the_common_prefix_reaches_the_last_message(mode: ToolMode) -> None:
    first = encoded(encode_messages(built(mode, ASKED, CALL, RESULT, ANSWER, asked("Again."))))
    second = encoded(
        encode_messages(
            built(mode, ASKED, CALL, RESULT, ANSWER, asked("Again."), ANSWER, asked("Thanks."))
        )
    )
    assert common(first, second) == len(first) - 1
    last = json.loads(second[len(first) - 1])["content"]
    assert json.loads(first[-1])["content"].startswith(last)  # but for the tail it is there too


@modes
def test_what_a_turn_sent_is_what_history_sends_again(mode: ToolMode) -> None:
    """The exchange of a turn keeps its bytes when the next turn replays it."""
    live = built(mode, ASKED).grown(turn_item(CALL), turn_item(RESULT))
    exchange = encoded(encode_messages(live))[-2:]
    again = encoded(encode_messages(built(mode, ASKED, CALL, RESULT, ANSWER, asked("Thanks."))))
    at = again.index(exchange[0])
    assert again[at : at + 2] == exchange


def head(prompt: Prompt) -> list[str]:
    """The messages of the stable zone as they go out."""
    stable = [item for item in prompt.items if item.zone is Zone.STABLE]
    return encoded(encode_messages(prompt))[: len(stable) - 1]


@pytest.mark.parametrize(
    "changed",
    [
        snapshot(now=NOON + timedelta(days=400, hours=5, minutes=7)),
        snapshot(participants=("Zoe", "Ada", "Bob")),
        snapshot(dialogue=(asked("Roll a die.", author="Zoe"),)),
    ],
    ids=["clock", "participants", "names"],
)
@modes
def test_the_moment_never_moves_the_head(mode: ToolMode, changed: Snapshot) -> None:
    config = ToolConfig(tool_mode=mode)
    first = assemble(snapshot(config=config), Budget())
    second = assemble(replace(changed, config=config), Budget())
    assert first.items != second.items
    assert head(first) == head(second) != []
