"""A text → its simple commands.

Owns the walk over the tree: which variables and folders hold at each command, what a pipe carries, which text is shell text
again. Must not know which programs or paths matter. A text that does not tell everything is read as far as it goes, and says
why it is opaque.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from functools import partial

from tallystick.intent.shell.commands import Environment, State
from tallystick.intent.shell.expand import Depth, Expander, joined
from tallystick.intent.shell.feeds import Feed, carried, printed_by, said
from tallystick.intent.shell.grammar import Node, glued, is_descriptor, is_lost, is_slow, text_of
from tallystick.intent.shell.redirects import SKIPPED, Redirector
from tallystick.intent.shell.scope import CHANGES_FOLDER, Scope, failed, may_have_run, merge, untold
from tallystick.intent.shell.turns import may_turn, turns_of
from tallystick.model.intent import Chance
from tallystick.model.paths import placed
from tallystick.model.pattern import pattern_of
from tallystick.model.script import HOLE, Command, Role, Script, Word

_MOST_TEXTS = 6
_MOST_ROUNDS = 16
_MOST_GLOBS = 64
_MOST_LOOKED_AT = 4096
_MOST_FILES = 256
_CHANGED = pattern_of(
    r"([A-Za-z_]\w*)(?:\+?=|\+\+|--|\s*[-+*/|&^%]=)|\b(?:read|mapfile|readarray)\b([^;\n|&]*)", re.ASCII
)
_WILD = pattern_of("[\ue000\ue001\ue002]")


def read_script(text: str, environment: Environment, parameters: tuple[Word, ...] = ()) -> Script:
    """The commands of a shell text, whose `$0`, `$1`… are `parameters`. Never raises: what cannot be read is `opaque`."""
    reader = _Reader(environment)
    if parameters:
        reader.scope.number(parameters, first=0)
    reader.text(text, reader.scope, Feed())
    return reader.script()


def read_argv(argv: Iterable[str], environment: Environment) -> Script:
    """The commands of a program that is started without a shell."""
    reader = _Reader(environment)
    reader.command(Command(words=tuple(Word(text) for text in argv)), reader.scope, Feed())
    return reader.script()


class _Reader(Redirector):
    """Walks the tree of one text and of the texts in it."""

    def __init__(self, environment: Environment) -> None:
        super().__init__(environment)
        self._texts = 0
        self._rounds = 1
        self._globs = 0
        self._depth = Depth()

        self._goes_on: dict[int, list[Node]] = {}
        """Statements that a pipe goes on from, by their node."""

    # Texts ----------------------------------------------------------------------------------------------------------

    def text(self, text: str, scope: Scope, feed: Feed) -> None:
        """Read a text, or one that a command of it runs."""
        root = None
        if self._texts < _MOST_TEXTS:
            root = self._tree(text)
        if root is None:
            if self._texts >= _MOST_TEXTS:
                reason = "depth"
            elif is_slow(text):
                reason = "size"
            else:
                reason = "syntax"
            self.untold(reason, scope, fed=text[: 64 << 10], spelled=(Word(text[:200]),))
            return
        self._texts += 1
        if is_lost(root):
            self.opaque["syntax"] = None
        own = ""
        if "0" in scope.variables:
            own = scope.variables["0"].plain
        if may_turn(text, own):
            loops, cycles = turns_of(root, own)
            self.loops += loops
            self.cycles += cycles
        self._walk(root, scope, feed)
        if self._depth.is_over:
            self.opaque["depth"] = None
        self._texts -= 1

    def body(self, function: Node, scope: Scope, feed: Feed) -> None:
        """Read the body of a function that is called."""
        if any(child.type == "file_redirect" for child in function.named_children):
            self._redirected(function, scope, feed)
            return
        body = function.child_by_field_name("body")
        if body is not None:
            self._walk(body, scope, feed)

    # Nodes ----------------------------------------------------------------------------------------------------------

    def _walk(self, node: Node, scope: Scope, feed: Feed) -> None:
        """Read what stands below a node, in order."""
        if self.is_enough():
            return
        self.nested += 1
        rest = None
        if self._goes_on:
            rest = self._goes_on.pop(node.id, None)
        around = None
        if self._bound_to and rest is None:
            around = self._bound_to.pop(node.id, None)
        known = _READERS.get(node.type)
        if rest is not None:
            self._elements([*(_statements_of(node) if node.type == "pipeline" else [node]), *rest], scope, feed)
        elif around is not None:
            self._redirected(around, scope, feed, node)
        elif known is not None:
            known(self, node, scope, feed)
        else:
            self._children(node, scope, feed)
        self.nested -= 1

    def _children(self, node: Node, scope: Scope, feed: Feed) -> None:
        for child in node.named_children:
            if child.type not in SKIPPED:
                self._walk(child, scope, feed)

    def _statements(self, node: Node, scope: Scope, feed: Feed) -> None:
        self._sequence(node.children, scope, feed)

    def _sequence(self, nodes: list[Node], scope: Scope, feed: Feed) -> None:
        """Statements one after the other. Only of the last one the shell reports the status."""
        found: list[Node] = []
        behind: set[int] = set()
        for node in nodes:
            if node.is_named:
                if node.type not in SKIPPED:
                    found.append(node)
            elif node.type == "&":
                behind.add(len(found) - 1)
        before = self.state
        for n, node in enumerate(found):
            if n < len(found) - 1 or n in behind:
                self.state = State(before.chance, False, False)
            else:
                self.state = before
            self._walk(node, scope.copy() if n in behind else scope, feed)
        self.state = before

    def _expander(self, scope: Scope, fed: Feed | None = None) -> Expander:
        found = None
        if self.environment.glob is not None:
            found = partial(self._found, scope)
        return Expander(scope, lambda node: self._substitution(node, scope, fed or Feed()), found, self._depth)

    def _found(self, scope: Scope, word: Word) -> list[Word]:
        """The files that a word with wildcards names, if they are looked up and there are any."""
        glob = self.environment.glob
        if glob is None or not _WILD.search(word.text) or not word.is_known or self._globs >= _MOST_GLOBS:
            return [word]
        base = scope.place.current or ""
        pattern = placed(word.plain, base)
        if not pattern.startswith("/"):
            return [word]
        self._globs += 1
        if word.text.startswith("/"):
            start = ""
        else:
            start = base.rstrip("/") + "/"
        lead = ""
        if word.text.startswith("./"):
            lead = "./"
        files = list(glob(pattern))[:_MOST_FILES]
        return [
            Word(lead + file.removeprefix(start) if start and file.startswith(start) else file) for file in files
        ] or [word]

    def _substitution(self, node: Node, scope: Scope, fed: Feed) -> Word:
        """Read `$(…)`, `<(…)` or `>(…)`: a hole, unless its output is known by its words."""
        before = len(self.commands)
        self.nested += 1
        entry: tuple[int, ...] = ()
        is_output = node.type == "process_substitution" and text_of(node).startswith(">")
        own = scope.copy()
        if is_output:
            entry = self.alone(Command(words=(), role=Role.GROUP), own)
            fed = Feed("", None, entry)
        state = State(self.state.chance, self.state.is_last, False)
        kinds = {child.type for child in node.named_children}
        read = self._statements
        if kinds == {"file_redirect"}:
            read = self._redirected
        outputs = self.apart(lambda: self.at(state, lambda: read(node, own, fed)))
        self.nested -= 1
        inner = self.commands[before:]
        if node.type == "command_substitution":
            told = printed_by(inner) or printed_by([self.commands[n] for n in outputs])
            if told is not None:
                return Word(told.text.rstrip("\n"), told.hidden, told.commands)
        hidden = " ".join([text_of(node), *map(said, inner)])
        return Word(HOLE, hidden, entry if is_output else outputs, node.type == "process_substitution")

    def _subshell(self, node: Node, scope: Scope, feed: Feed) -> None:
        self._statements(node, scope.copy(), feed)

    def _pipeline(self, node: Node, scope: Scope, feed: Feed) -> None:
        """`A | B`. Of `A && B 2>&1 | C` the grammar makes a pipe that all of `A && B` goes into; only `B` does."""
        children = _statements_of(node)
        first, around = children[0] if children else node, None
        if first.type == "redirected_statement":
            first, around = first.child_by_field_name("body") or first, first
        if first.type != "list":
            self._elements(children, scope, feed)
            return
        last = first
        while last.type == "list":
            last = _statements_of(last)[-1]
        self._goes_on[last.id] = children[1:]
        if around is not None:
            bound = last
            if last.type == "pipeline":
                bound = _statements_of(last)[-1]
            self._bound_to[bound.id] = around
        self._walk(first, scope, feed)

    def _elements(self, children: list[Node], scope: Scope, feed: Feed) -> None:
        for child in children[:-1]:
            before = len(self.commands)
            state = State(self.state.chance, self.state.is_last, False)
            numbers = self.apart(partial(self.at, state, partial(self._walk, child, scope.copy(), feed)))
            feed = carried(self.commands[before:], feed, numbers)
        for child in children[-1:]:
            self._walk(child, scope, feed)

    def _list(self, node: Node, scope: Scope, feed: Feed) -> None:
        """`A && B` or `A || B`. What is after `&&` has run if the text succeeded and nothing came after it."""
        operator = next((child.type for child in node.children if not child.is_named), "&&")
        left, right = node.named_children[:1], node.named_children[1:]
        before = self.state
        is_and = operator == "&&"
        stood = scope.place.current
        for child in left:
            self.state = State(before.chance, before.is_last, before.is_needed and is_and)
            self._walk(child, scope, feed)
        if is_and and before.is_needed:
            chance = before.chance
        else:
            chance = Chance.MAYBE
        self.state = State(chance, before.is_last, before.is_needed and is_and)
        if is_and:
            own = scope
        else:
            own = self._after_failure(scope, stood)
        start = own.place.current
        for child in right:
            if child.type not in SKIPPED:
                self._walk(child, own, feed)
        if not is_and:
            may_have_run(scope, own, start)
        self.state = before

    def _after_failure(self, scope: Scope, stood: str | None) -> Scope:
        """What holds after `||`. If the last command before it is a `cd`, that failed; an earlier one may have failed."""
        if scope.place.current == stood:
            return scope.copy()
        return failed(scope, stood if self.commands[-1].program in CHANGES_FOLDER else None)

    def _negated(self, node: Node, scope: Scope, feed: Feed) -> None:
        self.at(self.state._replace(is_needed=False), lambda: self._children(node, scope, feed))

    # Statements -----------------------------------------------------------------------------------------------------

    def _assignment(self, node: Node, scope: Scope, feed: Feed) -> None:
        name = node.child_by_field_name("name")
        if name is not None:
            key = text_of(name.named_children[0] if name.type == "subscript" and name.named_children else name)
            given = node.child_by_field_name("value")
            value = self._expander(scope).value(given)
            if given is not None and given.type == "array":
                self._array(scope, key, given)
            is_more = any(child.type == "+=" for child in node.children) and key in scope.variables
            self.note(key, value.plain)
            self.assign(scope, key, joined([scope.variables[key], value]) if is_more else value)

    def _array(self, scope: Scope, name: str, node: Node) -> None:
        for n, word in enumerate(self._expander(scope).words(node.named_children)[:_MOST_ROUNDS]):
            self.assign(scope, f"{name}[{n}]", word)

    def _lengthen(self, node: Node, tail: list[Node], scope: Scope) -> None:
        """Append to the value of an assignment what the grammar cut off."""
        name = node.child_by_field_name("name")
        more = self._expander(scope).words(tail)
        if name is not None and more and text_of(name) in scope.variables:
            scope.variables[text_of(name)] = joined([scope.variables[text_of(name)], more[0]])

    def _maybe(self) -> State:
        return State(Chance.MAYBE, self.state.is_last, False)

    def _if(self, node: Node, scope: Scope, feed: Feed) -> None:
        """Conditions run where they stand; of the bodies one runs, or none."""
        condition, body, clauses = _split(node)
        inner = State(self.state.chance, False, False)
        self.at(inner, lambda: self._sequence(condition, scope, feed))
        self._branches([body], clauses, scope, feed)

    def _branches(self, bodies: list[list[Node]], clauses: list[Node], scope: Scope, feed: Feed) -> None:
        ends: list[Scope] = []
        maybe = self._maybe()
        for nodes in bodies + [clause.children for clause in clauses]:
            own = scope.copy()
            self.at(maybe, partial(self._sequence, nodes, own, feed))
            ends.append(own)
        is_whole = any(clause.type == "else_clause" for clause in clauses)
        merge(scope, ends if is_whole else [scope.copy(), *ends])

    def _case(self, node: Node, scope: Scope, feed: Feed) -> None:
        items = [child for child in node.named_children if child.type == "case_item"]
        for child in node.named_children:
            if child.type != "case_item":
                self._walk(child, scope, feed)
        self._branches([], items, scope, feed)

    def _while(self, node: Node, scope: Scope, feed: Feed) -> None:
        """A loop that goes on while a condition holds: what it changes is unknown, in it and after it."""
        body = node.child_by_field_name("body")
        before = scope.copy()
        self._forget(node, scope)
        for child in node.named_children:
            if body is None or child.start_byte != body.start_byte:
                self.at(State(self.state.chance, False, False), partial(self._walk, child, scope, feed))
        if body is not None:
            self._forget(node, scope)
            self.at(self._maybe(), lambda: self._walk(body, scope, feed))
            merge(scope, [before, scope.copy()])

    @staticmethod
    def _forget(node: Node, scope: Scope) -> None:
        text = text_of(node)
        is_short = len(text) <= _MOST_LOOKED_AT
        names = list(scope.variables)
        if is_short:
            names = [name for each in _CHANGED.finditer(text) for name in (each[1] or each[2] or "").split()]
        for name in dict.fromkeys(names):
            if name in scope.variables and name != "HOME":
                scope.variables[name] = untold([scope.variables[name]])

    def _for(self, node: Node, scope: Scope, feed: Feed) -> None:
        """`for NAME in WORDS`: the body is read once for each word, if they are few; else the variable is one of them."""
        name = node.child_by_field_name("variable")
        words = self._expander(scope).words(node.children_by_field_name("value"))
        body = node.child_by_field_name("body")
        if name is None or body is None:
            return
        if self._is_few(words):
            rounds = words
        else:
            rounds = [words[0] if len(words) == 1 else untold(words)]
        before = scope.copy()
        if len(rounds) == 1 and rounds[0] not in words[:1]:
            self._forget(body, scope)
        self._rounds *= len(rounds)
        for word in rounds:
            self.assign(scope, text_of(name), word)
            self.at(self._maybe(), lambda: self._walk(body, scope, feed))
        self._rounds //= len(rounds)
        merge(scope, [before, scope.copy()])

    def _is_few(self, words: list[Word]) -> bool:
        is_known = all(word.is_known and not word.hidden for word in words)
        return is_known and 0 < len(words) <= _MOST_ROUNDS // self._rounds

    def _function(self, node: Node, scope: Scope, feed: Feed) -> None:
        name = node.child_by_field_name("name")
        if name is not None:
            self.define(text_of(name), node, scope)

    def _declaration(self, node: Node, scope: Scope, feed: Feed) -> None:
        said = [text_of(child) for child in node.named_children]
        if node.children and all(text.startswith("-") for text in said[:1]) and not any("=" in text for text in said):
            # It sets nothing: it prints what is set, as a command does.
            self.command(Command(words=(Word(text_of(node.children[0])), *map(Word, said))), scope, feed)
        for child in node.named_children:
            if child.type == "variable_assignment":
                self._assignment(child, scope, feed)
            else:
                self._expander(scope).words([child])

    def _unset(self, node: Node, scope: Scope, feed: Feed) -> None:
        for child in node.named_children:
            if text_of(child) != "HOME":
                scope.variables.pop(text_of(child), None)
                self.note(text_of(child), "")

    def _alone(self, node: Node, scope: Scope, feed: Feed) -> None:
        """A substitution where no word is read: in a test, the value of a case, a count."""
        self._substitution(node, scope, feed)

    # Commands -------------------------------------------------------------------------------------------------------

    def _command(self, node: Node, scope: Scope, feed: Feed) -> None:
        self._simple(node, scope, feed, None)

    def _simple(self, node: Node, scope: Scope, feed: Feed, around: Node | None) -> None:
        """A simple command; `around` is the statement that has its redirects."""
        late: list[Word] = []
        redirects, feed, is_diverted = self._redirects(node, scope, feed, late)
        if around is not None:
            outer, feed, is_more = self._redirects(around, scope, feed, late)
            redirects += outer
            is_diverted |= is_more
        children = node.named_children
        assigned = [child for child in children if child.type == "variable_assignment"]
        parts = [
            part
            for child in children
            for part in (child.children if child.type == "command_name" else [child])
            if child.type != "variable_assignment" and not child.type.endswith("_redirect") and not is_descriptor(part)
        ]
        # What is glued to the last value belongs to it.
        if assigned:
            tail = glued([assigned[-1], *parts])[0][1:]
        else:
            tail = []
        words = (*self._expander(scope, feed).words(parts[len(tail) :]), *late)
        own = scope
        if words and assigned:
            own = Scope(dict(scope.variables), scope.place)
        for child in assigned:
            self._assignment(child, own, feed)
        if tail:
            self._lengthen(assigned[-1], tail, own)
        self.command(Command(words=words, redirects=tuple(redirects), is_diverted=is_diverted), own, feed)


def _statements_of(node: Node) -> list[Node]:
    return [child for child in node.named_children if child.type not in SKIPPED]


def _split(node: Node) -> tuple[list[Node], list[Node], list[Node]]:
    """The condition, the body, and the `elif` and `else` clauses of an `if`."""
    condition: list[Node] = []
    body: list[Node] = []
    clauses: list[Node] = []
    place = condition
    for child in node.children:
        if child.type == "then":
            place = body
        elif child.type in ("elif_clause", "else_clause"):
            clauses.append(child)
        else:
            place.append(child)
    return condition, body, clauses


_Read = Callable[[_Reader, Node, Scope, Feed], None]
_READERS: dict[str, _Read] = {
    "program": _Reader._statements,
    "compound_statement": _Reader._statements,
    "do_group": _Reader._statements,
    "command": _Reader._command,
    "pipeline": _Reader._pipeline,
    "list": _Reader._list,
    "negated_command": _Reader._negated,
    "redirected_statement": _Reader._redirected,
    "subshell": _Reader._subshell,
    "variable_assignment": _Reader._assignment,
    "declaration_command": _Reader._declaration,
    "unset_command": _Reader._unset,
    "if_statement": _Reader._if,
    "case_statement": _Reader._case,
    "while_statement": _Reader._while,
    "c_style_for_statement": _Reader._while,
    "for_statement": _Reader._for,
    "function_definition": _Reader._function,
    "command_substitution": _Reader._alone,
    "process_substitution": _Reader._alone,
}
