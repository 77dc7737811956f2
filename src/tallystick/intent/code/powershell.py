"""PowerShell, said in the words of a shell: its statements, pipes and texts.

Owns the way from a syntax tree of PowerShell to a text for the reader of shells: statements, pipes of objects, texts with
variables. Must not know what a cmdlet means (`cmdlets` does), nor what a program does. Source: Microsoft's about_* pages on
PowerShell 7.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable
from itertools import pairwise
from typing import TYPE_CHECKING

from tallystick.intent.actions import Found
from tallystick.intent.code.cmdlets import (
    FACTS,
    METHODS,
    NAMES,
    PASSING,
    REGISTRY,
    Cmdlet,
    ShellWord,
    filled,
    joined,
    literal,
    parameter,
    pieces,
    slot_of,
)
from tallystick.intent.code.powershell_grammar import below, is_slow, parse, text_of, unwrapped
from tallystick.intent.code.verbs import read_verbs
from tallystick.model.pattern import pattern_of

if TYPE_CHECKING:
    from tree_sitter import Node

_GIVES = "echo "
_UNTOLD = '"$PSUntold"'
"""A variable that nothing sets: what it holds is not known."""


_TAIL = pattern_of(r"`(.)", re.DOTALL)
_NAMED = pattern_of(r"\$\{?(?:(?:script|global|local|private|using):)?(env:)?([\w?^$]+|_)\}?", re.IGNORECASE)
_PATH_LIKE = pattern_of(r"(?:[A-Za-z]:|[\w.~$@-]*)(?:\\[\w.$*?()@+~ -]*)+")
_BEFORE_NAME = pattern_of(r"\\(?=[\w.$*~ -]|\Z|['\"])")
_ESCAPES = {"n": "\n", "t": "\t", "r": "", "0": ""}
_PLACES = {"home": "$HOME", "pwd": "$PWD", "profile": "$HOME/Documents/PowerShell/Microsoft.PowerShell_profile.ps1"}


def _held(text: str) -> ShellWord:
    """A word in quotes: what it stands for is one word."""
    return ShellWord(text if text[:1] in "\"'" or text.isalnum() else f'"{text}"')


def read_powershell(text: str, found: Found) -> None:
    """Note what a text of PowerShell does."""
    if not text.strip():
        return
    root = None if is_slow(text) else parse(text)
    found.is_unknown = root is None or (root.has_error and bool(root.named_children))
    if root is not None:
        found.runs("sh", _Renderer().block(root))
    if found.is_unknown:
        read_verbs(text.replace("\\", "/"), found)


def _has_unix_options(parts: list[Node], name: str) -> bool:
    """Whether `curl`, `wget` and their like are given the options of the programs of those names."""
    said = [text_of(part) for part in parts if part.type == "command_parameter"]
    return name == "invoke-webrequest" and any(len(text) == 2 or text[1] == "-" or not parameter(text) for text in said)


class _Renderer:
    """Renders one tree as text of a shell."""

    # Statements -----------------------------------------------------------------------------------------------------

    def block(self, node: Node | None) -> str:
        """Statements one after the other."""
        said = [self.statement(child) for child in node.named_children] if node is not None else []
        return "\n".join(one for one in said if one) or ":"

    def statement(self, node: Node) -> str:
        """One statement; of what the grammar lost its way in, all that is in it."""
        known = _STATEMENTS.get(node.type)
        try:
            if known is not None:
                return known(self, node)
            if node.type in _EXPRESSIONS:
                return self._discarded(node)
        except IndexError:  # the grammar lost its way: a part of the statement is missing
            pass
        if node.type in ("comment", "empty_statement", "param_block") or not node.named_child_count:
            return ""
        return self.block(node)

    def _pipeline(self, node: Node) -> str:
        said = ""
        for child in node.named_children:
            if child.type == "assignment_expression":
                return self._assigned(child)
            if child.type == "pipeline_chain_tail":
                said += f" {text_of(child).strip()} "
            elif child.type == "pipeline_chain":
                said += self._chain(child)
            elif child.type != "comment":
                said += self.statement(child)
        return said

    def _chain(self, node: Node) -> str:
        parts = [child for child in node.named_children if child.type not in ("comment", "redirections")]
        said: list[str] = []
        items: str | None = None
        for n, part in enumerate(parts):
            if part.type != "command":
                items = " ".join(word.text for word in self.words(part))
                said.append(
                    self._method(part) or (f"printf '%s\\n' {items}" if len(parts) > 1 else self._discarded(part))
                )
                continue
            told, items = self._command(part, items, is_fed=n > 0)
            if n == 1 and told.startswith(("for ", "rm ", "eval ")):
                said = []  # it names what it is handed
            said.append(told)
        ends = "".join(
            self._redirect(end)
            for end in below(node, ("redirection",))
            if end.parent and end.parent.type == "redirections"
        )
        return " | ".join(one for one in said if one) + ends

    def _discarded(self, node: Node) -> str:
        """An expression whose value no one takes: what it runs, it runs all the same."""
        said = self._method(node)
        if said is not None:
            return said
        words = [word.text for word in self.words(node)]
        return f": {' '.join(words)}" if any("$(" in word for word in words) else f"echo {' '.join(words)}"

    def _assigned(self, node: Node) -> str:
        left, right = node.named_children[0], node.named_children[-1]
        name = _NAMED.fullmatch(text_of(left).strip())
        words = self.words(right)
        value = " ".join(word.text for word in words)
        if name is None or len(words) != 1:
            return f": {value}" if name is None else f"{name[2].lower()}=({value})"
        is_more = "+" in text_of(node.named_children[1]) if node.named_child_count > 2 else False
        if name[1]:
            return f"export {name[2]}={f'${name[2]}' if is_more else ''}{value}"
        return f"{name[2].lower()}={f'${name[2].lower()}' if is_more else ''}{value}"

    def _if(self, node: Node) -> str:
        said = ""
        for child in node.named_children:
            if child.type == "pipeline":
                said += f"if {self._condition(child)}; then\n"
            elif child.type == "statement_block":
                said += self.block(child) + "\n"
            elif child.type == "elseif_clauses":
                said += "".join(f"el{self._if(clause)[:-2]}" for clause in child.named_children)
            elif child.type == "else_clause":
                said += f"else\n{self.block(child)}\n"
        return f"{said}fi"

    def _condition(self, node: Node) -> str:
        said = self.statement(node) or "false"
        if said == "echo true":
            return "true"
        return f"test -n {said[5:]}" if said.startswith("echo ") and "\n" not in said else said

    def _loop(self, node: Node) -> str:
        body = next((child for child in reversed(node.named_children) if child.type == "statement_block"), None)
        conditions = [child for child in node.named_children if child is not body]
        before = [self.statement(child) for child in conditions if child.type == "for_initializer"]
        tests = [self._condition(child) for child in conditions if child.type in ("while_condition", "for_condition")]
        loop = f"while {tests[0] if tests else 'true'}; do\n{self.block(body)}\ndone"
        return "\n".join([*before, loop])

    def _foreach(self, node: Node) -> str:
        parts = [child for child in node.named_children if child.type not in ("comment", "foreach_parameter")]
        name = _NAMED.fullmatch(text_of(parts[0]))
        words = self.words(parts[1]) if len(parts) > 2 else []
        items = " ".join(_all_of(word.text) for word in words)
        return f"for {name[2].lower() if name else 'PSItem'} in {items}; do\n{self.block(parts[-1])}\ndone"

    def _maybe(self, node: Node) -> str:
        """A statement of which a part may run: `switch`, `catch`."""
        first = ":"
        if node.type == "switch_statement":
            first = self._condition(node.named_children[0])
        bodies = [self.block(body) for body in below(node, ("statement_block",))]
        return f"{first}\n" + "\n".join(f"if test -n {_UNTOLD}; then\n{body}\nfi" for body in bodies)

    def _try(self, node: Node) -> str:
        said = ""
        for child in node.named_children:
            if child.type == "catch_clauses":
                said += self._maybe(child) + "\n"
            else:
                said += self.block(child) + "\n"
        return said.rstrip("\n")

    def _function(self, node: Node) -> str:
        name, body = node.named_children[0], node.named_children[-1]
        return f"{text_of(name).lower()}() {{\n{self.block(body)}\n}}"

    # Commands -------------------------------------------------------------------------------------------------------

    def _command(self, node: Node, items: str | None, *, is_fed: bool) -> tuple[str, str | None]:
        """A command as a shell says it, and the words that it hands on."""
        head, code = self._head(node)
        parts = [
            part for each in node.named_children if each.type == "command_elements" for part in each.named_children
        ]
        ends = "".join(self._redirect(part) for part in parts if part.type == "redirection")
        blocks = [block for part in parts for block in below(part, ("script_block_expression",))]
        if code is not None:
            return code + ends, None
        name = NAMES.get((head.plain or "").lower().rpartition("\\")[2])
        if name in ("foreach-object", "where-object"):
            return self._each(name, blocks, items)
        body = "".join(f"\n{self.block(block)}" for block in blocks)
        if name is None or _has_unix_options(parts, name):
            words = [self._argument(part) for part in parts if part.type not in _NO_WORDS]
            program = head.text.replace("\\", "/") if head.plain and "\\" in head.plain else head.text
            return " ".join([program, *(word for word in words if word)]) + ends + body, None
        slots, given = self._slots(FACTS.cmdlets[name], parts)
        if items and is_fed and not slots.get("path"):
            slots["path"] = [ShellWord(items, None if "$" in items else items)]
        told = filled(FACTS.cmdlets[name], name, slots, given, is_fed=is_fed)
        handed = None
        if name in PASSING:
            handed = items or " ".join(word.text for word in slots.get("path", [])) or "."
            if "filter" in slots:
                handed = f"{handed}/{(slots['filter'][0].plain or '*')}"
        return told + ends + body, handed

    def _head(self, node: Node) -> tuple[ShellWord, str | None]:
        """What is run: a program's name; or code, said whole."""
        name = node.child_by_field_name("command_name") or node.named_children[0]
        if name.type == "command_invokation_operator" and node.named_child_count > 1:
            name = node.named_children[1]
        if name.type == "command_name":
            return _bare(_TAIL.sub(r"\1", text_of(name)), is_path=False), None
        block = next(below(name, ("script_block_expression",)), None)
        if block is not None:
            return ShellWord(""), f"{{\n{self.block(block)}\n}}"
        word = self._one(name)
        if word.plain is None and "$(" in word.text:
            return word, f"eval {word.text}"
        return word, None

    def _each(self, name: str, blocks: list[Node], items: str | None) -> tuple[str, str | None]:
        body = "\n".join(map(self.block, blocks))
        if name == "where-object":
            return f"while read -r PSItem; do\n{body}\ndone" if "$(" in body else "cat", None
        if not blocks:
            return "cat", items
        if items is not None:
            return f"for PSItem in {items}; do\n{body}\ndone", None
        return f"while read -r PSItem; do\n{body}\ndone", None

    def _argument(self, node: Node) -> str:
        if node.type == "command_parameter":
            return shlex.quote(text_of(node))
        if next(below(node, ("script_block_expression",)), None) is not None:
            return "''"
        return " ".join(word.text for word in self.words(node))

    def _redirect(self, node: Node) -> str:
        operator = text_of(node.named_children[0])
        target = next(below(node, ("redirected_file_name",)), None)
        if target is None:
            return f" {operator}" if operator == "2>&1" else ""
        operator = operator.replace("*", "").lstrip("3456")
        return f" {operator} {self._one(target.named_children[-1], is_path=True).text}"

    def _slots(self, cmdlet: Cmdlet, parts: list[Node]) -> tuple[dict[str, list[ShellWord]], set[str]]:
        """What parameters and arguments give, by kind; and the names of the parameters."""
        slots: dict[str, list[ShellWord]] = {}
        given: set[str] = set()
        order = cmdlet.order.split()
        pending: str | None = None
        for part, after in pairwise([*parts, None]):
            if part is None or part.type == "argument_list":
                continue
            if after is not None and after.type == "argument_list":  # of a method, which the grammar ends before it
                member = unwrapped(part)
                slots.setdefault(order[0], []).append(self._given(self._called(member, after)))
            elif part.type == "command_parameter":
                name = parameter(text_of(part))
                given.add(name)
                pending = slot_of(name)
            elif part.type not in _NO_WORDS and next(below(part, ("script_block_expression",)), None) is None:
                kind = pending if pending is not None else order[0]
                if pending is None and len(order) > 1:
                    order = order[1:]
                pending = None
                slots.setdefault(kind, []).extend(self.words(part, is_path=kind in ("path", "to", "out", "in")))
        return slots, given

    # Words ----------------------------------------------------------------------------------------------------------

    def words(self, node: Node, *, is_path: bool = False) -> list[ShellWord]:
        """The words that an expression gives: more than one of a list."""
        node = unwrapped(node)
        if node.type == "array_expression" and node.named_child_count == 1:
            node = unwrapped(node.named_children[0])
        if node.type in ("array_literal_expression", "range_expression"):
            return [word for child in node.named_children for word in self.words(child, is_path=is_path)]
        if node.type in _STATEMENTS_AS_WORDS:
            inner = unwrapped(node.named_children[0]) if node.named_child_count == 1 else node
            if inner is not node and inner.type not in ("command", "pipeline_chain", "pipeline", "statement_list"):
                return self.words(inner, is_path=is_path)
            return [self._output(node)]
        return [self._one(node, is_path=is_path)]

    def _output(self, node: Node) -> ShellWord:
        """What statements print, as one word."""
        commands = list(below(node, ("command",)))
        if len(commands) == 1 and text_of(commands[0]).strip() == text_of(node).strip("()$@ "):
            head, _ = self._head(commands[0])
            name = NAMES.get((head.plain or "").lower(), "")
            if name and FACTS.cmdlets[name].gives:
                parts = [part for child in commands[0].named_children[1:] for part in child.named_children]
                slots, _ = self._slots(FACTS.cmdlets[name], parts)
                return joined([*pieces(FACTS.cmdlets[name].gives, slots)])
        said = self._pipeline(node) if node.type == "pipeline" else self.block(node)
        if node.type == "pipeline_chain":
            said = self._chain(node)
        return _held(f"$({said})")

    def _one(self, node: Node, *, is_path: bool = False) -> ShellWord:
        node = unwrapped(node)
        known = _WORDS.get(node.type)
        if known is not None:
            said = known(self, node)
            return _slashed(said) if is_path or said.plain is None else said
        if node.type == "generic_token" or not node.named_child_count or text_of(node) == "--":
            return _bare(_TAIL.sub(r"\1", text_of(node)), is_path=is_path)
        inner = [self._one(child) for child in node.named_children if child.type not in _NO_WORDS]
        if node.type.startswith(("additive", "multiplicative")) and "+" in {text_of(child) for child in node.children}:
            return joined(inner)
        run = "".join(word.text for word in inner if "$(" in word.text)
        return ShellWord(run or _UNTOLD)

    def _variable(self, node: Node) -> ShellWord:
        name = _NAMED.fullmatch(text_of(node))
        if name is None:
            return literal(text_of(node))
        low = name[2].lower()
        if low in ("true", "false", "null"):
            return literal("" if low == "null" else low)
        if name[1]:
            return ShellWord(f'"{FACTS.folders.get(low, f"${{{name[2]}}}")}"')
        if low in ("_", "psitem"):
            return ShellWord('"$PSItem"')
        return ShellWord(f'"{_PLACES.get(low, f"${{{low}}}")}"')

    def _verbatim(self, node: Node) -> ShellWord:
        text = text_of(node)
        if text.startswith("@"):
            return literal(text[2:-2].strip("\r\n"))
        return literal(text[1:-1].replace("''", "'"))

    def _expandable(self, node: Node) -> ShellWord:
        """A text with variables and commands in it."""
        whole = node.text or b""
        low, high = (2, len(whole) - 2) if whole.startswith(b"@") else (1, len(whole) - 1)
        found: list[ShellWord] = []
        at = low
        for child in node.named_children:
            start, end = child.start_byte - node.start_byte, child.end_byte - node.start_byte
            found += [literal(_unescaped(whole[at:start])), *([self._one(child)] if child.type != "ERROR" else [])]
            at = end
        found.append(literal(_unescaped(whole[at:high])))
        return joined(found)

    def _command_output(self, node: Node) -> ShellWord:
        found = self.words(node)
        return found[0] if len(found) == 1 else ShellWord(" ".join(word.text for word in found))

    def _member(self, node: Node) -> ShellWord:
        """What a thing has: `.Content`, `.FullName` are taken for the thing itself."""
        return self._one(node.named_children[0])

    def _invoked(self, node: Node) -> ShellWord:
        return self._given(self._method(node))

    @staticmethod
    def _given(said: str | None) -> ShellWord:
        if said is None:
            return ShellWord(_UNTOLD)
        if said.startswith(_GIVES):
            return ShellWord(said.removeprefix(_GIVES))
        return _held(f"$({said})")

    def _method(self, node: Node) -> str | None:
        """A call of a method, in the words of a shell."""
        node = unwrapped(node)
        if node.type != "invokation_expression":
            return None
        return self._called(node, node.named_children[-1])

    def _called(self, node: Node, arguments: Node) -> str | None:
        owner = node.named_children[0]
        name = next(
            (text_of(child).strip("'\"").lower() for child in node.named_children if child.type == "member_name"), ""
        )
        kind = text_of(owner).strip("[]").lower() if owner.type == "type_literal" else ""
        given = [self._one(one) for one in below(arguments, ("argument_expression",))]
        words = " ".join(word.text for word in given)
        slots = {str(n): [word] for n, word in enumerate(given)} | {"all": [ShellWord(words)]}
        for key in (f"{kind.rpartition('.')[2]}::{name}", name):
            if key in METHODS:
                said = METHODS[key]
                whole = "".join(piece.text for piece in pieces(said.lstrip("="), slots))
                return f"{_GIVES}{whole}" if said.startswith("=") else whole
        inner = "" if kind else self._one(owner).text
        return f"printf %s {inner} {words} | tr a b" if inner or words else None


