"""Modules that code loads from the project it is in, by the names that it gives them.

Owns how Python, JavaScript, Ruby, Perl, PHP and Lua name a module that is a file beside them, and where that file may lie.
Must not know whether it is there: candidates are given, best first. Modules of libraries are not looked for.
Sources: the Python language reference, 5; the references of Node.js (modules), Ruby (Kernel#require_relative), perlfunc, PHP
and Lua.
"""

from __future__ import annotations

import posixpath
import re
from collections.abc import Iterator

from tallystick.intent.code.python_names import INERT

_MOST_NAMES = 60
_MOST_CHARACTERS = 256 << 10
_FROM = r"from[ \t]+(\.{0,4}[\w.]*)[ \t]+import[ \t]+"
_PYTHON = re.compile(
    rf"^[ \t]*(?:{_FROM}(?:\(([^()]{{0,800}})|([^#\n()]{{0,400}}))|import[ \t]+([\w., \t]{{1,400}}))", re.MULTILINE
)
_INLINE = re.compile(rf"[;:][ \t]*(?:{_FROM}()([\w, \t]{{1,200}})|import[ \t]+([\w., \t]{{1,200}}))")
_CALLED = re.compile(r"""(?:import_module|__import__|run_module)\([ \t]*["']([\w.]{1,200})["']""")
_RELATIVE = re.compile(
    r"""(?:\bfrom[ \t]*|\bimport[ \t]*\(?[ \t]*|\brequire[ \t]*\(?[ \t]*)["'`](\.{1,2}/[^"'`\n]{1,300})["'`]"""
)
_RUBY = re.compile(r"""\b(?:require_relative|load|require)[ \t(]*["']([^"'\n#]{1,300})["']""")
_PERL = re.compile(
    r"""\b(?:require|do)[ \t(]*["']([^"'\n$]{1,300})["']|(?:^|;)[ \t]*use[ \t]+([A-Z]\w*(?:::\w+)*)""", re.MULTILINE
)
_PHP = re.compile(r"""\b(?:require|include)(?:_once)?[ \t(]*(?:__DIR__[ \t]*\.[ \t]*)?["']/?([^"'\n$]{1,300})["']""")
_LUA = re.compile(r"""\brequire[ \t(]*["']([\w./-]{1,200})["']""")
_SCRIPT_ENDINGS = ("", ".js", ".mjs", ".cjs", ".ts", ".tsx", ".jsx", ".mts", "/index.js", "/index.ts", "/index.mjs")


def imported(language: str, text: str, folders: tuple[str, ...], package: str | None) -> Iterator[tuple[str, ...]]:
    """Where the modules may lie that a text loads: for each the candidates, of which the first that is there is loaded.

    Args:
        folders: in which modules are looked for by their full name, absolute.
        package: the folder of the file itself, for relative names; None for a text that is in no file.
    """
    text = text[:_MOST_CHARACTERS]
    match language:
        case "python":
            yield from _of_python(text, folders, package)
        case "javascript" | "typescript":
            yield from _beside(_RELATIVE, text, package or (folders[0] if folders else None), _SCRIPT_ENDINGS)
        case "ruby":
            yield from _beside(_RUBY, text, package or (folders[0] if folders else None), ("", ".rb"))
        case "perl":
            yield from _beside(_PERL, text, package or (folders[0] if folders else None), ("", ".pm"))
        case "php":
            yield from _beside(_PHP, text, package or (folders[0] if folders else None), ("",))
        case "lua":
            yield from _beside(_LUA, text, package or (folders[0] if folders else None), (".lua", "/init.lua"))
        case _:
            return


def _beside(
    pattern: re.Pattern[str], text: str, folder: str | None, endings: tuple[str, ...]
) -> Iterator[tuple[str, ...]]:
    if folder is None:
        return
    seen: set[str] = set()
    for found in pattern.finditer(text):
        name = next(group for group in found.groups() if group).replace("::", "/")
        if name not in seen and len(seen) < _MOST_NAMES:
            seen.add(name)
            path = posixpath.normpath(posixpath.join(folder, name))
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
    for found in _CALLED.finditer(text):
        yield from _with_parents(found[1])


def _with_parents(name: str) -> Iterator[str]:
    if name.split(".")[0] in INERT or not name:
        return
    dots = len(name) - len(name.lstrip("."))
    parts = name[dots:].split(".")
    for end in range(1, len(parts) + 1):
        yield "." * dots + ".".join(parts[:end])
