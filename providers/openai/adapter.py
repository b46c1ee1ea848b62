"""Speaks to an OpenAI-compatible endpoint.

Invariant: the body on the wire is exactly the canonical JSON of `body()`, nothing is sent twice
once the server has begun to answer, and a left stream is a closed connection.
"""

import asyncio
import logging
import os
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager, suppress
from dataclasses import dataclass
from typing import cast

import httpx2
from openai import APIStatusError, AsyncOpenAI, OpenAIError

from prompt.events import Begun, Finished, StreamEvent
from prompt.prompt import Prompt
from prompt.values import Json, JsonObject
from providers.base import EndpointError, Exchange, Replan, RequestOptions
from providers.openai import errors
from providers.openai.address import (
    is_loopback,
    normalised,
    properties_url,
    without_credentials,
)
from providers.openai.encode import body_bytes, request_body
from providers.openai.errors import OPERATORS_SETTINGS, SettingNames, Target
from providers.openai.exchange import beside, exchange
from providers.openai.fault import Fault, as_object
from providers.openai.fold import ChunkFold
from providers.openai.kept import KeptConnections
from providers.openai.reach import in_container
from providers.openai.replans import replanned
from providers.openai.response import ResponseReader, decode
from providers.verbatim import ParserSettings
from providers.wire import Wire

log = logging.getLogger(__name__)

