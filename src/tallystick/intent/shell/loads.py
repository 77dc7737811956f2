"""What a command makes its program load besides its operands: by variables that are set for it, and by its options.

Owns how the value of a variable or an option is taken from a command line, which commands settings hold, and where a module
may lie. What loads what is in the catalogue; must not know what the loaded text does, nor read a file.
"""

from __future__ import annotations

import posixpath
import re
import shlex
from collections.abc import Iterable, Iterator, Sequence
from urllib.parse import unquote

from tallystick.catalog.loads import OPTIONS, READERS, SETTINGS, VARIABLES, Load
from tallystick.intent.code.pure import made
from tallystick.intent.programs.arguments import renamed, split_words
from tallystick.intent.programs.curl_settings import words_in
from tallystick.model.pattern import pattern_of
from tallystick.model.script import Word

Given = Sequence[tuple[str, Word]]
"""Variables that are set for a command, with their values."""
_MOST_WORDS = 200
_FIRST_WORDS = 4
_MOST_FILES = 16
_MOST_TEXT = 64 << 10
_NO_FILE = frozenset(("NONE", "NORC", "DEFAULTS", "-"))
"""Values that mean that nothing is loaded."""


def loaded_by(name: str, words: Sequence[Word], variables: Given) -> Iterator[tuple[Load, Word]]:
    """What a program loads, and the value that says so; without a name: what any program may."""
    for variable, value in variables:
        load = VARIABLES.get(variable)
        if load is None or (name and READERS[variable] and name not in READERS[variable]):
            continue
        if load.as_ == "options":
            yield from _by_options(load.of, [renamed(value, part) for part in split_words(value.text)[:_MOST_WORDS]])
        elif load.value:
            yield load, Word(f"{value.text}={dict(variables).get(load.value, value).text}")
        else:
            yield load, value
    if name in OPTIONS:
        yield from _by_options(name, words)


def _by_options(name: str, words: Sequence[Word]) -> Iterator[tuple[Load, Word]]:
    first = {word.text for word in words[:_FIRST_WORDS]}
    for n, word in enumerate(words[:_MOST_WORDS]):
        if word.text == "--":
            return
        for option, load in OPTIONS.get(name, ()) if word.text[:1] in ("-", "/") else ():
            value = _value(option, word, words[n + 1 : n + 2], is_joined=load.as_ in ("command", "settings"))
            if value is not None and value.text not in _NO_FILE and (not load.verbs or first & {*load.verbs.split()}):
                yield load, value
                break


def _value(option: str, word: Word, following: Sequence[Word], *, is_joined: bool) -> Word | None:
    """The value of an option: the next word, what follows `=`, or what is in the same word as a short one."""
    text = word.text
    is_short = len(option) == 2 and text[1:2] != "-"
    ends = is_joined and is_short and text[1:].isalpha() and text.endswith(option[1])  # `rsync -ae PROGRAM`
    if text == option or ends:
        return following[0] if following and following[0].text[:1] != "-" else None
    if text.startswith(f"{option}=") or (text.startswith(option) and (is_short or option[-1] == ":")):
        return renamed(word, text[len(option) :].removeprefix("="))
    return None


def places_of(load: Load, word: Word, variables: Given, folder: str) -> Iterator[str]:
    """Where the files may be that are run: in folders that a variable lists, or of a module; those first that are first."""
    if load.as_ == "folders":
        for part in word.plain.split(":")[:_MOST_FILES]:
            yield from (posixpath.join(folder, part, name) for name in load.files.split() if part)
        return
    name = re.split(r"[=,]", word.plain.removeprefix("file://"))[0]
    if not name or ":" in name.replace("::", ""):
        return
    lists = " ".join(value.plain for variable, value in variables if variable in ("PYTHONPATH", "PERL5LIB", "RUBYLIB"))
    for place in (folder, *(posixpath.join(folder, part) for part in re.split(r"[: ]", lists)[:_MOST_FILES])):
        for ending in _ENDINGS.get(load.of, ("",)):
            spelled = name if "/" in name or not ending else name.replace("::", "/").replace(".", "/")
            yield posixpath.normpath(posixpath.join(place, spelled + ending))


