"""Programs in languages without a reader of their own, read by verbs: a name that says what is done, and the texts beside it.

Owns how most languages write strings, comments, names and calls (`f("x")`, `(f "x")`, `f "x"`, `"x".f()`), and what
common names of functions mean. Must not know any single language. What it finds is claimed; that there is more is
always said. A text that is longer than its reader reads is looked at only where such a word stands. Sources: the
manuals of Emacs Lisp, R, Julia, Go, Rust, Java, Kotlin, Scala, Groovy, Swift, C#, Elixir, Clojure, Haskell.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache

from tallystick.catalog.loading import Entry, inverted, load
from tallystick.intent.actions import HOME, Found
from tallystick.intent.code.tokens import MOST_CHARACTERS, MOST_TOKENS, Token, unescaped
from tallystick.model.intent import Operation
from tallystick.model.pattern import Near, pattern_of

_TOKEN = pattern_of(
    r"(?P<space>(?m:^)[ \t]*+(?:#(?!\{)|//|;|--(?=\s)|%)[^\n]*|[ \t]++(?:#|//|;;?|--)[ \t][^\n]*|[^\S\n]+"
    r"|/\*[^*]*+(?:\*(?!/)[^*]*+)*(?:\*/|\Z))"
    r"|(?P<line>\n)"
    r'|(?P<string_1>"""[^"]*+(?:"(?!"")[^"]*+)*(?:"""|\Z))'
    r'|(?P<string_2>"(?:[^"\\]|\\.?)*+(?:"|\Z))'
    r"|(?P<string_3>'(?:[^'\\\n]|\\.)*+')"
    r"|(?P<back>`[^`]*+(?:`|\Z))"
    r"|(?P<name>[A-Za-z_$][\w$]*(?:(?:\.|::|->|-|:)[A-Za-z_][\w$]*)*[!?]?)"
    r"|(?P<number>\d[\w.]*)"
    r"|(?P<sign>:=|<-|=>|==|!!|\S)",
    re.DOTALL,
)
_MOST_IN_CALL = 60
_MOST_TEXTS = 16
_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")
_BINDS = frozenset(("=", ":=", "<-"))


class _Facts(Entry, frozen=True):
    """Facts of catalog/code/verbs.toml."""

    homes: frozenset[str]
    does: Mapping[str, tuple[str, ...]]


_FACTS = load("code/verbs", _Facts)
_DOES = inverted(_FACTS.does)
_OPERATIONS = {
    "read": Operation.READ,
    "write": Operation.WRITE,
    "append": Operation.APPEND,
    "delete": Operation.DELETE,
    "delete/": Operation.DELETE,
    "source": Operation.EXECUTE,
}
_REQUESTS = {"fetch": Operation.FETCH, "send": Operation.SEND, "connect": Operation.CONNECT}
_HOMES = _FACTS.homes
_OWNED = {"text": "read", "bytes": "read", "contents": "read", "newreader": "read", "newwriter": "write"}
"""Members of a file that is named before them: `File("x").text`."""
_CHAINS = frozenset(("arg", "args", "arguments", "addarg"))
_HOME_NAMES = frozenset(("HOME", "USERPROFILE", "user.home"))
_PATH = pattern_of(r"[\w.~@%+$\ue010 /\\:-]{1,4096}")


def read_verbs(text: str, found: Found) -> None:
    """Note what a program does, as far as its verbs tell."""
    found.is_unknown = bool(text.strip())
    program = list(_tokens(text[:MOST_CHARACTERS]))
    _Reader(program, found).read()


def _tokens(text: str) -> Iterator[Token]:
    for count, match in enumerate(_TOKEN.finditer(text)):
        if count >= MOST_TOKENS:
            return
        kind = (match.lastgroup or "sign").partition("_")[0]
        if kind == "string":
            if match[0].startswith('"""'):
                quote = '"""'
            else:
                quote = match[0][0]
            inside = match[0][len(quote) :].removesuffix(quote)
            yield Token(kind, unescaped(inside) if quote != '"""' else inside)
        elif kind == "back":
            yield Token(kind, match[0][1:].removesuffix("`"))
        elif kind != "space":
            yield Token(kind, match[0])


