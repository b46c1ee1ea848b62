"""Turns what goes wrong at an endpoint into EndpointErrors, each with its remedy.

Invariant: every failure of HTTP, of the transport and inside a stream ends up in one of the
typed errors. The member's line names no address and no key; the key is cut out of what the
server said before anyone sees it.
"""

import math
import re
import socket
import ssl
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import cast

import httpx2
from openai import APIConnectionError, APIStatusError, APITimeoutError

from net.guard import AddressRefused
from prompt.values import Json
from providers.base import (
    AuthFailed,
    BadResponse,
    ContextTooLong,
    EndpointError,
    RateLimited,
    Refused,
    ToolsRefused,
    Unavailable,
)
from providers.openai.fault import Fault, as_object, describe
from providers.openai.reach import when_refused, when_silent

_CLIP = 300

# The wordings are those that servers use; what a client may do next hangs on them.
_CONTEXT = re.compile(
    r"context[ _-]?(length|size|window)|larger than the context|context the overflows"
    r"|context overflow|exceed_context_size|max_seq_len|maximum context"
    r"|(prompt|input|request) (is )?too (long|large)|no user query found",
    re.IGNORECASE,
)
_TOOLS = re.compile(
    r"(does not|doesn't) support (tools|tool|function)|unsupported param: tools"
    r"|no endpoints? found that supports? (tool|function)"
    r"|tools param requires|--jinja|enable-auto-tool-choice|tool-call-parser"
    r"|(tool|function)[ _-]?(calls|calling|use) (is|are) not (supported|enabled)"
    r"|\btools\b.{0,80}not (be )?(supported|allowed|permitted|enabled)"
    r"|(unknown|unsupported|unrecogni[sz]ed|unexpected)[^.]{0,60}\btools\b"
    r"|failed to parse grammar|failed to initialize samplers|empty grammar stack",
    re.IGNORECASE,
)
_NO_ROUTE = re.compile(r"unexpected endpoint or method", re.IGNORECASE)
"""LM Studio's words for an address that it does not know, with the status 200."""
_LOADING = re.compile(r"loading model", re.IGNORECASE)


class UnknownModel(Refused):
    """The server does not have the configured model."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SettingNames:
    """Where an endpoint's URL, key and model are set, as remedies name it."""

    url: str = "VERBATIM_BASE_URL"
    key: str = "VERBATIM_API_KEY"
    model: str = "VERBATIM_MODEL"


