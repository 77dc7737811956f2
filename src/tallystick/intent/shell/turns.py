"""A text's loops, and what starts itself again.

Owns how often a loop goes round, what its rounds wait for, and which functions come back to themselves, by the tree alone:
variables count as unknown. Must not know what follows from it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from msgspec import Struct

from tallystick.catalog.programs import programs_with
from tallystick.intent.shell.grammar import Node, text_of
from tallystick.model.pattern import pattern_of
from tallystick.model.script import Cycle, Loop

_MOST_NODES = 20_000
_MOST_FOUND = 32
_MOST_FUNCTIONS = 64
_MOST_TEXT = 200
_LOOPS = frozenset(("while_statement", "for_statement", "c_style_for_statement"))
_BRANCHES = frozenset(("elif_clause", "else_clause", "case_item"))
_OWN_PROCESS = frozenset(("subshell", "command_substitution", "process_substitution"))
_HOLDING = frozenset(("true", ":", "echo", "printf", "/bin/true", "/usr/bin/true"))
_FAILING = frozenset(("false", "/bin/false", "/usr/bin/false"))
_STARTERS = programs_with("starts-words")
_OF_FUNCTIONS = frozenset(("coproc", "eval", "time"))
"""Of these, the ones that run functions; to the others a function's name is that of a program."""
_SHELLS = programs_with("shell-of-text")
_ENDS = frozenset(("return", "exit"))
_RANGE = pattern_of(r"\{(-?\d{1,9})\.\.(-?\d{1,9})(?:\.\.-?\d{1,9})?\}")
_SEQUENCE = pattern_of(r"[$`(]+\s*(?:g?seq|jot)\s+([-\d\s]{1,40})[)`]")
_BOUND = pattern_of(r"[<>]=?\s*(\d{1,9})|-(?:lt|le|gt|ge)\s+(\d{1,9})")
_WILD = pattern_of(r"[$`*?\[]")
_DEFINES = pattern_of(r"\(\s{0,20}\)")
_ONESELF = "$0"


def may_turn(text: str, own: str = "") -> bool:
    """Whether a text can have a loop or a cycle: most have neither, and need no second look."""
    if "done" in text:
        return True
    if "&" not in text and "|" not in text and "$(" not in text and "`" not in text and "coproc" not in text:
        return False
    if "$0" in text or "${0" in text or "BASH_SOURCE" in text or "function" in text:
        return True
    return _DEFINES.search(text) is not None or (bool(own) and own.rpartition("/")[2] in text)


def turns_of(root: Node, own: str = "") -> tuple[tuple[Loop, ...], tuple[Cycle, ...]]:
    """The loops and cycles of a text.

    Args:
        own: how the text was called, `$0`: a script that runs itself.
    """
    walk = _Walk(own)
    walk.read(root)
    return tuple(walk.loops[:_MOST_FOUND]), tuple(walk.cycles())


class _Called(Struct, frozen=True):
    """One call of a function, or a start of the text itself."""

    name: str
    is_sure: bool
    is_apart: bool
    """In another process: behind, in a pipe, in a subshell."""
    is_given: bool


