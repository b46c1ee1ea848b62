"""Other parsers of tool calls, as their own projects drive them, measured beside Verbatim.

    python -m benchmarks.peers sglang

measures one peer and prints JSON; benchmarks.parser runs them all.

Invariant: each is told the family by its own name for it, which Verbatim is not, and gets the
tools in the form it asks for. It is measured in turns with Verbatim in the same process.
"""

import json
import logging
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from importlib.metadata import version
from types import ModuleType
from typing import Any, TypeAlias

from benchmarks import peer_packages
from benchmarks.answers import Answer, Reading, long_answer, read_arguments, short_answers
from benchmarks.readers import Cut, MakeReader, Verbatim, best_of, deltas, fault, tag_deltas
from prompt.values import Json
from tests.providers.verbatim.surface import SURFACE

Connect: TypeAlias = Callable[[str], MakeReader]
"""Makes the readers of one family, given the peer's name for it."""

LONG = "the long answer"
CUTS: Mapping[str, Cut] = {
    "by 4 characters": deltas,
    "by 4 characters, tags whole": tag_deltas,
    "by 1 character": partial(deltas, size=1),
}
TIMES = (1, 2, 4, 8)
_PATIENCE = 1.0
_TOO_SLOW = 8.0
"""Seconds for one output above which a longer one is not tried."""

_TOOLS: list[dict[str, Any]] = [
    {
        "type": "function",
        "function": {
            "name": spec.name,
            "description": spec.description,
            "parameters": dict(spec.parameters),
        },
    }
    for spec in SURFACE.callable.values()
]


def _properties(name: str) -> dict[str, Any]:
    found: Any = SURFACE.callable[name].parameters["properties"]
    return dict(found)


class _Fragments:
    """Words, and calls whose arguments come as pieces of JSON text under a running number."""

    def __init__(self) -> None:
        self.words: list[str] = []
        self._names: dict[int, str] = {}
        self._arguments: dict[int, list[str]] = {}

    def call(self, index: int, name: str | None, arguments: str | None) -> None:
        if name:
            self._names[index] = name
        if arguments:
            self._arguments.setdefault(index, []).append(arguments)

    def reading(self) -> Reading:
        calls = [
            (name, read_arguments("".join(self._arguments.get(index, ["{}"]))))
            for index, name in self._names.items()
        ]
        return Reading(words="".join(self.words), calls=tuple(calls))


def _sglang(family: str) -> MakeReader:
    package = "llm_router_utils.sglang.srt"
    parsers = import_module(f"{package}.function_call.function_call_parser")
    protocol = import_module(f"{package}.entrypoints.openai.protocol")
    tools = [protocol.Tool(**tool) for tool in _TOOLS]

    class Reader(_Fragments):
        def __init__(self) -> None:
            super().__init__()
            self._parser = parsers.FunctionCallParser(tools, family)

        def feed(self, text: str) -> None:
            self._take(*self._parser.parse_stream_chunk(text))

        def close(self) -> None:
            self._take(*self._parser.parse_stream_end())

        def _take(self, words: str, calls: list[Any]) -> None:
            self.words.append(words)
            for call in calls:
                self.call(call.tool_index, call.name, call.parameters)

    return Reader


def _lmdeploy(family: str) -> MakeReader:
    parsers = import_module("lmdeploy.serve.parsers.response_parser")
    protocol = import_module("lmdeploy.serve.openai.protocol")
    tool_parsers = import_module("lmdeploy.serve.parsers.tool_parser").ToolParserManager
    # Asking the manager itself makes it look around in the whole engine.
    parsers.BaseResponseParser.tool_parser_cls = tool_parsers.module_dict[family]
    request = protocol.ChatCompletionRequest(model="any", messages=[], tools=_TOOLS)

    class Reader(_Fragments):
        def __init__(self) -> None:
            super().__init__()
            self._parser = parsers.BaseResponseParser(request)

        def feed(self, text: str) -> None:
            self._take(self._parser.stream_chunk(text, [0]))

        def close(self) -> None:
            self._take(self._parser.stream_chunk("", [0], final=True))

        def _take(self, found: list[tuple[Any, bool]]) -> None:
            for message, _ in found:
                self.words.append(message.content or "")
                for call in message.tool_calls or ():
                    self.call(call.index, call.function.name, call.function.arguments)

    return Reader


