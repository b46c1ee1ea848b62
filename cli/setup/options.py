"""What may be given on the command line instead of typed as an answer.

Invariant: secrets come from variables by name, never as arguments, which every user of the
machine can read.
"""

import argparse
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


class Unanswerable(Exception):
    """A question that nobody can be asked has no answer. The text says which option to give."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Options:
    """Answers given beforehand. `look` are further hosts, or `host:port`, to look at."""

    base_url: str | None = None
    embedded: bool = False
    model: str | None = None
    token: str | None = field(default=None, repr=False)
    api_key: str | None = field(default=None, repr=False)
    look: Sequence[str] = ()
    no_test: bool = False
    yes: bool = False


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Arguments of `bot.py setup`."""
    where = parser.add_mutually_exclusive_group()
    where.add_argument("--base-url", metavar="URL", help="the endpoint's base URL")
    where.add_argument(
        "--embedded", action="store_true", help="a model that the bot runs on this machine"
    )
    parser.add_argument("--model", metavar="NAME", help="the model")
    parser.add_argument(
        "--look",
        metavar="HOST[:PORT]",
        action="append",
        default=[],
        help="look for model servers there too; may be given several times",
    )
    parser.add_argument(
        "--token-env", metavar="NAME", help="the variable that holds the Discord token to keep"
    )
    parser.add_argument(
        "--key-env", metavar="NAME", help="the variable that holds the endpoint's key to keep"
    )
    parser.add_argument(
        "--no-test", action="store_true", help="neither try a turn nor ask Discord about the token"
    )
    parser.add_argument(
        "--yes", action="store_true", help="ask nothing; take the defaults, or end with an error"
    )


def options_from(args: argparse.Namespace, environ: Mapping[str, str]) -> Options:
    """The options given. Raises Unanswerable where a named variable is not set."""
    return Options(
        base_url=args.base_url,
        embedded=args.embedded,
        model=args.model,
        token=_secret(environ, args.token_env),
        api_key=_secret(environ, args.key_env),
        look=tuple(args.look),
        no_test=args.no_test,
        yes=args.yes,
    )


def _secret(environ: Mapping[str, str], name: str | None) -> str | None:
    if name is None:
        return None
    value = environ.get(name, "").strip()
    if not value:
        raise Unanswerable(f"The variable {name} is not set.")
    return value