def inline_code(value: str) -> str | None:
    """The code in a module that is its own address: `data:text/javascript,…`; None for any other."""
    head, comma, text = value[:_MOST_TEXT].partition(",")
    if not comma or not head.lower().startswith("data:"):
        return None
    if head.lower().endswith(";base64"):
        decoded = made("base64", (text,))
        return decoded if isinstance(decoded, str) else None
    return unquote(text)


_ENDINGS = {
    "javascript": ("", ".js", ".mjs", ".cjs", ".ts", "/index.js"),
    "python": (".py", "/__init__.py"),
    "perl": (".pm",),
    "ruby": ("", ".rb"),
}

# Settings -------------------------------------------------------------------------------------------------------------

_GIT = pattern_of(r"^[ \t]*(\[[^\]\n]{1,200}\]|[A-Za-z][\w-]{0,60})[ \t]*(?:=[ \t]*([^\n]{0,2000}))?", re.MULTILINE)
_LINE = pattern_of(r"^[ \t]*([A-Za-z][\w-]{0,40})[ \t=]+([^\n]{1,2000})", re.MULTILINE)
_ASKED = pattern_of(r"(?i)^[ \t]*match\b[^\n]{0,200}?\bexec[ \t]+(\"[^\"\n]{1,1000}\"|\S{1,1000})", re.MULTILINE)


def command_of(form: str, name: str, value: str) -> str:
    """The command that one setting is; empty for a setting that is none."""
    name, value = name.strip().lower(), value.strip()
    is_driver = (
        form == "git" and name.partition(".")[0] in _DRIVEN and name.rpartition(".")[2] in SETTINGS["git-drivers"]
    )
    if value.startswith("!") and form == "git":
        return value[1:]
    if (name not in SETTINGS[form] and not is_driver) or value in ("true", "false"):
        return ""
    if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"":
        return value[1:-1].replace("\\" + value[0], value[0])
    return value


_DRIVEN = frozenset(("filter", "merge", "diff", "difftool", "mergetool", "gpg", "trailer", "remote", "pager"))


def commands_in(load: Load, text: str) -> Iterator[str]:
    """The commands in a text of settings, or in one setting."""
    if load.as_ == "setting":
        pairs = _single(load, text)
    elif load.of == "curl":
        yield shlex.join(("curl", *words_in(text)))
        return
    elif load.of == "git":
        pairs = git_settings(text)
    else:
        pairs = ((found[1], found[2]) for found in _LINE.finditer(text[:_MOST_TEXT]))
        yield from (found[1].strip('"') for found in _ASKED.finditer(text[:_MOST_TEXT]) if load.of == "ssh")
    yield from filter(None, (command_of(load.of, name, value) for name, value in pairs))


def _single(load: Load, text: str) -> Iterable[tuple[str, str]]:
    parts = [text]
    if text[:1] == "'":  # GIT_CONFIG_PARAMETERS: several in quotes
        try:
            parts = shlex.split(text)
        except ValueError:
            parts = text.split("'")
    for part in parts[:_MOST_FILES]:
        name, value = (*re.split(r"[= ]", part.strip(), maxsplit=1), "")[:2]
        yield name, value


def git_settings(text: str) -> Iterator[tuple[str, str]]:
    """The settings in a file of git's: `SECTION.NAME` or `SECTION.PART.NAME`, and the value."""
    section = ""
    for found in _GIT.finditer(text[:_MOST_TEXT]):
        if found[1].startswith("["):
            head, _, part = found[1].strip("[]").partition('"')
            section = ".".join(filter(None, (head.strip().lower(), part.rstrip('"').strip())))
        else:
            yield f"{section}.{found[1].lower()}", (found[2] or "").strip()
