"""The files and folders that something reads or runs by itself later: at a login, a start, a time, a commit.

Owns these lists, in the plain form of `homes`. Must not know how a path is compared with them. Sources: specs/gensee.md 5.2;
bash(1), zsh(1), fish(1), csh(1), login(1), pam_env(7), crontab(5), systemd.unit(5), launchd.plist(5), sshd(8), sudoers(5),
ld.so(8), githooks(5), Python's `site`, the XDG autostart specification, MITRE ATT&CK TA0003; the agents' pages (docs/agents).
"""

from __future__ import annotations

from collections.abc import Mapping

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
IN_HOME = inverted(_FACTS.in_home)
"""Below a home folder."""
IN_HOME_FOLDERS = inverted(_FACTS.in_home_folders)
"""Everything in these, below a home folder."""
IN_SYSTEM = inverted(_FACTS.in_system)
IN_SYSTEM_FOLDERS = inverted(_FACTS.in_system_folders)
EDITOR_SETTINGS = _FACTS.editor_settings
"""How the paths of editors' settings end."""
NAMES = inverted(_FACTS.names)
"""Files of these names anywhere."""
AGENTS = _FACTS.agents
"""Folders of agents, in a home folder and in projects."""
EXTENSIONS = _FACTS.extensions
"""In these folders of agents there is code that the agent runs by itself."""
OF_USER = _FACTS.of_user
"""In these there are texts that the agent follows: a user's are followed in every project."""
SHADOWED = _FACTS.shadowed
"""Programs that everybody calls by name."""
BEFORE_SYSTEM = _FACTS.before_system
"""Folders below a home folder that stand before the system's in PATH."""
BEFORE_SYSTEM_TOO = _FACTS.before_system_too


ANYWHERE = {tuple(path.split("/")): kind for path, kind in inverted(_FACTS.anywhere).items()}
"""A folder's name and a file's in it, in any project."""
