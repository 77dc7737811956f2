"""The calls of real sessions as cases: what was called, in the order in which it was, on a machine as far as it can be known.

Owns what a replay assumes. Must not know what is decided, nor who labels it. Assumed, because a history does not tell it:

- a session's folder is the one that it began in, a git repository whose files are all committed when the first session
  begins, and again when a session commits, merges, changes branches or stashes;
- what a session makes with `git worktree add`, and what lies in `NAME.worktrees` or the like beside a folder NAME, is a
  linked working tree of it;
- a file that a session read, or edited before it wrote it, was there before, with the text that was read; what a call wrote
  as a whole, or edited where the text is known, is there afterwards, if it lies below the home folder;
- any other file does not exist; files outside the home folder are those of the machine that judges;
- the home folder of the person at work (the folder above that of the session, where it is not known) is that of the machine,
  where the keys and settings of `machine.toml` lie;
- what a sub-agent did, the session did that started it;
- a call that was made was not stopped: each is judged, also what followed a call that is stopped here; a question was
  answered with yes, and that is on record.
"""

from __future__ import annotations

import posixpath
import re
import tempfile
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec import structs

from tallystick.agents import adapters
from tallystick.guard.policy_quality import HOME_FOLDER, Case, CaseCall, Wants
from tallystick.ingest.histories import find_histories, import_histories
from tallystick.intent.tools.calls import uses_of
from tallystick.intent.tools.uses import ToolCall
from tallystick.journal.home import Home
from tallystick.journal.read import read_session
from tallystick.model.recorded import Recorded
from tallystick.model.step import Json
from tallystick.policy.protected.guarded import kind_of

_WINDOWS = r"(?:[A-Za-z]:|/[a-z]|/mnt/[a-z])?[\\/]+Users[\\/]+[^\\/\s\"']+"
_HOME = re.compile(rf"/(?:home|Users)/[^/\s\"']+|/root(?=/|$)|{_WINDOWS}")
_UNTOLD = f"{HOME_FOLDER}/project"
_PATHS = ("file_path", "filePath", "absolute_path", "path")
_TEXTS = ("content", "file_text", "contents")
_EDITS = (("old_string", "new_string"), ("oldString", "newString"), ("old_str", "new_str"))
_COMMANDS = ("command", "cmd")
_COMMIT = re.compile(r"\bgit (?:-\S+ \S+ )*(?:commit|pull|merge|rebase|checkout|switch|reset --hard|stash)\b")
_WORKTREE = re.compile(r"\bgit (?:-C \S+ )?worktree add (?:-{1,2}(?:b|B|reason) \S+ |-{1,2}[\w-]+ )*([^\s;&|<>-]\S*)")
_NUMBERED = re.compile(r"^\s*\d+(?:→|\t|\| ?)", re.M)
_LONGEST_RESULT = 1 << 16


def cases_of(paths: Sequence[Path]) -> Iterator[Case]:
    """The calls of tools in some histories: one case for all that was done in one folder and below it."""
    sessions: list[tuple[str, str, list[tuple[str, CaseCall]]]] = []
    with tempfile.TemporaryDirectory() as folder:
        home = Home(Path(folder) / "store")
        import_histories(home, find_histories(Path(folder), paths, adapters()), adapters())
        read = [(sid, list(read_session(home, sid, load_blobs=True))) for sid, _ in sorted(home.sessions())]
        above = ((sid, steps[0].parents) for sid, steps in read if steps)
        parents: dict[str, str] = {sid: hashes[0].partition("#")[0] for sid, hashes in above if hashes}
        for sid, steps in read:
            cwd, owner = _place(steps)
            sessions.append((_moved_text(cwd, owner), sid, list(_calls(steps, owner, session=_root(sid, parents)))))
    tops = _tops({cwd for cwd, _, _ in sessions})
    calls: defaultdict[str, list[tuple[str, CaseCall]]] = defaultdict(list)
    for cwd, _, made in sessions:
        where = cwd if cwd != _UNTOLD else _most_named(made, tops)
        top = next(top for top in tops if _is_below(where, top))
        calls[top] += [(ts, structs.replace(call, folder=where if where != top else None)) for ts, call in made]
    for number, (top, found) in enumerate(sorted(calls.items())):
        if found:
            in_order = [call for _, call in sorted(found, key=lambda pair: pair[0])]
            yield _Files(f"folder-{number:03}", top).case(in_order)


