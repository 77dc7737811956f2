"""Scripts of programs that obey line by line: vim, ed, gdb, tcl, gnuplot, Windows' `cmd`.

Owns the commands of those that read and write files or run a shell, and how the internal commands, switches, variables and
drives of `cmd` are said in a shell. Must not know the shell. Sources: the help of vim, ed(1), the manuals of gdb, Tcl, Expect
and gnuplot, Microsoft's reference of the Windows commands.
"""

import base64
import re
from collections.abc import Callable

from tallystick.catalog.programs import programs_with
from tallystick.intent.actions import HOME, Found
from tallystick.intent.code.cmdlets import FACTS
from tallystick.intent.code.powershell import read_powershell
from tallystick.intent.code.verbs import read_verbs
from tallystick.intent.programs.arguments import split_words
from tallystick.model.intent import Operation
from tallystick.model.pattern import pattern_of

_MOST_WORDS = 200


_LEADING = frozenset(("call", "start", "else", "do"))
"""Words that stand before a command."""
_INSTALLED = programs_with("script-of-cmd")
_VARIABLE = pattern_of(r"%([A-Za-z_]\w{0,80})%")
_DRIVE = pattern_of(r"(?<![\w/\\])([A-Za-z]):(?=[\\/])")
_JOINTS = pattern_of(r"(\"[^\"\n]*\"?|&&|\|\||[&|()])")
_WORDS = pattern_of(r"(?:\"[^\"]*\"?|[^ \t\r\n\"])+")
_SWITCH = pattern_of(r"/[A-Za-z?-][\w:+-]*(?:/[A-Za-z?-][\w:+-]{0,2})*", re.ASCII)
_DEEP = pattern_of(r"(?:/[a-z-]{1,2})*/s(?:/[a-z-]{1,2})*", re.IGNORECASE)
_FOR = pattern_of(r"(?i)\bfor\s+(?:/[rd]\s+)?%%?(\w)\s+in\s+\(([^()]*)\)\s+do\s+")
_NUL = pattern_of(r"(?i)(\d?>{1,2})\s*nul\b")


def read_batch(text: str, found: Found) -> None:
    """Note what commands of `cmd` do."""
    found.is_unknown = bool(text.strip())
    lines = text.split("\n")[:_MOST_LINES]
    found.runs("sh", "\n".join(_said_in_shell(line[:_MOST_IN_LINE]) for line in lines))


def unix_drives(text: str) -> str:
    """Paths that begin with a drive, as systems beside Windows name them: below `/mnt/c`."""
    if ":" in text:
        return _DRIVE.sub(lambda drive: f"/mnt/{drive[1].lower()}", text)
    return text


def unix_folders(text: str) -> str:
    """The variables of `cmd` as those of a shell, the folders that everybody knows by their paths."""
    if "%" not in text:
        return text
    return _VARIABLE.sub(lambda name: FACTS.folders.get(name[1].lower(), f"${{{name[1]}}}"), text)


def _said_in_shell(line: str) -> str:
    line = _each_of(line)
    line = _NUL.sub(r"\1/dev/null", line.replace("^", "").strip().lstrip("@"))
    said, part = "", ""
    for piece in _JOINTS.split(line):
        if piece[:1] in ("&", "|", "(", ")") and piece:
            said += _command(part, said) + {"&": "; ", "(": "", ")": ""}.get(piece, f" {piece} ")
            part = ""
        else:
            part += piece
    return said + _command(part, said)


def _each_of(line: str) -> str:
    """`for %f in (*.log) do del "%f"`: the command, with the set in the place of the variable."""
    found = _FOR.search(line)
    if found is None:
        return line
    return line[: found.start()] + re.sub(rf'"?%%?(?:~\w*)?{found[1]}"?', lambda _: found[2], line[found.end() :])


def _command(text: str, before: str) -> str:
    """One command; what stands before it in the line is known."""
    words = _WORDS.findall(text)[:_MOST_WORDS]
    while words and (words[0].lower() in _LEADING or words[0][:1] == "@"):
        words = words[1:]
    words = _conditional(words)
    name = ""
    if words:
        name = words[0].strip('"').lower()
    if not words or name in FACTS.silent or name.startswith(("::", ":")):
        return ""
    if name in ("echo", "echo."):
        return " ".join([name.rstrip("."), *(word if ">" in word[:2] else _quoted(word) for word in words[1:])])
    if name == "set":
        return ""
    said = FACTS.commands.get(name.removesuffix(".exe"))
    if said is None:
        return " ".join([_program(words[0], before), *map(_quoted, words[1:])])
    is_deep = any(map(_DEEP.fullmatch, words[1:]))
    if said in ("rm", "rmdir") and is_deep:
        said = "rm -r"
    return " ".join([said, *(_path(word) for word in words[1:] if not _SWITCH.fullmatch(word))])


