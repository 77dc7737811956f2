"""The files and folders that something reads or runs by itself later: at a login, a start, a time, a commit.

Owns these lists, in the plain form of `homes`. Must not know how a path is compared with them. Sources: specs/gensee.md 5.2;
bash(1), zsh(1), fish(1), csh(1), login(1), pam_env(7), crontab(5), systemd.unit(5), launchd.plist(5), sshd(8), sudoers(5),
ld.so(8), githooks(5), Python's `site`, the XDG autostart specification, MITRE ATT&CK TA0003; the agents' pages (docs/agents).
"""

from collections.abc import Mapping

from tallystick.catalog.agents import AGENTS as _AGENTS
from tallystick.catalog.agents import Base, Kind, folder_names, holds_hook, places, programs
from tallystick.catalog.loading import Entry, inverted, load


class _Facts(Entry, frozen=True):
    """Facts of catalog/kinds/start_places.toml."""

    in_home: Mapping[str, tuple[str, ...]]
    in_home_folders: Mapping[str, tuple[str, ...]]
    in_system: Mapping[str, tuple[str, ...]]
    in_system_folders: Mapping[str, tuple[str, ...]]
    editor_settings: tuple[str, ...]
    anywhere: Mapping[str, tuple[str, ...]]
    names: Mapping[str, tuple[str, ...]]
    agents: frozenset[str]
    extensions: frozenset[str]
    of_user: frozenset[str]
    shadowed: frozenset[str]
    before_system: frozenset[str]
    before_system_too: frozenset[str]


_FACTS = load("kinds/start_places", _Facts)
_SETTINGS = "agent-settings"


def _settings(base: Base) -> tuple[str, ...]:
    """Files of agents' settings in lower case, but for those that hold our hook or can switch it off: they are protected."""
    return tuple(
        place.path.lower()
        for place in places(kind=Kind.SETTINGS, base=base)
        if not place.endings and not holds_hook(place) and not (base is not Base.MANAGED and place.switches_hooks)
    )


IN_HOME = {**inverted(_FACTS.in_home), **dict.fromkeys(_settings(Base.USER), _SETTINGS)}
"""Below a home folder."""
IN_HOME_FOLDERS = {
    **inverted(_FACTS.in_home_folders),
    **{path: "editor-task" for facts in _AGENTS.values() for path in facts.editor.extensions},
}
"""Everything in these, below a home folder."""
_MANAGED = tuple(f"/{path}" for path in _settings(Base.MANAGED))
IN_SYSTEM = {**inverted(_FACTS.in_system), **dict.fromkeys(_MANAGED, _SETTINGS)}
IN_SYSTEM_FOLDERS = {
    **inverted(_FACTS.in_system_folders),
    **{path.rpartition("/")[0]: _SETTINGS for path in _MANAGED},
}
EDITOR_SETTINGS = (
    *_FACTS.editor_settings,
    *(path for facts in _AGENTS.values() for path in facts.editor.settings),
)
"""How the paths of editors' settings end."""
_IN_PROJECTS = _settings(Base.PROJECT)
NAMES = {
    **inverted(_FACTS.names),
    **{path: _SETTINGS for path in _IN_PROJECTS if "/" not in path},
    **{name: _SETTINGS for facts in _AGENTS.values() for name in facts.settings_names},
}
"""Files of these names anywhere."""
AGENTS = _FACTS.agents | folder_names()
"""Folders of agents, in a home folder and in projects."""
HOME_FOLDERS = tuple(f"{folder}/" for facts in _AGENTS.values() for folder in facts.folders if folder.count("/"))
"""Folders of agents below a home folder that lie deeper in it: `.config/opencode/`."""
EXTENSIONS = _FACTS.extensions
"""In these folders of agents there is code that the agent runs by itself."""
OF_USER = _FACTS.of_user
"""In these there are texts that the agent follows: a user's are followed in every project."""
SHADOWED = _FACTS.shadowed | programs()
"""Programs that everybody calls by name."""
BEFORE_SYSTEM = _FACTS.before_system
"""Folders below a home folder that stand before the system's in PATH."""
BEFORE_SYSTEM_TOO = _FACTS.before_system_too


ANYWHERE = {
    **{tuple(path.split("/")): kind for path, kind in inverted(_FACTS.anywhere).items()},
    **{tuple(path.split("/")): _SETTINGS for path in _IN_PROJECTS if path.count("/") == 1},
}
"""A folder's name and a file's in it, in any project."""
