"""Composition root: reads settings, wires the layers, starts a surface, closes in reverse.

Invariant: nothing imports this module. Every expected failure ends in one message that names
the remedy and an exit status, never in a traceback.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import sys
from collections.abc import AsyncGenerator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import timedelta
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING

try:
    from cli import backup, check, parse, probe, snapshot, tune
    from cli.embedded.errors import EmbeddedError
    from cli.logs import log_as_set
    from cli.setup import options as setup_options
    from data.errors import StoreError
    from providers.base import EndpointError
except ModuleNotFoundError as missing:
    # Most often a Python that the packages were not installed for.
    sys.exit(
        f"This Python has no package {missing.name}. Start with `python3 run.py` in place of "
        "`python bot.py`, with the same arguments: it installs what is needed."
    )

if TYPE_CHECKING:
    # Heavy ones: imported where they are used, so that `parse` and `--help` start at once.
    from chat.desk import Desk
    from chat.service import ChatService
    from chat.watched import WatchedService
    from cli.embedded.gguf import LocalModel
    from cli.setup.ports import TokenReport
    from data.settings import Settings
    from data.store import Store
    from providers.openai.adapter import Limits, OpenAIProvider

log = logging.getLogger("verbatim")

USAGE_ERROR = 2


@dataclass(frozen=True, slots=True, kw_only=True)
class Wired:
    """Everything that a surface needs, open and ready."""

    settings: Settings
    store: Store
    provider: OpenAIProvider
    service: WatchedService
    desk: Desk


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command and return its exit status."""
    args = _arguments().parse_args(argv)
    if args.command == "parse":
        return parse.run(args, sys.stdin.buffer, sys.stdout)
    from data.settings import SettingsError, load_settings

    try:
        if args.command == "probe":
            return probe.run(args, os.environ, sys.stdout, sys.stderr)
        needs_no_secrets = args.command in {"setup", "import-llmcord", *backup.COMMANDS}
        settings = load_settings(os.environ, tolerate_lost_keys=needs_no_secrets)
        if args.command in backup.COMMANDS:
            return backup.run(args, settings, sys.stdout)
        if args.command == "setup":
            return _setup(settings, args)
        if args.command == "import-llmcord":
            from cli import import_llmcord

            return import_llmcord.run(args, settings, sys.stdin, sys.stdout)
        if _is_first_day(settings, args):
            if status := _setup(settings, args):
                return status
            settings = load_settings(os.environ)
        if args.command == "check":
            return asyncio.run(check.run(settings, os.environ, sys.stdout, connect=_provider))
        local = None if settings.base_url else _embedded_model(settings, args)
        return asyncio.run(_run(args, settings, local))
    except EmbeddedError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    except (SettingsError, StoreError) as error:
        print(error, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        return 130


def _arguments() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="bot.py",
        description="A Discord bot that gives tool calling to any OpenAI-compatible endpoint. "
        "Settings come from the environment, .env and var/config.toml; see "
        "docs/configuration.md.",
    )
    commands = parser.add_subparsers(dest="command", metavar="COMMAND")
    yes = argparse.ArgumentParser(add_help=False)
    yes.add_argument(
        "--yes", action="store_true", help="say yes to fetching and starting the embedded model"
    )
    commands.add_parser(
        "run", parents=[yes], help="connect to Discord, or chat here without a token (default)"
    )
    commands.add_parser("console", parents=[yes], help="chat here, even with a token set")
    setup_options.add_arguments(
        commands.add_parser("setup", help="find an endpoint, check the token, write config.toml")
    )
    moving = commands.add_parser("import-llmcord", help="take over a configuration of llmcord")
    moving.add_argument("file", type=Path, metavar="config.yaml", help="llmcord's configuration")
    moving.add_argument("--model", metavar="PROVIDER/MODEL", help="this one, not the first in it")
    moving.add_argument("--yes", action="store_true", help="write without asking")
    parse.add_parser(commands)
    probe.add_arguments(
        commands.add_parser(
            "probe", help="ask an endpoint a few tiny questions: how it takes tools"
        )
    )
    snapshot.add_arguments(
        commands.add_parser(
            "snapshot", parents=[yes], help="print the prompt that a message would send"
        )
    )
    tune.add_arguments(
        commands.add_parser(
            "tune", parents=[yes], help="find the settings with which a model calls tools best"
        )
    )
    backup.add_parsers(commands)
    commands.add_parser("check", help="tell whether settings, database and endpoint are sound")
    parser.set_defaults(command="run", yes=False)
    return parser


