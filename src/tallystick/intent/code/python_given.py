"""Functions of Python's library that touch nothing: what they give.

Owns Call, and paths put together, the home folder, the environment as far as it is known. Must not know what calls do.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import msgspec

from tallystick.intent.code import python_values as values
from tallystick.intent.code.found import HOME
from tallystick.intent.code.python_values import UNKNOWN, Kind, Value, spelled
from tallystick.model.script import HOLE

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
        return values.text(values.joined([values.within(arg) for arg in call.args]))
    if name == "os.path.expanduser":
        return values.text(values.at_home(call.path(0, "path") or HOLE))
    if name in _SAME and call.args:
        return call.args[0] if call.args[0].kind in (Kind.TEXT, Kind.PATH, Kind.ITEMS, Kind.EACH) else UNKNOWN
    if name in _PATHS:
        return values.path(values.joined([values.within(arg) for arg in call.args]) if call.args else ".")
    if name in ("os.path.dirname", "os.path.basename") and call.args:
        member = "name"
        if name.endswith("dirname"):
            member = "parent"
        return values.text(values.of_path(values.path(values.within(call.args[0])), member).text)
    if name in _ENVIRONMENT:
        return values.text(HOME if call.path(0) == "HOME" else HOLE)
    if name == "urllib.request.Request":
        return Value(Kind.MEMBERS, members={"url": call.at(0, "url") or UNKNOWN})
    return _CONSTANTS.get(name)


_SAME = frozenset(
    ("os.path.abspath", "os.path.realpath", "os.path.normpath", "os.fspath", "str", "os.path.expandvars",
     "sorted", "list", "tuple", "set", "reversed", "iter", "repr")
)  # fmt: skip
_PATHS = frozenset(("pathlib.Path", "pathlib.PurePath", "pathlib.PosixPath", "pathlib.PurePosixPath", "anyio.Path"))
_CONSTANTS = {
    "os.getcwd": values.text("."),
    "os.getcwdb": values.text("."),
    "pathlib.Path.cwd": values.path("."),
    "pathlib.Path.home": values.path(HOME),
    "tempfile.gettempdir": values.text("/tmp"),
    "site.getusersitepackages": values.text(f"{HOME}/.local/lib/python3/site-packages"),
    "site.getuserbase": values.text(f"{HOME}/.local"),
}
