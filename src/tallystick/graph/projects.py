"""The projects of sessions: the folders in which they work, by the names that people give them.

Owns which folders a name means. Must not know what is asked about their sessions.
"""

from __future__ import annotations

import difflib

from tallystick.display.projects import project_name
from tallystick.errors import NotFoundError
from tallystick.graph.graph import Graph

IN_FOLDERS = "q.cwd IN (SELECT value FROM json_each(?))"
"""The condition that a session `q` works in one of some folders, given as an `id_list`."""
SESSION_IN_FOLDERS = f"s.session_id IN (SELECT q.session_id FROM sessions q WHERE {IN_FOLDERS})"
"""The condition that the session of a row `s` works in one of some folders."""
_MOST_NAMED = 12


def folders_of(graph: Graph, names: tuple[str, ...]) -> tuple[str, ...]:
    """The folders that some projects mean, each by its name, or by a path: that folder and those below it.

    Raises:
        NotFoundError: no session works in a project of that name; the hint lists those that there are.
    """
    if not names:
        return ()
    folders = [row[0] for row in graph.rows("SELECT DISTINCT cwd FROM sessions WHERE cwd IS NOT NULL ORDER BY cwd")]
    found: list[str] = []
    for name in names:
        own = [folder for folder in folders if _is_meant(folder, name)]
        if not own:
            raise NotFoundError(f"no session works in a project {name!r}", hint=_known(folders, name))
        found += own
    return tuple(dict.fromkeys(found))


def _is_meant(folder: str, name: str) -> bool:
    if "/" in name or "\\" in name:
        path = name.rstrip("/\\")
        return folder == path or folder.startswith((f"{path}/", f"{path}\\"))
    return project_name(folder).lower() == name.lower()


def _known(folders: list[str], name: str) -> str:
    names = sorted({project_name(folder) for folder in folders} - {""})
    close = difflib.get_close_matches(name, names, n=1)
    meant = f"did you mean {close[0]}? " if close else ""
    more = f" and {len(names) - _MOST_NAMED} more" if len(names) > _MOST_NAMED else ""
    return f"{meant}known projects: {', '.join(names[:_MOST_NAMED]) or 'none'}{more}"
