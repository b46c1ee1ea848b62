import asyncio
from dataclasses import replace

import pytest

from chat.ports import Place
from chat.recording import LONGEST_ANSWER, Recorder, Recordings, unpacked
from prompt.prompt import Prompt, Report
from prompt.surface import ToolSurface
from prompt.values import JsonObject, ToolSpec
from prompt.verbatim import WireMode
from providers.base import RequestOptions
from providers.wire import Wire

HERE = Place(guild_id=7, channel_id=70)
SURFACE = ToolSurface(
    direct=(
        ToolSpec(name="look", description="Looks.", parameters={"type": "object"}, read_only=True),
        ToolSpec(
            name="send",
            description="Sends.",
            parameters={"type": "object", "required": ["to"]},
            offered={"type": "object"},
        ),
    )
)
OPTIONS = RequestOptions(turn_id="1")


def recorded(
    *pieces: bytes, options: RequestOptions = OPTIONS, mode: WireMode = "verbatim"
) -> JsonObject:
    """The fields of the one answer that came in these pieces."""
    prompt = Prompt(items=(), surface=SURFACE, report=Report(mode=mode))
    recorder, answers = Recorder(prompt, options), list[bytes]()
    with recorder.into(answers):
        for piece in pieces:
            recorder.take(piece)
    (answer,) = answers
    return unpacked(answer)


def test_an_answer_is_kept_with_what_it_was_read_with() -> None:
    body = 'data: {"é": 1}\n\n'.encode()
    keys = frozenset({("send", "{}"), ("look", "{}")})
    options = replace(
        OPTIONS, copied=keys, quoted=keys, wire=Wire(text_calls="tagged_only", parallel_calls="one")
    )
    fields = recorded(body[:8], body[8:], options=options)
    assert fields["input"] == body.decode()
    assert fields["settings"] == {
        "text_calls": "tagged_only",
        "call_in_reasoning": "if_silent",
        "template_opens_think": "learn",
        "parallel_calls": "one",
        "server_answer_tool": "show_text",
    }
    assert fields["copied"] == fields["quoted"] == [["send", "{}"]]
    assert fields["tools"] == [
        {"name": "look", "description": "Looks.", "parameters": {"type": "object"}},
        {
            "name": "send",
            "description": "Sends.",
            "parameters": {"type": "object", "required": ["to"]},
        },
    ]


def test_without_tools_on_offer_nothing_is_read_as_a_call() -> None:
    settings = recorded(b"data: {}", mode="off")["settings"]
    assert isinstance(settings, dict)
    assert settings["text_calls"] == "off"


def test_of_a_very_long_answer_the_beginning_is_kept() -> None:
    fields = recorded(b"a" * (LONGEST_ANSWER - 1), b"b", b"c", b"d")
    assert fields["whole"] is False
    assert fields["input"] == "a" * (LONGEST_ANSWER - 1) + "b"
    assert recorded(b"a" * LONGEST_ANSWER)["whole"] is True


def test_what_came_is_kept_although_the_request_failed() -> None:
    prompt = Prompt(items=(), surface=SURFACE, report=Report(mode="verbatim"))
    recorder, answers = Recorder(prompt, OPTIONS), list[bytes]()

    def fail() -> None:
        with recorder.into(answers):
            recorder.take(b"data: ")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert [unpacked(answer)["input"] for answer in answers] == ["data: "]
    with Recorder(prompt, OPTIONS).into(answers):
        pass  # nothing came
    assert len(answers) == 1


def kept(recordings: Recordings) -> list[int]:
    """Which of the messages 0 to 9 can be asked about."""
    return [message for message in range(10) if recordings.find(HERE, message)]


async def test_a_turn_is_found_by_its_messages_in_its_place_alone() -> None:
    recordings = Recordings()
    recordings.keep(HERE, [1, 2], [b"a"], member_id=5, secrets=["key"])
    found = recordings.find(HERE, 2)
    assert found is not None
    assert (found.answers, found.secrets) == ([b"a"], ["key"])
    assert "key" not in repr(found)
    assert recordings.find(HERE, 1) is found
    assert recordings.find(HERE, 3) is None
    assert recordings.find(Place(guild_id=8, channel_id=70), 1) is None
    assert recordings.find(Place(guild_id=7, channel_id=71), 1) is None


async def test_direct_messages_and_turns_without_an_answer_are_not_kept() -> None:
    recordings = Recordings()
    private = Place(guild_id=None, channel_id=70)
    recordings.keep(private, [1], [b"a"], member_id=5)
    recordings.keep(HERE, [2], [], member_id=5)
    assert recordings.find(private, 1) is None
    assert kept(recordings) == []


async def test_the_oldest_go_when_there_are_too_many() -> None:
    recordings = Recordings(most_turns=2)
    for message in range(4):
        recordings.keep(HERE, [message], [b"a"], member_id=5)
    assert kept(recordings) == [2, 3]


async def test_the_oldest_go_when_they_take_too_much() -> None:
    recordings = Recordings(most_bytes=10)
    for message in range(3):
        recordings.keep(HERE, [message], [b"aa", b"aa"], member_id=5)
    assert kept(recordings) == [1, 2]
    recordings.keep(HERE, [3], [b"a" * 11], member_id=5)
    assert kept(recordings) == []
    recordings.keep(HERE, [4], [b"a" * 10], member_id=5)
    assert kept(recordings) == [4]


async def test_a_turn_goes_when_its_time_is_over() -> None:
    recordings = Recordings(kept_for=0.2)
    recordings.keep(HERE, [1], [b"a"], member_id=5)
    await asyncio.sleep(0.12)
    recordings.keep(HERE, [2], [b"a"], member_id=5)
    assert kept(recordings) == [1, 2]
    await asyncio.sleep(0.12)
    assert kept(recordings) == [2]
    await asyncio.sleep(0.12)
    assert kept(recordings) == []
    recordings.keep(HERE, [3], [b"a"], member_id=5)
    assert kept(recordings) == [3]
    await asyncio.sleep(0.3)
    assert kept(recordings) == []


async def test_a_member_and_a_server_are_forgotten() -> None:
    recordings = Recordings(most_bytes=4)
    there = Place(guild_id=8, channel_id=80)
    recordings.keep(HERE, [1], [b"a"], member_id=5)
    recordings.keep(HERE, [2], [b"a"], member_id=6)
    recordings.keep(there, [3], [b"a"], member_id=5)
    recordings.forget(7, 5)
    assert kept(recordings) == [2]
    assert recordings.find(there, 3) is not None
    recordings.keep(HERE, [4], [b"aa"], member_id=6)  # what was forgotten takes no room
    assert kept(recordings) == [2, 4]
    recordings.forget(7, None)
    assert kept(recordings) == []
    assert recordings.find(there, 3) is not None