@lru_cache(maxsize=4096)
def _plain(name: str) -> str:
    """The last part of a name unchanged in the table: `Sys.readFile!` is `readfile`."""
    return re.sub(r"[_!?$-]", "", re.split(r"\.|::|->|:", name)[-1]).lower().removesuffix("sync")


class _Reader:
    """One program."""

    def __init__(self, program: Sequence[Token], found: Found) -> None:
        self._program = program
        self._found = found
        self._bound: dict[str, list[str]] = {}

    def read(self) -> None:
        """Names that say what is done, in the order in which they stand."""
        for place, token in enumerate(self._program):
            if token.kind == "string":
                self._run_after(place, token)
            elif token.kind == "name":
                self._name(place, token.text)

    def _name(self, place: int, name: str) -> None:
        start = self._bound_at(place)
        if start is not None:
            self._bound[name] = self._texts(start, is_whole=True)
            return
        does = _DOES.get(_plain(name))
        if name.endswith("Command::new"):
            does = "shell"
        owned = None
        if does is None:
            owned = _OWNED.get(_plain(name))
        if owned is not None and (texts := self._owner(place)):
            self._does(owned, texts, is_command=False)
        if does is None:
            return
        texts = self._texts(place + 1) or self._bound.get(re.split(r"\.|::|->", name)[0], []) or self._owner(place)
        if texts:
            self._does(does, texts, is_command=self._has_back(place))

    def _bound_at(self, place: int) -> int | None:
        """Where the value begins that a name is bound to: `p = …`, `p, err := …`."""
        after = [token.text for token in self._program[place + 1 : place + 4]]
        if after[:1] and after[0] in _BINDS:
            return place + 2
        if after[:1] == [","] and after[2:] and after[2] in _BINDS:
            return place + 4
        return None

    def _run_after(self, place: int, token: Token) -> None:
        """`"cat x".execute()`, `"cat x" !!`."""
        rest = [after.text for after in self._program[place + 1 : place + 4]]
        if rest[:1] in (["!"], ["!!"]) or (rest[:1] == ["."] and rest[1:2] in (["execute"], ["!"], ["!!"], ["exec"])):
            self._found.runs("sh", token.text)

    def _owner(self, place: int) -> list[str]:
        """`File("x").delete()`: the texts in the brackets before the name."""
        if place < 3 or self._program[place - 1].text not in (".", "?.") or self._program[place - 2].text != ")":
            return []
        depth = 0
        for back in range(place - 2, max(-1, place - _MOST_IN_CALL), -1):
            text = ""
            if self._program[back].kind == "sign":
                text = self._program[back].text
            depth += (text in _CLOSING) - (text in _OPENING)
            if depth == 0:
                return self._texts(back)
        return []

    def _has_back(self, place: int) -> bool:
        return any(token.kind == "back" for token in self._program[place + 1 : place + 3])

    def _texts(self, start: int, *, is_whole: bool = False) -> list[str]:
        """The texts of a call's arguments, with the home folder in the place of what asks for it.

        Args: is_whole: they go on to the end of the statement, or of the brackets that they are in.
        """
        found: list[str] = []
        depth = 0
        is_whole = is_whole or self._sign(start) not in _OPENING or self._sign(start - 2) == "("
        for place in range(start, min(len(self._program), start + _MOST_IN_CALL)):
            token = self._program[place]
            sign = ""
            if token.kind == "sign":
                sign = token.text
            depth += (sign in _OPENING) - (sign in _CLOSING)
            is_over = depth < 0 or (depth == 0 and (token.kind == "line" or sign == ";"))
            is_over = is_over or (depth == 0 and sign in _CLOSING and not is_whole and not self._goes_on(place))
            if token.kind in ("string", "back"):
                if token.text in _HOME_NAMES:
                    found.append(HOME)
                else:
                    found.append(token.text)
            elif token.kind == "name" and _plain(token.text) in _HOMES:
                found.append(HOME)
            elif token.kind == "name" and token.text in self._bound:
                found += self._bound[token.text]
            if is_over or len(found) >= _MOST_TEXTS:
                break
        return found

    def _sign(self, place: int) -> str:
        is_sign = 0 <= place < len(self._program) and self._program[place].kind == "sign"
        if is_sign:
            return self._program[place].text
        return ""

    def _goes_on(self, place: int) -> bool:
        """Whether more arguments are given after a call: `Command::new("sh").arg("-c")`."""
        rest = [token for token in self._program[place + 1 : place + 4] if token.kind != "line"]
        return len(rest) > 1 and rest[0].text == "." and _plain(rest[1].text) in _CHAINS

    # What is done -------------------------------------------------------------------------------------------------------

    def _does(self, does: str, texts: list[str], *, is_command: bool) -> None:
        found = self._found
        address = next((text for text in texts if "://" in text[:12]), None)
        if does == "shell" or is_command:
            self._runs(texts)
        elif address is not None and not address.startswith("file:"):
            found.network(_REQUESTS.get(does, Operation.FETCH), address)
        elif does == "connect":
            found.network(Operation.CONNECT, ":".join(texts[:2]))
        elif does in _OPERATIONS:
            path = _joined(texts)
            if path is not None and path.startswith("|"):
                found.runs("sh", path[1:])
            elif path is not None:
                found.file(_OPERATIONS[does], path, is_deep=does == "delete/")

    def _runs(self, texts: list[str]) -> None:
        """A shell text, or a program and its words."""
        first = texts[0]
        if len(texts) == 1 or " " in first.strip():
            self._found.runs("sh", first if first != HOME else None)
        else:
            self._found.runs_program(texts)


