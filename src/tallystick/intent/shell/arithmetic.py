"""What `$((…))` comes to, where it is made of numbers.

Owns the shell's notation of whole numbers and its operators. Must not know variables: they are put in before.
Source: the Bash Reference Manual, 6.5 "Shell Arithmetic".
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable

_PLAIN = re.compile(r"[0-9a-zA-Z#+*/%()<>&|^~\s-]{1,80}")
_NUMBER = re.compile(r"(?<![\w#])(?:(\d{1,2})#([0-9a-zA-Z]{1,16})|(0[xX][0-9a-fA-F]{1,16})|(\d{1,18}))(?![\w#])")
_MOST = 1 << 62


def computed(text: str) -> int | None:
    """The value of an expression of numbers; None for everything else, and for what grows too large."""
    if not _PLAIN.fullmatch(text):
        return None
    try:
        plain = _NUMBER.sub(_decimal, text).strip()
        return _value(ast.parse(plain.replace("\n", " "), mode="eval").body)
    except (ValueError, SyntaxError, ZeroDivisionError, RecursionError, MemoryError):
        return None


def _decimal(found: re.Match[str]) -> str:
    if found[1]:
        return str(int(found[2], int(found[1])))
    text = found[3] or found[4]
    if found[3]:
        return str(int(text, 16))
    return str(int(text, 8) if text[0] == "0" and len(text) > 1 else int(text))


def _value(node: ast.expr) -> int:
    match node:
        case ast.Constant(value=int(number)):
            return _bounded(number)
        case ast.UnaryOp(op=ast.USub(), operand=operand):
            return -_value(operand)
        case ast.UnaryOp(op=ast.UAdd(), operand=operand):
            return _value(operand)
        case ast.UnaryOp(op=ast.Invert(), operand=operand):
            return ~_value(operand)
        case ast.BinOp(left=left, op=operator, right=right):
            return _bounded(_combined(_value(left), operator, _value(right)))
        case _:
            raise ValueError


def _combined(left: int, operator: ast.operator, right: int) -> int:
    known = _OPERATORS.get(type(operator))
    is_large = type(operator) in _GROWING and not (0 <= right < 62 and abs(left) < 1 << 32)
    if known is None or is_large:
        raise ValueError
    return known(left, right)


def _quotient(left: int, right: int) -> int:
    """Towards zero, as in C."""
    return abs(left) // abs(right) * (1 if (left < 0) == (right < 0) else -1)


_OPERATORS: dict[type[ast.operator], Callable[[int, int], int]] = {
    ast.Add: lambda left, right: left + right,
    ast.Sub: lambda left, right: left - right,
    ast.Mult: lambda left, right: left * right,
    ast.Div: _quotient,
    ast.Mod: lambda left, right: left - right * _quotient(left, right),
    ast.LShift: lambda left, right: left << right,
    ast.RShift: lambda left, right: left >> right,
    ast.BitAnd: lambda left, right: left & right,
    ast.BitOr: lambda left, right: left | right,
    ast.BitXor: lambda left, right: left ^ right,
    ast.Pow: lambda left, right: int(left**right),
}
_GROWING = (ast.LShift, ast.RShift, ast.Pow)


def _bounded(number: int) -> int:
    if abs(number) > _MOST:
        raise ValueError
    return number
