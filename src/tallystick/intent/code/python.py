"""Python → what it does, read from its syntax tree.

Owns statements and names: what is assigned, which function is called with which values, what may be true after a condition.
Must not know what the libraries do: `python_calls`. Nothing is run; what cannot be told is said to be unknown.
Sources: the Python language reference; the reference of `ast`.
"""

from __future__ import annotations

import ast
import itertools
import warnings
from collections.abc import Callable, Iterable, Sequence
from typing import Any

from tallystick.intent.actions import Found
from tallystick.intent.code import python_values as values
from tallystick.intent.code.python_expressions import STAND_IN, Expressions, Function
from tallystick.intent.code.python_names import DYNAMIC, INERT
from tallystick.intent.code.python_values import UNKNOWN, Kind, Value
from tallystick.model.pattern import pattern_of
from tallystick.model.script import HOLE

_HEAVIEST = 8_000
"""Lines and signs of a text that are read: what takes a parser time is their number, some 3 µs each."""
_SIGNS = pattern_of(r"[^\w \t]")
_LINE_STARTS = pattern_of(r"\n(?=[^\s)\]}#])")
_MOST_CALLS_DEEP = 4


def read_python(text: str, found: Found) -> None:
    """Note what a program does. Text that is not Python, or too much of it, is unknown."""
    beginning = _beginning(text)
    tree = _parsed(beginning)
    found.is_unknown = tree is None or len(beginning) < len(text)
    if tree is None:
        return
    reader = _Reader(found)
    try:
        reader.run(tree.body)
    finally:
        reader.calls.finish()


def _beginning(text: str) -> str:
    """The text up to the last line without indentation before it gets too heavy; all of it, if it never does."""
    if len(text) <= _HEAVIEST:
        return text
    weighed = next(itertools.islice(_SIGNS.finditer(text), _HEAVIEST, None), None)
    if weighed is None:
        return text
    return text[: max((end.end() for end in _LINE_STARTS.finditer(text, 0, weighed.start())), default=0)]


def _parsed(text: str) -> ast.Module | None:
    if STAND_IN in text:
        return None
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # an odd escape in someone's text is no concern of ours
            return ast.parse(text.replace(HOLE, STAND_IN))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None


