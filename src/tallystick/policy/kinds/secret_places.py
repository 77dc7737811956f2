"""Folders and files that hold secrets by where they lie: below a home folder, and in the system.

Owns those lists (specs/gensee.md 5.2, and what it says is missing there). Must not know names that mean a secret wherever
they lie: `secret_names` does. Paths are plain, see `homes`.
"""

from tallystick.catalog.agents import AGENTS, secrets
from tallystick.catalog.loading import Entry, load
from tallystick.model.pattern import pattern_of


class _Home(Entry, frozen=True):
    """Below a home folder."""

    keys: tuple[str, ...]
    services: tuple[str, ...]
    packages: tuple[str, ...]
    models: tuple[str, ...]
    histories: tuple[str, ...]
    browsers: tuple[str, ...]
    macos: tuple[str, ...]
    windows: tuple[str, ...]
    hints: tuple[str, ...]
    work: tuple[str, ...]
    holders: frozenset[str]


class _System(Entry, frozen=True):
    """In no home folder."""

    secrets: tuple[str, ...]
    hints: tuple[str, ...]
    holders: frozenset[str]


class _Places(Entry, frozen=True):
    """Facts of catalog/kinds/secret_places.toml."""

    home: _Home
    system: _System


def _below(*lists: tuple[str, ...], folder: str = "") -> tuple[str, ...]:
    """Places that end with `/`, so that no name counts for another that begins like it."""
    return tuple(f"{folder}{place}/" for places in lists for place in places)


def _above(path: str) -> tuple[str, ...]:
    """The folders on the way to a path."""
    parts = path.split("/")
    return tuple("/".join(parts[:n]) for n in range(1, len(parts)))


_OF_AGENTS = tuple(folder.lower() for facts in AGENTS.values() for folder in facts.folders)
_FACTS = load("kinds/secret_places", _Places)
_HOME = _FACTS.home
HOME_SECRETS = (
    *_below(_HOME.keys, _HOME.services, _HOME.packages, _HOME.models, _HOME.histories, _HOME.browsers),
    *_below(secrets()),
    *_below(_HOME.macos, folder="library/"),
    *_below(_HOME.windows, folder="appdata/"),
)
"""Below a home folder."""
_HOME_HINTS = _below(_HOME.hints, tuple(path for facts in AGENTS.values() for path in facts.may_hold_secrets))
_HOME_WORK = _below(_HOME.work)
_SYSTEM = _below(_FACTS.system.secrets)
_SYSTEM_HINTS = _below(_FACTS.system.hints)
_SYSTEM_NAMES = pattern_of(r"/etc/ssh/ssh_host_[^/]{1,40}_key|/proc/(?:[^/]{1,20}/)?(?:task/[^/]{1,20}/)?mem")
_ENVIRONMENT = pattern_of(r"/proc/(?:[^/]{1,20}/)?(?:task/(?:[^/]{1,20}/)?)?environ")
HOLDERS = _FACTS.system.holders
"""Folders of the system with secrets below."""
HOME_HOLDERS = _HOME.holders | frozenset(
    folder for path in secrets() if path.startswith(_OF_AGENTS) for folder in _above(path)
)
"""Folders below a home folder with secrets below; the first is the home folder itself."""


def at_home(rest: str) -> str | None:
    """What a path is, by its part below a home folder."""
    whole = f"{rest}/"
    if whole.startswith(_HOME_WORK):
        return "work"
    if whole.startswith(_HOME_HINTS):
        return "credential"
    return "secret" if whole.startswith(HOME_SECRETS) else None


def in_system(path: str) -> str | None:
    """What a path is that lies in no home folder."""
    whole = f"{path}/"
    if whole.startswith(_SYSTEM) or _SYSTEM_NAMES.fullmatch(path):
        return "secret"
    if _ENVIRONMENT.fullmatch(path):
        return "environment"
    return "credential" if whole.startswith(_SYSTEM_HINTS) else None
