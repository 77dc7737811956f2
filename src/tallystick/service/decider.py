"""The decider: a process that judges calls, so that what one call costs holds up no other session's answer.

Owns two kinds of process. The *template* loads policies once and is forked whenever a decider is wanted: a new one is there
in milliseconds. A *decider* answers one question after another, until no one can ask any more. Must not know what becomes
of an answer, nor how long it may take: who asks ends it (`deciders`).
"""

from __future__ import annotations

import contextlib
import gc
import os
import resource
import signal
import socket
import sys
import threading
from pathlib import Path
from typing import TYPE_CHECKING

from tallystick.capture.place import Place
from tallystick.journal.home import Home
from tallystick.service.template import PID, WANTED, Template

if TYPE_CHECKING:
    from tallystick.service.deciding import Deciding

_QUIET_SECONDS = 1.0
"""If so long nothing is asked, it keeps what sessions have done."""
_MOST_BYTES = 2 << 30
"""Memory of a decider. One that wants more ends, and is replaced."""


def fork_template(home: Home, claim: int) -> Template:
    """A template for a store. Only while this process has one thread. claim: a descriptor that only this process may hold."""
    ours, theirs = socket.socketpair()
    pid = os.fork()
    if pid:
        theirs.close()
        return Template(pid, ours)
    code = 1
    try:
        ours.close()
        os.close(claim)
        be_template(home, theirs)
        code = 0
    finally:
        os._exit(code)


def be_template(home: Home, channel: socket.socket) -> None:
    """Load policies; then fork a decider for each socket that comes, and say its process id, until no one can ask more."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # it ends when who asks has ended, and answers until then
    for number in (signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # no one waits for a decider
    deciding = _loaded(home)
    gc.freeze()
    while True:
        said, sockets, _, _ = socket.recv_fds(channel, 1, 1)
        if said != WANTED or not sockets:
            return
        pid = os.fork()
        if pid == 0:
            channel.close()
            signal.signal(signal.SIGCHLD, signal.SIG_DFL)  # git is waited for
            be_decider(home, socket.socket(fileno=sockets[0]), deciding)
            os._exit(0)
        os.close(sockets[0])
        channel.sendall(PID.pack(pid))


def _loaded(home: Home) -> Deciding:
    """What every decider needs. Whatever is wrong with policies, a decider says."""
    from tallystick.service.deciding import Deciding

    deciding = Deciding(home)
    with contextlib.suppress(Exception):
        if home.folder.is_dir():
            deciding.load()
    return deciding


def be_decider(home: Home, channel: socket.socket, deciding: Deciding) -> None:
    """Answer what is asked; in quiet moments keep for the next one what sessions have done, and make decisions again.

    What sessions have done is kept at the end, too.
    """
    from tallystick.service.frames import Answer, questions, written_answer
    from tallystick.service.process_log import log_to

    resource.setrlimit(resource.RLIMIT_DATA, (_MOST_BYTES, resource.getrlimit(resource.RLIMIT_DATA)[1]))
    log_to(Place(home.folder).decider_log)
    writing, was_asked, is_over = threading.Lock(), threading.Event(), threading.Event()

    def say(answer: Answer) -> None:
        with writing:
            channel.sendall(written_answer(answer))

    def warm() -> None:
        with contextlib.suppress(Exception):  # a call that is judged says what is wrong
            deciding.warm()
        with contextlib.suppress(OSError):
            say(Answer(is_warm=True))
        while not is_over.wait(_QUIET_SECONDS):
            if not was_asked.is_set():
                deciding.keep()
                compare()
            was_asked.clear()

    def compare() -> None:
        for compared in deciding.compare():
            with contextlib.suppress(OSError, UnicodeEncodeError):  # what an agent calls its tool may be no text
                say(Answer(compared=compared))

    with contextlib.suppress(OSError):  # no one listens any more
        deciding.load()  # the template has; what has changed since is read
        deciding.listen(lambda change: say(Answer(change=change)))
        say(Answer(is_ready=True))
        gc.enable()
        threading.Thread(target=warm, daemon=True).start()
        for question in questions(channel.makefile("rb")):
            was_asked.set()
            judge = deciding.look_after if question.is_after else deciding
            say(Answer(number=question.number, decision=judge(question.call)))
    is_over.set()
    deciding.close()


if __name__ == "__main__":
    be_template(Home(Path(sys.argv[1])), socket.socket(fileno=int(sys.argv[2])))