def _root(session: str, parents: Mapping[str, str]) -> str:
    """The session that a person began."""
    seen = {session}
    while (above := parents.get(session)) is not None and above not in seen:
        session = above
        seen.add(session)
    return session


def _tops(folders: Iterable[str]) -> list[str]:
    """The folders that are below none of the others."""
    tops: list[str] = []
    for folder in sorted(folders, key=len):
        if not any(_is_below(folder, top) for top in tops):
            tops.append(folder)
    return tops


def _is_below(path: str, top: str) -> bool:
    return path == top or path.startswith((f"{top}/", f"{top}\\"))


def _most_named(calls: Iterable[tuple[str, CaseCall]], tops: Sequence[str]) -> str:
    """The folder that the calls of a session name most, where no one told in which it was."""
    text = "".join(msgspec.json.encode(call.args).decode() for _, call in calls)
    return max(tops, key=text.count)


def _place(steps: Sequence[Recorded]) -> tuple[str, str]:
    """The folder of a session, and the home folder in it."""
    found = (step.text("personal.cwd") for step in steps)
    cwd = next((text for text in found if text), _UNTOLD)
    owner = _HOME.match(cwd)
    if cwd == _UNTOLD:  # whose home it was, paths may tell
        given = (msgspec.json.encode(step.values.get("content.args")).decode() for step in steps)
        owner = next((match for text in given for match in [_HOME.search(text)] if match), None)
    if owner is not None:
        return cwd, owner[0]
    return cwd, "" if cwd == _UNTOLD else posixpath.dirname(cwd).rstrip("/")


def _calls(steps: Sequence[Recorded], owner: str, *, session: str) -> Iterator[tuple[str, CaseCall]]:
    results = {step.member("corr"): step.values for step in steps if step.type == "tool_result"}
    agent = next((step.member("agent") for step in steps if step.member("agent")), "claude-code")
    for step in steps:
        tool = step.member("tool")
        if step.type != "tool_call" or not isinstance(tool, str):
            continue
        values = results.get(step.member("corr"), {})
        output = values.get("content.output", values.get("content.text"))
        result = output if isinstance(output, str) else msgspec.json.encode(output).decode()
        call = CaseCall(
            tool=tool,
            args=_moved(step.values.get("content.args"), owner),
            agent=str(agent),
            session=session,
            result=_moved_text(result[:_LONGEST_RESULT], owner),
        )
        yield str(step.member("ts")), call


# The home folder -----------------------------------------------------------------------------------------------------


def _moved(value: Json, owner: str) -> Json:
    if isinstance(value, str):
        return _moved_text(value, owner)
    if isinstance(value, list):
        return [_moved(item, owner) for item in value]
    if isinstance(value, dict):
        return {name: _moved(item, owner) for name, item in value.items()}
    return value


def _moved_text(text: str, owner: str) -> str:
    """A text with the machine's home folder for that of `owner`; a path below one of Windows goes on with slashes."""
    name = re.split(r"[\\/]+", owner)[-1]
    if not owner or "users" not in owner.lower() or not re.match(r"[A-Za-z]:|/[a-z]/|/mnt/", owner):
        return text.replace(owner, HOME_FOLDER) if owner else text
    spelt = rf"(?:[A-Za-z]:|/[a-z]|/mnt/[a-z])[\\/]+Users[\\/]+{re.escape(name)}((?:[\\/]+[^\\/\s\"'|;&<>:*?]*)*)"
    return re.sub(spelt, lambda found: HOME_FOLDER + re.sub(r"\\+", "/", found[1]), text, flags=re.I)