class _Walk:
    """One look at a tree."""

    def __init__(self, own: str) -> None:
        self.loops: list[Loop] = []
        self._own = own
        self._called: dict[str, list[_Called]] = {_ONESELF: []}
        self._guarded: set[str] = set()

    def read(self, root: Node) -> None:
        """Take note of everything below a node."""
        left = [(root, _ONESELF, True, False)]
        count = 0
        while left and count < _MOST_NODES:
            count += 1
            node, function, is_sure, is_apart = left.pop()
            if node.type == "function_definition":
                name, body = node.child_by_field_name("name"), node.child_by_field_name("body")
                if name is not None and body is not None and len(self._called) < _MOST_FUNCTIONS:
                    self._called.setdefault(text_of(name), [])
                    left.append((body, text_of(name), True, False))
                continue
            if node.type in _LOOPS and len(self.loops) < _MOST_FOUND:
                self.loops.append(_loop(node))
            if node.type == "command":
                self._command(node, function, is_sure, is_apart)
            left += [(child, function, sure, apart) for child, sure, apart in _below(node, is_sure, is_apart)]

    def _command(self, node: Node, function: str, is_sure: bool, is_apart: bool) -> None:
        words = _words(node)
        is_program = False
        while words and words[0] in _STARTERS:
            is_apart = is_apart or words[0] in ("coproc", "nohup", "setsid")
            is_program = is_program or words[0] not in _OF_FUNCTIONS
            words = words[1:]
        if not words:
            return
        name = words[0]
        if name in _ENDS and not is_sure:
            self._guarded.add(function)
        if name in _SHELLS and len(words) > 1 and self._is_itself(words[1]):
            words, name = words[1:], words[1]
        if self._is_itself(name):
            name = _ONESELF
        elif is_program:
            return
        self._called[function].append(_Called(name, is_sure, is_apart or name == _ONESELF, len(words) > 1))

    def _is_itself(self, word: str) -> bool:
        text = word.strip("\"'")
        return text in ("$0", "${0}", "$BASH_SOURCE", "${BASH_SOURCE[0]}", "${BASH_SOURCE}") or (
            bool(self._own) and "/" in text and text.removeprefix("./") == self._own.removeprefix("./")
        )

    def cycles(self) -> Iterator[Cycle]:
        """Functions that come back to themselves in another process."""
        for name, called in self._called.items():
            loops = [each for each in called if each.name in self._called and self._leads_to(each.name, name)]
            apart = [each for each in loops if each.is_apart]
            # A script that starts itself once goes on as another; only one that does so again and again multiplies.
            if not apart or (name == _ONESELF and len(loops) < 2 and not _is_behind_in_loop(self.loops)):
                continue
            is_sure = any(each.is_sure for each in apart) and name not in self._guarded
            yield Cycle(name=name[:_MOST_TEXT], is_sure=is_sure, is_given=all(each.is_given for each in apart))

    def _leads_to(self, start: str, end: str) -> bool:
        seen, left = {start}, [start]
        while left:
            name = left.pop()
            if name == end:
                return True
            for each in self._called.get(name, ()):
                if each.name in self._called and each.name not in seen:
                    seen.add(each.name)
                    left.append(each.name)
        return False


def _is_behind_in_loop(loops: list[Loop]) -> bool:
    return any(loop.is_endless and any(name.strip("\"'") in ("$0", "${0}") for name in loop.behind) for loop in loops)


def _below(node: Node, is_sure: bool, is_apart: bool) -> Iterator[tuple[Node, bool, bool]]:
    """The parts of a node, and how they run: surely, and in another process."""
    children = node.children
    is_apart = is_apart or node.type in _OWN_PROCESS
    if node.type == "pipeline":
        is_apart = is_apart or sum(child.is_named for child in children) > 1
    holds = None
    if node.type in ("if_statement", "while_statement", "list"):
        holds = _holds(node)
    is_after = False
    for n, child in enumerate(children):
        if not child.is_named:
            is_after = is_after or child.type in ("then", "&&", "||")
            continue
        is_behind = n + 1 < len(children) and children[n + 1].type == "&"
        is_here = is_sure
        if child.type in _BRANCHES or node.type == "case_statement":
            is_here = False
        elif is_after or (child.type == "do_group" and node.type == "while_statement"):
            is_here = is_sure and holds is True
        elif child.type == "do_group" and node.type == "for_statement":
            is_here = is_sure and all(_WILD.search(text_of(value)) is None for value in _values(node))
        elif child.type == "do_group":
            is_here = is_sure and _is_endless(node)
        yield child, is_here, is_apart or is_behind


def _values(node: Node) -> list[Node]:
    return node.children_by_field_name("value")


def _words(node: Node) -> list[str]:
    """A simple command's words as they are spelled; without assignments."""
    found: list[str] = []
    for child in node.named_children[:8]:
        if child.type == "variable_assignment" or child.type.endswith("_redirect"):
            continue
        text = text_of(child)[:_MOST_TEXT]
        found.append(text.strip("\"'").removeprefix("\\") or text)
    return found


# Conditions ----------------------------------------------------------------------------------------------------------


def _holds(node: Node) -> bool | None:
    """Whether what stands behind a condition runs for certain; None where that is unknown."""
    condition = node.children_by_field_name("condition")[:1] or node.named_children[:1]
    said = None
    if condition:
        said = _constant(condition[0])
    if said is None:
        return None
    turned = any(child.type in ("until", "||") for child in node.children if not child.is_named)
    return said is not turned


