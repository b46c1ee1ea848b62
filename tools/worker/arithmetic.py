"""Works out an expression as people write it.

Invariant: numbers are exact fractions for as long as the operations allow; a result that was
rounded says so. The size of a power is known before it is computed.
"""

import ast
import math
import operator
import re
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from typing import Any, TypeAlias

from simpleeval import (  # pyright: ignore[reportMissingTypeStubs]
    InvalidExpression,
    SimpleEval,
)

from tools.worker.jobs import LONGEST_EXPRESSION
from tools.worker.refusing import JobRefused

MOST_BITS = 100_000
"""Of a whole number: about 30,000 digits."""

_MOST_DIGITS = 400
"""Written out; larger numbers are given rounded."""

_LARGEST_FACTORIAL = 5000
_SIGNIFICANT = 15
_NOTHING = 1e-15

Number: TypeAlias = Fraction | float

_TOO_LARGE = "The result would be too large to work out."
_UNREADABLE = (
    "That is no expression that I can read. Write it like (2 + 3) * 4^2, 15% of 80 or sqrt(2)."
)


def calculated(expression: str) -> str:
    """The expression as it was read, and its value. Raises JobRefused."""
    if len(expression) > LONGEST_EXPRESSION:
        raise JobRefused(f"An expression has at most {LONGEST_EXPRESSION} characters.")
    read = _normalised(expression)
    try:
        tree = _Exact(read).visit(ast.parse(read, mode="eval"))
        evaluator: Any = SimpleEval(operators=_OPERATORS, functions=_FUNCTIONS, names=_NAMES)
        value = evaluator.eval(read, previously_parsed=tree.body)
    except (SyntaxError, InvalidExpression, RecursionError) as error:
        raise JobRefused(_explained(error)) from error
    except ZeroDivisionError as error:
        raise JobRefused("That divides by zero, which has no result.") from error
    except OverflowError as error:
        raise JobRefused(_TOO_LARGE) from error
    except ValueError as error:
        raise JobRefused("That has no result among the real numbers.") from error
    except TypeError as error:
        raise JobRefused(f"{_UNREADABLE} Perhaps a function has too many values.") from error
    return f"{read.replace('**', '^')} {_written(value)}"


def _explained(error: Exception) -> str:
    name = getattr(error, "func_name", None) or getattr(error, "name", None)
    if isinstance(name, str):
        known = ", ".join([*sorted(_FUNCTIONS), *sorted(_NAMES)])
        return f"{name!r} is unknown. Known are: {known}."
    return _UNREADABLE


# --- reading ---

_SIGNS = str.maketrans(
    {"×": "*", "·": "*", "⋅": "*", "÷": "/", "−": "-", "–": "-", "∶": "/", "π": "pi", "τ": "tau"}
)
_RAISED = {"²": "**2", "³": "**3"}
_THOUSANDS = re.compile(r"(?<![\w.,])\d{1,3}(?:,\d{3})+(?![\w,])")
_PERCENT = re.compile(r"(\d[\d_]*(?:\.\d+)?)\s*%(?!\s*[\w(.])")
_PERCENT_OF = re.compile(r"(\d[\d_]*(?:\.\d+)?)\s*(?:%|percent)\s*of\b", re.IGNORECASE)
_FACTORIAL = re.compile(r"(\d+)\s*!(?!=)")
_ROOT = re.compile(r"√\s*(\d+(?:\.\d+)?)")
_LEADING_ZEROS = re.compile(r"(?<![\w.])0+(?=\d)")


def _normalised(expression: str) -> str:
    """The expression in Python's spelling, with marks of people's own made into calls."""
    text = " ".join(expression.translate(_SIGNS).split()).rstrip("=? ").replace("^", "**")
    for sign, power in _RAISED.items():
        text = text.replace(sign, power)
    text = _without_thousands(text)
    text = _ROOT.sub(r"sqrt(\1)", text).replace("√", "sqrt")
    text = _PERCENT_OF.sub(r"percent(\1) *", text)
    text = _PERCENT.sub(r"percent(\1)", text)
    text = _FACTORIAL.sub(r"factorial(\1)", text)
    return _LEADING_ZEROS.sub("", text)


