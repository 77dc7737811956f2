"""Expressions of Python: what they are, and the calls in them.

Owns names and their values, and which function a call means. Must not know statements: `python` has those.
"""

from __future__ import annotations

import abc
import ast
from collections.abc import Callable, Sequence
from typing import Any

from tallystick.intent.actions import HOME, Found, TooMuchError
from tallystick.intent.code import python_values as values
from tallystick.intent.code.python_calls import Calls
from tallystick.intent.code.python_names import BUILTIN, OUTPUTS
from tallystick.intent.code.python_values import UNKNOWN, Call, Kind, Value
from tallystick.model.script import HOLE

STAND_IN = "\ua66e"
"""In the place of a hole while the text is parsed: a letter that a name may have and hardly any has."""
Function = ast.FunctionDef | ast.AsyncFunctionDef
_NAMED = (".__dict__", "sys.modules")
"""Tables of what has a name."""
_MOST_VISITS = 5_000
_MOST_DEPTH = 60


class Expressions(abc.ABC):
    """What names mean at a place of a program, and how many of its parts were looked at."""

    def __init__(self, found: Found) -> None:
        self.found = found
        self.calls = Calls(found)
        self.names: dict[str, Value] = {"__file__": values.text(HOLE)}
        self.visits = 0.0
        self.depth = 0
        """How many conditions and loops surround the statement."""
        self.running: list[object] = []
        """Functions of the text that are being called."""
        self.seen: set[int] = set()
        """Functions that were called."""
        self.level = 0

    def visit(self, weight: float = 1) -> None:
        """Count a statement or an expression, or work that takes as long as `weight` of them."""
        self.visits += weight
        if self.visits > _MOST_VISITS:
            raise TooMuchError

    def assign(self, target: ast.expr, value: Value) -> None:
        """Bind a name, or the names of a tuple; a change inside of something makes the whole unknown."""
        if isinstance(target, ast.Name):
            self.names[target.id] = value
        elif isinstance(target, ast.Tuple | ast.List):
            if value.kind is Kind.ITEMS and len(value.items) == len(target.elts):
                parts = value.items
            else:
                parts = ()
            for place, part in enumerate(target.elts):
                self.assign(part, parts[place] if parts else UNKNOWN)
        elif isinstance(target, ast.Starred):
            self.assign(target.value, UNKNOWN)
        elif isinstance(target, ast.Subscript | ast.Attribute):
            self.value(target.value)
            if isinstance(target.value, ast.Name) and isinstance(target, ast.Subscript):
                self.names[target.value.id] = UNKNOWN
            elif isinstance(target, ast.Attribute) and isinstance(target.value, ast.Name):
                self.names[f"{target.value.id}.{target.attr}"] = value

    @abc.abstractmethod
    def enter(self, node: Function, args: Sequence[Value], named: dict[str, Value]) -> Value:
        """Read the body of a function with its parameters bound; what it returns."""

    def value(self, node: ast.expr) -> Value:
        """What an expression is. The calls in it are noted."""
        self.visit()
        self.level += 1
        if self.level > _MOST_DEPTH:
            raise TooMuchError
        rule = _EXPRESSIONS.get(type(node))
        if rule is not None:
            found = rule(self, node)
        else:
            found = self._other(node)
        self.level -= 1
        return found

    def _other(self, node: ast.AST) -> Value:
        for part in ast.iter_child_nodes(node):
            if isinstance(part, ast.expr):
                self.value(part)
            else:
                self._other(part)
        return UNKNOWN

    def _constant(self, node: ast.Constant) -> Value:
        found = values.constant(node.value)
        if STAND_IN in found.text:
            return values.text(found.text.replace(STAND_IN, HOLE))
        return found

    def _name(self, node: ast.Name) -> Value:
        return self.names.get(node.id) or (values.name(node.id) if node.id in BUILTIN else UNKNOWN)

    def _attribute(self, node: ast.Attribute) -> Value:
        if isinstance(node.value, ast.Name) and (kept := self.names.get(f"{node.value.id}.{node.attr}")) is not None:
            return kept
        owner = self.value(node.value)
        if owner.kind is Kind.NAME:
            if (dotted := f"{owner.text}.{node.attr}") == "os.sep":
                return values.text("/")
            return values.name(dotted)
        if owner.kind is Kind.PATH:
            return values.of_path(owner, node.attr)
        if owner.kind is Kind.FILE and node.attr == "name":
            return values.text(owner.text)
        return UNKNOWN

    def _pieces(self, node: ast.JoinedStr) -> Value:
        return values.text(values.put_together([values.within(self.value(part)) for part in node.values]))

    def _piece(self, node: ast.FormattedValue) -> Value:
        found = self.value(node.value)
        if node.format_spec is None and node.conversion in (-1, 115):
            return found
        return UNKNOWN

    def _operator(self, node: ast.BinOp) -> Value:
        left, right = self.value(node.left), self.value(node.right)
        if isinstance(node.op, ast.Add):
            return values.added(left, right)
        if isinstance(node.op, ast.Div):
            return values.divided(left, right)
        if isinstance(node.op, ast.Mod):
            return values.formatted(left, right)
        if isinstance(node.op, ast.BitOr) and left.kind is Kind.NAME and right.kind is Kind.NAME:
            return values.name(f"{left.text}|{right.text}")
        return UNKNOWN

    def _list(self, node: ast.List | ast.Tuple | ast.Set) -> Value:
        parts: list[Value] = []
        for part in node.elts:
            if isinstance(part, ast.Starred):
                inner = self.value(part.value)
                parts += inner.items if inner.kind in (Kind.ITEMS, Kind.EACH) else (UNKNOWN,)
            else:
                parts.append(self.value(part))
        return values.items(parts)

    def _dict(self, node: ast.Dict) -> Value:
        members: dict[str, Value] = {}
        for key, part in zip(node.keys, node.values, strict=True):
            found = self.value(part)
            if isinstance(key, ast.Constant) and isinstance(key.value, str):
                members[key.value] = found
            elif key is not None:
                self.value(key)
        return Value(Kind.MEMBERS, members=members)

    def _subscript(self, node: ast.Subscript) -> Value:
        owner = self.value(node.value)
        if owner.kind is Kind.NAME and owner.text == "os.environ":
            is_home = isinstance(node.slice, ast.Constant) and node.slice.value == "HOME"
            return values.text(HOME if is_home else HOLE)
        key = self.value(node.slice)
        if owner.kind is Kind.NAME and key.kind is Kind.TEXT and owner.text.endswith(_NAMED):
            return values.member(owner, key.text)
        return values.indexed(owner, node.slice)

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp) -> Value:
        outer, self.names = self.names, dict(self.names)
        (first, *rest) = node.generators
        through = self.value(first.iter)
        is_list = through.kind is Kind.ITEMS and not rest and not first.ifs
        found = [
            self._element(node.elt, first, item)
            for item in (through.items if is_list else through.items[:1] or (UNKNOWN,))
        ]
        for more in rest:
            self.value(more.iter)
        self.names = outer
        if is_list:
            return values.items(found)
        return values.each(found[0] if through.kind is Kind.EACH and not rest else UNKNOWN)

    def _element(self, element: ast.expr, generator: ast.comprehension, item: Value) -> Value:
        self.assign(generator.target, item)
        for condition in generator.ifs:
            self.value(condition)
        return self.value(element)

    def _either(self, node: ast.IfExp) -> Value:
        self.value(node.test)
        first, second = self.value(node.body), self.value(node.orelse)
        if first == second:
            return first
        return UNKNOWN

    def _first(self, node: ast.BoolOp) -> Value:
        found = [self.value(part) for part in node.values]
        if all(value == found[0] for value in found):
            return found[0]
        return UNKNOWN

    def _named(self, node: ast.NamedExpr) -> Value:
        found = self.value(node.value)
        self.assign(node.target, found)
        return found

    def _awaited(self, node: ast.Await) -> Value:
        return self.value(node.value)

    def _call(self, node: ast.Call) -> Value:
        owner = None
        if isinstance(node.func, ast.Attribute):
            owner = self.value(node.func.value)
        args = [self.value(part.value if isinstance(part, ast.Starred) else part) for part in node.args]
        if any(isinstance(part, ast.Starred) for part in node.args):
            args = self._spread(node.args, args)
        named = {part.arg or "**": self.value(part.value) for part in node.keywords}
        call = Call(args, named, self.depth)
        return self._called(node.func, owner, call)

    @staticmethod
    def _spread(nodes: Sequence[ast.expr], given: Sequence[Value]) -> list[Value]:
        found: list[Value] = []
        for node, value in zip(nodes, given, strict=True):
            is_star = isinstance(node, ast.Starred)
            if is_star and value.kind in (Kind.ITEMS, Kind.EACH):
                found += value.items
            else:
                found += [UNKNOWN if is_star else value]
        return found

    def _called(self, function: ast.expr, owner: Value | None, call: Call) -> Value:
        if owner is not None and isinstance(function, ast.Attribute):
            return self._method(owner, function, call)
        found = self.value(function)
        if found.kind is Kind.NAME and HOLE not in found.text:
            self.calls.given_away(call) if found.text != "print" else None
            return self.calls.function(found.text, call)
        if found.kind is Kind.FUNCTION and isinstance(found.node, Function):
            self.calls.given_away(call)
            return self.enter(found.node, call.args, dict(call.named))
        self.calls.given_away(call)
        return UNKNOWN

    def _method(self, owner: Value, function: ast.Attribute, call: Call) -> Value:
        method = function.attr
        if owner.kind is Kind.FILE:
            return self.calls.of_file(owner, method, call)
        self.calls.given_away(call)
        if owner.kind is Kind.NAME:
            if method in ("__getattribute__", "__getattr__"):
                return values.member(owner, call.path(0) or HOLE)
            return self.calls.function(f"{owner.text}.{method}", call)
        if owner.kind is Kind.PATH:
            return self.calls.of_path(owner, method, call)
        if owner.kind is Kind.TEXT:
            return values.of_text(owner, method, call.args, dict(call.named)) or UNKNOWN
        if owner.kind is Kind.ITEMS and method in ("append", "extend") and isinstance(function.value, ast.Name):
            self.names[function.value.id] = self._longer(owner, method, call)
        elif owner.kind is Kind.UNKNOWN and method in OUTPUTS and call.path(0) is not None:
            self.calls.output(call)
        elif owner.kind is Kind.UNKNOWN and method in _TELLING:
            return self.calls.of_path(values.path(HOLE), method, call)
        elif method in ("items", "keys", "values") and owner.kind is Kind.MEMBERS:
            return _members(owner, method)
        return UNKNOWN

    def _longer(self, owner: Value, method: str, call: Call) -> Value:
        """A list after `append` or `extend`; unknown where that may happen any number of times."""
        if self.depth != 0:
            return UNKNOWN
        more = call.args
        if method == "extend":
            if call.args:
                more = call.args[0].items
            else:
                more = ()
        return values.items((*owner.items, *more))