_SENT_HEADERS = frozenset(
    {
        "host",
        "accept",
        "accept-encoding",
        "connection",
        "content-type",
        "content-length",
        "user-agent",
    }
)
_RAW = {"X-Stainless-Raw-Response": "stream"}
_LISTED = 8
_DRAIN_SECONDS = 0.5
_MOST_SLOTS = 1024
"""Beyond it, a number of slots is no number of slots."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Limits:
    """Seconds of patience.

    `first_token` runs from the request to the first word of the model, however long the server
    reads the prompt. `idle` is the longest silence afterwards; a server that keeps the line
    alive without a word gets the larger of both.
    """

    connect: float = 10.0
    first_token: float = 300.0
    idle: float = 120.0


class OpenAIProvider:
    """An endpoint and a model. Without a model, the first one that the server lists is used.

    `transport` carries the requests in place of the default one, which may go through a proxy.
    `names` are the settings that remedies name.
    """

    def __init__(
        self,
        *,
        base_url: str,
        model: str | None = None,
        api_key: str | None = None,
        limits: Limits | None = None,
        transport: httpx2.AsyncBaseTransport | None = None,
        names: SettingNames = OPERATORS_SETTINGS,
    ) -> None:
        self._url = normalised(base_url)
        self._names = names
        self._model = model or ""
        self._key = api_key or ""
        self._limits = limits or Limits()
        self._client = AsyncOpenAI(
            # The client would take a key from the environment in place of None.
            api_key=self._key or "none",
            base_url=self._url,
            max_retries=0,
            http_client=KeptConnections(
                timeout=httpx2.Timeout(None, connect=self._limits.connect),
                follow_redirects=False,
                transport=transport,
                trust_env=transport is None and not is_loopback(self._url),
                event_hooks={"request": [self._set_headers]},
            ),
        )

    @property
    def endpoint(self) -> str:
        """Base URL, without credentials."""
        return without_credentials(self._url)

    @property
    def model(self) -> str:
        """Name as sent in requests; empty until `resolve_model` has found one."""
        return self._model

    async def resolve_model(self) -> str:
        """The model's name, asked for once if the operator set none. Raises EndpointError."""
        if not self._model:
            listed = await self.list_models()
            if not listed:
                raise errors.no_model(self._target(with_tools=False))
            self._model = listed[0]
            log.info("no model is set; using the first that the endpoint lists: %s", self._model)
        return self._model

    async def list_models(self) -> list[str]:
        """Names of the models that the server offers. Raises EndpointError."""
        target = self._target(with_tools=False)
        wait = self._limits.connect + 10.0
        try:
            async with asyncio.timeout(wait):
                response = await self._client.get("/models", cast_to=httpx2.Response)
            return _model_names(decode(response.text))
        except TimeoutError:
            raise errors.silent(target, wait, "network speed") from None
        except (OpenAIError, httpx2.HTTPError, ValueError) as error:
            raise errors.from_exception(error, target) from error

    async def slots(self) -> int | None:
        """How many requests the server works on at once, None where it does not tell. Raises
        EndpointError where no answer came, so that asking later may help."""
        target = self._target(with_tools=False)
        try:
            async with asyncio.timeout(self._limits.connect):
                response = await self._client.get(
                    properties_url(self._url), cast_to=httpx2.Response
                )
            return _total_slots(decode(response.text))
        except TimeoutError:
            raise errors.silent(target, self._limits.connect, "network speed") from None
        except ValueError:
            return None
        except (OpenAIError, httpx2.HTTPError) as error:
            if isinstance(error, APIStatusError) and error.status_code < 500:
                return None
            raise errors.from_exception(error, target) from error

    async def exchange(
        self, path: str, body: JsonObject | None = None, *, seconds: float, aside: bool = False
    ) -> Exchange:
        """POST `body` to `path`, or GET it, outside of any turn; an answer of any status is a
        value. `aside` paths lie beside the API. Raises EndpointError where none came in time."""
        target = self._target(with_tools=False)
        try:
            async with asyncio.timeout(seconds):
                address = beside(self._url, path) if aside else path
                return await exchange(self._client, address, body)
        except TimeoutError:
            raise errors.silent(target, seconds, "network speed") from None
        except (OpenAIError, httpx2.HTTPError) as error:
            raise errors.from_exception(error, target) from error

    def body(self, prompt: Prompt, options: RequestOptions) -> JsonObject:
        """The exact JSON body of the request; carries no key."""
        return request_body(prompt, options, model=self._model)

    @asynccontextmanager
    async def stream(
        self, prompt: Prompt, options: RequestOptions
    ) -> AsyncGenerator[AsyncIterator[StreamEvent], None]:
        """Send the request. Entering raises EndpointError if no stream starts; leaving, by any
        way, closes the connection. The last event is Finished."""
        await self.resolve_model()
        deadline = asyncio.get_running_loop().time() + self._limits.first_token
        body = self.body(prompt, options)
        target = self._target(with_tools="tools" in body)
        sent = _Sent(body=body, wire=options.wire, target=target, record=options.record)
        response = await self._open(sent, deadline)
        try:
            seed = f"{options.turn_id}:{options.round}"
            fold = ChunkFold(
                prompt.surface,
                _reading(options, offered=prompt.report.mode != "off"),
                id_seed=seed,
                first_call_only=options.wire.parallel_calls == "one",
                answer_tool=options.wire.server_answer_tool,
            )
            events = self._events(response, ResponseReader(fold), sent, deadline)
            try:
                yield events
            finally:
                await events.aclose()
        finally:
            await response.aclose()

    async def close(self) -> None:
        """Release the connection pool."""
        await self._client.close()

    async def _open(self, sent: "_Sent", deadline: float) -> httpx2.Response:
        target = sent.target
        try:
            async with asyncio.timeout_at(deadline):
                return await self._post(sent.body)
        except TimeoutError:
            raise errors.silent(
                target, self._limits.first_token, "VERBATIM_FIRST_TOKEN_TIMEOUT"
            ) from None
        except APIStatusError as error:
            failure = await self._with_models(errors.from_exception(error, target), target)
            raise sent.replanned(failure, error.status_code, errors.words_of(error)) from error
        except (OpenAIError, httpx2.HTTPError) as error:
            raise errors.from_exception(error, target) from error

    async def _post(self, body: JsonObject) -> httpx2.Response:
        return await self._client.post(
            "/chat/completions",
            cast_to=httpx2.Response,
            content=body_bytes(body),
            options={"headers": {**_RAW, "Content-Type": "application/json"}},
        )

    async def _events(
        self, response: httpx2.Response, reader: ResponseReader, sent: "_Sent", deadline: float
    ) -> AsyncGenerator[StreamEvent, None]:
        target = sent.target
        patience = _Patience(limits=self._limits, until=deadline)
        failure: EndpointError | None = None
        head = b""
        async with aclosing(response.aiter_bytes()) as source:
            while not (reader.done or reader.fault):
                try:
                    async with asyncio.timeout_at(patience.until):
                        data = await anext(source, None)
                except TimeoutError:
                    failure = self._silence(target, begun=reader.begun)
                    break
                except httpx2.HTTPError as error:
                    failure = errors.from_exception(error, target)
                    break
                if data is None:
                    break
                head = head or data
                if sent.record is not None:
                    sent.record(data)
                chunks, begun = reader.chunks, reader.begun
                events = reader.feed(data)
                if reader.begun and not begun and not events:
                    yield Begun()
                for event in events:
                    yield event
                if reader.begun:
                    patience.heard(words=reader.chunks > chunks)
            rest = reader.close(cut=Fault(message=failure.member) if failure else None)
            if failure is None and reader.fault:
                failure = errors.from_fault(reader.fault, target)
                if not reader.begun:
                    status, said = errors.status_of(reader.fault), reader.fault.message
                    raise sent.replanned(failure, status, said)
            elif failure is None and not reader.chunks:
                failure = errors.unreadable(target, head.decode("utf-8", "replace"))
            for event in rest:
                if failure is None or not isinstance(event, Finished):
                    yield event
            if failure is not None:
                raise failure
            await _drain(source)

    def _silence(self, target: Target, *, begun: bool) -> EndpointError:
        if begun:
            return errors.silent(target, self._limits.idle, "VERBATIM_IDLE_TIMEOUT")
        return errors.silent(target, self._limits.first_token, "VERBATIM_FIRST_TOKEN_TIMEOUT")

    async def _with_models(self, error: EndpointError, target: Target) -> EndpointError:
        """A refusal over the model's name, with the names that the server would take."""
        if not isinstance(error, errors.UnknownModel):
            return error
        try:
            listed = await self.list_models()
        except EndpointError:
            return error
        return errors.unknown_model(target, error.detail, listed=listed[:_LISTED])

    async def _set_headers(self, request: httpx2.Request) -> None:
        """Leaves only what the endpoint needs: the client adds platform data, and headers and
        keys from its own environment variables that were meant for another address."""
        for name in [name for name in request.headers if name.lower() not in _SENT_HEADERS]:
            del request.headers[name]
        if self._key:
            request.headers["Authorization"] = f"Bearer {self._key}"

    def _target(self, *, with_tools: bool) -> Target:
        return Target(
            endpoint=self.endpoint,
            model=self._model,
            with_tools=with_tools,
            contained=in_container(os.environ),
            names=self._names,
            key=self._key,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sent:
    """A request under way."""

    body: JsonObject
    wire: Wire
    target: Target
    record: Callable[[bytes], None] | None

    def replanned(self, failure: EndpointError, status: int, said: str) -> Replan:
        """What may help after the server said no. Raises `failure` if nothing is known."""
        return replanned(failure, status, said, self.body, self.wire)


class _Patience:
    """When waiting is over; `until` is the time of the running loop."""

    def __init__(self, *, limits: Limits, until: float) -> None:
        self._limits = limits
        self._words_until = self.until = until

    def heard(self, *, words: bool) -> None:
        """Bytes came after the first word: chunks, or only what keeps the line alive."""
        now = asyncio.get_running_loop().time()
        if words:
            self._words_until = now + max(self._limits.first_token, self._limits.idle)
        self.until = min(now + self._limits.idle, self._words_until)


def _reading(options: RequestOptions, *, offered: bool) -> ParserSettings:
    """How the answer to a request is read; without tools on offer no text is a call."""
    wire = options.wire
    return ParserSettings(
        text_calls=wire.text_calls if offered else "off",
        call_in_reasoning=wire.call_in_reasoning,
        reasoning_open=wire.template_opens_think == "yes",
        copied=options.copied,
        quoted=options.quoted,
    )


async def _drain(source: AsyncIterator[bytes]) -> None:
    """Reads what follows the end of the stream, so that the connection can be used again."""
    with suppress(TimeoutError, httpx2.HTTPError):
        async with asyncio.timeout(_DRAIN_SECONDS):
            async for _ in source:
                pass


def _model_names(listing: Json) -> list[str]:
    """Names in a model listing: `data` of objects with `id`, as nearly every server has it."""
    fields = as_object(listing) or {}
    entries: Json = fields.get("data") or fields.get("models") or []
    if not isinstance(entries, list):
        return []
    names: list[str] = []
    for entry in cast("list[Json]", entries):
        found = as_object(entry) or {}
        name = found.get("id") or found.get("name")
        if isinstance(name, str) and name:
            names.append(name)
    return names


def _total_slots(properties: Json) -> int | None:
    """The slots in what llama.cpp tells; other servers answer anything, also with status 200."""
    told = (as_object(properties) or {}).get("total_slots")
    if isinstance(told, int) and not isinstance(told, bool) and 1 <= told <= _MOST_SLOTS:
        return told
    return None