def _all_of(text: str) -> str:
    """All that a word holds, one by one."""
    if "$(" in text:
        return text.strip('"')
    return f'{text[:-2]}[@]}}"' if text.startswith('"${') and text.endswith('}"') else text


def _slashed(word: ShellWord) -> ShellWord:
    """A path with slashes, where the word is one or begins with a variable."""
    if "\\" not in word.text or (word.plain is not None and not _PATH_LIKE.fullmatch(word.plain)):
        return word
    return ShellWord(_BEFORE_NAME.sub("/", word.text), word.plain and word.plain.replace("\\", "/"))


def _unescaped(text: bytes) -> str:
    return _TAIL.sub(lambda found: _ESCAPES.get(found[1], found[1]), text.decode("utf-8", "replace").replace('""', '"'))


def _bare(text: str, *, is_path: bool) -> ShellWord:
    """An argument without quotes: wildcards stay what they are."""
    if (is_path or _PATH_LIKE.fullmatch(text)) and not REGISTRY.match(text):
        text = text.replace("\\", "/")
    if "$" in text:
        return ShellWord(
            '"' + re.sub(r"[\"`]", "", _NAMED.sub(lambda found: f"${{{found[2].replace('_', 'PSItem')}}}", text)) + '"'
        )
    if text[:2] in ("~", "~/") or "*" in text or "?" in text:
        return ShellWord(re.sub(r"([^\w*?~/.:=@%+,-])", r"\\\1", text), text)
    return literal(text)


