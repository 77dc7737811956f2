from __future__ import annotations

import pytest

from tallystick.intent.programs.network import host_of
from tallystick.model.script import Word
from tests.intent.programs.acting import acted, does, flows


@pytest.mark.parametrize(
    ("text", "port", "expected"),
    [
        ("u@h", "22", "h:22"),
        ("h:23", "22", "h:23"),
        ("ssh://u@h:23/x", "22", "h:23"),
        ("h", "", "h"),
        ("", "22", ""),
    ],
)
def test_a_host_has_a_port(text: str, port: str, expected: str) -> None:
    assert host_of(Word(text), port).text == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ssh -p1 h -p 2", ["connect< h:1"]),
        ("ssh -fN -L 1:a:2 h", ["connect h:22", "connect a:2"]),
        ("nc -z h 1", ["connect h:1"]),
        ("nc -lvp 1", ["listen< :1"]),
        ("nc -U /s", ["connect< /s"]),
        ("socat OPEN:a CREATE:b", ["read a", "write b"]),
        ("sftp u@h:/d", ["connect h:22"]),
        ("nmap -iL a h", ["read a", "connect h"]),
        ("arp -f a", ["read a"]),
        ("lftp -e 'put a; bye' h", ["connect h:21", "read a"]),
        ("tftp -m binary h -c put a", ["connect h:21", "read a"]),
        ("smbclient //h/s -c 'put a'", ["connect smb://h/s", "read a"]),
        ("nslookup a b", ["connect a", "connect b:53"]),
        ("dig -x 1.2.3.4", ["connect 1.2.3.4"]),
        ("openssl enc -in a", ["read a"]),
        ("openssl genpkey -out k", ["write k"]),
        ("openssl s_server -accept 1", ["listen 1"]),
        ("openssl dgst -out s -sign k a", ["read k", "read a", "write s"]),
    ],
)
def test_hosts_ports_and_keys_are_found(text: str, expected: list[str]) -> None:
    assert does(text) == expected


def test_input_goes_to_the_host_and_its_answer_to_the_output() -> None:
    done = acted("ssh h x", fed="a")
    assert (done.prints, done.actions[0].from_input, done.reads_input) == ((0,), True, False)


def test_what_a_connection_is_given_is_run() -> None:
    assert [code.text for code in acted("nc -e /bin/sh h 1").codes] == [Word("/bin/sh")]
    assert [code.text for code in acted("socat - SYSTEM:'cat a'").codes] == [Word("cat a")]


def test_socat_joins_both_ends() -> None:
    assert set(flows("socat TCP:a:1 TCP:b:2")) == {"a:1 -> b:2", "b:2 -> a:1"}
    assert acted("socat X:a Y:b").is_unknown


def test_a_filter_of_openssl_reads_its_input_only_if_there_is_some() -> None:
    assert acted("openssl enc -aes256", fed="x").reads_input
    assert not acted("openssl rand 8", fed="x").reads_input
