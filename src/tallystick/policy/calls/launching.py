"""Files that run though the command does not name them: hooks, configurations that are code, tests, modules.

Owns where those lie: by the program and its words, and by the names that code gives the modules that it loads from the
project it is in. Must not know whether a file is there, nor what is in it: patterns and candidates are given, best
first. Modules of libraries are not looked for. Sources: githooks(5), git-config(1), the manuals of pytest, unittest,
Jest, Vitest, Mocha, ESLint, Vite, webpack and the other tools named here; npm-scripts(7); the Python language
reference, 5; the references of Node.js (modules), Ruby (Kernel#require_relative), perlfunc, PHP and Lua.
"""

import posixpath
import re
from collections.abc import Iterator, Sequence
from itertools import islice, pairwise

from msgspec.structs import replace

from tallystick.catalog.loads import BUILDING, HOOKS, LIFE_CYCLE, MODULES, WHOLE, WHOLE_WITH
from tallystick.catalog.programs import programs_with
from tallystick.intent.code.python_names import INERT
from tallystick.intent.shell.names import canonical
from tallystick.model.paths import placed
from tallystick.model.pattern import Near, pattern_of
from tallystick.model.script import Command, Role

_VERIFIED = frozenset(("pre-commit", "commit-msg", "pre-merge-commit", "pre-push"))
_COMPILES = programs_with("compiles-project")
_SERVERS = programs_with("serves-module")
_NOT_RUNNING = frozenset(("--version", "--help", "-h", "-V", "--collect-only", "--co", "--showConfig", "--listTests"))
_BRACES = pattern_of(r"\{([^{}]*)\}")
_MOST_PATTERNS = 80


def launched(command: Command) -> Iterator[str]:
    """Patterns of the paths that a command runs without saying so, those first that matter most."""
    if command.role is not Role.PROGRAM or not command.words or command.folder is None:
        return
    name = canonical(command.program).rpartition("/")[2]
    words = [word.plain for word in command.arguments[:200]]
    if name.startswith("python"):
        name, words = _as_module(words)
        parents = name.split(".")[:-1]
        yield from (posixpath.join(command.folder, *parents[: n + 1], "__init__.py") for n in range(len(parents)))
    if name in ("npx", "bunx", "pnpx") and words:
        name, words = next(((word, words[at + 1 :]) for at, word in enumerate(words) if word[:1] != "-"), ("", []))
    if not _NOT_RUNNING.isdisjoint(words):
        return
    if name in _COMPILES and not {"run", "test", "generate", "bench"} & set(words[:2]):
        yield from _placed(command.folder, BUILDING.get(name, ()))
    elif name in MODULES:
        yield from _placed(command.folder, [*_named_tests(name, words), *MODULES[name]])
    elif name in BUILDING and _builds_here(name, words):
        yield from _placed(command.folder, BUILDING[name])
    elif name in _SERVERS:
        named = [word.partition(":")[0] for word in words if ":" in word]
        yield from _placed(command.folder, [f"{module.replace('.', '/')}.py" for module in named])


def _named_tests(name: str, words: Sequence[str]) -> list[str]:
    """The tests that the words name, with what is set up for them."""
    found: list[str] = []
    for word in words[:40]:
        path = word.partition("::")[0]
        if word[:1] == "-" or not path or name not in ("pytest", "py.test", "unittest", "nosetests"):
            continue
        if path.endswith(".py"):
            folder = posixpath.dirname(path)
            found += [
                path,
                posixpath.join(folder, "conftest.py"),
                posixpath.join(posixpath.dirname(folder), "conftest.py"),
            ]
        elif "/" in path or path.isidentifier():
            found += [
                posixpath.join(path, rest) for rest in ("conftest.py", "test_*.py", "*/conftest.py", "*/test_*.py")
            ]
    return found


_SHELLS = programs_with("shell-of-hooks")
_NOTEBOOKS = programs_with("runs-notebooks")
_FIRST_WORDS = 5
_NAMES_FILE = frozenset(("-f", "--file", "--filename", "--procfile", "-config", "--config"))


def as_a_whole(command: Command) -> Iterator[str]:
    """Patterns of the files that a command runs as if it named them: a Procfile, what `find -exec sh` finds, a notebook."""
    if command.role is Role.WRAPPER:
        command = replace(command, words=command.spelled)
    if command.folder is None or not command.words:
        return
    name = canonical(command.program).rpartition("/")[2]
    words = [word.plain for word in command.arguments[:100]]
    if words[:1] == ["compose"]:
        name, words = f"{name}-compose", words[1:]
    if name in WHOLE and (name not in WHOLE_WITH or not set(words[:_FIRST_WORDS]).isdisjoint(WHOLE_WITH[name])):
        named = [after for before, after in pairwise(words) if before in _NAMES_FILE]
        yield from _placed(command.folder, named or WHOLE[name])
    elif name == "run-parts":
        yield from _placed(command.folder, [f"{word}/*" for word in words if word[:1] != "-"][:1])
    elif name in _NOTEBOOKS and (name == "papermill" or {"--execute", "execute"} & set(words) or "execute" in name):
        yield from _placed(command.folder, [word for word in words if word.endswith(".ipynb")][:4])
    elif name == "find":
        yield from _placed(command.folder, _found(words))
    yield from modules(command)


