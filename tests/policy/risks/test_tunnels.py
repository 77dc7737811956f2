"""Programs that open this machine to others."""

import pytest

from tallystick.policy.risks.tunnels import RISKS, risks
from tests.policy.risks.readings import found

FOUND = {
    "tunnel": (
        "ssh -R 80:localhost:3000 x.org",
        "ssh -fNR 2222:localhost:22 x.org",
        "ssh -o RemoteForward=9:localhost:9 x.org",
        "autossh -M 0 -R 9:localhost:22 x.org",
        "ngrok http 3000",
        "npx localtunnel --port 3000",
        "npx ngrok@latest http 80",
        "cloudflared tunnel --url http://localhost:3000",
        "tailscale funnel 3000",
        "code tunnel",
        "bore local 80 --to bore.pub",
        "chisel client x.org R:22:localhost:22",
        "sudo frpc -c a.ini",
    ),
    "shared-shell": (
        "ttyd bash",
        "gotty -w bash",
        "tmate -F",
        "sshx",
        "busybox telnetd -l /bin/sh",
        "nohup ttyd -p 80 zsh &",
    ),
}
NOTHING = (
    "ssh -L 5432:localhost:5432 x.org",
    "ssh x.org ls -R",
    "ssh -T git@github.com",
    "ssh -D 1080 x.org",
    "ngrok --version",
    "ngrok config check",
    "cloudflared --version",
    "cloudflared update",
    "tailscale status",
    "code .",
    "code --list-extensions",
    "npx vite",
    "ls -R",
    "ttyd --version",
    "scp -r a x.org:",
    "grep -R ngrok .",
    "echo ngrok http 80",
)


@pytest.mark.parametrize(("name", "command"), [(name, each) for name, commands in FOUND.items() for each in commands])
def test_an_opening_is_found(name: str, command: str) -> None:
    assert found(risks, command) == {name}


@pytest.mark.parametrize("command", NOTHING)
def test_programs_that_open_nothing_are_work(command: str) -> None:
    assert found(risks, command) == set()


def test_each_risk_has_an_example() -> None:
    assert FOUND.keys() == RISKS.keys()