def _is_first_day(settings: Settings, args: argparse.Namespace) -> bool:
    """Whether nothing is configured and whoever sits at the terminal wants to change that."""
    from cli.setup.dialogue import wants_setup
    from data.settings import CONFIG_NAME

    decided = (settings.base_url, settings.discord_token, settings.model, settings.model_path)
    return (
        args.command in {"run", "console"}
        and not args.yes
        and not any(decided)
        and not (settings.home / CONFIG_NAME).exists()
        and sys.stdin.isatty()
        and sys.stdout.isatty()
        and wants_setup(sys.stdin, sys.stdout)
    )


def _setup(settings: Settings, args: argparse.Namespace) -> int:
    from cli.setup.dialogue import run_setup
    from cli.setup.ports import Outside
    from data.settings import set_by_variables

    logging.getLogger().addHandler(logging.NullHandler())  # the dialogue tells it in its own words
    given = args.command == "setup"
    try:
        options = setup_options.options_from(args, os.environ) if given else setup_options.Options()
    except setup_options.Unanswerable as error:
        print(error, file=sys.stderr)
        return USAGE_ERROR
    return run_setup(
        settings,
        options=options,
        shadowing=set_by_variables(os.environ),
        outside=Outside(
            check_token=_check_token,
            list_models=_list_models,
            local_model=lambda draft: _embedded_model(draft, args),
            turns=_scratch_turns,
        ),
        stdin=sys.stdin,
        stdout=sys.stdout,
    )


async def _check_token(token: str) -> TokenReport:
    from cogs.token_check import check_token

    return await check_token(token)


async def _list_models(settings: Settings) -> Sequence[str]:
    provider = _provider(settings, settings.base_url or "", settings.model)
    try:
        return await provider.list_models()
    finally:
        await provider.close()


@asynccontextmanager
async def _scratch_turns(
    settings: Settings, local: LocalModel | None
) -> AsyncGenerator[ChatService]:
    """The bot's turns on a store that is thrown away, with no luck in them."""
    with TemporaryDirectory(prefix="verbatim-", ignore_cleanup_errors=True) as folder:
        scratch = settings.model_copy(update={"home": Path(folder), "temperature": 0.0})
        async with _wired(scratch, local, logged=False) as wired:
            yield wired.service


def _embedded_model(settings: Settings, args: argparse.Namespace) -> LocalModel:
    """The model for the embedded endpoint, after the operator has agreed to it."""
    from rich.console import Console

    from cli.embedded.catalogue import named
    from cli.embedded.offer import offer_model
    from data.settings import SettingsError

    chosen = None
    if settings.model and settings.model_path is None:
        try:
            chosen = named(settings.model)
        except ValueError as error:
            raise SettingsError(
                "VERBATIM_MODEL without VERBATIM_BASE_URL chooses the embedded model, but "
                f"{error}. Set the URL of the endpoint that has it, or one of these names."
            ) from error
    return offer_model(
        settings.home,
        model_path=settings.model_path,
        model=chosen,
        assume_yes=args.yes,
        console=Console(stderr=True),
        stdin=sys.stdin,
    )


async def _run(args: argparse.Namespace, settings: Settings, local: LocalModel | None) -> int:
    async with _wired(settings, local) as wired:
        if args.command == "snapshot":
            return await snapshot.run_snapshot(wired.service, args, sys.stdout)
        if args.command == "tune":
            return await tune.run_tune(wired.desk.tuner, args, sys.stdout)
        if args.command == "console":
            return await _console(wired)
        if settings.discord_token is None:
            print(
                "DISCORD_TOKEN is not set, so this is a chat in the terminal. Set it in .env to "
                "connect to Discord.",
                file=sys.stderr,
            )
            return await _console(wired)
        from chat.warming import warming
        from cli.leaving import Deadline
        from cli.watching import watched
        from cogs.client import run_bot

        unknown = wired.desk.prober.probe_unknown if settings.probe == "on" else None
        async with (
            warming(wired.store, wired.service.warm_up, first=unknown),
            backup.backing_up(settings),
            watched(wired.service.figures, wired.store, settings, sessions=wired.service.sessions),
        ):
            return await run_bot(
                wired.service,
                wired.store.meta,
                wired.desk,
                token=settings.discord_token.get_secret_value(),
                home=settings.home,
                sessions=wired.service.sessions,
                on_stop=Deadline().begin,
            )


