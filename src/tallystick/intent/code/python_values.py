"""What an expression of Python is, as far as its text tells.

Owns Value and what operators, methods and functions that touch nothing make of values: texts, paths, lists, names of modules
and classes, the home folder and the environment as far as they are known. Must not know statements, nor which calls touch
the world. Unknown parts of a text are HOLE, as in a Word.
"""

from __future__ import annotations

import ast
import enum
import posixpath
import re
from collections.abc import Mapping, Sequence

import msgspec

from tallystick.intent.actions import HOME
from tallystick.intent.code.pure import FUNCTIONS, Plain, made
from tallystick.model.pattern import pattern_of
from tallystick.model.script import ANY_ONE, CLASS, HOLE, STAR

MOST_ITEMS = 64
LONGEST = 4096
"""Characters of a text that is put together: a longer one is a hole, so that doubling it again and again costs nothing."""
_LONGEST_PART = 1024
_WILD = str.maketrans({"*": STAR, "?": ANY_ONE, "[": CLASS})


class Kind(enum.Enum):
    """What a value is."""

    UNKNOWN = enum.auto()
    TEXT = enum.auto()
    PATH = enum.auto()
    """An object of pathlib."""
    ITEMS = enum.auto()
    """A list, a tuple, a set."""
    MEMBERS = enum.auto()
    """A dict with constant keys."""
    EACH = enum.auto()
    """Something to go through: every item is like `items[0]`."""
    NAME = enum.auto()
    """Something of a module, by its dotted name; an instance of a class ends in `()`."""
    FILE = enum.auto()
    """An open file; `text` is its path."""
    FUNCTION = enum.auto()
    """A function of the text itself."""


class Value(msgspec.Struct, frozen=True):
    """A value, as far as it is known."""

    kind: Kind
    text: str = ""
    items: tuple[Value, ...] = ()
    members: dict[str, Value] = {}
    node: object = None
    """The definition of a function; of an open file, its place among those that are open."""


UNKNOWN = Value(Kind.UNKNOWN)


def text(value: str) -> Value:
    """A text."""
    return Value(Kind.TEXT, value)


def path(value: str) -> Value:
    """A path object. `.` and `..` stay: they mean what they say to the system."""
    return Value(Kind.PATH, value)


def at_home(value: str) -> str:
    """A path after `~` was replaced by the home folder."""
    if value == "~" or value.startswith("~/"):
        return HOME + value[1:]
    return value


def put_together(parts: Sequence[str]) -> str:
    """Texts one after the other."""
    if sum(map(len, parts)) <= LONGEST:
        return "".join(parts)
    return HOLE


def name(dotted: str) -> Value:
    """Something of a module."""
    return Value(Kind.NAME, dotted[:500])


def member(owner: Value, key: str) -> Value:
    """What a module has under a name: `getattr(os, key)`, `vars(os)[key]`, `sys.modules[key]`."""
    if owner.kind is not Kind.NAME or HOLE in key:
        return UNKNOWN
    return name(key if owner.text == "sys.modules" else f"{owner.text.removesuffix('.__dict__')}.{key}")


def items(values: Sequence[Value]) -> Value:
    """A list; one of many items is cut, and what it holds is not known."""
    if len(values) <= MOST_ITEMS:
        return Value(Kind.ITEMS, items=tuple(values))
    return UNKNOWN


def each(value: Value) -> Value:
    """Something whose every item is like `value`."""
    return Value(Kind.EACH, items=(value,))


def spelled(value: Value | None) -> str | None:
    """A path or text as text with holes; None if it is neither."""
    if value is not None and value.kind in (Kind.TEXT, Kind.PATH, Kind.FILE):
        return value.text
    return None


def whole(found: str | None) -> str | None:
    """A text of which nothing is unknown; None for any other."""
    if found is None or HOLE in found:
        return None
    return found


def within(value: Value) -> str:
    """A value as it appears in a longer text: a hole, where it is not known."""
    found = spelled(value)
    if found is None:
        return HOLE
    return found


