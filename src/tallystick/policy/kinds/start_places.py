"""The files and folders that something reads or runs by itself later: at a login, a start, a time, a commit.

Owns these lists, in the plain form of `homes`. Must not know how a path is compared with them. Sources: specs/gensee.md 5.2;
bash(1), zsh(1), fish(1), csh(1), login(1), pam_env(7), crontab(5), systemd.unit(5), launchd.plist(5), sshd(8), sudoers(5),
ld.so(8), githooks(5), Python's `site`, the XDG autostart specification, MITRE ATT&CK TA0003; the agents' pages (docs/agents).
"""

from __future__ import annotations


def _each(kind: str, names: str) -> dict[str, str]:
    return dict.fromkeys(names.split(), kind)


IN_HOME: dict[str, str] = {
    **_each(
        "shell-start",
        ".bashrc .bash_profile .bash_login .bash_logout .bash_aliases .bash_functions .profile .zshrc .zshenv .zprofile "
        ".zlogin .zlogout .zshrc.local .kshrc .mkshrc .shrc .shinit .cshrc .tcshrc .login .logout .inputrc .aliases "
        ".exports .functions .xonshrc .nurc .xprofile .xinitrc .xsession .xsessionrc .xserverrc .pam_environment "
        ".environment .hushlogin .config/fish/config.fish .config/zsh/.zshrc .config/zsh/.zshenv .config/zsh/.zprofile "
        ".config/zsh/.zlogin .config/nushell/config.nu .config/nushell/env.nu .config/elvish/rc.elv .elvish/rc.elv "
        ".config/xonsh/rc.xsh .config/powershell/profile.ps1 .config/powershell/microsoft.powershell_profile.ps1 "
        "documents/powershell/profile.ps1 documents/powershell/microsoft.powershell_profile.ps1 "
        "documents/windowspowershell/profile.ps1 documents/windowspowershell/microsoft.powershell_profile.ps1",
    ),
    **_each("git-settings", ".gitconfig .config/git/config .config/git/attributes .gitattributes"),
    **_each(
        "program-start",
        ".vimrc .gvimrc .vim/vimrc .exrc .ideavimrc .emacs .emacs.el .emacs.d/init.el .config/emacs/init.el .nanorc "
        ".tmux.conf .config/tmux/tmux.conf .screenrc .gdbinit .lldbinit .pythonrc .pythonrc.py .pryrc .irbrc .rprofile "
        ".renviron .psqlrc .sqliterc .mongorc.js .node_repl_history.js .curlrc .wgetrc .npmrc .yarnrc .yarnrc.yml "
        ".pip/pip.conf .config/pip/pip.conf .condarc .gemrc .bundle/config .cargo/config .cargo/config.toml "
        ".gradle/init.gradle .gradle/gradle.properties .m2/settings.xml .sbtrc .direnvrc .config/direnv/direnvrc "
        ".pythonstartup.py .docker/config.json .config/nvim/init.vim .config/nvim/init.lua .config/kitty/kitty.conf "
        ".config/alacritty/alacritty.toml .wezterm.lua .config/go/env .config/gh/config.yml .config/uv/uv.toml "
        ".config/pypoetry/config.toml .config/containers/registries.conf",
    ),
    **_each("schedule", ".crontab crontab"),
    **_each("ssh-access", ".ssh/authorized_keys .ssh/authorized_keys2 .ssh/config .ssh/rc .ssh/environment"),
    **_each("editor-task", ".vscode/tasks.json"),
    **_each(
        "agent-settings",
        ".claude.json .mcp.json .codex/requirements.toml .gemini/trustedfolders.json .cursor/mcp.json "
        ".cursor/cli-config.json .cursor/permissions.json .copilot/config.json .copilot/mcp-config.json "
        ".codeium/windsurf/mcp_config.json .config/opencode/opencode.json .config/opencode/opencode.jsonc "
        ".config/goose/config.yaml .config/amp/settings.json .aider.conf.yml .continue/config.json "
        ".continue/config.yaml .factory/settings.json .factory/mcp.json .junie/mcp/mcp.json .kiro/settings/mcp.json "
        ".qwen/trustedfolders.json",
    ),
}
"""Below a home folder."""

