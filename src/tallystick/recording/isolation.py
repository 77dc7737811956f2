"""Whether a sub-agent's session stands alone, as its own definition says.

Owns where definitions are looked for: `agents/NAME/AGENT.md` in the folder that is worked in, then in the agent's home. What
is found is a member of the session that begins, and no setting of ours.
"""

from __future__ import annotations

from pathlib import Path

from msgspec.structs import replace

from tallystick.agents.definition import FILE, session_isolation
from tallystick.capture.audit_files import read_bounded
from tallystick.model.pattern import pattern_of
from tallystick.model.step import Json, Opening, SessionKind
from tallystick.recording.checkpoints.auto import folder_of
from tallystick.recording.session_writer import SessionWriter

MEMBER = "session_isolation"
_NAME = pattern_of(r"[A-Za-z0-9][A-Za-z0-9_.-]{0,79}")
_MOST_BYTES = 256 << 10


def with_isolation(opening: Opening, folder: str | None, user: Path) -> Opening:
    """The opening of a sub-agent's session with what its definition says, if there is one. Never raises.

    Args:
        folder: that it works in. user: the user's home folder.
    """
    name = opening.meta.get("agent_role", opening.agent)
    if opening.kind is not SessionKind.CHILD or MEMBER in opening.meta or not _is_name(name):
        return opening
    found = _isolation(name, [*([Path(folder)] if folder else ()), user / f".{opening.agent}"])
    if found is None:
        return opening
    return replace(opening, meta={**opening.meta, MEMBER: found})


def defined(session_writer: SessionWriter, opening: Opening) -> Opening:
    """The same, of a program that records itself: what says no folder works where its caller does."""
    folder, parent = opening.values.get("personal.cwd"), opening.parent
    if folder is None and parent is not None and parent.session is not None:
        found = session_writer.writer.find(parent.agent or opening.agent, parent.session)
        folder = None
        if found is not None:
            folder = folder_of(found)
    return with_isolation(opening, folder if isinstance(folder, str) else None, Path.home())


def _is_name(name: Json) -> bool:
    return isinstance(name, str) and _NAME.fullmatch(name) is not None


def _isolation(name: str, folders: list[Path]) -> bool | None:
    """What the first definition that is there says."""
    for folder in folders:
        path = folder / "agents" / name / FILE
        file = read_bounded(path, most=_MOST_BYTES)
        if file is not None:
            if file.data is None:
                return None
            return session_isolation(file.data.decode("utf-8", "replace"))
    return None
