"""What can be counted in one source file.

Owns the definitions of lines, decisions and tables. Must not know of other files.
"""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import dataclass, fields

MOST_ARGUMENTS = 5
_TABLE_LINES = 5
_LOOPS_AND_BRANCHES = (ast.If, ast.For, ast.AsyncFor, ast.While, ast.ExceptHandler)
_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef)


@dataclass
class Counts:
    """What was counted in some files."""

    modules: int = 0
    lines: int = 0
    """All lines."""
    text_lines: int = 0
    """Lines that are not blank: the base of all shares."""
    decisions: int = 0
    """McCabe's complexity, summed: functions, branches, loops, handlers, conditional expressions, comprehensions and their
    conditions, and each `and` and `or`."""
    conditional_expressions: int = 0
    nested_conditional_expressions: int = 0
    """Those with another one inside."""
    wide_functions: int = 0
    """Functions with more than five arguments, `self` included."""
    assignment_lines: int = 0
    """Lines of assignments at the level of modules: tables of facts, and all other constants."""
    table_lines: int = 0
    """Of these, lines of assignments of five lines and more whose value has no logic in it."""

    def add(self, other: Counts) -> None:
        """Add what was counted elsewhere."""
        for one in fields(self):
            setattr(self, one.name, getattr(self, one.name) + getattr(other, one.name))

    @property
    def decisions_in_100(self) -> float:
        """Decisions in 100 lines."""
        return 100 * self.decisions / max(self.text_lines, 1)

    @property
    def conditional_in_1000(self) -> float:
        """Conditional expressions in 1,000 lines."""
        return 1000 * self.conditional_expressions / max(self.text_lines, 1)

    @property
    def assigned_share(self) -> float:
        """Which part of all lines are assignments at the level of modules, in percent."""
        return 100 * self.assignment_lines / max(self.text_lines, 1)


def count(text: str) -> Counts:
    """Count in the text of one module."""
    tree, lines = ast.parse(text), text.splitlines()
    found = Counts(modules=1, lines=len(lines), text_lines=_text_lines(lines))
    for node in ast.walk(tree):
        found.decisions += _decisions(node)
        if isinstance(node, ast.IfExp):
            found.conditional_expressions += 1
            found.nested_conditional_expressions += _has_another(node)
        elif isinstance(node, _FUNCTIONS):
            found.wide_functions += _arguments(node) > MOST_ARGUMENTS
    for statement in tree.body:
        if isinstance(statement, ast.Assign | ast.AnnAssign) and statement.value is not None:
            size = _text_lines(lines[statement.lineno - 1 : statement.end_lineno])
            found.assignment_lines += size
            found.table_lines += size if size >= _TABLE_LINES and _is_data(statement.value) else 0
    return found


def _text_lines(lines: Sequence[str]) -> int:
    return sum(bool(line.strip()) for line in lines)


def _decisions(node: ast.AST) -> int:
    if isinstance(node, ast.BoolOp):
        return len(node.values) - 1
    if isinstance(node, ast.comprehension):
        return 1 + len(node.ifs)
    return int(isinstance(node, (*_LOOPS_AND_BRANCHES, *_FUNCTIONS, ast.IfExp)))


def _has_another(expression: ast.IfExp) -> bool:
    return any(isinstance(node, ast.IfExp) for node in ast.walk(expression) if node is not expression)


def _arguments(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    given = function.args
    return len(given.posonlyargs) + len(given.args) + len(given.kwonlyargs)


def _is_data(value: ast.expr) -> bool:
    """Whether a value is made of constants, names, collections and calls only."""
    logic = (ast.Lambda, ast.IfExp, ast.BoolOp, ast.Compare, ast.comprehension)
    return not any(isinstance(node, logic) for node in ast.walk(value))
