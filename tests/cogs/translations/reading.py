"""Finds in the source what is said to members."""

import ast
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parents[3]
LAYERS = ("cogs", "chat", "data", "tools", "providers", "prompt", "net")
_UNSAID = {"AssertionError", "_command"}
"""What is called with texts for developers, or with descriptions of commands."""

_REFUSING = {
    "AddressRefused",
    "FetchBlocked",
    "FetchFailed",
    "JobFailed",
    "JobRefused",
    "KnowledgeRefused",
    "McpRefused",
    "Outdated",
    "SchemaRefused",
    "SetupRefused",
}
"""Errors whose texts admins read."""
_REASONS = (
    *("net/fetch.py", "net/guard.py", "tools/worker/child.py", "tools/worker/documents.py"),
    *("tools/worker/page.py", "tools/worker/pdf.py", "tools/worker/process.py"),
    "tools/worker/word.py",
)
"""Modules whose every text is a reason that an admin reads, wherever it stands in them."""
_FOR_MODELS = ("tools/worker/arithmetic.py", "tools/worker/pictures.py")
"""Modules whose refusals only a model reads."""

_WORDS = re.compile(r"[A-Za-z]{2,}")
_PLACEHOLDER = re.compile(r"\{\w+\}")


def skeleton(text: str) -> str:
    """A text with all its placeholders alike."""
    return _PLACEHOLDER.sub("{}", text)


def sources() -> Iterator[Path]:
    for layer in LAYERS:
        yield from sorted((ROOT / layer).rglob("*.py"))


def literals(path: Path) -> Iterator[str]:
    """Every text in a module; what an f-string fills in stands as {}."""
    yield from _literals(ast.walk(ast.parse(path.read_text("utf-8"))))


def plainly_said(path: Path) -> Iterator[str]:
    """Texts of two words and more, without docstrings, descriptions of commands, the log and what
    an AssertionError says."""
    nodes = _speaking(ast.parse(path.read_text("utf-8")))
    yield from (
        text for text in _literals(nodes) if re.search(r"[A-Za-z]{2,}(?: [a-z])* [a-z]{2,}", text)
    )


def _speaking(node: ast.AST) -> Iterator[ast.AST]:
    """The node and what is in it, but for what members never read."""
    yield node
    for child in ast.iter_child_nodes(node):
        is_docstring = isinstance(child, ast.Expr) and isinstance(child.value, ast.Constant)
        is_description = (
            isinstance(child, ast.keyword)
            and child.arg == "description"
            and isinstance(child.value, ast.Constant)
        )
        is_fragment = isinstance(node, ast.JoinedStr) and isinstance(child, ast.Constant)
        if not (is_docstring or is_description or is_fragment or _is_aside(child)):
            yield from _speaking(child)


def _is_aside(node: ast.AST) -> bool:
    """Whether it is a line for the log, a text about an option, or one for the developer."""
    if not isinstance(node, ast.Call):
        return False
    if not isinstance(node.func, ast.Attribute):
        return isinstance(node.func, ast.Name) and node.func.id in _UNSAID
    whose = node.func.value
    return node.func.attr == "describe" or (isinstance(whose, ast.Name) and whose.id == "log")


def _literals(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield skeleton(node.value)
        elif isinstance(node, ast.JoinedStr):
            yield "".join(
                str(part.value) if isinstance(part, ast.Constant) else "{}" for part in node.values
            )


def said(path: Path) -> Iterator[tuple[str, ...]]:
    """What a module says by `tr`, and by `tr_count` in two forms."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            continue
        count = {"tr": 1, "tr_count": 2}.get(node.func.id, 0)
        if count:
            texts = [ast.literal_eval(argument) for argument in node.args[1 : 1 + count]]
            yield tuple(texts)


@dataclass(frozen=True, slots=True)
class Shown:
    """An argument that a client shows: what it is given to, how long Discord lets it be, and its
    expression."""

    where: str
    most: int
    value: ast.expr


_SHOWN = {
    ("Modal", "title"): 45,
    ("Form", "title"): 45,
    ("__init__", "title"): 45,
    ("Label", "text"): 45,
    ("Label", "description"): 100,
    ("TextInput", "placeholder"): 100,
    ("Button", "label"): 80,
    ("button", "label"): 80,
    ("SelectOption", "label"): 100,
    ("SelectOption", "description"): 100,
    **{
        (kind, "placeholder"): 150
        for kind in ("Select", "ChannelSelect", "MentionableSelect", "RoleSelect", "UserSelect")
    },
    **{
        (method, "content"): 2000
        for method in ("send", "send_message", "edit", "edit_message", "edit_original_response")
    },
}
_FIRST = {
    **dict.fromkeys(("send", "send_message", "reply", "_say"), 2000),
    "TextDisplay": 4000,
}
"""What shows the text that is its first argument, or its second after an interaction."""


def shown(path: Path) -> Iterator[Shown]:
    """Every argument of a module that a client shows."""
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if not isinstance(node, ast.Call):
            continue
        name = getattr(node.func, "attr", getattr(node.func, "id", ""))
        for keyword in node.keywords:
            if most := _SHOWN.get((name, keyword.arg or "")):
                yield Shown(f"{path.name}:{keyword.value.lineno}", most, keyword.value)
        if most := _FIRST.get(name):
            for argument in node.args[:2]:
                yield Shown(f"{path.name}:{argument.lineno}", most, argument)


def untold(value: ast.expr) -> Iterator[str]:
    """Words in an expression that no call gives another language; an address has none."""
    match value:
        case ast.Call(func=ast.Name(id="tr" | "tr_count" | "retold" | "named" | "choice")):
            return
        case ast.Compare() | ast.Subscript():
            return
        case ast.Constant(value=str(text)) if _WORDS.search(text) and "://" not in text:
            yield text
        case _:
            for child in ast.iter_child_nodes(value):
                if isinstance(child, ast.expr):
                    yield from untold(child)


def told(value: ast.expr) -> Iterator[str]:
    """Texts in an expression that `tr` says without values."""
    for node in ast.walk(value):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id == "tr"
            and not node.keywords
        ):
            yield ast.literal_eval(node.args[1])


def refusals() -> Iterator[str]:
    """What the layers below the cogs refuse to those who manage a server, in their words."""
    for path in sources():
        where = path.relative_to(ROOT).as_posix()
        if where in _REASONS:
            yield from (text for text in plainly_said(path) if not text.startswith("Mozilla/"))
        if where in _FOR_MODELS:
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in _REFUSING:
                yield from (text for text in _literals(node.args) if " " in text)