def _without_thousands(text: str) -> str:
    """1,234 is one number, except between the values of a function that takes several."""
    inside: list[bool] = []
    several = [False] * len(text)
    for at, character in enumerate(text):
        if character == "(":
            name = re.search(r"[a-z]\w*$", text[:at].rstrip())
            inside.append(name is not None and name[0] in _OF_SEVERAL)
        elif character == ")" and inside:
            inside.pop()
        several[at] = bool(inside and inside[-1])
    return _THOUSANDS.sub(
        lambda found: found[0] if several[found.start()] else found[0].replace(",", ""), text
    )


class _Exact(ast.NodeTransformer):
    """Makes numbers exact, and percentages what people mean; lets nothing else than numbers,
    names, operators and calls pass."""

    _KNOWN = (
        ast.Expression,
        ast.BinOp,
        ast.UnaryOp,
        ast.Compare,
        ast.Call,
        ast.Name,
        ast.Load,
        ast.operator,
        ast.unaryop,
        ast.cmpop,
    )

    def __init__(self, text: str) -> None:
        self._text = text

    def generic_visit(self, node: ast.AST) -> ast.AST:
        if not isinstance(node, self._KNOWN):
            raise JobRefused(_UNREADABLE)
        return super().generic_visit(node)

    def visit_Constant(self, node: ast.Constant) -> ast.Constant:
        if isinstance(node.value, bool) or not isinstance(node.value, int | float):
            raise JobRefused(_UNREADABLE)
        return _constant(self._exactly(node, node.value))

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        """200 + 10% is a tenth more, as on every pocket calculator."""
        right = node.right
        is_percent = (
            isinstance(right, ast.Call)
            and isinstance(right.func, ast.Name)
            and right.func.id == "percent"
        )
        self.generic_visit(node)
        if not (is_percent and isinstance(node.op, ast.Add | ast.Sub)):
            return node
        factor = ast.BinOp(left=_constant(Fraction(1)), op=node.op, right=node.right)
        return ast.BinOp(left=node.left, op=ast.Mult(), right=factor)

    def _exactly(self, node: ast.Constant, value: float) -> Fraction:
        if isinstance(value, int):
            return Fraction(value)
        written = ast.get_source_segment(self._text, node) or repr(value)
        try:
            number = Decimal(written.replace("_", ""))
        except InvalidOperation as error:
            raise JobRefused(_UNREADABLE) from error
        if number and abs(number.adjusted()) > MOST_BITS // 4:
            raise OverflowError
        return Fraction(number)


def _constant(value: Fraction) -> ast.Constant:
    """A literal such as no source text can spell; simpleeval passes its value on as it is."""
    return ast.Constant(value)  # pyright: ignore[reportArgumentType]


# --- working out ---


def _power(base: Number, exponent: Number) -> Number:
    if isinstance(base, Fraction) and isinstance(exponent, Fraction) and exponent.denominator == 1:
        size = max(base.numerator.bit_length(), base.denominator.bit_length())
        if size > 1 and size * abs(exponent.numerator) > MOST_BITS:
            raise OverflowError
        return base**exponent.numerator
    return math.pow(base, exponent)


def _product(one: Number, other: Number) -> Number:
    if _bits(one) + _bits(other) > 4 * MOST_BITS:
        raise OverflowError
    return one * other


def _quotient(one: Number, other: Number) -> Number:
    return one / other