def _joined(texts: list[str]) -> str | None:
    """The path that texts in a row make: a folder to begin with and what lies in it, or the first one alone."""
    first = texts[0]
    if first == HOME:
        rest = "/".join(part.strip("/") for part in texts[1:] if _PATH.fullmatch(part))
        if rest:
            return f"{HOME}/{rest}"
        return HOME
    if first.startswith("file://"):
        first = first[7:]
    if first == "~" or first.startswith("~/"):
        first = HOME + first[1:]
    is_path = _PATH.fullmatch(first) is not None or first.startswith("|")
    if is_path and ({"/", ".", "\\", HOME} & set(first) or first.startswith("|")):
        return first
    return None


_MOST = 100
_AROUND = 300
_WORD = Near(
    "system popen shell passthru proc_open exec spawn output check_call subprocess processbuilder rm remove unlink "
    "url requests fetch open file read slurp connect",
    r"\b(?:os\.system|popen\w?|system2?|shell_exec|passthru|proc_open|exec(?:Sync|File|FileSync|v[pe]*|l[pe]*)?|spawn(?:Sync)?|getoutput"
    r"|check_output|check_call|subprocess\.\w+|Popen|run_shell|execute|ProcessBuilder|rmtree|rmSync|rm_rf|removeAll|remove_dir_all|unlink"
    r"|urlopen|urlretrieve|requests\.\w+|fetch|curl_exec|open|fopen|file_get_contents|readFile(?:Sync)?|read_text|read_bytes|slurp"
    r"|create_connection|connect)[ \t]*\(",
)


def read_glimpses(text: str, found: Found, *, start: int = 0) -> None:
    """Note what a text does where it says so in so many words, from a place on."""
    found.is_unknown = True
    pieces: list[str] = []
    end = start
    for match in _WORD.matches(text, start):
        if match.start() < end:
            continue
        end = min(match.start() + _AROUND, len(text))
        pieces.append(text[match.start() : end].partition("\n\n")[0])
        if len(pieces) >= _MOST:
            break
    for piece in pieces:
        read_verbs(piece, found)