def constant(value: object) -> Value:
    """A constant of the text."""
    if isinstance(value, str):
        return text(value)
    if isinstance(value, bytes):
        return text(value.decode("utf-8", "replace"))
    if isinstance(value, int | float) and not isinstance(value, bool):
        if abs(value) < 1e18:
            return text(repr(value))
        return UNKNOWN
    return UNKNOWN


def joined(parts: Sequence[str]) -> str:
    """Paths put together as os.path.join does it."""
    found = ""
    if sum(map(len, parts)) > LONGEST:
        return HOLE
    for part in parts:
        if part.startswith(("/", HOME)) or not found:
            found = part
        elif part:
            found = f"{found.rstrip('/') if found != '/' else ''}/{part}"
    return found


def pattern(folder: str, spelling: str) -> str:
    """A pattern of `glob` below a folder, with its wildcards marked."""
    return joined([folder, spelling.translate(_WILD)] if folder not in ("", ".") else [spelling.translate(_WILD)])


def added(left: Value, right: Value) -> Value:
    """`left + right`."""
    if left.kind is Kind.ITEMS and right.kind is Kind.ITEMS:
        return items((*left.items, *right.items))
    if Kind.TEXT in (left.kind, right.kind):
        return text(put_together((within(left), within(right))))
    return UNKNOWN


def divided(left: Value, right: Value) -> Value:
    """`left / right`, where one of them is a path."""
    if left.kind is Kind.PATH or right.kind is Kind.PATH:
        return path(joined([within(left), within(right)]))
    return UNKNOWN


_PERCENT = pattern_of(r"%(?:\(\w+\))?[#0\- +]*\d*(?:\.\d+)?([sdifrxaeg%])")


def formatted(left: Value, right: Value) -> Value:
    """`left % right`: the parts that are known, in their places."""
    if left.kind is not Kind.TEXT or len(left.text) > LONGEST:
        return UNKNOWN
    if right.kind is Kind.ITEMS:
        given = list(right.items)
    else:
        given = [right]

    def put(found: re.Match[str]) -> str:
        if found[1] == "%":
            return "%"
        value = UNKNOWN
        if given and "(" not in found[0]:
            value = given.pop(0)
        if found[0] in ("%s", "%d", "%i"):
            return _short(value)
        return HOLE

    return text(_PERCENT.sub(put, left.text))


def _short(value: Value) -> str:
    """A value as a part of a text that may have many parts."""
    found = within(value)
    if len(found) <= _LONGEST_PART:
        return found
    return HOLE


_BRACES = pattern_of(r"\{\{|\}\}|\{([^{}:!]{0,60})([:!][^{}]{0,60})?\}")


def braced(template: str, args: Sequence[Value], named: dict[str, Value]) -> Value:
    """`template.format(...)`."""
    numbers = iter(range(len(args)))

    def put(found: re.Match[str]) -> str:
        if found[0] in ("{{", "}}"):
            return found[0][0]
        key = found[1] or str(next(numbers, -1))
        if key.isdecimal() and len(key) < 4 and int(key) < len(args):
            value = args[int(key)]
        else:
            value = named.get(key, UNKNOWN)
        if found[2]:
            return HOLE
        return _short(value)

    if len(template) <= LONGEST:
        return text(_BRACES.sub(put, template))
    return text(HOLE)


def of_text(value: Value, method: str, args: Sequence[Value], named: dict[str, Value]) -> Value | None:
    """What a method of `str` gives; None if it is none that is known."""
    if method == "format":
        return braced(value.text, args, named)
    if method == "join" and args:
        if args[0].kind is Kind.ITEMS:
            parts = [part for item in args[0].items for part in (value.text, within(item))]
            return text(put_together(parts[1:]))
        return text(HOLE)
    plain = [spelled(arg) for arg in args]
    if method in _PURE and HOLE not in value.text and all(arg is not None and HOLE not in arg for arg in plain):
        return _called(value.text, method, [arg for arg in plain if arg is not None])
    if method in ("encode", "decode") and plain_texts(args):
        return of_plain(made("decode", [value.text, *plain_texts(args)]))
    if method in _PURE or method in ("encode", "decode", "expandtabs", "zfill", "center"):
        if method in ("encode", "decode", "strip", "rstrip"):
            return value
        return text(HOLE)
    return None