# Files ---------------------------------------------------------------------------------------------------------------


class _Files:
    """What is known of the files of one folder while its calls are gone through."""

    def __init__(self, name: str, folder: str) -> None:
        self._name = name
        self._folder = folder
        self._before: dict[str, str] = {}
        self._now: dict[str, str] = {}

    def case(self, calls: Sequence[CaseCall]) -> Case:
        made = tuple(self._made(call) for call in calls)
        named = re.compile(rf"{re.escape(self._folder)}[._-]*worktrees/[^/\s\"'\\]+")
        told = "\n".join(msgspec.json.encode(call.args).decode() for call in calls)
        added = {path for call in made for path in call.leaves if path.endswith("/.git")}
        for path in set(named.findall(told)):
            self._before |= {} if f"{path}/.git" in added else self._linked(path)
        return Case(
            id=self._name,
            class_="calls",
            wants=Wants.SILENCE,
            calls=made,
            folder=self._folder,
            files={path: text for path, text in self._before.items() if not self._is_folder(path)},
            is_repository=True,
            says_yes=True,
        )

    def _is_folder(self, path: str) -> bool:
        """Whether another file is known to lie below a path: a list of names was read."""
        below = f"{path.rstrip('/')}/"
        return f"{self._folder}/".startswith(below) or any(one.startswith(below) for one in self._before)

    def _made(self, call: CaseCall) -> CaseCall:
        """A call with what it leaves on disk; what it shows to have been there is noted."""
        args = call.args
        command: str = _first(args, _COMMANDS) or ""
        if _COMMIT.search(command):
            return structs.replace(call, commits=True)
        for made in _WORKTREE.findall(command):
            tree = posixpath.normpath(posixpath.join(call.folder or self._folder, made.strip("\"'")))
            return structs.replace(call, leaves=self._linked(tree))
        path = _first(args, _PATHS)
        if not isinstance(args, dict) or path is None or "\0" in path or len(path) > 1000:
            return call
        match kind_of(uses_of(ToolCall(tool=call.tool, args=args, folder=None))):
            case "read":
                self._seen(path, call.result or "")
            case "write":
                text = self._written(path, args)
                if text is not None:
                    self._now[path] = text
                    return structs.replace(call, leaves={path: text})
        return call

    def _linked(self, path: str) -> dict[str, str]:
        """What makes a folder a linked working tree of the repository."""
        if _is_below(path, self._folder):
            return {}
        name = posixpath.basename(path)
        kept = f"{self._folder}/.git/worktrees/{name}"
        return {
            f"{path}/.git": f"gitdir: {kept}\n",
            f"{kept}/gitdir": f"{path}/.git\n",
            f"{kept}/HEAD": f"ref: {name}\n",
        }

    def _seen(self, path: str, result: str) -> None:
        if path not in self._now and not _is_refused(result):
            self._before[path] = self._now[path] = _NUMBERED.sub("", result)

    def _written(self, path: str, args: dict[str, Json]) -> str | None:
        whole = _first(args, _TEXTS)
        if whole is not None:
            return whole
        old, new = next(((args.get(a), args.get(b)) for a, b in _EDITS if a in args), (None, None))
        if not isinstance(old, str) or not isinstance(new, str):
            return None
        if path not in self._now:
            self._before[path] = self._now[path] = old
        return self._now[path].replace(old, new, 1)


def _first(args: Json, names: Sequence[str]) -> str | None:
    if not isinstance(args, dict):
        return None
    return next((text for name in names if isinstance(text := args.get(name), str)), None)


def _is_refused(result: str) -> bool:
    """Whether a result says that there is nothing to read."""
    start = result.lstrip('"{ ')[:200].lower()
    return not start or any(text in start for text in ("error", "does not exist", "no such file", "not found"))
