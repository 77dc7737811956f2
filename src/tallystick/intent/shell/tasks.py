"""Shell texts in the files of task runners, besides those of make and npm, which `recipes` has.

Owns what just, Task, tox, pre-commit, lefthook, Procfiles, ninja, CMake, Ant, composer, Deno and the runners of
pyproject.toml run for a target, and what a Makefile runs while it is read. Must not know the shell's grammar, nor read files:
their text is given. YAML is read by its lines: what stands under a key that means a command is one. Sources: the manuals of
those tools.
"""

from __future__ import annotations

import json
import re
import shlex
import tomllib
from collections.abc import Callable, Iterator, Sequence

from tallystick.model.pattern import pattern_of

_MOST_TEXTS = 100
_MOST_CHARACTERS = 256 << 10
_MOST_LINES = 4000
_UNTOLD = "${TASK_DOES_NOT_TELL}"

Read = Callable[[str, Sequence[str]], Iterator[str]]


def task_texts(name: str, text: str, targets: Sequence[str]) -> tuple[str, ...] | None:
    """What a file makes its program run, each by a shell of its own; None if it is no such file.

    Args:
        name: of the file, without its folder.
        targets: the words of the command; where none of them is a task of the file, its first or all are meant.
    """
    reader = next((reader for pattern, reader in _READERS if pattern.fullmatch(name)), None)
    if reader is None:
        return None
    found: list[str] = []
    for one in reader(text[:_MOST_CHARACTERS], targets):
        if one.strip() and len(found) < _MOST_TEXTS:
            found.append(one)
    return tuple(found)


def shell_of_makefile(text: str) -> tuple[str, ...]:
    """What make runs while it reads a file, whatever the target is: `$(shell …)` and `NAME != …`."""
    found = [match[1] for match in _MAKE_SHELL.finditer(text)] + [match[1] for match in _MAKE_ASSIGNED.finditer(text)]
    return tuple(one.replace("$$", "$") for one in found[:_MOST_TEXTS])


_MAKE_SHELL = pattern_of(r"\$[({]shell[ \t]+((?:[^()\n]|\([^()\n]{0,500}\)){1,2000})[)}]")
_MAKE_ASSIGNED = pattern_of(r"^[ \t]*[\w.-]{1,100}[ \t]*!=[ \t]*([^\n]{1,2000})", re.MULTILINE)

# just -----------------------------------------------------------------------------------------------------------------

_RECIPE = pattern_of(r"@?([A-Za-z_][\w-]*)([^:=\n]*):(?!=)([^\n]*)")
_JUST_VARIABLE = pattern_of(r"(?:export[ \t]+)?([A-Za-z_][\w-]*)[ \t]*:=[ \t]*([^\n]*)")
_JUST_VALUE = pattern_of(r"\{\{[ \t]*([^{}\n]{1,200}?)[ \t]*\}\}")
_BACKTICKS = pattern_of(r"```([^`]{1,4000})```|`([^`\n]{1,2000})`")


def _just(text: str, targets: Sequence[str]) -> Iterator[str]:
    recipes: dict[str, tuple[list[str], list[str]]] = {}
    variables: dict[str, str] = {}
    body: list[str] | None = None
    for line in text.split("\n")[:_MOST_LINES]:
        if line[:1] in (" ", "\t") and body is not None:
            body.append(line)
        elif (bound := _JUST_VARIABLE.fullmatch(line.rstrip())) is not None:
            if bound[2][:1] in "'\"":
                variables[bound[1]] = bound[2].strip("'\"")
            else:
                variables[bound[1]] = _UNTOLD
            yield from (found[1] or found[2] for found in _BACKTICKS.finditer(bound[2]))
        elif (rule := _RECIPE.fullmatch(line.rstrip())) is not None:
            body = []
            recipes[rule[1]] = (re.findall(r"[A-Za-z_][\w-]*", rule[3].partition("#")[0])[:20], body)
        elif line.strip() and line[:1] not in ("#", "["):
            body = None

    def filled(found: re.Match[str]) -> str:
        return variables.get(found[1], _UNTOLD)

    for name in _wanted(recipes, targets, default=next(iter(recipes), "")):
        lines = [_JUST_VALUE.sub(filled, line) for line in recipes[name][1]]
        if lines and lines[0].strip().startswith("#!"):
            yield "\n".join(line.strip() for line in lines)
        else:
            yield from (line.strip().lstrip("@-") for line in lines if line.strip())