def plain_texts(args: Sequence[Value]) -> list[str]:
    """The arguments that are whole texts."""
    return [arg.text for arg in args if arg.kind is Kind.TEXT and HOLE not in arg.text]


_PURE_METHODS = """
lower upper strip rstrip lstrip replace removeprefix removesuffix title capitalize split splitlines
"""
_PURE = frozenset(_PURE_METHODS.split())


_COUNTED = {"replace": 3, "split": 2}
"""Methods whose last argument may be a number, and which argument that is."""


def _called(value: str, method: str, args: list[str]) -> Value:
    if (len(value) + 1) * max(map(len, args), default=1) > LONGEST * 16:
        return text(HOLE)
    given: list[str | int] = [*args]
    if method in ("replace", "split") and args and args[-1].isdecimal() and len(args) == _COUNTED[method]:
        given[-1] = int(args[-1])
    try:
        made = getattr(value, method)(*given)
    except (TypeError, ValueError):
        return text(HOLE)
    if isinstance(made, list):
        return items([text(part) for part in made[: MOST_ITEMS + 1]])
    return text(made)


def of_path(value: Value, member: str) -> Value:
    """What a member of a path object is."""
    known = value.text
    if member == "parent":
        if known.strip(HOLE + HOME):
            return path(posixpath.dirname(known.rstrip("/")) or ".")
        return path(HOLE)
    if member in ("name", "stem", "suffix"):
        last = posixpath.basename(known.rstrip("/"))
        stem, suffix = posixpath.splitext(last)
        return text({"name": last, "stem": stem, "suffix": suffix}[member])
    return UNKNOWN


def path_made(value: Value, method: str, args: Sequence[Value]) -> Value | None:
    """The path that a method of a path object gives; None if it gives none."""
    if method in ("resolve", "absolute", "as_posix", "__fspath__"):
        return path(value.text)
    if method == "expanduser":
        return path(at_home(value.text))
    if method == "joinpath":
        return path(joined([value.text, *map(within, args)]))
    if method in ("with_suffix", "with_name", "with_stem") and args:
        return path(_renamed(value.text, method, within(args[0])))
    if method in ("relative_to", "readlink"):
        return path(HOLE)
    return None


def _renamed(known: str, method: str, new: str) -> str:
    folder, slash, last = known.rpartition("/")
    stem, suffix = posixpath.splitext(last)
    made = {"with_suffix": stem + new, "with_name": new, "with_stem": new + suffix}[method]
    return f"{folder}{slash}{made}"


def indexed(value: Value, key: ast.expr) -> Value:
    """`value[key]` for a constant key, or a slice with constant ends."""
    if isinstance(key, ast.Slice) and value.kind in (Kind.TEXT, Kind.ITEMS) and HOLE not in value.text:
        ends = [None if end is None else _index(end) for end in (key.lower, key.upper, key.step)]
        if [end is None for end in ends] == [end is None for end in (key.lower, key.upper, key.step)] and ends[2] != 0:
            part = slice(*ends)
            return text(value.text[part]) if value.kind is Kind.TEXT else items(value.items[part])
    if (
        value.kind is Kind.ITEMS
        and (place := _index(key)) is not None
        and -len(value.items) <= place < len(value.items)
    ):
        return value.items[place]
    if value.kind is Kind.MEMBERS and isinstance(key, ast.Constant) and isinstance(key.value, str):
        return value.members.get(key.value, UNKNOWN)
    if value.kind is Kind.EACH:
        return value.items[0]
    return UNKNOWN


def _index(key: ast.expr) -> int | None:
    if isinstance(key, ast.UnaryOp) and isinstance(key.op, ast.USub):
        inner = _index(key.operand)
        if inner is None:
            return None
        return -inner
    if isinstance(key, ast.Constant) and type(key.value) is int:
        return key.value
    return None


# Calls that touch nothing ---------------------------------------------------------------------------------------------

_ENVIRONMENT = frozenset(("os.environ.get", "os.getenv"))


