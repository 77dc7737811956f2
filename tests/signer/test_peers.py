from __future__ import annotations

import os
import socket

from tallystick.signer.peers import Permits, user_of


def test_the_kernel_says_who_is_at_the_other_end() -> None:
    one, other = socket.socketpair()
    with one, other:
        assert user_of(one) == os.getuid()


def test_what_is_no_unix_socket_has_no_user() -> None:
    with socket.socket() as tcp:
        assert user_of(tcp) in (None, os.getuid(), -1, 4294967295)


def test_a_user_may_ask_so_often_a_second_and_a_burst_and_another_user_is_not_kept_waiting() -> None:
    now = [0.0]
    permits = Permits(10, lambda: now[0])
    assert [permits.take(1) for _ in range(22)] == [True] * 20 + [False] * 2
    assert permits.take(2)
    now[0] += 0.1
    assert [permits.take(1), permits.take(1)] == [True, False]
    now[0] += 3600
    assert [permits.take(1) for _ in range(22)] == [True] * 20 + [False] * 2