def _wanted(recipes: dict[str, tuple[list[str], list[str]]], targets: Sequence[str], *, default: str) -> list[str]:
    """The recipes that run, those that others need before them."""
    found: list[str] = []
    left = [word for word in targets if word in recipes] or ([default] if default in recipes else [])
    while left and len(found) < 20:
        name = left.pop()
        if name not in found:
            found.append(name)
            left += [need for need in recipes[name][0] if need in recipes]
    return found[::-1]


# YAML -----------------------------------------------------------------------------------------------------------------

_KEY = pattern_of(r"([ \t]*)(?:- +)?[\"']?([\w.@/-]{1,100})[\"']?[ \t]*:(?:[ \t]+([^\n]*))?")
_ITEM = pattern_of(r"([ \t]*)- +([^\n]*)")
_MEANS_COMMAND = frozenset(
    ("cmd", "cmds", "command", "commands", "run", "entry", "script", "scripts", "sh", "shell", "raw", "exec", "before_script",
     "after_script", "ansible.builtin.shell", "ansible.builtin.command", "preconditions", "status", "hooks", "deploy")
)  # fmt: skip


def _yaml(text: str, targets: Sequence[str]) -> Iterator[str]:
    lines = text.split("\n")[:_MOST_LINES]
    spans = [span for target in targets for span in _under(lines, target)]
    for start, end in spans or [(0, len(lines))]:
        yield from _commands(lines[start:end])


def _under(lines: Sequence[str], key: str) -> Iterator[tuple[int, int]]:
    """The lines below a key."""
    for at, line in enumerate(lines):
        found = _KEY.fullmatch(line.rstrip())
        if found is not None and found[2] == key:
            indent = len(found[1])
            end = at + 1
            while end < len(lines) and (not lines[end].strip() or len(lines[end]) - len(lines[end].lstrip()) > indent):
                end += 1
            yield at, end


def _commands(lines: Sequence[str]) -> Iterator[str]:
    """What stands after keys that mean commands, in one line, in several, or in a list."""
    inside: int | None = None
    block: list[str] = []
    block_indent = -1
    for line in (*lines, "-end:"):
        indent = len(line) - len(line.lstrip())
        if block_indent >= 0:
            if not line.strip() or indent > block_indent:
                block.append(line.strip())
                continue
            yield "\n".join(block).strip()
            block, block_indent = [], -1
        found = _KEY.fullmatch(line.rstrip())
        item = _ITEM.fullmatch(line.rstrip())
        value = ""
        if inside is not None and item is not None and _is_listed(item, found, inside):
            value = item[2]
        elif found is not None and found[2] in _MEANS_COMMAND:
            inside = len(found[1])
            value = (found[3] or "").strip()
        elif found is not None and indent <= (inside or 0):
            inside = None
        if _opens_block(value):
            block_indent = indent
        elif value:
            yield _scalar(value)


def _is_listed(item: re.Match[str], key: re.Match[str] | None, inside: int) -> bool:
    """Whether a line is an item of the list below a key, and no key itself."""
    return len(item[1]) >= inside and (key is None or " " in item[2].split(":")[0])


_FLOW = pattern_of(r"\"((?:[^\"\\]|\\.){0,2000})\"|'([^']{0,2000})'|([^,'\"\s][^,]{0,2000})")
_SHELLS = frozenset(("sh", "bash", "/bin/sh", "/bin/bash", "zsh"))


def _opens_block(value: str) -> bool:
    return re.fullmatch(r"[|>][+-]?\d?", value.strip()) is not None


def _scalar(value: str) -> str:
    value = re.sub(r"\{\{[^{}\n]{0,200}\}\}", _UNTOLD, value.strip())
    if value[:1] == "[":
        parts = [next(filter(None, found), "").strip() for found in _FLOW.findall(value.strip("[]"))]
        if parts and parts[0] in _SHELLS:
            return shlex.join(parts)
        return ("\n" if any(" " in part for part in parts) else " ").join(parts)
    if len(value) > 1 and value[0] == value[-1] and value[0] in "'\"":
        if value[0] == '"':
            return value[1:-1].replace('\\"', '"')
        return value[1:-1].replace("''", "'")
    return value