OPERATORS_SETTINGS = SettingNames()


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Where a request went, and from where: what remedies name, and the key that must not show."""

    endpoint: str
    model: str = ""
    with_tools: bool = False
    contained: bool = False
    names: SettingNames = OPERATORS_SETTINGS
    key: str = field(default="", repr=False)

    def clipped(self, text: str) -> str:
        """`text` on one line, short, and without the key."""
        if self.key:
            text = text.replace(self.key, "[key]")
        text = " ".join(text.split())
        return text if len(text) <= _CLIP else f"{text[:_CLIP]}…"


def words_of(error: APIStatusError) -> str:
    """What the server said in an error answer, with the window that llama.cpp tells beside it."""
    said = _said(error).message
    window = (as_object(error.body) or {}).get("n_ctx")
    return said if window is None else f"{said} n_ctx={window}"


def from_exception(error: Exception, target: Target) -> EndpointError:
    """The EndpointError for what the client or its transport raised."""
    match error:
        case EndpointError():
            return error
        case APIStatusError():
            return from_status(
                error.status_code,
                _said(error),
                target,
                retry_after=_retry_after(error.response.headers),
                location=error.response.headers.get("location", ""),
            )
        case APITimeoutError() | httpx2.TimeoutException():
            return Unavailable(
                "The model server cannot be reached right now.",
                remedy=when_silent(target.endpoint, setting=target.names.url),
            )
        case APIConnectionError() | httpx2.TransportError():
            return _from_transport(error, target)
        case _:
            return BadResponse(
                "The model server's answer could not be read.",
                remedy=f"Check that {target.endpoint} is an OpenAI-compatible endpoint.",
                detail=target.clipped(f"{type(error).__name__}: {error}"),
            )


def from_fault(fault: Fault, target: Target) -> EndpointError:
    """The EndpointError for an error that came inside a stream."""
    return from_status(status_of(fault), fault, target)


def status_of(fault: Fault) -> int:
    """The HTTP status that an error inside a stream stands for."""
    return int(fault.code) if re.fullmatch(r"[45]\d\d", fault.code) else 500


def from_status(
    status: int,
    said: Fault,
    target: Target,
    *,
    retry_after: float | None = None,
    location: str = "",
) -> EndpointError:
    """The EndpointError for an HTTP status and what the server said with it."""
    detail = target.clipped(f"{status}: {said.message}" if said.message else f"{status}")
    if status in {401, 403}:
        return AuthFailed(
            "The model server does not accept the bot's key.",
            remedy=f"Set {target.names.key} to a key that {target.endpoint} accepts.",
            detail=detail,
        )
    if status == 429:
        return RateLimited(
            "The model server has too many requests at the moment. Try again in a little while.",
            remedy="Wait, or raise the limit of the key or server.",
            detail=detail,
            retry_after=retry_after,
        )
    if target.with_tools and _TOOLS.search(said.message):
        return _tools_refused(said, target, detail)
    if status == 413 or _CONTEXT.search(f"{said.message} {said.code}"):
        return ContextTooLong(
            "This conversation is too long for the model.",
            remedy="Start the server with a larger context window, or set context_window to "
            "what the server really has.",
            detail=detail,
        )
    if status == 404 or _NO_ROUTE.search(said.message):
        return _not_found(said, target, detail)
    if status >= 500:
        loading = status == 503 and _LOADING.search(said.message)
        return Unavailable(
            "The model server is still loading its model. Try again in a minute."
            if loading
            else "The model server reported an error.",
            remedy=f"The log of the server at {target.endpoint} tells more.",
            detail=detail,
        )
    if status < 400:
        return Refused(
            "The model server does not accept the request.",
            remedy=f"{target.endpoint} redirects to {location or 'another address'}. Set "
            f"{target.names.url} to the address that answers.",
            detail=detail,
        )
    return Refused(
        "The model server does not accept the request.",
        remedy=f"What {target.endpoint} said names the cause.",
        detail=detail,
    )


def silent(target: Target, seconds: float, setting: str) -> Unavailable:
    """Nothing came for `seconds`, the limit that `setting` sets."""
    return Unavailable(
        "The model server took too long to answer.",
        remedy=f"{target.endpoint} sent nothing for {seconds:g} s. Slow hardware needs a higher "
        f"{setting}.",
    )


def unreadable(target: Target, sample: str) -> BadResponse:
    """The answer is no stream of chunks."""
    return BadResponse(
        "The model server's answer could not be read.",
        remedy=f"{target.endpoint} answers, but not as a chat-completions endpoint. The address "
        f"in {target.names.url} usually ends in /v1.",
        detail=target.clipped(sample),
    )


def no_model(target: Target) -> Refused:
    """No model is configured, and the server lists none."""
    return Refused(
        "No model is configured.",
        remedy=f"{target.endpoint} lists no model. Load one there, or set {target.names.model}.",
    )


def _tools_refused(said: Fault, target: Target, detail: str) -> ToolsRefused:
    hints = {
        "--jinja": "start llama.cpp's server with --jinja",
        "enable-auto-tool-choice": "start vLLM with --enable-auto-tool-choice and "
        "--tool-call-parser",
        "grammar": "a tool's schema is more than the server can compile",
    }
    hint = next((words for mark, words in hints.items() if mark in said.message), "")
    return ToolsRefused(
        "The model server refuses tools.",
        remedy=f"{target.endpoint} does not take the tools field for {target.model or 'this model'}"
        f"{f' ({hint})' if hint else ''}. Tool mode verbatim_only works without it.",
        detail=detail,
    )


def unknown_model(target: Target, detail: str, *, listed: Sequence[str] = ()) -> UnknownModel:
    """The server does not know the model; `listed` are those that it has, as far as known."""
    names = f" It lists: {', '.join(listed)}." if listed else ""
    return UnknownModel(
        "The configured model does not exist on the model server.",
        remedy=f"{target.endpoint} does not know the model {target.model!r}. Set "
        f"{target.names.model} to one that it lists, or load that model there.{names}",
        detail=detail,
    )


def _not_found(said: Fault, target: Target, detail: str) -> Refused:
    if "model" in said.message.lower():
        return unknown_model(target, detail)
    return Refused(
        "The model server does not know the address that it was asked at.",
        remedy=f"There is no chat endpoint at {target.endpoint}. The address in "
        f"{target.names.url} usually ends in /v1.",
        detail=detail,
    )


def _from_transport(error: Exception, target: Target) -> EndpointError:
    causes = list(_causes(error))
    for cause in causes:
        if isinstance(cause, AddressRefused):
            return Refused("The model server's address may not be used.", remedy=str(cause))
    words = "; ".join(dict.fromkeys(str(cause) for cause in causes if str(cause)))
    if any(isinstance(cause, httpx2.ReadError | httpx2.RemoteProtocolError) for cause in causes):
        return Unavailable(
            "The model server broke off its answer.",
            remedy=f"{target.endpoint} closed the connection. Its log may tell why: a crash, or "
            "no memory left.",
            detail=target.clipped(words),
        )
    if any(isinstance(cause, ssl.SSLError) for cause in causes):
        remedy = (
            f"No secure connection to {target.endpoint}: its certificate is not trusted, or it "
            "speaks plain http."
        )
    elif any(isinstance(cause, socket.gaierror) for cause in causes):
        remedy = f"The host name in {target.endpoint} is not known here. Check {target.names.url}."
    elif any(isinstance(cause, ConnectionRefusedError) for cause in causes):
        remedy = when_refused(target.endpoint, contained=target.contained, setting=target.names.url)
    else:
        remedy = f"No connection to {target.endpoint}. Check {target.names.url} and the network."
    return Unavailable(
        "The model server cannot be reached right now.",
        remedy=remedy,
        detail=target.clipped(words),
    )


def _causes(error: BaseException) -> Iterator[BaseException]:
    """The error and all that stand behind it, members of groups included."""
    waiting: list[BaseException] = [error]
    seen: set[int] = set()
    while waiting:
        cause = waiting.pop(0)
        if id(cause) in seen:
            continue
        seen.add(id(cause))
        yield cause
        if isinstance(cause, BaseExceptionGroup):
            waiting += cast("BaseExceptionGroup[BaseException]", cause).exceptions
        waiting += [other for other in (cause.__cause__, cause.__context__) if other is not None]


def _said(error: APIStatusError) -> Fault:
    """The server's words in an error answer, whatever shape its body has."""
    body: Json = error.body
    if not body or (isinstance(body, str) and body.lstrip().startswith("<")):
        return Fault(message="")  # nothing, or a web page that tells an operator nothing
    return describe(body)


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Retry-After in seconds; as a date it is by the server's own clock, if that is told."""
    value = headers.get("retry-after", "")
    try:
        seconds = float(value)
    except ValueError:
        until = _date(value)
        if until is None:
            return None
        now = _date(headers.get("date", "")) or datetime.now(UTC)
        seconds = (until - now).total_seconds()
    return max(0.0, seconds) if math.isfinite(seconds) else None


def _date(value: str) -> datetime | None:
    try:
        date = parsedate_to_datetime(value)
    except ValueError:
        return None
    return date if date.tzinfo else date.replace(tzinfo=UTC)