def _program(word: str, before: str) -> str:
    """A program. Its file may lie in the folder without a `./` saying so: a script, or what the line has made."""
    path = _path(word)
    is_script = path.lower().endswith((".bat", ".cmd")) and path.lower().removesuffix(".cmd") not in _INSTALLED
    if "/" not in path and (is_script or ("." in path and path in before)):
        return f"./{path}"
    return path


def _conditional(words: list[str]) -> list[str]:
    """`if exist X rd X`, `for /r %i in (*) do del %i`: the command of it."""
    name = ""
    if words:
        name = words[0].lower()
    if name == "if":
        rest = [word for word in words[1:] if word.lower() not in ("not", "/i")]
        if rest and rest[0].lower() in ("exist", "defined", "errorlevel"):
            return rest[2:]
        return rest[1:]
    if name == "for":
        return []
    return words


def _path(word: str) -> str:
    """A word that names a file; blanks in it stay quoted."""
    text = unix_folders(word.replace('"', ""))
    text = unix_drives(f"{text}/" if re.fullmatch(r"[A-Za-z]:", text) else text).replace("\\", "/")
    if re.search(r"[\s'()]", text):
        return f'"{text}"'
    return text


def _quoted(word: str) -> str:
    """A word of another program, its backslashes kept."""
    text = unix_folders(word).replace("\\", "\\\\")
    if '"' in text:
        return text
    return re.sub(r"([';()])", r"\\\1", text)


_MOST_LINES = 2000
_MOST_IN_LINE = 4000
_VIM_PREFIX = pattern_of(
    r"(?::|\s|silent!?|sil!?|noautocmd|noa|keepalt|keepjumps|exe(?:cute)?\s+['\"]|normal!?\s+:|bufdo|argdo|%|\.|\d+,?\d*)+"
)
_VIM = {
    **dict.fromkeys(
        ("r", "read", "e", "edit", "sp", "split", "vs", "vsplit", "tabe", "tabedit", "view", "badd", "0r"),
        Operation.READ,
    ),
    **dict.fromkeys(("w", "write", "saveas", "sav", "wq", "x"), Operation.WRITE),
    **dict.fromkeys(("so", "source", "luafile", "pyfile", "py3file", "ru", "runtime"), Operation.EXECUTE),
}
_LANGUAGES = {"py": "python", "py3": "python", "python": "python", "python3": "python", "pythonx": "python", "pyx": "python",
              "lua": "lua", "ruby": "ruby", "perl": "perl"}  # fmt: skip
_WORD = pattern_of(r"([A-Za-z0-9]+)(!?)(?:\s+|(?=!)|$)")
_GDB_SHELL = frozenset(("shell", "make", "pipe", "|"))
_GDB_FILES = {"source": Operation.EXECUTE, "file": Operation.READ, "exec-file": Operation.READ, "restore": Operation.READ,
              "dump": Operation.WRITE}  # fmt: skip
_TCL_BRACKETS = pattern_of(r"\[\s*(exec|open|socket|read_file|glob)\s([^\[\]\n]{1,2000})")


def _each(text: str) -> list[str]:
    return [line[:_MOST_IN_LINE] for line in text.split("\n")[:_MOST_LINES]]


_VIM_WRITES = pattern_of(
    r"""\bwritefile\s{0,3}\([^\n]{1,400}?,\s{0,3}(?:expand\s{0,3}\(\s{0,3})?["']([~/$][^"'\n]{1,300})["']"""
)


def read_vim(text: str, found: Found) -> None:
    """Note what commands of vim, ex or ed do."""
    found.is_unknown = bool(text.strip())
    for path in _VIM_WRITES.findall(text[: 24 << 10])[:20]:
        found.file(Operation.WRITE, path.replace("$HOME", HOME).replace("~", HOME, 1) if path[:1] in "~$" else path)
    for line in _each(text):
        start = _VIM_PREFIX.match(line)
        rest = line
        if start is not None:
            rest = line[start.end() :]
        if line.lstrip()[:1] == '"':
            continue
        if rest.startswith("!"):
            found.runs("sh", rest[1:].strip().rstrip("'\""))
            continue
        word = _WORD.match(rest)
        if word is not None:
            _of_vim(found, word[1], rest[word.end() :].strip())
    read_verbs(text, found)