# Others ---------------------------------------------------------------------------------------------------------------

_INI = pattern_of(r"(?:commands(?:_pre|_post)?|command|run|cmd)[ \t]*=[ \t]*([^\n]*)")
_PROC = pattern_of(r"^[\w-]{1,60}:[ \t]*([^\n]{1,2000})$", re.MULTILINE)
_NINJA = pattern_of(r"^[ \t]*command[ \t]*=[ \t]*([^\n]{1,4000})$", re.MULTILINE)
_CMAKE_WORDS = (
    "COMMAND|WORKING_DIRECTORY|OUTPUT_VARIABLE|RESULT_VARIABLE|ERROR_VARIABLE|DEPENDS|COMMENT|VERBATIM|OUTPUT_QUIET|ERROR_QUIET"
    "|TIMEOUT|BYPRODUCTS|USES_TERMINAL"
)
_CMAKE = pattern_of(rf"\bCOMMAND\s+((?:\"[^\"]{{0,2000}}\"|(?!\b(?:{_CMAKE_WORDS})\b)[^()\"]){{1,2000}})")
_ANT = pattern_of(r"<exec\b[^>]{0,500}\bexecutable=\"([^\"]{1,300})\"[^>]{0,300}>(.{0,3000}?)</exec>", re.DOTALL)
_ANT_ARGUMENT = pattern_of(r"<arg[ \t\n]+(?:value|line)=\"([^\"]{0,1000})\"")
_TERRAFORM = pattern_of(
    r"\b(?:command|program)\s*=\s*(?:\"((?:[^\"\\\n]|\\.){1,4000})\"|\[([^\]]{1,2000})\]|<<-?\s*(\w{1,40})\n(.{1,8000}?)\n\s*\3)",
    re.DOTALL,
)
_ENTITIES = {"&quot;": '"', "&apos;": "'", "&lt;": "<", "&gt;": ">", "&amp;": "&"}


def _ini(text: str, targets: Sequence[str]) -> Iterator[str]:
    is_inside = False
    for line in text.split("\n")[:_MOST_LINES]:
        found = _INI.fullmatch(line.rstrip())
        if found is not None:
            is_inside = True
            yield found[1]
        elif is_inside and line[:1] in (" ", "\t"):
            yield line.strip().lstrip("-! ")
        else:
            is_inside = False


def _lines_of(pattern: re.Pattern[str]) -> Read:
    def read(text: str, targets: Sequence[str]) -> Iterator[str]:
        for found in pattern.finditer(text):
            if pattern is _CMAKE:
                yield " ".join(found[1].split())
            else:
                yield found[1]

    return read


def _ant(text: str, targets: Sequence[str]) -> Iterator[str]:
    for found in _ANT.finditer(text):
        words = [found[1], *_ANT_ARGUMENT.findall(found[2])]
        for spelled, sign in _ENTITIES.items():
            words = [word.replace(spelled, sign) for word in words]
        yield shlex.join(words)


def _terraform(text: str, targets: Sequence[str]) -> Iterator[str]:
    for found in _TERRAFORM.finditer(text):
        if found[2]:
            words = re.findall(r"\"([^\"]*)\"", found[2])
        else:
            words = []
        if words:
            yield shlex.join(words)
        else:
            yield (found[4] or found[1] or "").replace('\\"', '"')


_COMPOSE = pattern_of(
    r"^[ \t]*(?:-[ \t]*)?(?:source:[ \t]*)?[\"']?([~./$][\w./~${}@-]*)(:/[\w./-]*(?::\w+)?)?[\"']?[ \t]*$"
    r"|^[ \t]*(privileged|pid|ipc|network_mode|userns_mode):[ \t]*[\"']?(true|host)\b",
    re.MULTILINE,
)


