"""Whether a piece of one text is in another, and how much that tells.

Owns the form in which texts are compared, and the weight of words: `ls` and `npm install` are in every second page,
`make frobnicate-7781` does not. Must not know where texts come from. Every step is linear in the text, which is
hostile.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TypeAlias

import msgspec

from tallystick.model.pattern import pattern_of
from tallystick.model.recorded import Recorded
from tallystick.model.step import Json

MOST_CHARACTERS = 64 << 10
"""Of a text that is looked in: the rest is left out."""
TELLING = 2
"""A piece of this weight is hardly found by chance."""

_WORDS = pattern_of(r"\w+")
_EDGES = ".,;:!?()[]{}<>|&$#*~-"
_UNSEEN = "\u200b\u200c\u200d\u2060\ufeff"
_QUOTES = str.maketrans(dict.fromkeys(f"`'\"\\\u2018\u2019\u201c\u201d{_UNSEEN}", ""))
_BEFORE, _AFTER = "./@=+", "-./@:=+"
"""What joins words. A line that `grep` gives has its file's name and a colon or a dash before it."""
_FLAG = pattern_of(r"-{1,2}[A-Za-z][A-Za-z-]*\Z")
_INNER = pattern_of(r"\w[/@:=.#+%][\w/]|\w/\.|[/~]\w")
_LONG, _JOINED = 16, 6
_MOST_FOUND = 16
_MOST_LINES = 400
_SHORTEST_LINE = 6
_MANY_WORDS = 8
_LONG_WORDS = pattern_of(r"[A-Za-z0-9+=]{16,400}")

Line: TypeAlias = tuple[str, frozenset[str]]

_EVERYDAY = """
ls cd cat pwd echo printf head tail grep rg find sed awk cut sort uniq wc diff less more tree touch mkdir rmdir cp mv rm
ln chmod chown test true false exit set export source which type env xargs tee date sleep time sudo sh bash zsh fish
git status log show diff add commit push pull fetch clone checkout switch branch merge rebase stash reset restore tag
remote origin main master head amend init submodule worktree tags force
npm npx pnpm yarn bun node deno install uninstall update upgrade run start stop build test tests lint format fmt check
dev serve watch clean all ci exec audit list link init create add remove
pip pip3 pipx uv poetry conda python python2 python3 venv pytest tox nox ruff black mypy flake8 isort coverage
cargo rustc rustup go gofmt mvn gradle gradlew make cmake ninja just task bazel docker podman compose up down ps logs
kubectl helm terraform ansible apt apt-get brew yum dnf apk get curl wget tar zip unzip gzip gunzip ssh scp rsync
jq yq tsc eslint prettier jest vitest mocha vite webpack rails rake bundle gem ruby java javac php composer dotnet
src lib app docs doc bin tmp test tests dist out target config scripts readme readme.md package.json index main.py
import from as def class return if else elif for while in is not and or none null true false self this const let var
function async await export default new print int str float bool list dict type void public private static final string
the a an of to on by with at be it you your we our they can will this that then next first now use using please should
must have has was were are into when what how all any each every one two file files folder line lines name value
x y i j n k foo bar baz hello world example example.com example.org localhost todo fixme http https json yaml toml txt md
__name__ __main__ __init__
latest stable release version debug --help --version --all --save-dev --global --yes --quiet --verbose
"""
_COMMON = frozenset(_EVERYDAY.split())


def flat(text: str) -> str:
    """A text as it is compared: in lower case, in one line, without quotation marks and what no one sees."""
    cut = text[:MOST_CHARACTERS]
    if "\\" in cut:  # of a line that goes on, and of JSON in a text
        cut = cut.replace("\\\n", " ").replace("\\n", " ").replace("\\t", " ")
    return " ".join(cut.translate(_QUOTES).lower().split())


class Indexed(msgspec.Struct, frozen=True):
    """A text that pieces are looked for in."""

    text: str
    """As `flat` makes it."""
    words: frozenset[str]

    def holds(self, piece: str, words: frozenset[str]) -> bool:
        """Whether a piece (flat, with its words) is in it, from word to word."""
        return words <= self.words and _stands(piece, self.text)


def indexed(text: str) -> Indexed:
    """A text, ready to be looked in."""
    one_line = flat(text)
    return Indexed(one_line, words_of(one_line))


