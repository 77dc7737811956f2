"""Variables, substitutions, arithmetic and quotes of one word.

Owns nodes of the tree → Words, and what `$((…))` comes to where it is made of numbers. Must not know commands: the text of a
substitution is handed to a function that the reader gives. Source: the Bash Reference Manual, 6.5 "Shell Arithmetic".
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator

import msgspec

from tallystick.intent.shell.grammar import Node, glued, parse, text_of
from tallystick.intent.shell.quotes import alternatives, ansi, bare, count, in_quotes, splitting
from tallystick.intent.shell.scope import Scope, sources
from tallystick.model.pattern import pattern_of
from tallystick.model.script import HOLE, OPEN, SPLIT, Word

_PLAIN = pattern_of(r"[0-9a-zA-Z#+*/%()<>&|^~\s-]{1,80}")
_NUMBER = pattern_of(r"(?<![\w#])(?:(\d{1,2})#([0-9a-zA-Z]{1,16})|(0[xX][0-9a-fA-F]{1,16})|(\d{1,18}))(?![\w#])")
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


Found = Callable[[Word], list[Word]]
"""The files that a word with wildcards names; the word itself where none are known."""
Inner = Callable[[Node], Word]
"""Reads the commands of a substitution; what it stands for."""
_TILDE = pattern_of(r"(?:(?<=^)|(?<=[=:]))~([\w.+-]*)(?=/|:|$)")
_NAMED_NEXT = pattern_of(r"[A-Za-z_]\w*|\d", re.ASCII)
_SIMPLE = pattern_of(r"[\w./:@%+,-]+", re.ASCII)
_COUNTED = pattern_of(r"(?<![\w#])\$?([A-Za-z_]\w*)", re.ASCII)
_MOST_COMPUTED = 100
_MOST_WORDS = 128
_MOST_NESTED = 24
_MOST_CHARACTERS = 64 << 10
_NAMED = ("variable_name", "special_variable_name", "subscript")
_UNSET_TAKES = (":-", "-", ":=", "=")


class Depth(msgspec.Struct):
    """How deep words are in words while they are made."""

    count: int = 0
    is_over: bool = False
    """Some stood too deep, and were not looked into."""


class Expander:
    """Makes words of nodes in one scope."""

    def __init__(self, scope: Scope, inner: Inner, found: Found | None = None, depth: Depth | None = None) -> None:
        self.scope = scope
        if depth is not None:
            self._depth = depth
        else:
            self._depth = Depth()
        self._inner = inner
        self._found = found

    def words(self, nodes: list[Node]) -> list[Word]:
        """The words that arguments become: braces and unquoted variables may make several of one, or none."""
        return [word for group in glued(nodes) for word in self._words(group)]

    def _words(self, group: list[Node]) -> list[Word]:
        if len(group) == 1:
            told = self._at_once(group[0])
            if told is not None:
                return told
        word = joined(list(self._glued(group)))
        texts = [text for whole in alternatives(word.text) for text in whole.split(SPLIT) if text or not whole]
        words = [Word(text, word.hidden, word.commands, word.is_stream) for text in texts[:_MOST_WORDS]]
        if OPEN in word.text and words and (many := count(word.text)) > len(words):
            words[0] = msgspec.structs.replace(words[0], many=many)
        if self._found is None:
            return words
        return [file for word in words for file in self._found(word)]

    def _at_once(self, node: Node) -> list[Word] | None:
        """The words of a node in which nothing is expanded, or which stands for a list; None for all others."""
        match node.type:
            case "word" | "number":
                text = text_of(node)
                if _SIMPLE.fullmatch(text):
                    return [Word(text)]
                return None
            case "raw_string":
                return [Word(text_of(node)[1:-1])]
            case "string" | "simple_expansion" | "expansion":
                return self.scope.listed(text_of(node))
            case _:
                return None

    def _glued(self, group: list[Node]) -> Iterator[Word]:
        """The parts of one word. A `$` that the grammar cut off its name, as in `_''$NAME`, is put back."""
        parts = [part for node in group for part in (_parts(node) if node.type == "concatenation" else [node])]
        is_cut = False
        for n, part in enumerate(parts):
            name = None
            if is_cut and part.type == "word":
                name = _NAMED_NEXT.match(text_of(part))
            is_cut = part.type == "$" and n + 1 < len(parts)
            if name is not None:
                if name[0].isdecimal() and "1" not in self.scope.variables:
                    unset = Word("")
                else:
                    unset = Word(HOLE)
                yield self._as_found(self.scope.variables.get(name[0], unset), quoted=False)
                yield Word(bare(text_of(part)[name.end() :]))
            elif not is_cut:
                yield self.word(part, first=n == 0)

    def value(self, node: Node | None) -> Word:
        """What an assignment gives a variable: neither braces nor blanks make more than one word of it."""
        if node is None:
            return Word("")
        if node.type == "array":
            return joined(self.words(node.named_children), between=" ")
        word = self.word(node)
        return Word(" ".join(part.replace(SPLIT, " ") for part in alternatives(word.text)), word.hidden, word.commands)

    def word(self, node: Node, *, quoted: bool = False, first: bool = True) -> Word:
        """One node, with the marks of `quotes` still in it."""
        if self._depth.count >= _MOST_NESTED:
            self._depth.is_over = True
            return Word(HOLE)
        self._depth.count += 1
        word = self._inside(node, quoted=quoted, first=first)
        self._depth.count -= 1
        return word

    def _inside(self, node: Node, *, quoted: bool, first: bool) -> Word:
        match node.type:
            case "concatenation":
                return joined([self.word(part, first=n == 0) for n, part in enumerate(_parts(node))])
            case "string":
                return self.quoted(node, 1, -1)
            case "translated_string":
                return joined([self.word(part) for part in node.named_children])
            case "raw_string":
                return Word(text_of(node)[1:-1])
            case "ansi_c_string":
                return Word(ansi(text_of(node)[2:-1]))
            case "simple_expansion" | "expansion":
                return self._as_found(self._variable(node), quoted=quoted)
            case "command_substitution" | "process_substitution":
                return self._as_found(self._inner(node), quoted=quoted)
            case "arithmetic_expansion" | "regex":
                return self._untold(node)
            case _:
                return Word(bare(self._tilde(text_of(node), first=first)))

    def _as_found(self, word: Word, *, quoted: bool) -> Word:
        if quoted:
            return word
        marks = self.scope.variables.get("IFS", _BLANKS)
        text = splitting(word.text, marks.text if marks.is_known else _BLANKS.text)
        return Word(text, word.hidden, word.commands, word.is_stream)

    def _untold(self, node: Node) -> Word:
        """A count, or the pattern of `${X%…}`, which the grammar does not look into: what is substituted in it runs."""
        if node.type == "arithmetic_expansion" and (told := self._computed(text_of(node))) is not None:
            return Word(told)
        if node.type == "regex":
            tree = parse(text_of(node))
        else:
            tree = node
        words = [self._inner(found) for found in _substitutions(tree or node)]
        return Word(HOLE, " ".join(word.hidden for word in words), sources(words))

    def _computed(self, text: str) -> str | None:
        """What `$((…))` comes to, if all that is in it is known."""
        if len(text) > _MOST_COMPUTED or not text.endswith("))"):
            return None

        def known(found: re.Match[str]) -> str:
            word = self.scope.variables.get(found[1])
            if word is not None and word.text.isdecimal():
                return word.text
            return found[0]

        value = computed(_COUNTED.sub(known, text[3:-2]))
        if value is None:
            return None
        return str(value)

    def quoted(self, node: Node, start: int = 0, end: int | None = None) -> Word:
        """What is in a string or a here-document: some bytes of a node, in which only `$` and back-quotes mean more."""
        source, begin, at, parts = node.text or b"", node.start_byte, start, []
        for child in node.named_children:
            if child.type not in ("string_content", "heredoc_content"):
                raw = child.text or b""  # it takes the blanks before it along
                first = child.start_byte - begin + len(raw) - len(raw.lstrip())
                parts += [_plain(source[at:first]), self.word(child, quoted=True)]
                at = child.end_byte - begin
        return joined([*parts, _plain(source[at:end])])

    def _tilde(self, text: str, *, first: bool) -> str:
        if first and "~" in text:
            return _TILDE.sub(lambda found: self._home(found), text)
        return text

    def _home(self, found: re.Match[str]) -> str:
        if found[1] in ("+", "-"):
            known = self.scope.variables.get("PWD" if found[1] == "+" else "OLDPWD")
            if known is not None:
                return known.text
            return HOLE
        known = self.scope.variables.get("HOME")
        if known is not None:
            home = known.text
        else:
            home = found[0]
        if not found[1] or home.endswith(f"/{found[1]}"):
            return home
        above, _, _ = home.rpartition("/")
        # home folders lie beside each other
        others = "/home"
        if home != "/root":
            others = above
        if found[1] == "root":
            return "/root"
        if others.startswith("/"):
            return f"{others}/{found[1]}"
        return found[0]

    # Variables ------------------------------------------------------------------------------------------------------

    def _variable(self, node: Node) -> Word:
        name = next((child for child in node.named_children if child.type in _NAMED), None)
        if name is None:
            return Word(HOLE, text_of(node))
        key = text_of(name.named_children[0] if name.type == "subscript" else name)
        known = self.scope.variables.get(text_of(name) if name.type == "subscript" else key)
        if known is None:
            known = self.scope.variables.get(key)
        if name.type == "subscript" and known is not None and " " in known.text:
            known = Word(HOLE, f"{known.text} {known.hidden}", known.commands)
        operator = next((text_of(child) for child in node.children_by_field_name("operator")), "")
        if not operator:
            return known or Word(HOLE)
        rest = node.named_children[node.named_children.index(name) + 1 :]
        changed = self._changed(key, known, operator, rest)
        said = " ".join([text_of(node), *_texts(known)])
        return changed or Word(HOLE, said, known.commands if known is not None else ())

    def _changed(self, name: str, known: Word | None, operator: str, rest: list[Node]) -> Word | None:
        """`${NAME…}` with an operator; None where its value is unknown by the text."""
        words = [self.word(part) for part in rest]  # whatever comes of it, a substitution in it runs
        if operator in _UNSET_TAKES:
            default = joined(words)
            if known is None and "=" in operator:
                self.scope.variables[name] = default
            said = f"{default.text} {default.hidden}"
            if known is None:
                return default
            return Word(known.text, f"{known.hidden} {said}", known.commands)
        if known is None or not known.is_known:
            return None
        return _edited(known.text, operator, [text_of(part) for part in rest])


def _edited(value: str, operator: str, rest: list[str]) -> Word | None:
    """What an operator with plain words makes of a value."""
    what = ""
    if rest:
        what = rest[0]
    match operator:
        case "%" | "%%" | "#" | "##" if "*" in what:
            return _without(value, operator, what)
        case "%" | "%%" if not set("*?[") & set(what):
            return Word(value.removesuffix(what))
        case "#" | "##" if not set("*?[") & set(what):
            return Word(value.removeprefix(what))
        case "/" | "//" if not set("*?[") & set(what):
            return Word(value.replace(what, rest[1] if len(rest) > 1 else "", 1 if operator == "/" else -1))
        case ":" if all(part.isdecimal() for part in rest) and rest:
            start = int(what)
            return Word(value[start : start + int(rest[1])] if len(rest) > 1 else value[start:])
        case ",," | "^^":
            return Word(value.lower() if operator == ",," else value.upper())
        case _:
            return None


def _without(value: str, operator: str, pattern: str) -> Word | None:
    """What `${X##*/}`, `${X%.*}` and similar leave; None for patterns with more than one `*`, at the inner end."""
    fixed = pattern.strip("*")
    if not fixed or set("*?[\\$`'\"") & set(fixed) or len(pattern) != len(fixed) + 1:
        return None
    is_start = operator.startswith("#")
    if pattern.startswith("*") != is_start:
        return None
    is_long = len(operator) == 2
    if is_start == is_long:
        at = value.rfind(fixed)
    else:
        at = value.find(fixed)
    if at < 0:
        return Word(value)
    return Word(value[at + len(fixed) :] if is_start else value[:at])


def _substitutions(node: Node) -> Iterator[Node]:
    """Substitutions anywhere in an arithmetic expression, those in others apart."""
    left = node.named_children[::-1]
    while left:
        child = left.pop()
        if child.type in ("command_substitution", "process_substitution"):
            yield child
        else:
            left += child.named_children[::-1]


def _texts(known: Word | None) -> list[str]:
    if known is None:
        return []
    return [known.text, known.hidden]


_BLANKS = Word(" \t\n")


def _plain(text: bytes) -> Word:
    return Word(in_quotes(text.decode("utf-8", "replace")))


def _parts(node: Node) -> list[Node]:
    """The parts of a concatenation; the `$` of `$"…"` is none."""
    children = node.children
    return [
        child
        for child, after in zip(children, [*children[1:], None], strict=True)
        if not (after is not None and child.type == "$" and after.type == "string")
    ]


def joined(words: list[Word], between: str = "") -> Word:
    """Words in a row as one, cut where it grows without bounds: `X=$X$X` a few times over is a gigabyte."""
    if len(words) == 1 and len(words[0].text) + len(words[0].hidden) < _MOST_CHARACTERS:
        return words[0]
    text = between.join(word.text for word in words)
    hidden = " ".join(word.hidden for word in words if word.hidden)
    return Word(text[:_MOST_CHARACTERS], hidden[:_MOST_CHARACTERS], sources(words))