def _compose(text: str, targets: Sequence[str]) -> Iterator[str]:
    """What containers are given of this machine, as options of an engine: what runs in them does not run here."""
    given = ""
    for found in _COMPOSE.finditer(text):
        path, inside, switch, value = found.groups()
        if switch is not None:
            given += f" --{switch.removesuffix('_mode')}" + ("" if value == "true" else f"={value}")
        elif inside is not None or "source:" in found[0]:
            given += f" -v {path}{inside or ':/mnt'}"
    if given:
        yield f"docker run{given} image"


def _devcontainer(text: str, targets: Sequence[str]) -> Iterator[str]:
    """What is run on this machine before a container is made; all else runs in it."""
    try:
        found = json.loads(re.sub(r"(?m)^[ \t]*//.*$", "", text))
    except (ValueError, RecursionError):
        return
    command = found.get("initializeCommand") if isinstance(found, dict) else None
    for one in command.values() if isinstance(command, dict) else (command,):
        if isinstance(one, list):
            yield shlex.join(map(str, one))
        elif isinstance(one, str):
            yield one


def _json(*keys: str) -> Read:
    """Members of an object that hold commands: a text, a list of texts, or an object with a `command`."""

    def read(text: str, targets: Sequence[str]) -> Iterator[str]:
        try:
            found = json.loads(text)
        except (ValueError, RecursionError):
            return
        for key in keys:
            tasks = None
            if isinstance(found, dict):
                tasks = found.get(key)
            yield from _of_tasks(tasks, targets)

    return read


def _of_tasks(tasks: object, targets: Sequence[str]) -> Iterator[str]:
    if not isinstance(tasks, dict):
        return
    named = [name for name in tasks if name in targets]
    for name in named or tasks:
        yield from _texts_in(tasks[name], 0)


def _texts_in(value: object, depth: int) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list) and depth < 4:
        for one in value:
            yield from _texts_in(one, depth + 1)
    elif isinstance(value, dict) and depth < 4:
        for key in ("cmd", "command", "shell", "script", "sequence", "composite"):
            yield from _texts_in(value.get(key), depth + 1)


def _pyproject(text: str, targets: Sequence[str]) -> Iterator[str]:
    try:
        tool = tomllib.loads(text).get("tool", {})
    except (tomllib.TOMLDecodeError, RecursionError):
        return
    if not isinstance(tool, dict):
        return
    for names in (("poe", "tasks"), ("pdm", "scripts"), ("taskipy", "tasks"), ("rye", "scripts"), ("hatch", "scripts")):
        found: object = tool
        for name in names:
            if isinstance(found, dict):
                found = found.get(name)
            else:
                found = None
        yield from _of_tasks(found, targets)
    hatch = tool.get("hatch")
    environments = None
    if isinstance(hatch, dict):
        environments = hatch.get("envs")
    if isinstance(environments, dict):
        for environment in environments.values():
            yield from _of_tasks(environment.get("scripts") if isinstance(environment, dict) else None, targets)


_READERS: tuple[tuple[re.Pattern[str], Read], ...] = (
    (pattern_of(r"\.?[Jj]ustfile|JUSTFILE|.*\.just"), _just),
    (
        pattern_of(
            r"[Tt]askfile(?:\.dist)?\.ya?ml|\.?lefthook(?:-local)?\.ya?ml|\.pre-commit-(?:config|hooks)\.ya?ml|dvc\.yaml"
        ),
        _yaml,
    ),
    (pattern_of(r"(?:docker-)?compose[\w.-]*\.ya?ml"), _compose),
    (pattern_of(r"\.?devcontainer\.json"), _devcontainer),
    (pattern_of(r"mise\.toml|.*\.ya?ml"), _yaml),
    (pattern_of(r"tox\.ini|setup\.cfg"), _ini),
    (pattern_of(r"Procfile.*"), _lines_of(_PROC)),
    (pattern_of(r".*\.ninja"), _lines_of(_NINJA)),
    (pattern_of(r"CMakeLists\.txt|.*\.cmake"), _lines_of(_CMAKE)),
    (pattern_of(r"build\.xml|pom\.xml"), _ant),
    (pattern_of(r"composer\.json"), _json("scripts")),
    (pattern_of(r"deno\.jsonc?"), _json("tasks")),
    (pattern_of(r"pyproject\.toml"), _pyproject),
    (pattern_of(r".*\.tf"), _terraform),
)