IN_HOME_FOLDERS: dict[str, str] = {
    ".config/fish/conf.d": "shell-start",
    ".config/fish/functions": "shell-start",
    ".config/zsh": "shell-start",
    ".oh-my-zsh": "shell-start",
    ".bashrc.d": "shell-start",
    ".zshrc.d": "shell-start",
    ".profile.d": "shell-start",
    ".config/environment.d": "shell-start",
    ".config/plasma-workspace/env": "shell-start",
    ".config/systemd/user": "service",
    ".config/systemd": "service",
    ".local/share/systemd/user": "service",
    ".config/upstart": "service",
    ".config/runit": "service",
    ".config/autostart": "autostart",
    ".config/autostart-scripts": "autostart",
    ".kde/autostart": "autostart",
    "library/launchagents": "service",
    "library/launchdaemons": "service",
    "library/startupitems": "autostart",
    "appdata/roaming/microsoft/windows/start menu/programs/startup": "autostart",
    ".config/git/hooks": "git-hook",
    ".git-templates": "git-hook",
    ".git-template": "git-hook",
    ".ssh/config.d": "ssh-access",
    ".vim/plugin": "program-start",
    ".vim/autoload": "program-start",
    ".config/nvim/plugin": "program-start",
    ".emacs.d": "program-start",
    ".ipython/profile_default/startup": "program-start",
    ".jupyter": "program-start",
    ".gradle/init.d": "program-start",
    ".vscode/extensions": "editor-task",
    ".vscode-server/extensions": "editor-task",
    ".cursor/extensions": "editor-task",
}
"""Everything in these, below a home folder."""

IN_SYSTEM: dict[str, str] = {
    **_each(
        "shell-start",
        "/etc/profile /etc/bash.bashrc /etc/bashrc /etc/bash.bash_logout /etc/zshrc /etc/zshenv /etc/zprofile "
        "/etc/csh.cshrc /etc/csh.login /etc/environment /etc/inputrc /etc/skel",
    ),
    **_each("schedule", "/etc/crontab /etc/anacrontab"),
    **_each("service", "/etc/rc.local /etc/rc.common /etc/inittab /etc/rc.conf /etc/launchd.conf"),
    **_each("loader", "/etc/ld.so.preload /etc/ld.so.conf /etc/paths /etc/sitecustomize.py"),
    **_each(
        "account",
        "/etc/sudoers /etc/doas.conf /etc/passwd /etc/shadow /etc/group /etc/gshadow /etc/master.passwd /etc/subuid",
    ),
    **_each("git-settings", "/etc/gitconfig"),
    **_each("ssh-access", "/etc/ssh/sshd_config /etc/ssh/ssh_config"),
    **_each(
        "agent-settings", "/etc/claude-code/managed-settings.json /etc/codex/config.toml /etc/gemini-cli/settings.json"
    ),
}
IN_SYSTEM_FOLDERS: dict[str, str] = {
    **_each(
        "shell-start",
        "/etc/profile.d /etc/skel /etc/zsh /etc/fish /etc/environment.d /etc/update-motd.d /etc/x11/xsession.d",
    ),
    **_each(
        "schedule",
        "/etc/cron.d /etc/cron.hourly /etc/cron.daily /etc/cron.weekly /etc/cron.monthly /etc/periodic /var/spool/cron "
        "/var/spool/at /var/cron /var/at /usr/lib/cron /etc/logrotate.d",
    ),
    **_each(
        "service",
        "/etc/systemd /lib/systemd /usr/lib/systemd /usr/local/lib/systemd /run/systemd /etc/init.d /etc/init "
        "/etc/rc0.d /etc/rc1.d /etc/rc2.d /etc/rc3.d /etc/rc4.d /etc/rc5.d /etc/rc6.d /etc/rcs.d /etc/runit /etc/sv "
        "/etc/service /etc/supervisor /etc/udev /lib/udev /usr/lib/udev /etc/networkmanager/dispatcher.d "
        "/etc/network/if-up.d /etc/apt/apt.conf.d /etc/dpkg/dpkg.cfg.d /etc/modules-load.d /etc/modprobe.d "
        "/etc/initramfs-tools /library/launchagents /library/launchdaemons /library/startupitems "
        "/system/library/launchagents /system/library/launchdaemons /etc/xinetd.d /etc/dbus-1 /usr/share/dbus-1",
    ),
    **_each("autostart", "/etc/xdg/autostart"),
    "/programdata/microsoft/windows/start menu/programs/startup": "autostart",
    **_each("loader", "/etc/ld.so.conf.d /etc/paths.d"),
    **_each("account", "/etc/sudoers.d /etc/pam.d /etc/security /etc/polkit-1"),
    **_each("ssh-access", "/etc/ssh/sshd_config.d /etc/ssh/ssh_config.d"),
    **_each("agent-settings", "/etc/claude-code /etc/codex"),
}

