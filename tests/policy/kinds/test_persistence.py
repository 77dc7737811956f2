"""Which paths outlive a session, and which look like it."""

from hypothesis import given
from hypothesis import strategies as st

from tallystick.policy.kinds.named import Named
from tallystick.policy.kinds.persistence import KINDS, kinds
from tallystick.policy.settings import Settings
from tests.support.cases import each, each_case

HOME = "/home/dev"
WORKSPACE = f"{HOME}/project"


def found(path: str, *, real: str | None = None, **said: bool) -> set[str]:
    """The kinds of a path; relative ones lie in the project, `~` is the home folder."""
    spelled = HOME + path[1:] if path.startswith("~") else path if path[:1] in "/C" else f"{WORKSPACE}/{path}"
    named = Named(path=spelled, real=real or spelled, home=HOME, workspace=WORKSPACE, **said)
    return set(kinds(named, Settings()))


LASTING: list[tuple[str, str]] = [
    *(("shell-start", path) for path in (
        "~/.bashrc", "~/.bash_profile", "~/.bash_login", "~/.profile", "~/.zshrc", "~/.zprofile", "~/.zshenv", "~/.zlogin",
        "~/.config/fish/config.fish", "~/.config/fish/conf.d/x.fish", "~/.config/fish/functions/ls.fish", "~/.cshrc",
        "~/.pam_environment", "~/.xsession", "~/.config/environment.d/x.conf", "/etc/profile", "/etc/profile.d/x.sh",
        "/etc/bash.bashrc", "/etc/zsh/zshrc", "/etc/environment", "/etc/skel/.bashrc", "/root/.bashrc",
        "/home/dev-two/.zshrc",
        "/Users/dev/.zshrc", "C:\\Users\\me\\Documents\\PowerShell\\Microsoft.PowerShell_profile.ps1", "~/.BASHRC",
    )),
    *(("schedule", path) for path in (
        "/etc/crontab", "/etc/cron.d/x", "/etc/cron.daily/x", "/etc/cron.hourly/x", "/var/spool/cron/crontabs/dev",
        "/var/spool/at/a1", "/private/var/at/tabs/dev", "/etc/periodic/daily/x",
    )),
    *(("service", path) for path in (
        "~/.config/systemd/user/x.service", "/etc/systemd/system/x.timer", "/etc/init.d/x", "/etc/rc.local",
        "/usr/lib/systemd/system/x.service", "/etc/udev/rules.d/x.rules", "/etc/NetworkManager/dispatcher.d/x",
        "/Library/LaunchDaemons/x.plist", "/etc/apt/apt.conf.d/99x",
    )),
    ("service", "~/Library/LaunchAgents/x.plist"),
    ("autostart", "~/.config/autostart/x.desktop"),
    ("autostart", "/etc/xdg/autostart/x.desktop"),
    ("autostart", "C:\\Users\\me\\AppData\\Roaming\\Microsoft\\Windows\\Start Menu\\Programs\\Startup\\x.bat"),
    ("autostart", "C:\\ProgramData\\Microsoft\\Windows\\Start Menu\\Programs\\Startup\\x.bat"),
    *(("git-hook", path) for path in (
        ".git/hooks/pre-commit", "/srv/x.git/hooks/post-receive", ".git/modules/sub/hooks/post-checkout",
        "~/.git-templates/hooks/post-checkout", "~/.config/git/hooks/pre-push",
    )),
    ("git-settings", "~/.gitconfig"),
    ("git-settings", "~/.config/git/config"),
    ("git-settings", "/etc/gitconfig"),
    *(("ssh-access", path) for path in (
        "~/.ssh/authorized_keys", "~/.ssh/authorized_keys2", "~/.ssh/config", "~/.ssh/rc", "~/.ssh/environment",
        "/root/.ssh/authorized_keys", "/etc/ssh/sshd_config", "/etc/ssh/sshd_config.d/x.conf", "mnt/authorized_keys",
    )),
    *(("account", path) for path in (
        "/etc/sudoers", "/etc/sudoers.d/x", "/etc/passwd", "/etc/shadow", "/etc/group", "/etc/pam.d/sshd", "/etc/doas.conf",
    )),
    *(("loader", path) for path in (
        "/etc/ld.so.preload", "/etc/ld.so.conf.d/x.conf", ".venv/lib/python3.12/site-packages/x.pth",
        "~/.local/lib/python3.11/site-packages/sitecustomize.py", "usercustomize.py",
        "/usr/lib/python3/dist-packages/x.pth",
    )),
    *(("editor-task", path) for path in (".vscode/tasks.json", "~/.vscode/tasks.json",
    "~/.vscode/extensions/x/package.json")),
    *(("editor-settings", path) for path in (
        ".vscode/settings.json", "~/.config/Code/User/settings.json",
        "~/Library/Application Support/Code/User/settings.json",
        "C:\\Users\\me\\AppData\\Roaming\\Code\\User\\settings.json", "x.code-workspace",
    )),
    *(("agent-settings", path) for path in (
        ".mcp.json", "sub/.mcp.json", ".cursor/mcp.json", ".vscode/mcp.json", "~/.claude.json",
        "~/.codeium/windsurf/mcp_config.json",
        "~/Library/Application Support/Claude/claude_desktop_config.json", "opencode.json",
        "~/.config/opencode/opencode.json",
    )),
    *(("agent-extension", path) for path in (
        ".claude/hooks/x.sh", ".claude/plugins/x/plugin.json", ".opencode/plugins/x.js", ".gemini/extensions/x/main.js",
        ".github/hooks/x.json", "~/.claude/skills/x/SKILL.md", "~/.claude/commands/x.md", "~/.claude/agents/x.md",
        "~/.codex/prompts/x.md", "~/.config/opencode/agents/x.md", "~/.pi/extensions/x.js",
    )),
    *(("shadows-program", path) for path in ("~/.local/bin/git", "~/bin/sudo", "/usr/local/bin/ssh", "~/.cargo/bin/ls")),
]  # fmt: skip


@each("kind, path", LASTING)
def test_what_runs_or_is_read_by_itself_later_is_known(kind: str, path: str) -> None:
    assert kind in found(path)


@each_case("path")
def test_what_looks_like_it_is_not(path: str) -> None:
    assert found(path) == set()


def test_where_a_link_leads_counts() -> None:
    assert "shell-start" in found("notes.txt", real=f"{HOME}/.bashrc")


def test_a_folder_counts_with_all_below_it_only() -> None:
    for folder, kind in (("~/.config/autostart", "autostart"), (".git/hooks", "git-hook"), ("/etc/cron.d", "schedule")):
        assert found(folder) == set()
        assert kind in found(folder, is_deep=True)


def test_the_beginning_of_a_path_and_a_pattern_count_where_they_may_mean_one() -> None:
    assert "shell-start" in found("~/.bash", is_known=False)
    assert "shell-start" in found("~/.bash*", is_pattern=True)
    assert found("~/.x", is_known=False) == set()
    assert found("doc", is_known=False) == set()
    assert found("~/*", is_pattern=True) == set()


@given(st.text(max_size=60))
def test_whatever_a_path_is_there_are_only_known_kinds(path: str) -> None:
    assert found(path) <= KINDS.keys()
