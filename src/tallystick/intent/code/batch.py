"""Commands of Windows' `cmd`, said in the words of a shell.

Owns what its internal commands, switches, variables and drives are called there. Must not know the shell. Source:
Microsoft's reference of the Windows commands.
"""

from __future__ import annotations

import re

from tallystick.catalog.programs import programs_with
from tallystick.intent.code.found import Found

_MOST_LINES = 2000
_MOST_IN_LINE = 4000
_MOST_WORDS = 200
_COMMANDS = {
    "rd": "rmdir", "rmdir": "rmdir", "del": "rm", "erase": "rm", "type": "cat", "more": "cat", "copy": "cp", "xcopy": "cp -r",
    "robocopy": "cp -r", "move": "mv", "ren": "mv", "rename": "mv", "md": "mkdir -p", "mkdir": "mkdir -p", "dir": "ls",
    "cd": "cd", "chdir": "cd", "pushd": "pushd", "attrib": "chmod", "mklink": "ln -s", "findstr": "grep",
}  # fmt: skip
_NO_COMMANDS = frozenset(
    ("@echo", "rem", "::", "setlocal", "endlocal", "title", "pause", "cls", "color", "ver", "chcp")
)
_LEADING = frozenset(("call", "start", "else", "do"))
"""Words that stand before a command."""
_FOLDERS = {
    "userprofile": "$HOME", "homepath": "$HOME", "home": "$HOME", "appdata": "$HOME/AppData/Roaming",
    "localappdata": "$HOME/AppData/Local", "onedrive": "$HOME/OneDrive", "temp": "/tmp", "tmp": "/tmp",
    "systemroot": "/mnt/c/Windows", "windir": "/mnt/c/Windows", "systemdrive": "/mnt/c", "homedrive": "",
    "programfiles": "/mnt/c/Program Files", "programdata": "/mnt/c/ProgramData", "public": "/mnt/c/Users/Public",
    "cd": "$PWD", "allusersprofile": "/mnt/c/ProgramData",
}  # fmt: skip
_INSTALLED = programs_with("script-of-cmd")
_VARIABLE = re.compile(r"%([A-Za-z_]\w{0,80})%")
_DRIVE = re.compile(r"(?<![\w/\\])([A-Za-z]):(?=[\\/])")
_JOINTS = re.compile(r"(\"[^\"\n]*\"?|&&|\|\||[&|()])")
_WORDS = re.compile(r"(?:\"[^\"]*\"?|[^\s\"])+")
_SWITCH = re.compile(r"/[A-Za-z?-][\w:+-]*(?:/[A-Za-z?-][\w:+-]{0,2})*", re.ASCII)
_DEEP = re.compile(r"(?:/[a-z-]{1,2})*/s(?:/[a-z-]{1,2})*", re.IGNORECASE)
_NUL = re.compile(r"(?i)(\d?>{1,2})\s*nul\b")


def read_batch(text: str, found: Found) -> None:
    """Note what commands of `cmd` do."""
    found.is_unknown = bool(text.strip())
    lines = text.split("\n")[:_MOST_LINES]
    found.runs("sh", "\n".join(_said(line[:_MOST_IN_LINE]) for line in lines))


def unix_drives(text: str) -> str:
    """Paths that begin with a drive, as systems beside Windows name them: below `/mnt/c`."""
    if ":" in text:
        return _DRIVE.sub(lambda drive: f"/mnt/{drive[1].lower()}", text)
    return text


def unix_folders(text: str) -> str:
    """The variables of `cmd` as those of a shell, the folders that everybody knows by their paths."""
    if "%" not in text:
        return text
    return _VARIABLE.sub(lambda name: _FOLDERS.get(name[1].lower(), f"${{{name[1]}}}"), text)


def _said(line: str) -> str:
    line = _NUL.sub(r"\1/dev/null", line.replace("^", "").strip().lstrip("@"))
    said, part = "", ""
    for piece in _JOINTS.split(line):
        if piece[:1] in ("&", "|", "(", ")") and piece:
            said += _command(part, said) + {"&": "; ", "(": "", ")": ""}.get(piece, f" {piece} ")
            part = ""
        else:
            part += piece
    return said + _command(part, said)


def _command(text: str, before: str) -> str:
    """One command; what stands before it in the line is known."""
    words = _WORDS.findall(text)[:_MOST_WORDS]
    while words and (words[0].lower() in _LEADING or words[0][:1] == "@"):
        words = words[1:]
    words = _conditional(words)
    name = ""
    if words:
        name = words[0].strip('"').lower()
    if not words or name in _NO_COMMANDS or name.startswith(("::", ":")):
        return ""
    if name in ("echo", "echo."):
        return " ".join([name.rstrip("."), *(word if ">" in word[:2] else _quoted(word) for word in words[1:])])
    if name == "set":
        return ""
    said = _COMMANDS.get(name.removesuffix(".exe"))
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