def _abstractcore(model: str) -> MakeReader:
    streaming = import_module("abstractcore.providers.streaming")
    coerce = import_module("abstractcore.tools.arg_coercion").coerce_arguments
    if model.startswith("gpt-oss"):
        return _abstractcore_harmony(streaming)

    class Reader:
        def __init__(self) -> None:
            self._detector = streaming.IncrementalToolDetector(model)
            self._words: list[str] = []
            self._calls: list[Any] = []

        def feed(self, text: str) -> None:
            words, calls = self._detector.process_chunk(text)
            self._words.append(words)
            self._calls += calls

        def close(self) -> None:
            words, calls, _ = self._detector.drain()
            self._words.append(words)
            self._calls += calls

        def reading(self) -> Reading:
            # Its tags leave every value a string; whoever runs the tool makes types of them.
            calls = [
                (call.name, coerce(_properties(call.name), call.arguments)[0])
                for call in self._calls
            ]
            return Reading(words="".join(self._words), calls=tuple(calls))

    return Reader


def _abstractcore_harmony(streaming: ModuleType) -> MakeReader:
    class Reader:
        def __init__(self) -> None:
            self._splitter = streaming.IncrementalHarmonySplitter()
            self._found: list[tuple[str, Any]] = []

        def feed(self, text: str) -> None:
            self._found += self._splitter.feed(text)

        def close(self) -> None:
            self._found += self._splitter.finish()

        def reading(self) -> Reading:
            words = [found for kind, found in self._found if kind == "content"]
            calls = [(call.name, call.arguments) for kind, call in self._found if kind == "tool"]
            return Reading(words="".join(words), calls=tuple(calls))

    return Reader


def _qwen_agent(_family: str) -> MakeReader:
    prompts = import_module("qwen_agent.llm.fncall_prompts.nous_fncall_prompt")
    schema = import_module("qwen_agent.llm.schema")
    prompt = prompts.NousFnCallPrompt()

    class Reader:
        """It reads the whole of the text so far anew, as it does at each step of a stream."""

        def __init__(self) -> None:
            self._text = ""
            self._messages: list[Any] = []

        def feed(self, text: str) -> None:
            self._text += text
            content = [schema.ContentItem(text=self._text)]
            message = schema.Message(role=schema.ASSISTANT, content=content)
            self._messages = prompt.postprocess_fncall_messages([message])

        def close(self) -> None:
            pass

        def reading(self) -> Reading:
            words: list[str] = []
            calls: list[tuple[str, Mapping[str, Json]]] = []
            for message in self._messages:
                words += [item.text for item in message.content]
                if message.function_call:
                    arguments = read_arguments(message.function_call.arguments)
                    calls.append((message.function_call.name, arguments))
            return Reading(words="".join(words), calls=tuple(calls))

    return Reader


def _agent_tool_parser(_family: str) -> MakeReader:
    parse = import_module("agent_tool_parser").try_parse_tool_calls

    class Reader:
        """It does not stream: it reads the whole once, at the end, and reports no words."""

        def __init__(self) -> None:
            self._parts: list[str] = []
            self._calls: list[Any] = []

        def feed(self, text: str) -> None:
            self._parts.append(text)

        def close(self) -> None:
            self._calls = parse("".join(self._parts))

        def reading(self) -> Reading:
            calls = tuple((call.name, call.args) for call in self._calls)
            return Reading(words="", calls=calls)

    return Reader


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """A parser to compare with. `families`: ours with the peer's names for them."""

    package: str
    connect: Connect
    families: Mapping[str, str]
    streams: bool = True
    blank: tuple[str, ...] = ()
    shallow: tuple[str, ...] = ()