def _of_vim(found: Found, name: str, rest: str) -> None:
    if name in _LANGUAGES:
        found.runs(_LANGUAGES[name], rest)
    elif rest.startswith("!") and (name in _VIM or name in ("ter", "terminal")):
        found.runs("sh", rest[1:])
    elif name in ("terminal", "ter", "term", "Start", "Dispatch"):
        found.runs("sh", rest)
    elif name in _VIM and rest and not rest.startswith(("|", "=")):
        found.file(_VIM[name], _at_home(split_words(rest.split("|")[0])[-1]))


def read_gdb(text: str, found: Found) -> None:
    """Note what a script of gdb or lldb does."""
    found.is_unknown = bool(text.strip())
    lines = _each(text)
    for n, line in enumerate(lines):
        name, _, rest = line.strip().partition(" ")
        if name.startswith("!"):
            found.runs("sh", line.strip()[1:])
        elif name in _GDB_SHELL or line.strip().startswith("platform shell "):
            found.runs("sh", rest.removeprefix("shell ").strip())
        elif name in ("python", "py", "script"):
            end = next((at for at in range(n + 1, len(lines)) if lines[at].strip() == "end"), len(lines))
            found.runs("python", rest or "\n".join(lines[n + 1 : end]))
        elif name in _GDB_FILES and rest.strip():
            found.file(_GDB_FILES[name], _at_home(split_words(rest)[-1]))


def read_tcl(text: str, found: Found) -> None:
    """Note what a script of Tcl or Expect does."""
    found.is_unknown = bool(text.strip())
    for line in _each(text):
        words = line.strip()
        if not words.startswith("#"):
            _of_tcl(found, words)
            for inner in _TCL_BRACKETS.finditer(words):
                _of_tcl(found, f"{inner[1]} {inner[2]}")


def _of_tcl(found: Found, line: str) -> None:
    name, _, rest = line.partition(" ")
    rest = rest.strip().replace("$::env(HOME)", HOME).replace("$env(HOME)", HOME)
    if name in ("exec", "spawn", "system", "log_user_exec"):
        found.runs("sh", re.sub(r"^(?:-\S+\s+)+", "", rest))
    elif name == "open":
        target = rest.strip('"{').split('"')[0].split("}")[0]
        if target.startswith("|"):
            found.runs("sh", target[1:])
        elif split_words(target):
            mode = split_words(rest)[-1] if len(split_words(rest)) > 1 else "r"
            found.file(Operation.WRITE if mode[:1] in "wa" else Operation.READ, _at_home(split_words(target)[0]))
    elif name == "source" and rest:
        found.file(Operation.EXECUTE, _at_home(split_words(rest)[-1]))
    elif name == "file" and rest.startswith(("delete", "rename", "copy")):
        for word in split_words(rest)[1:]:
            if not word.startswith("-"):
                found.file(
                    Operation.DELETE if rest.startswith("delete") else Operation.READ, _at_home(word), is_deep=True
                )
    elif name == "socket" and len(split_words(rest)) > 1:
        found.network(Operation.CONNECT, ":".join(split_words(rest)[-2:]))


def read_gnuplot(text: str, found: Found) -> None:
    """Note what a script of gnuplot does."""
    found.is_unknown = bool(text.strip())
    for line in _each(text):
        if line.strip().startswith("!"):
            found.runs("sh", line.strip()[1:])
    read_verbs(text, found)


def _at_home(path: str) -> str:
    path = path.strip("'\"{}")
    if path == "~" or path.startswith("~/"):
        return HOME + path[1:]
    return path


def read_encoded(text: str, found: Found) -> None:
    """Note what `-EncodedCommand` runs: base64 of a script in UTF-16."""
    found.is_unknown = True
    try:
        found.runs("powershell", base64.b64decode(text, validate=False).decode("utf-16-le", "replace"))
    except ValueError:
        return


READERS: dict[str, Callable[[str, Found], None]] = {
    "vim": read_vim,
    "ed": read_vim,
    "gdb": read_gdb,
    "tcl": read_tcl,
    "gnuplot": read_gnuplot,
    "powershell": read_powershell,
    "powershell-encoded": read_encoded,
}
