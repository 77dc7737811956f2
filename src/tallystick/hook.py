"""The hook: what agents run at every step. It hands their JSON to the resident recorder and prints the answer.

    python -I -S hook.py [--home DIR] AGENT [EVENT]

Owns one delivery to a recorder that answers, and that no one else gets it; hook_alone.py owns what else can happen. An
agent must never hang or break because of this file, so nothing escapes it, and silence means "no opinion".

Every agent waits for this process at every call. It is compiled again each time, so it is short, with long types in quotes,
which costs a twentieth less, and it imports only modules that are built in: `_socket`, because `socket` alone costs 7 ms
(docs/performance.md). What it says to the recorder is in docs/decisions/0010-hook-protocol.md and
0071-a-stranger-is-told-nothing.md.
"""

import posix
import sys
import time

VERSION = "0.1.0"
ANSWER_SECONDS = 1.0
_FLAGS = posix.O_NONBLOCK | posix.O_NOFOLLOW
_APPENDING = _FLAGS | posix.O_WRONLY | posix.O_APPEND


def main(words: "list[str]") -> int:
    """Deliver what stands on stdin; the exit code."""
    began = time.monotonic()
    home, agent, event = arguments(words)
    data = read_all(0)
    header = b"TALLY1 %d %s %s %s %d %s %s\n" % (
        len(data),
        agent.encode(),
        event.encode() or b"-",
        VERSION.encode(),
        time.time_ns(),
        b"%d.%d.r" % (posix.getpid(), time.time_ns()),
        b"".join(posix.environ.get(b"TALLY_SESSION", b"").split())[:200] or b"-",
    )
    try:
        code, out, error = ask(home, header + data, began + ANSWER_SECONDS)
    except OSError:
        code, out, error = without_recorder(home, agent, event, header + data, began)
    write_all(1, out)
    write_all(2, error)
    return code


def without_recorder(home: str, agent: str, event: str, request: bytes, began: float) -> "tuple[int, bytes, bytes]":
    """The answer of the module beside this file, which `-I -S` does not let us import by its name."""
    sys.path.append(__file__.rpartition("/")[0])
    from hook_alone import answer_alone  # type: ignore[import-not-found]

    return answer_alone(ask, home, agent, event, request, began)  # type: ignore[no-any-return]


def arguments(words: "list[str]") -> "tuple[str, str, str]":
    """The store's folder, the agent and the event of the command line."""
    home = None
    if len(words) > 1 and words[0] == "--home":
        home, words = words[1], words[2:]
    if not home:
        named = posix.environ.get(b"TALLY_HOME") or (posix.environ.get(b"HOME") or own_folder()) + b"/.tally"
        home = named.decode(sys.getfilesystemencoding(), "surrogateescape")
    if not home.startswith("/"):  # the working directory changes
        home = posix.getcwd() + "/" + home
    return home, words[0] if words else "-", words[1] if len(words) > 1 else ""


def own_folder() -> bytes:
    """The user's home folder where the environment has none."""
    import pwd

    return pwd.getpwuid(posix.getuid()).pw_dir.encode(sys.getfilesystemencoding(), "surrogateescape")


def read_all(source: int) -> bytes:
    """Everything that can be read from a descriptor."""
    parts = []
    while part := posix.read(source, 1 << 20):
        parts.append(part)
    return b"".join(parts)


def write_all(target: int, data: bytes) -> None:
    """Write to a descriptor; no one reading on is not an error."""
    try:
        while data:
            data = data[posix.write(target, data) :]
    except OSError:
        pass


def ask(home: str, request: bytes, until: float, holder: int = 0) -> "tuple[int, bytes, bytes]":
    """Send a request to the recorder, known by `recorder.pid` or the `holder` of its lock, and note that it was answered.

    Returns: exit code, stdout and stderr of the answer. Raises OSError: it is not there, or did not answer in time.
    """
    import _socket

    # A socket's path has room for 100 bytes only; a name in the working directory always fits.
    posix.chdir(home + "/run")
    connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        connection.settimeout(max(until - time.monotonic(), 0.01))
        connection.connect("recorder.sock")
        if hasattr(_socket, "SO_PEERCRED"):  # its first number is the pid; macOS tells none
            peer = connection.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED)
            if peer not in (0, holder) and b"%d\n" % peer != posix.read(posix.open("recorder.pid", _FLAGS), 20):
                raise OSError  # it is not the recorder who listens
        connection.sendall(request)
        answer = b""
        while True:
            connection.settimeout(max(until - time.monotonic(), 0.001))
            part = connection.recv(1 << 16)
            if not part:
                break
            answer += part
    finally:
        connection.close()
    head, _, rest = answer.partition(b"\n")
    words = [*head.split(), b"-"]
    try:
        code, out, error = map(int, words[:3])
    except ValueError:
        raise OSError from None
    if len(rest) != out + error:
        raise OSError
    said = request.split(None, 7)
    try:  # a recorder has made the file, and looks in it for answers that are not its own
        posix.write(posix.open("deliveries", _APPENDING), b"%s %s %.64s\n" % (said[6], said[2], words[3]))
    except OSError:
        pass
    return code, rest[:out], rest[out:]


if __name__ == "__main__":
    try:
        end = main(sys.argv[1:])
    except BaseException:  # of any kind, the agent goes on
        end = 0
    posix._exit(end)
