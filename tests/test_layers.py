"""Rules of the house that import contracts cannot express."""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parents[1]
LAYERS = ("cogs", "cli", "chat", "tools", "providers", "data", "prompt", "net")
LONGEST = 400
VAGUE = {"utils", "util", "helpers", "helper", "common", "manager", "misc"}


def trees(*places: str) -> Iterator[tuple[str, ast.Module]]:
    """Every module in the given places, by its path in the repository."""
    for place in places:
        start = ROOT / place
        for path in [start] if start.is_file() else sorted(start.rglob("*.py")):
            tree = ast.parse(path.read_text(encoding="utf-8"))
            yield path.relative_to(ROOT).as_posix(), tree


def imported(tree: ast.Module) -> Iterator[str]:
    """Modules that are imported, also late and for types only; relative ones begin with a dot."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            yield "." * node.level + (node.module or "")


def named(node: ast.AST) -> Iterator[str]:
    """Every attribute and name that is used somewhere in `node`."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Attribute):
            yield inner.attr
        elif isinstance(inner, ast.Name):
            yield inner.id


SOURCES = dict(trees("bot.py", *LAYERS))


def test_there_is_something_to_look_at() -> None:
    assert len(SOURCES) > 60
    assert {path.split("/")[0] for path in SOURCES} == {"bot.py", *LAYERS}


def test_nothing_imports_the_composition_root() -> None:
    found = [
        (path, name)
        for path, tree in trees("bot.py", *LAYERS, "tests")
        for name in imported(tree)
        if name.split(".")[0] == "bot" or name.startswith(".")
    ]
    assert found == []


def test_only_the_discord_surface_knows_discord() -> None:
    """The contracts look at the layers; here the root is held to its promise as well."""
    homes = {"discord": "cogs/", "aiosqlite": "data/", "openai": "providers/openai/"}
    found = [
        (path, package)
        for path, tree in SOURCES.items()
        for package in {name.split(".")[0] for name in imported(tree)} & set(homes)
        if not path.startswith(homes[package]) and (path, package) != ("bot.py", "discord")
    ]
    assert found == []


def test_a_module_is_named_for_its_duty_and_states_it() -> None:
    vague = [
        path for path in SOURCES if Path(path).stem in VAGUE or Path(path).parent.name in VAGUE
    ]
    silent = [path for path, tree in SOURCES.items() if not ast.get_docstring(tree)]
    assert (vague, silent) == ([], [])


def test_a_module_is_short_enough_to_be_read() -> None:
    sizes = {path: len((ROOT / path).read_text(encoding="utf-8").splitlines()) for path in SOURCES}
    assert {path: size for path, size in sizes.items() if size >= LONGEST} == {}


def test_the_prompt_asks_nothing_of_the_world() -> None:
    asking = {"now", "utcnow", "today", "open", "getenv", "environ", "urlopen", "random"}
    used = {path: asking & set(named(tree)) for path, tree in trees("prompt")}
    # Snapshot.now is a value that was gathered before.
    assert {path: names for path, names in used.items() if names - {"now"}} == {}
    assert not [path for path, tree in trees("prompt") if "datetime.now(" in ast.unparse(tree)]


def test_nothing_is_read_from_the_environment_at_import() -> None:
    reading = {"environ", "getenv", "read_text", "read_bytes", "load_settings"}
    found = [
        path
        for path, tree in SOURCES.items()
        for statement in tree.body
        if not isinstance(
            statement,
            ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef | ast.If | ast.ImportFrom,
        )
        and reading & set(named(statement))
    ]
    assert found == []