def _constant(node: Node) -> bool | None:
    """Whether a condition always holds or never does; None where it may do either."""
    if node.type == "negated_command":
        inner = None
        if node.named_children:
            inner = _constant(node.named_children[0])
        if inner is None:
            return None
        return not inner
    if node.type == "command":
        name = (_words(node) or [""])[0]
        if name in _HOLDING:
            return True
        if name in _FAILING:
            return False
        return None
    if node.type in ("test_command", "compound_statement"):
        return _of_test(text_of(node).strip("[]() \t"))
    return None


def _of_test(text: str) -> bool | None:
    words = text.split()
    if len(words) == 1 and re.fullmatch(r"[\w\"']{1,40}", text):
        return text != "0"
    if len(words) == 3 and not _WILD.search(text):
        equal = words[0].strip("\"'") == words[2].strip("\"'")
        return {"=": equal, "==": equal, "-eq": equal, "!=": not equal, "-ne": not equal}.get(words[1])
    return None


# Loops ---------------------------------------------------------------------------------------------------------------


def _loop(node: Node) -> Loop:
    body = node.child_by_field_name("body")
    if body is not None:
        waits, behind = _run_by(body)
    else:
        waits, behind = [], []
    return Loop(
        rounds=_rounds(node),
        is_endless=_is_endless(node),
        waits=tuple(waits),
        behind=tuple(behind),
        appends=body is not None and _appends(body),
    )


def _is_endless(node: Node) -> bool:
    if node.type == "while_statement":
        return _holds(node) is True
    if node.type == "c_style_for_statement":
        condition = node.child_by_field_name("condition")
        return condition is None or text_of(condition).strip() in ("1", "true")
    return False


def _rounds(node: Node) -> int | None:
    """How often a loop goes round, as far as numbers stand there."""
    if node.type == "for_statement":
        values = _values(node)
        counts = [_count(text_of(value)[:_MOST_TEXT]) for value in values]
        if values and None not in counts:
            return sum(count for count in counts if count is not None)
        return None
    if node.type == "c_style_for_statement" or node.type == "while_statement":
        condition = node.child_by_field_name("condition")
        found = None
        if condition is not None:
            found = _BOUND.search(text_of(condition)[:_MOST_TEXT])
        if found is None:
            return None
        return int(found[1] or found[2])
    return None


def _count(text: str) -> int | None:
    """How many words a word becomes."""
    found = _RANGE.search(text)
    if found is not None:
        return abs(int(found[2]) - int(found[1])) + 1
    found = _SEQUENCE.match(text)
    if found is not None:
        numbers = [int(word) for word in found[1].split() if re.fullmatch(r"-?\d{1,9}", word)]
        if len(numbers) > 1:
            first, last = numbers[0], numbers[-1]
        else:
            first, last = 1, numbers[0] if numbers else 0
        return max(0, last - first) + 1
    if _WILD.search(text):
        return None
    return 1


def _run_by(body: Node) -> tuple[list[str], list[str]]:
    """The programs that a round waits for, and those that it leaves running."""
    waits: list[str] = []
    behind: list[str] = []
    left: list[tuple[Node, bool]] = [(body, False)]
    while left and len(waits) + len(behind) < _MOST_NODES:
        node, is_behind = left.pop()
        if node.type == "function_definition":
            continue
        if node.type == "command":
            (behind if is_behind else waits).append((_words(node) or [""])[0])
        children = node.children
        left += [
            (child, is_behind or (n + 1 < len(children) and children[n + 1].type == "&"))
            for n, child in enumerate(children)
            if child.is_named
        ]
    return list(dict.fromkeys(waits))[:_MOST_FOUND], list(dict.fromkeys(behind))[:_MOST_FOUND]


def _appends(body: Node) -> bool:
    left = [body]
    while left:
        node = left.pop()
        if node.type == "file_redirect" and any(child.type in (">>", "&>>") for child in node.children):
            return not any(text_of(child).startswith("/dev/") for child in node.named_children)
        if node.type == "command" and (_words(node) or [""])[0] == "tee" and "-a" in _words(node):
            return True
        left += [child for child in node.children if child.is_named]
    return False
