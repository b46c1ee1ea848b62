"""Fills in the texts that admins write, out of a short list of variables.

Invariant: pure, and bounded by the length of the text: there are variables, `if` and a few filters,
and neither loops nor calls nor arithmetic nor a way into an object. What stands for a variable is
plain text, with the tokens of chat templates broken up. Filling in never raises.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from jinja2 import TemplateError, TemplateSyntaxError, nodes
from jinja2.sandbox import SandboxedEnvironment

from prompt.defused import defused

VARIABLES: Mapping[str, str] = {
    "bot_name": "the bot's name on this server",
    "server_name": "the server's name",
    "channel_name": "the channel's name, without the #",
    "channel_topic": "the channel's topic",
    "model": "the model that answers",
}
"""What a text may ask for. Only what seldom changes: with a variable, the head of the prompt
changes, and an endpoint has to read the whole prompt anew."""

FILTERS = ("lower", "upper", "title", "trim", "default")

LONGEST_VALUE = 1024
"""Characters of a variable's value, as long as a channel's topic may be."""

LONGEST_OUTPUT = 8000
"""Characters of a text that was filled in; what is longer ends there."""

_DEEPEST = 16
"""Levels of nesting; Python cannot compile many more."""

_ALLOWED: tuple[type[nodes.Node], ...] = (
    *(nodes.Template, nodes.Output, nodes.TemplateData, nodes.If, nodes.CondExpr),
    *(nodes.Name, nodes.Const, nodes.Filter, nodes.Test),
    *(nodes.And, nodes.Or, nodes.Not, nodes.Compare, nodes.Operand),
)

_KINDS: Mapping[type[nodes.Node], str] = {
    nodes.For: "a loop",
    nodes.Call: "a call",
    nodes.Getattr: "a dot",
    nodes.Getitem: "an index",
    nodes.Concat: "joining with ~",
    **dict.fromkeys((nodes.Add, nodes.Sub, nodes.Mul, nodes.Div, nodes.Pow), "arithmetic"),
}

_COMPARISONS = {"eq", "ne", "in", "notin"}
_TESTS = {"defined", "undefined"}

REMEDY = (
    "Use {{ variable }}, {% if variable %} ... {% else %} ... {% endif %}, ==, !=, in, and, or, "
    "not, and the filters lower, upper, title, trim, default. To write braces as they are, put the "
    "text between {% raw %} and {% endraw %}."
)
"""What is right in a template."""


class BadTemplate(ValueError):
    """A text that cannot be filled in. Tells the line and what is wrong there; REMEDY is what is
    right."""

    def __init__(self, line: int, problem: str) -> None:
        super().__init__(f"line {line}: {problem}")
        self.line = line
        self.problem = problem


@dataclass(frozen=True, slots=True, kw_only=True)
class Filled:
    """A text with its variables filled in. `remarks` tell what did not go as it was written."""

    text: str
    remarks: tuple[str, ...] = ()


def _sandbox() -> SandboxedEnvironment:
    made = SandboxedEnvironment(keep_trailing_newline=True)
    made.globals.clear()
    kept: dict[str, Callable[..., object]] = {name: made.filters[name] for name in FILTERS}
    made.filters.clear()
    made.filters.update(kept)
    return made


_ENVIRONMENT = _sandbox()


def check(text: str) -> tuple[str, ...]:
    """Names in `text` that are no variables and will be empty. Raises BadTemplate."""
    template = _parsed(text)
    try:
        _ENVIRONMENT.from_string(text).render(dict.fromkeys(VARIABLES, "x"))
    except (TemplateError, TypeError, ValueError) as error:
        raise BadTemplate(1, f"it cannot be filled in: {error}.") from None
    return _unknown(template)


def fill(text: str, values: Mapping[str, str]) -> Filled:
    """`text` with `values` in the place of its variables; what has none is empty, and named.

    A text that is no template is taken as it stands.
    """
    if "{" not in text:
        return Filled(text=text)
    known = {name: defused(values.get(name, ""))[:LONGEST_VALUE] for name in VARIABLES}
    try:
        unknown = _unknown(_parsed(text))
        filled = _ENVIRONMENT.from_string(text).render(known)
    except BadTemplate as error:
        return Filled(
            text=text, remarks=(f"taken as it stands: line {error.line}, {error.problem}",)
        )
    except (TemplateError, TypeError, ValueError) as error:
        return Filled(text=text, remarks=(f"taken as it stands: {error}",))
    remarks = [f"{name} is no variable and is empty" for name in unknown]
    if len(filled) > LONGEST_OUTPUT:
        remarks.append(f"cut at {LONGEST_OUTPUT:,} characters")
    return Filled(text=filled[:LONGEST_OUTPUT], remarks=tuple(remarks))


def _parsed(text: str) -> nodes.Template:
    try:
        template = _ENVIRONMENT.parse(text)
    except TemplateSyntaxError as error:
        raise BadTemplate(
            error.lineno, f"jinja2 says: {(error.message or 'it cannot be read').rstrip('.')}."
        ) from None
    except RecursionError:
        raise BadTemplate(1, "it is nested too deeply.") from None
    for node, depth, line in _walk(template):
        if problem := _problem(node, depth):
            raise BadTemplate(line, problem)
    return template


def _walk(template: nodes.Node) -> Iterator[tuple[nodes.Node, int, int]]:
    """Every node with its depth and line; without recursion, for the depth is what is in doubt."""
    waiting = [(template, 0, 1)]
    while waiting:
        node, depth, above = waiting.pop()
        line = int(getattr(node, "lineno", 0) or above)  # parts of an expression may have none
        yield node, depth, line
        waiting += [(child, depth + 1, line) for child in node.iter_child_nodes()]


def _problem(node: nodes.Node, depth: int) -> str:
    if depth > _DEEPEST:
        return "it is nested too deeply."
    match node:
        case nodes.Filter(name=name) if name not in FILTERS:
            return f"there is no filter {name!r}."
        case nodes.Filter(name=name, args=args, kwargs=named, dyn_args=more, dyn_kwargs=rest) if (
            len(args) > (name == "default") or named or more or rest
        ):
            return f"the filter {name!r} does not take this."
        case nodes.Test(name=name) if name not in _TESTS:
            return f"there is no test {name!r}."
        case nodes.Operand(op=op) if op not in _COMPARISONS:
            return "only ==, != and in compare."
        case nodes.Const(value=value) if not isinstance(value, str):
            return "only texts in quotes can stand here."
        case _ if not isinstance(node, _ALLOWED):
            return (
                f"{_KINDS.get(type(node), type(node).__name__.lower())} is not for templates here."
            )
        case _:
            return ""


def _unknown(template: nodes.Template) -> tuple[str, ...]:
    names = {node.name for node in template.find_all(nodes.Name)}
    return tuple(sorted(names - VARIABLES.keys()))