def _whole_quotient(one: Number, other: Number) -> Number:
    return Fraction(one // other)


def _percent(number: Number) -> Number:
    return number / Fraction(100)


def _ceiling(number: Number) -> Number:
    return Fraction(math.ceil(number))


def _floor(number: Number) -> Number:
    return Fraction(math.floor(number))


def _bits(number: Number) -> int:
    """How much a number takes to hold; a rounded one always takes the same."""
    if not isinstance(number, Fraction):
        return 64
    return number.numerator.bit_length() + number.denominator.bit_length()


def _root(number: Number) -> Number:
    if isinstance(number, Fraction) and number >= 0:
        top, bottom = math.isqrt(number.numerator), math.isqrt(number.denominator)
        if top * top == number.numerator and bottom * bottom == number.denominator:
            return Fraction(top, bottom)
    return math.sqrt(number)


def _whole(number: Number, most: int | None = None) -> int:
    if number != int(number):
        raise ValueError("not whole")
    if most is not None and abs(number) > most:
        raise OverflowError
    return int(number)


def _rounded(number: Number, digits: Number = Fraction(0)) -> Number:
    """Halves go away from zero, as is taught in schools."""
    shift = Fraction(10) ** _whole(digits, 1000)
    scaled = abs(Fraction(number)) * shift + Fraction(1, 2)
    return Fraction(math.floor(scaled)) / shift * (-1 if number < 0 else 1)


def _logarithm(number: Number, base: Number | None = None) -> Number:
    """Without a base, to base 10, as on a calculator; `ln` is the natural one."""
    if base is None:
        return math.log10(number)
    return math.log(number) / math.log(base)


def _of_whole(function: Callable[..., int], most: int | None = None) -> Callable[..., Fraction]:
    return lambda *numbers: Fraction(function(*(_whole(one, most) for one in numbers)))


def _mean(*numbers: Number) -> Number:
    return sum(numbers[1:], numbers[0]) / Fraction(len(numbers))


_OPERATORS: dict[type[ast.AST], Callable[..., Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: _product,
    ast.Div: _quotient,
    ast.FloorDiv: _whole_quotient,
    ast.Mod: operator.mod,
    ast.Pow: _power,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}

_OF_SEVERAL: dict[str, Callable[..., Any]] = {
    "comb": _of_whole(math.comb, _LARGEST_FACTORIAL),
    "gcd": _of_whole(math.gcd),
    "hypot": math.hypot,
    "lcm": _of_whole(math.lcm),
    "log": _logarithm,
    "max": max,
    "mean": _mean,
    "min": min,
    "mod": operator.mod,
    "perm": _of_whole(math.perm, _LARGEST_FACTORIAL),
    "pow": _power,
    "round": _rounded,
    "sum": lambda *numbers: sum(numbers),
}
"""Functions that take more than one value."""

_FUNCTIONS: dict[str, Callable[..., Any]] = {
    **_OF_SEVERAL,
    "abs": abs,
    "acos": math.acos,
    "asin": math.asin,
    "atan": math.atan,
    "cbrt": math.cbrt,
    "ceil": _ceiling,
    "cos": math.cos,
    "cosh": math.cosh,
    "degrees": math.degrees,
    "exp": math.exp,
    "factorial": _of_whole(math.factorial, _LARGEST_FACTORIAL),
    "floor": _floor,
    "ln": math.log,
    "log10": math.log10,
    "log2": math.log2,
    "percent": _percent,
    "radians": math.radians,
    "sin": math.sin,
    "sinh": math.sinh,
    "sqrt": _root,
    "tan": math.tan,
    "tanh": math.tanh,
}

_NAMES: dict[str, Number] = {"e": math.e, "pi": math.pi, "tau": math.tau}


# --- writing ---


def _written(value: object) -> str:
    if isinstance(value, bool):
        return f"is {'true' if value else 'false'}"
    if isinstance(value, Fraction):
        return _written_exactly(value)
    if isinstance(value, int | float) and math.isfinite(value):
        near = 0.0 if abs(value) < _NOTHING else value
        return f"≈ {near:.{_SIGNIFICANT}g}"
    raise JobRefused(_UNREADABLE if not isinstance(value, float) else _TOO_LARGE)


def _written_exactly(value: Fraction) -> str:
    if value.denominator == 1:
        whole = Decimal(value.numerator)
        digits = whole.adjusted() + 1
        if digits <= _MOST_DIGITS:
            return f"= {value.numerator}"
        return f"≈ {whole:.{_SIGNIFICANT}e} (a number of {digits:,} digits)"
    if (places := _places(value.denominator)) is not None:
        scaled = value * 10**places
        sign, digits = "-" if scaled < 0 else "", str(abs(scaled.numerator)).rjust(places + 1, "0")
        return f"= {sign}{digits[:-places]}.{digits[-places:]}"
    rounded = f"≈ {_nearby(value)}"
    exact = f"{value.numerator}/{value.denominator}" if _bits(value) < 100 else ""
    return f"{rounded} (exactly {exact})" if exact else rounded


def _places(denominator: int) -> int | None:
    """Decimal places that write a fraction whole, if 30 are enough."""
    return next((n for n in range(1, 31) if 10**n % denominator == 0), None)


def _nearby(value: Fraction) -> str:
    return f"{Decimal(value.numerator) / Decimal(value.denominator):.{_SIGNIFICANT}g}"
