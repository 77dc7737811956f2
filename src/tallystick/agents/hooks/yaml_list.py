"""One name in a list of a YAML file, put in and taken out without touching anything else of the text.

Owns the few forms in which a list below a top-level key is written: block items, a flow list on one line, nothing yet. Any
other form is refused with what to do by hand. Must not know whose file it is. YAML 1.2.2, 6.1 (indentation), 7.4.1, 8.2.1.
"""

from __future__ import annotations

import re

from tallystick.errors import FormatError

_FLOW = re.compile(r"^(\s*[\w-]+:[ \t]*)\[([^\[\]{}#]*)\](.*)$")
_ITEM = re.compile(r"""^(\s*-[ \t]+)(['"]?)([^'"#]+?)\2[ \t]*(#.*)?$""")


def names(text: str, section: str, key: str) -> list[str]:
    """The names in `section.key`; none if it is not there."""
    lines = text.splitlines(keepends=True)
    at = _find(lines, section, key)
    if at is None:
        return []
    flow = _FLOW.match(lines[at].rstrip("\r\n"))
    if flow:
        return [item.strip().strip("'\"") for item in flow[2].split(",") if item.strip()]
    return [item[3].strip() for number in _items(lines, at) if (item := _ITEM.match(lines[number].rstrip("\r\n")))]


def added(text: str, section: str, key: str, name: str) -> str:
    """The text with `name` in `section.key`.

    Raises:
        FormatError: the place is written in a form that is not understood here.
    """
    if name in names(text, section, key):
        return text
    lines = text.splitlines(keepends=True)
    end = "\n"
    if "\r\n" in text:
        end = "\r\n"
    if lines and not lines[-1].endswith(("\n", "\r")):
        lines[-1] += end
    top = _section(lines, section)
    if top is None:
        return "".join([*lines, f"{section}:{end}", f"  {key}:{end}", f"    - {name}{end}"])
    at = _find(lines, section, key)
    if at is None:
        indent = _child_indent(lines, top)
        lines[top + 1 : top + 1] = [f"{indent}{key}:{end}", f"{indent}  - {name}{end}"]
    else:
        _insert(lines, at, name, end, f"{section}.{key}")
    return "".join(lines)


def removed(text: str, section: str, key: str, name: str) -> str:
    """The text without `name` in `section.key`."""
    lines = text.splitlines(keepends=True)
    at = _find(lines, section, key)
    if at is None:
        return text
    flow = _FLOW.match(lines[at].rstrip("\r\n"))
    if flow:
        kept = [item.strip() for item in flow[2].split(",") if item.strip() and item.strip().strip("'\"") != name]
        rest = lines[at][len(lines[at].rstrip("\r\n")) :]
        lines[at] = f"{flow[1]}[{', '.join(kept)}]{flow[3]}{rest}"
        return "".join(lines)
    for number in reversed(_items(lines, at)):
        item = _ITEM.match(lines[number].rstrip("\r\n"))
        if item and item[3].strip() == name:
            del lines[number]
    return "".join(lines)


def _section(lines: list[str], section: str) -> int | None:
    """The line of a top-level key.

    Raises:
        FormatError: its value begins on the same line.
    """
    for number, line in enumerate(lines):
        if line.startswith(f"{section}:"):
            rest = line[len(section) + 1 :].partition("#")[0].strip()
            if rest:
                raise _refused(section)
            return number
    return None


def _body(lines: list[str], top: int) -> range:
    """The lines that belong to a top-level key."""
    end = top + 1
    while end < len(lines) and (not lines[end].strip() or lines[end][0] in " \t#" or lines[end].startswith("- ")):
        end += 1
    return range(top + 1, end)


def _child_indent(lines: list[str], top: int) -> str:
    for number in _body(lines, top):
        stripped = lines[number].lstrip(" ")
        if stripped.strip() and not stripped.startswith("#"):
            return lines[number][: len(lines[number]) - len(stripped)]
    return "  "


def _find(lines: list[str], section: str, key: str) -> int | None:
    top = _section(lines, section)
    if top is None:
        return None
    indent = _child_indent(lines, top)
    return next((number for number in _body(lines, top) if lines[number].startswith(f"{indent}{key}:")), None)


def _items(lines: list[str], at: int) -> list[int]:
    """The lines of the block items of a key."""
    indent = len(lines[at]) - len(lines[at].lstrip(" "))
    found = []
    for number in range(at + 1, len(lines)):
        line = lines[number].rstrip("\r\n")
        depth = len(line) - len(line.lstrip(" "))
        if not line.strip() or line.lstrip().startswith("#"):
            continue
        if not line.lstrip().startswith("- ") or depth < indent:
            break
        found.append(number)
    return found


def _insert(lines: list[str], at: int, name: str, end: str, what: str) -> None:
    text = lines[at].rstrip("\r\n")
    flow = _FLOW.match(text)
    if flow:
        before = flow[2].strip().rstrip(",").strip()
        inside = name
        if before:
            inside = f"{before}, {name}"
        lines[at] = f"{flow[1]}[{inside}]{flow[3]}{lines[at][len(text) :]}"
        return
    if text.partition(":")[2].partition("#")[0].strip():
        raise _refused(what)
    items = _items(lines, at)
    indent = " " * (len(text) - len(text.lstrip(" ")) + 2)
    if items:
        last = lines[items[-1]]
        indent = last[: len(last) - len(last.lstrip(" "))]
    lines.insert((items[-1] if items else at) + 1, f"{indent}- {name}{end}")


def _refused(what: str) -> FormatError:
    return FormatError(f"{what} is written in a form that is not edited here", hint=f"add the name to {what} by hand")
