"""The dialogue in this process: questions answered from a list, servers over real sockets."""

import asyncio
import io
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest

from chat.config import switches
from chat.overview import Overview
from chat.ports import History, Presenter, TurnRequest
from chat.reply import Reply
from cli.embedded.errors import Declined
from cli.embedded.gguf import LocalModel
from cli.setup import discovery
from cli.setup.dialogue import run_setup
from cli.setup.options import Options
from cli.setup.ports import Outside, TokenReport
from cogs.token_check import TokenReport as Report
from data.config_file import ConfigValue, write_config
from data.keys import open_keys
from data.settings import Settings, load_settings, set_by_variables
from prompt.verbatim import Verdict
from providers.openai.adapter import OpenAIProvider

GOOD_TOKEN = "good-token"
GOOD = Report(
    name="Verbatim#0001",
    application_id=99,
    reads_content=True,
    invite_url="https://discord.com/oauth2/authorize?client_id=99",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """A dialogue that has ended."""

    status: int
    shown: str
    settings: Settings
    config: str | None


class ScriptedTurns:
    """Turns that end as a test says, one after another."""

    def __init__(self, replies: Sequence[Reply]) -> None:
        self._replies = iter(replies)

    async def respond(self, request: TurnRequest, history: History, presenter: Presenter) -> None:
        await presenter.finish(next(self._replies))

    async def overview(self, guild_id: int | None) -> Overview:
        return Overview(
            endpoint="e",
            model="m",
            mode="verbatim",
            verdict=Verdict(),
            tool_mode="auto",
            context_window=None,
            switches=switches({}),
        )


def answered(text: str) -> Reply:
    reply = Reply(state="done")
    reply.write(text)
    return reply


@dataclass(kw_only=True)
class Desk:
    """An operator at a home directory. `reports` is what Discord says, in order."""

    home: Path
    environ: dict[str, str] = field(default_factory=dict[str, str])
    reports: list[Report] = field(default_factory=list[Report])
    replies: list[Reply] = field(default_factory=list[Reply])
    tokens: list[str] = field(default_factory=list[str])
    tried: list[Settings] = field(default_factory=list[Settings])
    on_turn: Callable[[], None] = lambda: None

    def keep(self, **values: ConfigValue) -> None:
        """What config.toml holds beforehand."""
        write_config(self.home, values, open_keys(self.home, None))

    def load(self) -> Settings:
        environ = {"VERBATIM_HOME": str(self.home), **self.environ}
        return load_settings(environ, dotenv=None, tolerate_lost_keys=True)

    async def run(self, *answers: str, options: Options | None = None) -> Ended:
        """Answer each question with the next line; all of them must be used up."""
        stdin = io.StringIO("".join(f"{answer}\n" for answer in answers))
        stdout = io.StringIO()
        status = await asyncio.to_thread(
            run_setup,
            self.load(),
            options=options or Options(),
            shadowing=set_by_variables(self.environ, dotenv=None),
            outside=Outside(
                check_token=self._check,
                list_models=_list_models,
                local_model=_no_local_model,
                turns=self._turns,
            ),
            stdin=stdin,
            stdout=stdout,
        )
        assert stdin.read() == "", stdout.getvalue()
        path = self.home / "config.toml"
        return Ended(
            status=status,
            shown=stdout.getvalue(),
            settings=self.load(),
            config=path.read_text() if path.exists() else None,
        )

    async def _check(self, token: str) -> TokenReport:
        self.tokens.append(token)
        return self.reports.pop(0)

    @asynccontextmanager
    async def _turns(
        self, settings: Settings, local: LocalModel | None
    ) -> AsyncGenerator[ScriptedTurns]:
        self.tried.append(settings)
        self.on_turn()
        yield ScriptedTurns([self.replies.pop(0)])


async def _list_models(settings: Settings) -> Sequence[str]:
    assert settings.base_url is not None
    key = settings.api_key.get_secret_value() if settings.api_key else None
    provider = OpenAIProvider(base_url=settings.base_url, api_key=key)
    try:
        return await provider.list_models()
    finally:
        await provider.close()


def _no_local_model(settings: Settings) -> LocalModel:
    raise Declined("Nothing was fetched.")


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Desk:
    """An empty home, on a machine whose usual ports are left alone."""
    monkeypatch.setattr(discovery, "USUAL_PORTS", ())
    return Desk(home=tmp_path / "home")