def _found(words: Sequence[str]) -> list[str]:
    """What `find FOLDER -name PATTERN -exec sh {}` gives to the shell, three folders deep."""
    at = next((n for n, word in enumerate(words) if word in ("-exec", "-execdir")), len(words))
    after = words[at + 1 : at + 4]
    if not after or (after[0].rpartition("/")[2] not in _SHELLS and "{}" not in after[0]):
        return []
    named = next((words[n + 1] for n in range(at - 1) if words[n] in ("-name", "-iname")), "*")
    roots = [word for word in words[:at] if word[:1] not in ("-", "(", "!")][:1] or ["."]
    return [posixpath.join(roots[0], deep, named) for deep in ("", "*", "*/*")]


def modules(command: Command) -> Iterator[str]:
    """`python -m NAME`: where the module may lie that is run."""
    name = command.program.rpartition("/")[2]
    words = [word.plain for word in command.arguments[:8]]
    if name.startswith("python") and command.folder is not None and "-m" in words[:-1]:
        module = words[words.index("-m") + 1]
        base = posixpath.join(command.folder, module.replace(".", "/"))
        if all(part.isidentifier() for part in module.split(".")):
            yield from (f"{base}.py", f"{base}/__main__.py")


def is_test_runner(program: str) -> bool:
    """Whether a program runs tests."""
    return program in _TEST_RUNNERS or program.startswith("pytest")


_TEST_RUNNERS = programs_with("test-runner")


def _as_module(words: Sequence[str]) -> tuple[str, list[str]]:
    """The module that `python -m` runs, and its words."""
    if "-m" not in words[:8]:
        return "", []
    at = list(words).index("-m")
    if at + 1 < len(words):
        return words[at + 1], list(words[at + 2 :])
    return "", []


def _builds_here(name: str, words: Sequence[str]) -> bool:
    if name in ("build", "hatch", "pdm"):
        return True
    is_build = not {"install", "wheel", "build", "sync", "develop"}.isdisjoint(words)
    is_here = any(word in (".", "-e", "--editable") or word.startswith((".[", "./")) for word in words)
    return is_build and (is_here or name in ("poetry", "uv"))


def _placed(folder: str, patterns: Sequence[str]) -> Iterator[str]:
    found = (spelled for pattern in patterns for spelled in _spellings(pattern))
    for spelled in islice(found, _MOST_PATTERNS):
        yield placed(spelled, folder)


def _spellings(pattern: str) -> Iterator[str]:
    """A pattern without braces: each of what they say."""
    braces = _BRACES.search(pattern)
    if braces is None:
        yield pattern
        return
    for part in braces[1].split(","):
        yield from _spellings(pattern[: braces.start()] + part + pattern[braces.end() :])


# git ------------------------------------------------------------------------------------------------------------------


def hooks(command: Command) -> tuple[str, tuple[str, ...]] | None:
    """The folder that a git command works in, and the hooks that it runs there; None for what is no such command."""
    if command.role is not Role.PROGRAM or command.folder is None or command.program.rpartition("/")[2] != "git":
        return None
    words = [word.plain for word in command.arguments[:100]]
    folder, at = command.folder, 0
    while at < len(words) and words[at].startswith("-"):
        if words[at] == "-C" and at + 1 < len(words):
            folder = placed(words[at + 1], folder)
        if words[at] in ("-C", "-c", "--git-dir", "--work-tree", "--namespace"):
            at += 2
        else:
            at += 1
    if at >= len(words):
        return None
    names = HOOKS.get(words[at], ())
    if "--no-verify" in words or (words[at] == "commit" and "-n" in words):
        names = tuple(name for name in names if name not in _VERIFIED)
    return folder, (words[at], *names)


# npm ------------------------------------------------------------------------------------------------------------------

LIFECYCLE = ("preinstall", "install", "postinstall", "preprepare", "prepare", "postprepare", "prepublish")
PUBLISHING = ("prepublishOnly", "prepack", "postpack", "publish", "postpublish")


def lifecycle(command: Command) -> tuple[str, tuple[str, ...]] | None:
    """The package.json whose lifecycle scripts a command runs, and their names; None where it runs none."""
    if command.role is not Role.PROGRAM or command.folder is None:
        return None
    name = canonical(command.program)
    words = [word.plain for word in command.arguments[:100]]
    verb = next((word for word in words if word[:1] != "-"), "install" if name == "yarn" else "")
    if name not in LIFE_CYCLE or verb not in LIFE_CYCLE[name] or "--ignore-scripts" in words or "-g" in words:
        return None
    names = (*LIFECYCLE, *PUBLISHING) if verb in ("publish", "pack") else LIFECYCLE
    return posixpath.join(command.folder, "package.json"), names