class _Reader(Expressions):
    """A program that is read from top to bottom."""

    def run(self, body: list[ast.stmt]) -> None:
        """A whole program: its statements, then the functions that nothing in it was seen to call."""
        self.block(body)
        for node in ast.walk(ast.Module(body, [])):
            if isinstance(node, Function) and id(node) not in self.seen:
                self.depth += 1
                self.enter(node, (), {})
                self.depth -= 1

    # Statements -------------------------------------------------------------------------------------------------------

    def block(self, body: Iterable[ast.stmt]) -> None:
        """Statements one after the other."""
        for node in body:
            self.visit()
            rule = _STATEMENTS.get(type(node))
            if rule is not None:
                rule(self, node)
            else:
                for part in ast.iter_child_nodes(node):
                    if isinstance(part, ast.expr):
                        self.value(part)

    def maybe(self, *bodies: Iterable[ast.stmt]) -> None:
        """Bodies of which each may run or not: what they differ in is unknown afterwards."""
        before = self.names
        after: list[dict[str, Value]] = []
        self.depth += 1
        for body in bodies:
            self.visit(len(before) / 50)
            self.names = dict(before)
            self.block(body)
            after.append(self.names)
        self.depth -= 1
        self.names = dict(before)
        for name in {name for names in after for name in names}:
            told = [names.get(name) for names in after]
            if any(value != before.get(name) for value in told):
                first = next(value for value in told if value is not None)
                is_same = all(value is None or value == first for value in told) and before.get(name) in (None, first)
                if is_same:
                    self.names[name] = first
                else:
                    self.names[name] = UNKNOWN

    def _assignment(self, node: ast.Assign) -> None:
        value = self.value(node.value)
        for target in node.targets:
            self.assign(target, value)

    def _annotated(self, node: ast.AnnAssign) -> None:
        if node.value is not None:
            self.assign(node.target, self.value(node.value))

    def _augmented(self, node: ast.AugAssign) -> None:
        added = self.value(node.value)
        before = self.value(node.target)
        if isinstance(node.op, ast.Add):
            self.assign(node.target, values.added(before, added))
        elif isinstance(node.op, ast.Div):
            self.assign(node.target, values.divided(before, added))
        else:
            self.assign(node.target, UNKNOWN)

    def _imports(self, node: ast.Import) -> None:
        for alias in node.names:
            self._module(alias.name)
            bound = alias.asname or alias.name.split(".")[0]
            self.names[bound] = values.name(alias.name if alias.asname else bound)

    def _imports_from(self, node: ast.ImportFrom) -> None:
        module = ""
        if not node.level:
            module = node.module or ""
        self._module(module)
        for alias in node.names:
            if alias.name == "*":
                self.found.is_unknown |= module not in (
                    "os",
                    "os.path",
                    "pathlib",
                    "shutil",
                    "subprocess",
                    "math",
                    "typing",
                )
                self._all_of(module)
            else:
                self.names[alias.asname or alias.name] = values.name(f"{module}.{alias.name}")

    def _module(self, module: str) -> None:
        """Code of a module that is in no library runs when it is imported."""
        top = module.split(".")[0].replace(STAND_IN, HOLE)
        if top not in INERT or top in DYNAMIC:
            self.found.is_unknown = True

    def _all_of(self, module: str) -> None:
        for word in _ALL.get(module, ()):
            self.names[word] = values.name(f"{module}.{word}")

    def _for(self, node: ast.For | ast.AsyncFor) -> None:
        through = self.value(node.iter)
        if through.kind is Kind.ITEMS and len(through.items) <= values.MOST_ITEMS:
            for item in through.items:
                self.assign(node.target, item)
                self.block(node.body)
        else:
            self._forget(node.body)
            self.assign(node.target, through.items[0] if through.kind is Kind.EACH else UNKNOWN)
            self.maybe(node.body)
        self.maybe(node.orelse)

    def _while(self, node: ast.While) -> None:
        self._forget(node.body)
        self.value(node.test)
        self.maybe(node.body, node.orelse)

    def _forget(self, body: Sequence[ast.stmt]) -> None:
        """What a loop assigns is not known when it comes round again."""
        for statement in body:
            for node in ast.walk(statement):
                self.visit(0.1)
                if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                    self.names[node.id] = UNKNOWN

    def _if(self, node: ast.If) -> None:
        self.value(node.test)
        if _is_main(node.test):
            self.block(node.body)
        else:
            self.maybe(node.body, node.orelse)

    def _with(self, node: ast.With | ast.AsyncWith) -> None:
        for item in node.items:
            value = self.value(item.context_expr)
            if item.optional_vars is not None:
                self.assign(item.optional_vars, value)
        self.block(node.body)

    def _try(self, node: ast.Try) -> None:
        self.block(node.body)
        self.maybe(*(handler.body for handler in node.handlers), node.orelse)
        self.block(node.finalbody)

    def _match(self, node: ast.Match) -> None:
        self.value(node.subject)
        self.maybe(*(case.body for case in node.cases))

    def _function(self, node: Function) -> None:
        for part in (*node.decorator_list, *node.args.defaults):
            self.value(part)
        self.names[node.name] = Value(Kind.FUNCTION, node=node)

    def _class(self, node: ast.ClassDef) -> None:
        for part in (*node.decorator_list, *node.bases):
            self.value(part)
        outer = self.names
        self.names = dict(outer)
        self.block(node.body)
        self.names = outer

    def _return(self, node: ast.Return) -> None:
        value = UNKNOWN
        if node.value is not None:
            value = self.value(node.value)
        known = self.names.get("return")
        if known is None or known == value:
            self.names["return"] = value
        else:
            self.names["return"] = UNKNOWN

    # Functions of the text --------------------------------------------------------------------------------------------

    def enter(self, node: Function, args: Sequence[Value], named: dict[str, Value]) -> Value:
        """Read the body of a function with its parameters bound; what it returns."""
        if node in self.running or len(self.running) >= _MOST_CALLS_DEEP:
            return UNKNOWN
        self.visit(len(self.names) / 50)
        self.seen.add(id(node))
        outer, self.names = self.names, dict(self.names)
        self.names.pop("return", None)
        self._bind(node.args, args, named)
        self.running.append(node)
        self.block(node.body)
        self.running.pop()
        given = self.names.get("return", UNKNOWN)
        changed = {name for part in node.body if isinstance(part, ast.Global) for name in part.names}
        self.names = outer | {name: self.names[name] for name in changed if name in self.names}
        return given

    def _bind(self, parameters: ast.arguments, args: Sequence[Value], named: dict[str, Value]) -> None:
        places = [*parameters.posonlyargs, *parameters.args]
        defaults = dict(zip(reversed(places), reversed(parameters.defaults), strict=False))
        for only, default in zip(parameters.kwonlyargs, parameters.kw_defaults, strict=False):
            if default is not None:
                defaults[only] = default
        for place, parameter in enumerate((*places, *parameters.kwonlyargs)):
            if place < len(args) and place < len(places):
                bound = args[place]
            elif parameter.arg in named:
                bound = named[parameter.arg]
            else:  # no call was seen that leaves it out, where none was seen at all
                bound = UNKNOWN
                if parameter in defaults and (args or named):
                    bound = self.value(defaults[parameter])
            self.names[parameter.arg] = bound
        for rest in (parameters.vararg, parameters.kwarg):
            if rest is not None:
                self.names[rest.arg] = UNKNOWN


def _is_main(test: ast.expr) -> bool:
    """Whether it is `__name__ == "__main__"`."""
    return isinstance(test, ast.Compare) and isinstance(test.left, ast.Name) and test.left.id == "__name__"


_ALL = {
    "os": ("remove", "unlink", "rename", "replace", "mkdir", "makedirs", "rmdir", "system", "popen", "listdir", "walk",
           "path", "environ", "kill", "chmod", "getcwd", "chdir"),
    "os.path": ("join", "expanduser", "abspath", "dirname", "basename"),
    "pathlib": ("Path", "PurePath"),
    "shutil": ("copy", "copy2", "copyfile", "copytree", "move", "rmtree"),
    "subprocess": ("run", "call", "check_call", "check_output", "Popen", "getoutput", "getstatusoutput"),
}  # fmt: skip
"""What `from MODULE import *` gives, of what matters here."""

_STATEMENTS: dict[type[ast.stmt], Callable[[_Reader, Any], None]] = {
    ast.Assign: _Reader._assignment,
    ast.AnnAssign: _Reader._annotated,
    ast.AugAssign: _Reader._augmented,
    ast.Import: _Reader._imports,
    ast.ImportFrom: _Reader._imports_from,
    ast.For: _Reader._for,
    ast.AsyncFor: _Reader._for,
    ast.While: _Reader._while,
    ast.If: _Reader._if,
    ast.With: _Reader._with,
    ast.AsyncWith: _Reader._with,
    ast.Try: _Reader._try,
    ast.TryStar: _Reader._try,
    ast.Match: _Reader._match,
    ast.FunctionDef: _Reader._function,
    ast.AsyncFunctionDef: _Reader._function,
    ast.ClassDef: _Reader._class,
    ast.Return: _Reader._return,
}
