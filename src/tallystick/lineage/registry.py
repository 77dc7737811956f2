"""What kind of file a path names, by its name alone: what agents read as orders, what runs, what survives a restart.

Owns the registries of specs/gensee.md 5.2. Must not know what is done with such a file.
"""

from __future__ import annotations

import re

import msgspec


class Membership(msgspec.Struct, frozen=True):
    """In which registries a path is."""

    is_executable: bool
    is_memory: bool
    is_persistent: bool
    is_control_plane: bool

    @property
    def is_any(self) -> bool:
        """Whether it is in one."""
        return self.is_executable or self.is_memory or self.is_persistent or self.is_control_plane


_EXECUTABLE = re.compile(
    r"(?:\.(?:sh|bash|zsh|fish|py|js|mjs|cjs|ts|rb|pl|ps1|mk)|/(?:GNU)?[Mm]akefile|/[Jj]ustfile|/package\.json)$"
    r"|/\.git/hooks/[^/]+$|/\.husky/[^/]+$|/(?:hooks|skills|plugins)/.*"
)
_MEMORY = re.compile(
    r"/(?:memory|soul|claude|agents|gemini|qwen|copilot-instructions)\.md$|/\.cursorrules$|/\.cursor/rules/.*"
    r"|/\.(?:claude|codex|agents|gemini)/(?:skills|plugins|rules|memories|commands)/.*",
    re.IGNORECASE,
)
_PERSISTENT = re.compile(
    r"/\.(?:bashrc|bash_profile|bash_login|profile|zshrc|zprofile|zshenv|zlogin|gitconfig|inputrc|xinitrc|xprofile)$"
    r"|/crontab$|/etc/(?:cron[^/]*|init\.d|systemd|profile\.d|sudoers\.d)/.*|/etc/(?:sudoers|profile|ld\.so\.preload)$"
    r"|/(?:LaunchAgents|LaunchDaemons|autostart)/.*|/\.config/systemd/.*|/\.git/hooks/[^/]+$|/\.git/config$"
    r"|/\.ssh/(?:authorized_keys|config|rc)$|/\.vscode/tasks\.json$|/\.github/workflows/.*|/\.pre-commit-config\.yaml$"
)
_CONTROL_PLANE = re.compile(
    r"/\.tally/.*|/\.claude/settings(?:\.local)?\.json$|/\.claude\.json$|/\.codex/(?:config\.toml|hooks\.json)$"
    r"|/\.gemini/settings\.json$|/\.qwen/settings\.json$|/\.copilot/hooks/.*|/\.github/hooks/.*|/\.cursor/hooks\.json$"
    r"|/(?:hooks|mcp_config|mcp)\.json$|/\.mcp\.json$|/opencode\.jsonc?$"
)


def membership(path: str) -> Membership:
    """In which registries a path is; it may be a URI. Never looks at the file."""
    return Membership(
        _EXECUTABLE.search(path) is not None,
        _MEMORY.search(path) is not None,
        _PERSISTENT.search(path) is not None,
        _CONTROL_PLANE.search(path) is not None,
    )
