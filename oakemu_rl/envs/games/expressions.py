"""The closed language in which a game's file states rewards and ends over its named values.

Integers, names, `previous.name` (the value one frame earlier), `+ - *`, comparisons, `and`, `or`,
`not`, `min(...)`, `max(...)` and brackets; nothing else. Comparisons, `and`, `or` and `not` give 0
or 1. Text is parsed into a tree, checked node by node, and turned into closures; it is never
evaluated.
"""

import ast
import operator
from collections.abc import Callable, Collection, Mapping

import attrs

from oakemu_rl.config.wording import nearest

Values = Mapping[str, int]
Evaluate = Callable[[Values, Values], int]

_ARITHMETIC: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
}
_COMPARISONS: dict[type[ast.cmpop], Callable[[int, int], bool]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
}
_FUNCTIONS: dict[str, Callable[..., int]] = {"min": min, "max": max}
_ALLOWED = (
    "allowed are whole numbers, value names, previous.NAME, + - *, comparisons, and, or, not, "
    "min(...) and max(...)"
)
_LONGEST = 1000  # characters; deep nesting cannot exhaust the stack within it
_DEEPEST = 50


class ExpressionError(ValueError):
    """An expression is not in the language; the message quotes it and names the part."""


@attrs.frozen(kw_only=True, eq=False)
class Expression:
    """A checked expression. `names` are the values that it reads, of either frame."""

    text: str
    names: frozenset[str]
    evaluate: Evaluate = attrs.field(repr=False)
    """Called with the current and the previous values; returns an integer."""


def compile_expression(text: str, *, names: Collection[str]) -> Expression:
    """Check `text` against the language and the known `names`.

    Raises:
        ExpressionError: it is no expression of the language, or reads an unknown name.
    """
    if len(text) > _LONGEST:
        raise ExpressionError(
            f"the expression has {len(text)} characters, allowed are at most {_LONGEST}"
        )
    try:
        tree = ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, MemoryError, RecursionError):
        raise ExpressionError(f"{text!r} is not a complete expression; {_ALLOWED}") from None
    reader = _Reader(text=text, known=tuple(names))
    evaluate = reader.read(tree, depth=0)
    return Expression(text=text, names=frozenset(reader.seen), evaluate=evaluate)


class _Reader:
    """Turns the nodes of one expression into closures and collects the names that it meets."""

    def __init__(self, *, text: str, known: tuple[str, ...]) -> None:
        self._text = text
        self._known = known
        self.seen: set[str] = set()

    def read(self, node: ast.expr, *, depth: int) -> Evaluate:
        if depth > _DEEPEST:
            raise ExpressionError(f"{self._text!r} is nested deeper than {_DEEPEST} levels")
        inner = [self.read(part, depth=depth + 1) for part in _operands(node)]
        match node:
            case ast.Constant(value=int(number)) if type(number) is int:
                return lambda _now, _before: number
            case ast.Name(id=name):
                self._know(name)
                return lambda now, _before: now[name]
            case ast.Attribute(value=ast.Name(id="previous"), attr=name):
                self._know(name)
                return lambda _now, before: before[name]
            case ast.UnaryOp(op=ast.USub()):
                return _negated(inner[0])
            case ast.UnaryOp(op=ast.Not()):
                return _inverted(inner[0])
            case ast.BinOp(op=sign) if type(sign) in _ARITHMETIC:
                return _combined(_ARITHMETIC[type(sign)], inner)
            case ast.Compare(ops=signs) if all(type(sign) in _COMPARISONS for sign in signs):
                return _compared([_COMPARISONS[type(sign)] for sign in signs], inner)
            case ast.BoolOp(op=ast.And()):
                return lambda now, before: int(all(part(now, before) for part in inner))
            case ast.BoolOp(op=ast.Or()):
                return lambda now, before: int(any(part(now, before) for part in inner))
            case ast.Call(func=ast.Name(id=name), keywords=[]) if name in _FUNCTIONS and inner:
                function = _FUNCTIONS[name]
                return lambda now, before: function([part(now, before) for part in inner])
        part = ast.unparse(node)
        raise ExpressionError(f"{part!r} in {self._text!r} is not understood; {_ALLOWED}")

    def _know(self, name: str) -> None:
        if name not in self._known:
            close = nearest(name, self._known)
            hint = f"; did you mean {close!r}?" if close else ""
            raise ExpressionError(
                f"no value is called {name!r} in {self._text!r}{hint} "
                f"(values: {', '.join(self._known) or 'none'})"
            )
        self.seen.add(name)


def _operands(node: ast.expr) -> list[ast.expr]:
    match node:
        case ast.UnaryOp(operand=operand):
            return [operand]
        case ast.BinOp(left=left, right=right):
            return [left, right]
        case ast.Compare(left=left, comparators=others):
            return [left, *others]
        case ast.BoolOp(values=parts):
            return parts
        case ast.Call(args=parts):
            return parts
    return []


def _negated(part: Evaluate) -> Evaluate:
    return lambda now, before: -part(now, before)


def _inverted(part: Evaluate) -> Evaluate:
    return lambda now, before: int(not part(now, before))


def _combined(function: Callable[[int, int], int], parts: list[Evaluate]) -> Evaluate:
    left, right = parts
    return lambda now, before: function(left(now, before), right(now, before))


def _compared(functions: list[Callable[[int, int], bool]], parts: list[Evaluate]) -> Evaluate:
    def evaluate(now: Values, before: Values) -> int:
        numbers = [part(now, before) for part in parts]
        pairs = zip(functions, numbers, numbers[1:], strict=False)
        return int(all(function(left, right) for function, left, right in pairs))

    return evaluate
