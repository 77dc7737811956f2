"""Functions and classes of Python's libraries, and what they do to files, hosts and processes.

Owns the table of dotted names. Must not know how a program is read. Sources: the reference of Python's standard library, and
the documentation of requests, httpx, pandas, polars, NumPy, Pillow, Matplotlib, PyTorch, joblib and openpyxl.
"""

from collections.abc import Mapping

import msgspec

from tallystick.catalog.loading import Entry, load
from tallystick.model.intent import Operation


class Rule(msgspec.Struct, frozen=True):
    """What a call does to its arguments: the operation, and the place or the names of the argument."""

    operation: Operation
    place: int = 0
    names: tuple[str, ...] = ()
    is_deep: bool = False


class _Facts(Entry, frozen=True):
    """Facts of catalog/code/python.toml."""

    copies: frozenset[str]
    moves: frozenset[str]
    lists: frozenset[str]
    globs: frozenset[str]
    temporary: frozenset[str]
    sessions: frozenset[str]
    shells: frozenset[str]
    programs: frozenset[str]
    dynamic: frozenset[str]
    outputs: frozenset[str]
    third_parties: frozenset[str]
    standard: frozenset[str]
    builtin: frozenset[str]
    kept: Mapping[str, str]
    calls: Mapping[str, tuple[str, ...]]


def _table(calls: Mapping[str, tuple[str, ...]]) -> dict[str, Rule]:
    found: dict[str, Rule] = {}
    for what, names in calls.items():
        operation, place, *arguments = what.split()
        rule = Rule(Operation(operation.rstrip("/")), int(place), tuple(arguments), operation.endswith("/"))
        found |= dict.fromkeys(names, rule)
    return found


_FACTS = load("code/python", _Facts)
CALLS = _table(_FACTS.calls)
"""Calls that do one thing to one argument."""
KEPT = _FACTS.kept
"""Calls that read a file below the home folder without being told which."""
COPIES = _FACTS.copies
MOVES = _FACTS.moves
LISTS = _FACTS.lists
GLOBS = _FACTS.globs
TEMPORARY = _FACTS.temporary
SESSIONS = _FACTS.sessions
SHELLS = _FACTS.shells
"""Calls whose first argument is a shell text."""
PROGRAMS = _FACTS.programs
"""Calls whose first argument is a list of words, or a shell text."""
OUTPUTS = _FACTS.outputs
"""Methods that write a file, whatever they are methods of: frames and figures."""
DYNAMIC = _FACTS.dynamic
"""Modules of INERT through which anything can be done."""
BUILTIN = _FACTS.builtin
"""Names that are known without an import."""
INERT = _FACTS.third_parties | _FACTS.standard
"""Modules that do by themselves nothing to the world when they are imported. Any other is code that was not read."""


OF_SESSIONS = {
    **dict.fromkeys(("get", "head", "options"), Operation.FETCH),
    **dict.fromkeys(("post", "put", "patch", "delete"), Operation.SEND),
    "ws_connect": Operation.CONNECT,
}
"""Methods of SESSIONS that take a URL."""


EXECS = {
    **dict.fromkeys(
        ("os.execv", "os.execvp", "os.execve", "os.execvpe", "os.posix_spawn", "os.posix_spawnp"), (0, True)
    ),
    **dict.fromkeys(("os.execl", "os.execlp", "os.execle", "os.execlpe"), (0, False)),
    **dict.fromkeys(("os.spawnv", "os.spawnvp", "os.spawnve", "os.spawnvpe"), (1, True)),
    **dict.fromkeys(("os.spawnl", "os.spawnlp", "os.spawnle", "os.spawnlpe"), (1, False)),
}
"""Calls that run a program: where its path stands, and whether its arguments are one list after that."""

OPENERS = {
    **dict.fromkeys(("open", "io.open", "codecs.open", "builtins.open", "aiofiles.open", "os.fdopen"), "r"),
    **dict.fromkeys(("gzip.open", "bz2.open", "lzma.open", "gzip.GzipFile", "bz2.BZ2File", "lzma.LZMAFile"), "r"),
    **dict.fromkeys(("zipfile.ZipFile", "tarfile.open", "tarfile.TarFile", "wave.open", "h5py.File"), "r"),
}
"""Calls that open a file, with the mode that they use where none is given."""


# The standard library by name, and not as this interpreter has it: another one must read a program alike.
