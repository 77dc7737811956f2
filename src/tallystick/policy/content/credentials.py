"""Whether a file that is read holds credentials, by what is in it.

Owns which files are worth a look: data of a moderate size, not source code, documentation or what is made for tests. What
a secret looks like is the World's to know. Names are judged by `kinds`.
"""

from __future__ import annotations

from itertools import islice

from tallystick.model.pattern import pattern_of
from tallystick.policy.kinds.secret_names import is_aside, is_data
from tallystick.policy.world import Content, FileKind, FileState, World

TAGS: dict[str, str] = {
    "credentials": "A credential is in what is read, or written where the pack `source-secrets` is on."
}
_MOST_BYTES = 64 << 10
_MOST_LINES = 50
_LONGEST = 2000
_PRIVATE_KEY = "PRIVATE KEY-----"
_RANDOM = pattern_of(r"(?=[A-Za-z_+/=.-]{0,60}[0-9])(?=[0-9_+/=.-]{0,60}[A-Za-z])[A-Za-z0-9_+/=.-]{16}")
_LOCKS = (
    "-lock.json",
    ".lock",
    "-lock.yaml",
    ".sum",
    ".map",
    ".min.json",
    "manifest.json",
    "package.json",
    "tsconfig.json",
)


def credentials_in(path: str, state: FileState, world: World) -> frozenset[str]:
    """The tags of a file that is read."""
    if state.kind is not FileKind.FILE or not 0 < state.size_bytes <= _MOST_BYTES:
        return frozenset()
    lower = path.lower()
    if lower.endswith(_LOCKS) or not is_data(lower) or is_aside(lower):
        return frozenset()
    found = world.content(path)
    is_found = isinstance(found, Content) and world.has_secret(found.text) and _is_grave(found.text, world)
    if is_found:
        return frozenset(TAGS)
    return frozenset()


def credentials_written(text: str | None, world: World) -> frozenset[str]:
    """The tags of a text that is written."""
    if text is None or not world.has_secret(text[:_MOST_BYTES]) or not _is_grave(text[:_MOST_BYTES], world):
        return frozenset()
    return frozenset(TAGS)


def _is_grave(text: str, world: World) -> bool:
    """Whether a secret in a text is made by chance: `POSTGRES_PASSWORD: postgres` is not a secret to anyone."""
    if _PRIVATE_KEY in text:
        return True
    lines = (line for line in text.splitlines() if _RANDOM.search(line[:_LONGEST]))
    return any(world.has_secret(line[:_LONGEST]) for line in islice(lines, _MOST_LINES))