_MOST_NAMES = 60
_MOST_CHARACTERS = 256 << 10
_FROM = r"from[ \t]+(\.{0,4}[\w.]*)[ \t]+import[ \t]+"
_PYTHON = pattern_of(
    rf"^[ \t]*(?:{_FROM}(?:\(([^()]{{0,800}})|([^#\n()]{{0,400}}))|import[ \t]+([\w., \t]{{1,400}}))", re.MULTILINE
)
_INLINE = pattern_of(rf"[;:][ \t]*(?:{_FROM}()([\w, \t]{{1,200}})|import[ \t]+([\w., \t]{{1,200}}))")
_CALLED = Near(
    "import_module __import__ run_module", r"""(?:import_module|__import__|run_module)\([ \t]*["']([\w.]{1,200})["']"""
)
_SCRIPT_ENDINGS = ("", ".js", ".mjs", ".cjs", ".ts", ".tsx", ".jsx", ".mts", "/index.js", "/index.ts", "/index.mjs")
_RELATIVE = (
    pattern_of(
        r"""(?:\bfrom[ \t]*|\bimport[ \t]*\(?[ \t]*|\brequire[ \t]*\(?[ \t]*)["'`](\.{1,2}/[^"'`\n]{1,300})["'`]"""
    ),
    _SCRIPT_ENDINGS,
)
_RUBY = (pattern_of(r"""\b(?:require_relative|load|require)[ \t(]*["']([^"'\n#]{1,300})["']"""), ("", ".rb"))
_PERL = (
    pattern_of(
        r"""\b(?:require|do)[ \t(]*["']([^"'\n$]{1,300})["']|(?:^|;)[ \t]*use[ \t]+([A-Z]\w*(?:::\w+)*)""", re.MULTILINE
    ),
    ("", ".pm"),
)
_PHP = (
    pattern_of(r"""\b(?:require|include)(?:_once)?[ \t(]*(?:__DIR__[ \t]*\.[ \t]*)?["']/?([^"'\n$]{1,300})["']"""),
    ("",),
)
_LUA = (pattern_of(r"""\brequire[ \t(]*["']([\w./-]{1,200})["']"""), (".lua", "/init.lua"))
_BY_PATH = {
    "javascript": _RELATIVE,
    "typescript": _RELATIVE,
    "ruby": _RUBY,
    "perl": _PERL,
    "php": _PHP,
    "lua": _LUA,
}
"""By language: what names a module by its path, and the endings that may be left out."""


def imported(language: str, text: str, folders: tuple[str, ...], package: str | None) -> Iterator[tuple[str, ...]]:
    """Where the modules may lie that a text loads: for each the candidates, of which the first that is there is loaded.

    Args:
        folders: in which modules are looked for by their full name, absolute.
        package: the folder of the file itself, for relative names; None for a text that is in no file.
    """
    text = text[:_MOST_CHARACTERS]
    if language == "python":
        yield from _of_python(text, folders, package)
        return
    folder = package or next(iter(folders), None)
    if folder is None or language not in _BY_PATH:
        return
    pattern, endings = _BY_PATH[language]
    seen: set[str] = set()
    for found in pattern.finditer(text):
        name = next(group for group in found.groups() if group).replace("::", "/")
        if name not in seen and len(seen) < _MOST_NAMES:
            seen.add(name)
            path = placed(name, folder)
            yield tuple(path + ending for ending in endings)


def _of_python(text: str, folders: tuple[str, ...], package: str | None) -> Iterator[tuple[str, ...]]:
    seen: set[str] = set()
    for name in _python_names(text):
        if name in seen or len(seen) >= _MOST_NAMES:
            continue
        seen.add(name)
        dots = len(name) - len(name.lstrip("."))
        if not dots:
            places = folders
        elif package is not None:
            places = (_above(package, dots - 1),)
        else:
            places = ()
        inner = name[dots:].replace(".", "/")
        yield tuple(
            candidate
            for place in places
            for base in [posixpath.join(place, inner).rstrip("/")]
            for candidate in ((f"{base}.py", f"{base}/__init__.py") if inner else (f"{base}/__init__.py",))
        )


def _above(folder: str, count: int) -> str:
    for _ in range(count):
        folder = posixpath.dirname(folder)
    return folder


def _python_names(text: str) -> Iterator[str]:
    """Dotted names, those of packages on the way included: `from a.b import c` loads `a`, `a.b`, and `a.b.c` if it is one."""
    for found in (*_PYTHON.finditer(text), *_INLINE.finditer(text)):
        module, listed, members, plain = found.groups()
        if plain is not None:
            for part in plain.split(","):
                yield from _with_parents(part.split(" as ")[0].strip())
            continue
        yield from _with_parents(module)
        if module.lstrip(".").split(".")[0] not in INERT:
            for member in (listed or members or "").split(",")[:20]:
                name = member.strip().split(" ")[0]
                if name.isidentifier():
                    yield f"{module}{'' if module.endswith('.') else '.'}{name}"
    for found in _CALLED.matches(text):
        yield from _with_parents(found[1])


def _with_parents(name: str) -> Iterator[str]:
    if name.split(".")[0] in INERT or not name:
        return
    dots = len(name) - len(name.lstrip("."))
    parts = name[dots:].split(".")
    for end in range(1, len(parts) + 1):
        yield "." * dots + ".".join(parts[:end])
