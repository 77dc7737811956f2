"""Whether a call only looks at the project, as far as the hook can tell by itself.

Owns the comparison of a call with the list of plain calls, which the recorder makes from its catalogue
(guard/plain_calls.py), and only where the shipped policies alone decide. What is not on the list is left to the policies.
Run beside hook_alone.py under `python -I -S`, so it imports the standard library only.
"""

import json
import re
import stat
from pathlib import Path
from typing import Any

LIST = "run/plain_calls.json"
_COMMAND = re.compile(r"[A-Za-z0-9_./=@-]+(?: [A-Za-z0-9_./=@-]+)*")
_PART = re.compile(r"[A-Za-z0-9_-][A-Za-z0-9_.-]*")
_NUMBER = re.compile(r"-?[0-9]{1,6}")
_MOST_CHARACTERS = 400
_MOST_WORDS = 20
_MOST_UP = 12
_MOST_CONFIG = 64 << 10


def only_looks(home: str, agent: str, said: dict[str, Any]) -> bool:
    """Whether a call, as its hook tells it, is on the list of the store at `home`."""
    try:
        known = json.loads(Path(home, LIST).read_bytes())
        return bool(known["settings"] == signature(home)) and _Looks(known, home).is_plain(agent, said)
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):  # a list of another version
        return False


def signature(home: str) -> list[int]:
    """Time and size of the store's settings and of its folder of policies: with others, another list holds, or none."""
    found = []
    for name in ("config.toml", "policy"):
        try:
            status = Path(home, name).stat()
        except OSError:
            found += [0, 0]
        else:
            found += [status.st_mtime_ns, status.st_size]
    return found


class _Looks:
    """The list, and where the store is."""

    def __init__(self, known: dict[str, Any], home: str) -> None:
        self._known = known
        self._store = Path(home).resolve()
        self._paths = known["paths"]

    def is_plain(self, agent: str, said: dict[str, Any]) -> bool:
        """Whether a call does nothing but what the list has."""
        tools = self._known["tools"].get(agent)
        tool = said.get("tool_name", said.get("toolName"))
        args = said.get("tool_input", said.get("toolArgs"))
        cwd = said.get("cwd")
        if tools is None or not isinstance(tool, str) or not isinstance(args, dict) or not isinstance(cwd, str):
            return False
        wanted = self._known["arguments"]
        told = [(name, value) for name, value in args.items() if name not in wanted["beside"]]
        if len(told) != 1 or not isinstance(told[0][1], str) or not self._is_project(cwd):
            return False
        name, value = told[0]
        if tool in tools["shell"]:
            return name in wanted["command"] and self._is_command(value, Path(cwd))
        return tool in tools["read"] and name in wanted["path"] and self._is_path(value, Path(cwd))

    # Commands ---------------------------------------------------------------------------------------------------------

    def _is_command(self, text: str, folder: Path) -> bool:
        words = text.split(" ")
        if len(text) > _MOST_CHARACTERS or len(words) > _MOST_WORDS or _COMMAND.fullmatch(text) is None:
            return False
        program, arguments = words[0], words[1:]
        allowed = self._known["programs"].get(program)
        if allowed is None:
            verbs = self._known["verbs"].get(program, {})
            allowed = verbs.get(arguments[0]) if arguments else None
            arguments = arguments[1:]
            if not self._is_quiet(folder):
                return False
        return allowed is not None and all(self._is_argument(word, allowed, folder) for word in arguments)

    def _is_argument(self, word: str, allowed: dict[str, Any], folder: Path) -> bool:
        if word in allowed["options"] or word in allowed["words"]:
            return True
        if allowed["numbers"] and _NUMBER.fullmatch(word):
            return True
        if word.startswith("-"):
            return word != "-" and all(letter in allowed["letters"] for letter in word[1:])
        return bool(allowed["paths"]) and self._is_path(word, folder)

    def _is_quiet(self, folder: Path) -> bool:
        """Whether the settings of the repository that a folder is in let git run nothing else."""
        for place in (folder, *list(folder.parents)[:_MOST_UP]):
            own = place / ".git"
            if own.is_dir():
                with (own / "config").open("rb") as file:
                    text = file.read(_MOST_CONFIG + 1).decode("utf-8").lower()
                return len(text) <= _MOST_CONFIG and not any(word in text for word in self._known["git_words"])
            if own.exists():  # a work tree of another repository
                return False
        return True

    # Paths ------------------------------------------------------------------------------------------------------------

    def _is_project(self, folder: str) -> bool:
        """Whether agents work there: not in the system's folders, the store, or anywhere that its name says more of."""
        place = Path(folder)
        if not place.is_absolute() or len(place.parts) < 3 or place.parts[1] in self._paths["system"]:
            return False
        real = place.resolve()
        if self._store in (real, *real.parents) or not self._is_named_plainly(real.parts[1:]):
            return False
        return not any(self._has_policies(each) for each in (real, *real.parents))

    def _has_policies(self, folder: Path) -> bool:
        """Whether a repository's own policies may be there; those of the store are known."""
        own = folder / ".tally"
        return (own / "policy").exists() and own.resolve() != self._store

    def _is_path(self, text: str, folder: Path) -> bool:
        """Whether a path leads into the project, to what no name on the way makes a secret, as it is spelled and in truth."""
        root, path = folder.resolve(), folder / text
        if ".." in path.parts or "//" in text:
            return False
        real = path.resolve(strict=True)
        if real != root and root not in real.parents:
            return False
        told = (path.relative_to(folder) if path.is_relative_to(folder) else path.relative_to(root)).parts
        return self._is_shown(real, real.relative_to(root).parts) and self._is_named_plainly(told)

    def _is_shown(self, real: Path, parts: tuple[str, ...]) -> bool:
        status = real.stat()
        if stat.S_ISDIR(status.st_mode):
            return self._is_named_plainly(parts)
        if not stat.S_ISREG(status.st_mode) or status.st_size > self._paths["most_bytes"]:
            return False
        is_known = real.name in self._paths["names"] or real.suffix[1:] in self._paths["endings"]
        return is_known and self._is_named_plainly(parts)

    def _is_named_plainly(self, parts: tuple[str, ...]) -> bool:
        text = "/".join(parts).lower()
        return all(map(_PART.fullmatch, parts)) and not any(hint in text for hint in self._paths["hints"])