_STATEMENTS_AS_WORDS = frozenset(
    ("parenthesized_expression", "statement_list", "pipeline", "pipeline_chain", "sub_expression", "array_expression")
)
_EXPRESSIONS = frozenset(("logical_expression", "invokation_expression", "array_literal_expression"))
_NO_WORDS = frozenset(
    ("command_argument_sep", "redirection", "comment", "stop_parsing", "comparison_operator", "format_operator")
)
_STATEMENTS: dict[str, Callable[[_Renderer, Node], str]] = {
    "pipeline": _Renderer._pipeline,
    "pipeline_chain": _Renderer._chain,
    "command": lambda teller, node: teller._command(node, None, is_fed=False)[0],
    "if_statement": _Renderer._if,
    "while_statement": _Renderer._loop,
    "do_statement": _Renderer._loop,
    "for_statement": _Renderer._loop,
    "foreach_statement": _Renderer._foreach,
    "switch_statement": _Renderer._maybe,
    "trap_statement": _Renderer._maybe,
    "try_statement": _Renderer._try,
    "function_statement": _Renderer._function,
    "flow_control_statement": _Renderer.block,
}
_WORDS: dict[str, Callable[[_Renderer, Node], ShellWord]] = {
    "variable": _Renderer._variable,
    "braced_variable": _Renderer._variable,
    "verbatim_string_characters": _Renderer._verbatim,
    "verbatim_here_string_characters": _Renderer._verbatim,
    "expandable_string_literal": _Renderer._expandable,
    "expandable_here_string_literal": _Renderer._expandable,
    "parenthesized_expression": _Renderer._command_output,
    "sub_expression": _Renderer._command_output,
    "array_expression": _Renderer._command_output,
    "pipeline": _Renderer._command_output,
    "member_access": _Renderer._member,
    "element_access": _Renderer._member,
    "cast_expression": lambda teller, node: teller._one(node.named_children[-1]),
    "invokation_expression": _Renderer._invoked,
}