PEERS = {
    "sglang": Peer(
        package="llm-router-utils",
        connect=_sglang,
        families={
            "hermes": "hermes",
            "qwen": "qwen3_coder",
            "glm": "glm45",
            "glm on one line": "glm47",
            "mistral array": "mistral",
            "mistral named": "mistral",
            "llama": "llama3",
            "deepseek": "deepseekv3",
            "deepseek v3.1": "deepseekv31",
            "dsml": "deepseekv32",
            "kimi": "kimi_k2",
            "minimax": "minimax-m2",
            "gemma 4": "gemma4",
            "pythonic list": "pythonic",
            "pythonic, lfm2": "lfm2",
            "harmony": "gpt-oss",
        },
        blank=(
            *("torch", "transformers", "huggingface_hub", "tiktoken", "msgspec"),
            "mistral_common",
        ),
    ),
    "lmdeploy": Peer(
        package="lmdeploy",
        connect=_lmdeploy,
        families={
            "hermes": "qwen3",
            "qwen": "qwen3coder",
            "glm on one line": "glm47",
            "llama": "llama3",
            "dsml": "deepseek-v32",
            "kimi": "kimi_k2",
            "internlm": "intern-s1",
        },
        blank=("torch", "transformers", "yapf", "numpy"),
        shallow=("lmdeploy", "lmdeploy.serve"),
    ),
    "abstractcore": Peer(
        package="abstractcore",
        connect=_abstractcore,
        families={
            "hermes": "qwen3-8b",
            "qwen": "qwen3-coder:30b",
            "glm": "glm-4.6",
            "glm on one line": "glm-4.7",
            "gemma 4": "gemma-4-e4b",
            "pythonic, lfm2": "lfm2-8b",
            "harmony": "gpt-oss-20b",
            "tool_code": "gemma-2b",
        },
        shallow=("abstractcore", "abstractcore.providers", "abstractcore.tools"),
    ),
    "qwen-agent": Peer(
        package="qwen-agent",
        connect=_qwen_agent,
        families={"hermes": "nous"},
        blank=("tiktoken", "PIL", "requests", "dotenv", "numpy", "soundfile"),
        shallow=("qwen_agent", "qwen_agent.llm"),
    ),
    "agent-tool-parser": Peer(
        package="agent-tool-parser",
        connect=_agent_tool_parser,
        families={
            name: name
            for name in ("hermes", "qwen", "mistral array", "llama", "deepseek", "react", "openai")
        },
        streams=False,
    ),
}


def measure(name: str) -> Json:
    """What one peer gets wrong and how fast it is, family by family."""
    peer = PEERS[name]
    peer_packages.make_importable(blank=peer.blank, shallow=peer.shallow)
    logging.disable()
    return {
        "package": peer.package,
        "version": version(peer.package),
        "streams": peer.streams,
        "families": {
            family: _measure_family(peer, family, called)
            for family, called in peer.families.items()
        },
    }


def _measure_family(peer: Peer, family: str, called: str) -> Json:
    try:
        make = peer.connect(called)
    except Exception as error:
        # Whatever a peer's own set-up raises is a result about the peer.
        return {"called": called, "fails": {"set-up": f"{type(error).__name__}: {error}"}}
    answers = {**short_answers(family), LONG: long_answer(family)}
    own = _failures(Verbatim, answers)
    if not peer.streams:
        answers = {
            title: replace(answer, right=replace(answer.right, words=""))
            for title, answer in answers.items()
        }
    fails = _failures(make, answers)
    measured: dict[str, Json] = {
        "called": called,
        "fails": fails,
        "verbatim_fails": own,
    }
    cut = next((cut for way, cut in CUTS.items() if way not in fails.get(LONG, {})), None)
    if cut is not None:
        measured.update(_speed(make, family, cut))
    return measured


def _failures(make: MakeReader, answers: Mapping[str, Answer]) -> dict[str, dict[str, Json]]:
    """What a parser gets wrong, answer by answer, by how the answer was cut into deltas."""
    found: dict[str, dict[str, Json]] = {}
    for title, answer in answers.items():
        for way, cut in CUTS.items():
            wrong = fault(make, answer, cut)
            if wrong:
                found.setdefault(title, {})[way] = wrong
    return found


def _speed(make: MakeReader, family: str, cut: Cut) -> dict[str, Json]:
    """Characters a second, and how the time grows with the length."""
    peer_times: list[float] = []
    own_times: list[float] = []
    length = len(long_answer(family).text)
    for times in TIMES:
        if peer_times and peer_times[-1] * 4 > _TOO_SLOW:
            break
        pieces = cut(long_answer(family, times).text)
        peer, own = best_of((make, Verbatim), pieces, _PATIENCE)
        peer_times.append(peer)
        own_times.append(own)
    return {
        "characters_a_second": round(length / peer_times[0]),
        "verbatim_characters_a_second": round(length / own_times[0]),
        "verbatim_times_as_fast": round(peer_times[0] / own_times[0], 2),
        "time_at_length": ratios(peer_times),
        "verbatim_time_at_length": ratios(own_times),
    }


def ratios(measured: list[float]) -> dict[str, Json]:
    """Times at 1, 2, 4 and 8 times the length, as multiples of the first; None: too slow to try."""
    found: list[Json] = [round(value / measured[0], 1) for value in measured]
    found += [None] * (len(TIMES) - len(found))
    return {str(times): value for times, value in zip(TIMES, found, strict=True)}


if __name__ == "__main__":
    print(json.dumps(measure(sys.argv[1])))