def words_of(piece: str) -> frozenset[str]:
    """All words of a flat text, without what joins them."""
    return frozenset(_WORDS.findall(piece))


def _stands(piece: str, text: str) -> bool:
    if not piece:
        return False
    at, size = -1, len(piece)
    for _ in range(_MOST_FOUND):
        at = text.find(piece, at + 1)
        if at < 0:
            return False
        if not _goes_on(text, at - 1, -1, piece[0]) and not _goes_on(text, at + size, 1, piece[-1]):
            return True
    return False


def _goes_on(text: str, at: int, way: int, end: str) -> bool:
    """Whether a word goes on beyond the end of a piece: `x-1` in `x-12`, and in `x-1-b`."""
    if not _joins(end) or not 0 <= at < len(text):
        return False
    if _joins(text[at]):
        return True
    further = at + way
    return text[at] in (_AFTER if way > 0 else _BEFORE) and 0 <= further < len(text) and _joins(text[further])


def _joins(sign: str) -> bool:
    return sign.isalnum() or sign == "_"


def telling_words(piece: str) -> dict[str, int]:
    """The words of a flat piece that tell something, each with its weight: 2, or 1 of a plain one."""
    found: dict[str, int] = {}
    for word in piece.split():
        if word.startswith("-"):
            bare = word.rstrip(_EDGES)
        else:
            bare = word.strip(_EDGES)
        if bare not in found and (weight := weight_of(bare)):
            found[bare] = weight
    return found


def weight_of(word: str) -> int:
    """How much it tells that a word is in two texts: 0, 1 or 2."""
    if len(word) < 3 or word in _COMMON or _FLAG.match(word):
        return 0
    if word.isdigit():
        return int(len(word) >= 4)
    has_digit = not word.isalpha() and any(map(str.isdigit, word))
    if has_digit or len(word) >= _LONG or (len(word) >= _JOINED and _INNER.search(word)):
        return 2
    return 1


def is_copied(written: Sequence[Line], source: Indexed, is_known: Callable[[str], bool] = lambda _: False) -> bool:
    """Whether a text, given as lines, is for the most part from another one, and that is hardly chance.

    Hardly by chance are words that tell something, if they were not known before; a line of many words; a whole note.
    """
    size = sum(len(line) for line, _ in written)
    held = [line for line, words in written if len(line) >= _SHORTEST_LINE and source.holds(line, words)]
    if not held or 2 * sum(map(len, held)) < size:
        return False
    told: dict[str, int] = {}
    for line in held:
        told |= telling_words(line)
    if sum(much for word, much in told.items() if not is_known(word)) >= TELLING:
        return True
    if any(map(is_known, told)):
        return False
    whole = " ".join(line for line, _ in written if line)
    is_note = len(whole) >= _LONG and " " in whole and source.holds(whole, words_of(whole))
    return is_note or any(len(line.split()) >= _MANY_WORDS for line in held)


def lines_of(text: str) -> list[Line]:
    """The lines of a text, flat, with their words; of a long one the first ones."""
    return [(line, words_of(line)) for line in map(flat, text.splitlines()[:_MOST_LINES])]


def weight(piece: str, known: Iterable[str] = ()) -> int:
    """How much it tells that a flat piece is in two texts. Words that are known from elsewhere tell nothing."""
    own = frozenset(known)
    return sum(much for word, much in telling_words(piece).items() if word not in own)


def holds_key(text: str) -> bool:
    """Whether a text has a long word that is not a word: digits among letters, as in keys and tokens."""
    return any(map(_is_like_a_key, _LONG_WORDS.findall(text[:MOST_CHARACTERS])))


def _is_like_a_key(word: str) -> bool:
    return sum(map(str.isdigit, word)) > 1 and sum(map(str.isalpha, word)) > 5


def written_texts(step: Recorded) -> Iterator[str]:
    """The texts among a call's arguments that it may have written: all but those that say what was there before."""
    waiting: list[Json] = [step.values.get("content.args")]
    while waiting:
        value = waiting.pop()
        if isinstance(value, str):
            yield value
        elif isinstance(value, list):
            waiting += value
        elif isinstance(value, dict):
            waiting += [inner for name, inner in value.items() if not str(name).lower().startswith("old")]