async def _console(wired: Wired) -> int:
    from cli import console

    provider = wired.provider
    return await console.run_console(
        wired.service,
        greeting=[f"{provider.model or 'a model'} at {provider.endpoint}"],
        stdin=sys.stdin,
        stdout=sys.stdout,
    )


@asynccontextmanager
async def _wired(
    settings: Settings, local: LocalModel | None, *, logged: bool = True
) -> AsyncGenerator[Wired]:
    """Open everything in order; leaving closes it in reverse."""
    from chat.desk import open_desk
    from chat.service import Generation
    from chat.services import operators_services
    from chat.watched import WatchedService
    from data.keys import open_keys
    from data.mcp_file import MCP_FILE_NAME, load_mcp_servers
    from data.store import open_store
    from net.fetch import Fetcher
    from providers.openai.fallbacks import fallback_providers
    from providers.openai.guilds import guilds_provider
    from tools.builtin import ON_BY_DEFAULT, builtin_tools
    from tools.builtin.outside import OutsideTools
    from tools.worker.process import Worker

    async with AsyncExitStack() as stack:
        keep = timedelta(days=settings.keep_turns) if settings.keep_turns else None
        store = await stack.enter_async_context(open_store(settings.home, keep_turns=keep))
        if logged:
            log_as_set(settings)
        base_url, model = settings.base_url, settings.model
        if base_url is None:
            if local is None:
                raise AssertionError("neither an endpoint nor a model of our own")
            from cli.embedded.process import EmbeddedEndpoint

            print(f"Loading {local.name} ...", file=sys.stderr)
            embedded = await stack.enter_async_context(EmbeddedEndpoint(settings.home, local))
            base_url, model = embedded.base_url, embedded.model
        provider = _provider(settings, base_url, model)
        fallbacks = fallback_providers(settings.fallbacks, limits=_limits(settings))
        for each in (provider, *fallbacks):
            stack.push_async_callback(each.close)
        try:
            await provider.resolve_model()
        except EndpointError as error:
            # The endpoint may come up later; every turn asks again and says what is wrong.
            log.warning("%s %s", error.member, error.remedy)
        master_key = settings.master_key.get_secret_value() if settings.master_key else None
        worker = Worker()
        desk = open_desk(
            store,
            open_keys(settings.home, master_key),
            operators=provider,
            with_model=lambda other: _provider(settings, base_url, other),
            connect=partial(guilds_provider, limits=_limits(settings)),
            approved_guilds=settings.approved_guilds,
            dms=settings.dms,
            fallbacks=fallbacks,
            probes_changes=True,
            services=operators_services(settings),
            mcp_servers=load_mcp_servers(settings.home / MCP_FILE_NAME, os.environ),
            mcp_logs=settings.home / "logs",
            worker=worker,
        )
        for part in (worker, desk.endpoints, desk.knowledge, desk.mcp.toolset, desk.prober):
            stack.push_async_callback(part.close)
        await desk.mcp.toolset.start()
        outside = OutsideTools(desk.services, Fetcher(), worker, on=ON_BY_DEFAULT)
        service = WatchedService(
            store=store,
            routes=desk.endpoints,
            toolsets=[builtin_tools(), outside, desk.grounder, desk.server_tools, desk.mcp.toolset],
            generation=Generation.of(settings, embedded=local is not None),
            persona=settings.persona,
            secrets=settings.secrets(),
            is_operator=lambda user_id: user_id in desk.admission.operators,
            schedulers=desk.schedulers,
            whereabouts=desk.whereabouts,
            grounder=desk.grounder,
            policies=desk.policies,
            usage=desk.usage,
        )
        yield Wired(settings=settings, store=store, provider=provider, service=service, desk=desk)


def _provider(settings: Settings, base_url: str, model: str | None) -> OpenAIProvider:
    from providers.openai.adapter import OpenAIProvider

    return OpenAIProvider(
        base_url=base_url,
        model=model,
        api_key=settings.api_key.get_secret_value() if settings.api_key else None,
        limits=_limits(settings),
    )


def _limits(settings: Settings) -> Limits:
    from providers.openai.adapter import Limits

    return Limits(first_token=settings.first_token_timeout, idle=settings.idle_timeout)


if __name__ == "__main__":
    sys.exit(main())