_TELLING = frozenset(("read_text", "write_text", "read_bytes", "write_bytes", "unlink", "rmdir", "iterdir", "rglob"))
"""Methods by which a path object shows itself."""


def _members(owner: Value, method: str) -> Value:
    if method == "keys":
        return values.items([values.text(key) for key in owner.members])
    if method == "values":
        return values.items(list(owner.members.values()))
    return values.items([values.items([values.text(key), value]) for key, value in owner.members.items()])


_EXPRESSIONS: dict[type[ast.expr], Callable[[Expressions, Any], Value]] = {
    ast.Constant: Expressions._constant,
    ast.Name: Expressions._name,
    ast.Attribute: Expressions._attribute,
    ast.JoinedStr: Expressions._pieces,
    ast.FormattedValue: Expressions._piece,
    ast.BinOp: Expressions._operator,
    ast.List: Expressions._list,
    ast.Tuple: Expressions._list,
    ast.Set: Expressions._list,
    ast.Dict: Expressions._dict,
    ast.Subscript: Expressions._subscript,
    ast.ListComp: Expressions._comprehension,
    ast.SetComp: Expressions._comprehension,
    ast.GeneratorExp: Expressions._comprehension,
    ast.IfExp: Expressions._either,
    ast.BoolOp: Expressions._first,
    ast.NamedExpr: Expressions._named,
    ast.Await: Expressions._awaited,
    ast.Call: Expressions._call,
}
