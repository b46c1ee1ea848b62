"""What setup needs from outside the terminal; bot.py wires it.

Invariant: setup reaches Discord, an endpoint and a turn through these alone.
"""

from collections.abc import Callable, Coroutine, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Any, Protocol

from chat.overview import Overview
from chat.ports import History, Presenter, TurnRequest
from cli.embedded.gguf import LocalModel
from data.settings import Settings


class TokenReport(Protocol):
    """What Discord says about a token. Where `problem` has words, nothing else is known."""

    @property
    def problem(self) -> str: ...  # noqa: D102
    @property
    def refused(self) -> bool:
        """Whether the problem is the token itself, and not the way to Discord."""
        ...

    @property
    def name(self) -> str: ...  # noqa: D102
    @property
    def application_id(self) -> int: ...  # noqa: D102
    @property
    def reads_content(self) -> bool:
        """Whether the message content intent is switched on."""
        ...

    @property
    def permissions(self) -> int:
        """The integer that the invitation asks for."""
        ...

    @property
    def invite_url(self) -> str: ...  # noqa: D102
    @property
    def portal_url(self) -> str:
        """Where the intent is switched."""
        ...


class Turns(Protocol):
    """The part of the chat service that a test turn needs."""

    async def respond(self, request: TurnRequest, history: History, presenter: Presenter) -> None:
        """Answer a message; the presenter hears of everything that is to be shown."""
        ...

    async def overview(self, guild_id: int | None) -> Overview:
        """How tools reach the model."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Outside:
    """The ways out.

    `list_models` raises EndpointError. `local_model` asks before it fetches and raises
    EmbeddedError. `turns` opens a service whose store is thrown away with it.
    """

    check_token: Callable[[str], Coroutine[Any, Any, TokenReport]]
    list_models: Callable[[Settings], Coroutine[Any, Any, Sequence[str]]]
    local_model: Callable[[Settings], LocalModel]
    turns: Callable[[Settings, LocalModel | None], AbstractAsyncContextManager[Turns]]