ANYWHERE: dict[tuple[str, str], str] = {
    (".vscode", "tasks.json"): "editor-task",
    (".vscode", "mcp.json"): "agent-settings",
    (".cursor", "mcp.json"): "agent-settings",
    (".windsurf", "mcp.json"): "agent-settings",
    (".roo", "mcp.json"): "agent-settings",
    (".kilocode", "mcp.json"): "agent-settings",
    (".gemini", "mcp.json"): "agent-settings",
    (".factory", "mcp.json"): "agent-settings",
    (".zed", "tasks.json"): "editor-task",
    (".github", "mcp.json"): "agent-settings",
}
"""A folder's name and a file's in it, in any project."""

EDITOR_SETTINGS = (
    "/.vscode/settings.json", "/.cursor/settings.json", "/.windsurf/settings.json", "/user/settings.json", ".code-workspace",
)  # fmt: skip
"""How the paths of editors' settings end."""

NAMES: dict[str, str] = {
    ".mcp.json": "agent-settings",
    "opencode.json": "agent-settings",
    "opencode.jsonc": "agent-settings",
    "mcp_config.json": "agent-settings",
    "mcp_settings.json": "agent-settings",
    "cline_mcp_settings.json": "agent-settings",
    "claude_desktop_config.json": "agent-settings",
    "sitecustomize.py": "loader",
    "usercustomize.py": "loader",
    ".pam_environment": "shell-start",
    "authorized_keys": "ssh-access",
    "authorized_keys2": "ssh-access",
}
"""Files of these names anywhere."""

_AGENTS = """
.claude .codex .gemini .cursor .copilot .qwen .opencode .cline .hermes .pi .windsurf .roo .kilocode .continue .agents
.amp .factory .goose .augment .junie .kiro .trae .devin .openhands
"""
AGENTS = frozenset(_AGENTS.split())
"""Folders of agents, in a home folder and in projects."""
_EXTENSIONS = """
hooks plugins plugin extensions mcp-servers sidecars
"""
EXTENSIONS = frozenset(_EXTENSIONS.split())
"""In these folders of agents there is code that the agent runs by itself."""
_OF_USER = """
skills commands agents rules prompts output-styles workflows droids modes steering memories
"""
OF_USER = frozenset(_OF_USER.split())
"""In these there are texts that the agent follows: a user's are followed in every project."""

_SHADOWED = """
awk bash cat chmod chown code cp curl cut date df diff dig docker du echo env find git gpg grep gzip head id kill ls
make mkdir mv nc node npm npx open openssl passwd perl pip pip3 ping ps python python3 rm rsync ruby scp sed sh sleep
sort ssh ssh-add sshd su sudo systemctl tail tar tee touch tr uname vi vim wc wget which whoami xargs zsh claude codex
gemini tally
"""
SHADOWED = frozenset(_SHADOWED.split())
"""Programs that everybody calls by name."""
_BEFORE_SYSTEM = """
.local/bin bin .bin .cargo/bin .npm-global/bin .yarn/bin go/bin .asdf/shims .pyenv/shims .volta/bin .bun/bin .deno/bin
.rbenv/shims .nvm/current/bin
"""
BEFORE_SYSTEM = frozenset(_BEFORE_SYSTEM.split())
"""Folders below a home folder that stand before the system's in PATH."""
_BEFORE_SYSTEM_TOO = """
/usr/local/bin /usr/local/sbin /opt/homebrew/bin /opt/local/bin /usr/bin /bin /usr/sbin /sbin
"""
BEFORE_SYSTEM_TOO = frozenset(_BEFORE_SYSTEM_TOO.split())
