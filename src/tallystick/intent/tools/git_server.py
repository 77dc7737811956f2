"""MCP servers that run git, with members instead of words: `git_reset {"mode": "hard"}`.

Owns turning those of their calls that take something away, or send it, into git's own words. Must not know what those do.
Sources: the tools of the reference server for git, and of git-mcp-server.
"""

from __future__ import annotations

import re

from tallystick.intent.tools.arguments import Members, text_among
from tallystick.intent.tools.draft import Draft

_METHOD = re.compile(r"git_(reset|push|clean|branch|stash|checkout)\Z")
_PLACES = ("repopath", "repositorypath", "path", "cwd", "workingdirectory")


def runs_git(draft: Draft, method: str) -> None:
    """Add the git command that a call comes to, where it is one of those."""
    found = _METHOD.search(method[:200])
    if found is not None:
        words = _words(found[1], draft.members)
    else:
        words = ()
    if words:
        place = text_among(draft.members, *_PLACES)
        draft.programs.append(("git", *(("-C", place) if place is not None else ()), *words))


def _words(verb: str, members: Members) -> tuple[str, ...]:
    is_forced = any(members.get(name) is True for name in ("force", "forcedelete"))
    match verb:
        case "reset" if (mode := text_among(members, "mode")) is not None:
            commit = text_among(members, "commit", "target", "ref")
            return ("reset", f"--{mode}", *((commit,) if commit is not None else ()))
        case "push":
            named = [name for key in ("remote", "branch") if (name := text_among(members, key)) is not None]
            return ("push", *(("--force",) if is_forced else ()), *named)
        case "clean" if is_forced:
            return ("clean", "-f", *(("-d",) if members.get("directories") is True else ()))
        case "branch" if (text_among(members, "operation", "mode", "action") or "").startswith("delete"):
            name = text_among(members, "branchname", "name", "branch")
            return ("branch", "-D" if is_forced else "-d", *((name,) if name is not None else ()))
        case "stash" if text_among(members, "mode", "operation", "action") in ("drop", "clear"):
            return ("stash", text_among(members, "mode", "operation", "action") or "")
        case "checkout" if is_forced:
            return ("checkout", "--force", text_among(members, "target", "branchname", "branch") or "HEAD")
        case _:
            return ()