class Call(msgspec.Struct, frozen=True):
    """A call with its arguments as values."""

    args: Sequence[Value]
    named: Mapping[str, Value]
    depth: int
    """How many conditions and loops it is in."""

    def at(self, place: int, *names: str) -> Value | None:
        """The argument at a place or of one of these names."""
        if place < len(self.args):
            return self.args[place]
        return next((self.named[name] for name in names if name in self.named), None)

    def path(self, place: int, *names: str) -> str | None:
        """The same as a path, None if it is not text."""
        return spelled(self.at(place, *names))


def text_given(name: str, call: Call) -> Value | None:
    """What a function gives that touches nothing; None if it is none of those."""
    if name in ("os.path.join", "posixpath.join"):
        return text(joined([within(arg) for arg in call.args]))
    if name == "os.path.expanduser":
        return text(at_home(call.path(0, "path") or HOLE))
    if name in _SAME and call.args:
        if call.args[0].kind in (Kind.TEXT, Kind.PATH, Kind.ITEMS, Kind.EACH):
            return call.args[0]
        return UNKNOWN
    if name in _PATHS:
        return path(joined([within(arg) for arg in call.args]) if call.args else ".")
    if name in ("os.path.dirname", "os.path.basename") and call.args:
        member = "name"
        if name.endswith("dirname"):
            member = "parent"
        return text(of_path(path(within(call.args[0])), member).text)
    if name in _ENVIRONMENT:
        return text(HOME if call.path(0) == "HOME" else HOLE)
    if name == "urllib.request.Request":
        return Value(Kind.MEMBERS, members={"url": call.at(0, "url") or UNKNOWN})
    return _CONSTANTS.get(name) or _pure(name, call)


def _pure(name: str, call: Call) -> Value | None:
    """What a function gives that only makes texts, or a list of such; None for any other."""
    first = call.args[0] if call.args else UNKNOWN
    if name == "map" and len(call.args) == 2 and first.text in FUNCTIONS and call.args[1].kind is Kind.ITEMS:
        return items([_pure(first.text, Call([item], {}, call.depth)) or UNKNOWN for item in call.args[1].items])
    if name == "reversed":
        return items(first.items[::-1]) if first.kind is Kind.ITEMS else first
    if name == "range":
        return _numbers([spelled(arg) or "" for arg in call.args[:3]])
    if name not in FUNCTIONS:
        return None
    given = [plain(arg) for arg in call.args]
    known = [one for one in given if one is not None]
    return of_plain(made(FUNCTIONS[name], known) if len(known) == len(given) else None)


def _numbers(bounds: Sequence[str]) -> Value:
    """What `range` gives, if that is not much."""
    try:
        numbers = range(*map(int, bounds))
    except (TypeError, ValueError):
        return UNKNOWN
    return items([text(str(number)) for number in numbers]) if len(numbers) <= MOST_ITEMS else UNKNOWN


def plain(value: Value) -> Plain | None:
    """A text, or a list of texts, as functions that only make texts take them."""
    if value.kind is Kind.ITEMS:
        return tuple(map(within, value.items))
    return spelled(value)


def of_plain(found: Plain | None) -> Value:
    """What such a function gives, as a value."""
    if found is None:
        return text(HOLE)
    if isinstance(found, str):
        return text(found)
    return items([text(part) for part in found])


_SAME = frozenset(
    ("os.path.abspath", "os.path.realpath", "os.path.normpath", "os.fspath", "str", "os.path.expandvars",
     "sorted", "list", "tuple", "set", "iter", "repr")
)  # fmt: skip
_PATHS = frozenset(("pathlib.Path", "pathlib.PurePath", "pathlib.PosixPath", "pathlib.PurePosixPath", "anyio.Path"))
_CONSTANTS = {
    "os.getcwd": text("."),
    "os.getcwdb": text("."),
    "pathlib.Path.cwd": path("."),
    "pathlib.Path.home": path(HOME),
    "tempfile.gettempdir": text("/tmp"),
    "site.getusersitepackages": text(f"{HOME}/.local/lib/python3/site-packages"),
    "site.getuserbase": text(f"{HOME}/.local"),
}
