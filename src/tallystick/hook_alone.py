"""What becomes of a delivery when the recorder does not answer.

A call that only looks (hook_looks.py) goes on at once, and is kept for the recorder, which is started. For any other
it is started, and asked again; else the delivery is kept in the spool and, if the agent waits for leave to act, a full
interpreter decides; else the setting `hooks.on_error` does. Two seconds in all, those that hook.py has waited included.
Run by hook.py under `python -I -S`, so it imports the standard library only.
"""

import contextlib
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeAlias

Answer: TypeAlias = tuple[int, bytes, bytes]
"""Exit code, stdout, stderr."""
Ask: TypeAlias = Callable[[str, bytes, float, int], Answer]
"""`hook.ask`."""

DEADLINE_SECONDS = 2.0
START_SECONDS = 0.4
STARTED_SECONDS = 2.0
_DECIDING = (
    "PreToolUse",
    "preToolUse",
    "BeforeTool",
    "tool_call",
    "pre_tool_call",
    "tool.execute.before",
    "tool.execute.pre",
)
_READ_ONLY = (
    "Read",
    "Glob",
    "Grep",
    "LS",
    "TodoWrite",
    "read",
    "view",
    "glob",
    "grep",
    "list",
    "read_file",
    "list_directory",
)
_NESTED = '{"hookSpecificOutput":{"hookEventName":"PreToolUse",%s}}'
_PERMISSION = '"permissionDecision":"ask","permissionDecisionReason":"%s"'
_ASKING = {
    "claude-code": _NESTED % _PERMISSION,
    "qwen": _NESTED % _PERMISSION,
    "copilot": "{" + _PERMISSION + "}",
    "hermes": '{"ask":"%s"}',
}
"""How an agent is made to ask its user; who is not here cannot be (agents/hooks/asks.py), and is refused the call."""
_REFUSING = {"cline": '{"cancel":true,"errorMessage":"%s"}'}
"""How an agent is refused a call that heeds no exit code. All others take 2, and words on stderr."""
_REASON = "Tallystick could not decide on this call. `tally doctor` says why."
_MOST_DATA = 64 << 20
_UNKNOWN = -1
"""In the place of a process: there is one, and the system does not say which."""


def answer_alone(ask: Ask, home: str, agent: str, event: str, request: bytes, began: float) -> Answer:
    """Start the recorder and ask again; else keep the delivery, and decide if the agent waits for that."""
    data = request.partition(b"\n")[2]
    said = told(data)
    recorder = find_recorder(home)
    is_there = recorder != 0
    is_asking = is_deciding(event, said, data)
    if recorder > 0 and not is_named(home, recorder):  # hook.py took it for a stranger
        with contextlib.suppress(OSError):
            return ask(home, request, began + DEADLINE_SECONDS / 2, recorder)
    if is_asking and is_plain(home, agent, said):
        if not is_there and not is_started(home):
            start_recorder(home)
        spool(home, request, len(data))
        return 0, b"", b""
    if not is_there:
        start_recorder(home)
        until = time.monotonic() + START_SECONDS
        while len(data) <= _MOST_DATA and time.monotonic() < until:
            try:
                return ask(home, request, began + DEADLINE_SECONDS / 2, 0)
            except OSError:
                time.sleep(0.01)
    spooled = spool(home, request, len(data))
    if not is_asking:
        return 0, b"", b""
    answer = decide_alone(home, agent, event, data, began + DEADLINE_SECONDS - 0.1)
    if answer is None and not has_effects(said):
        return 0, b"", b""
    if answer is None:
        effect, answer = on_error(home, agent, said or {"permission_mode": mode_in(data)})
        mark(home, spooled, "on_error-" + effect)
    else:
        mark(home, spooled, "alone")
    return answer


def is_plain(home: str, agent: str, said: dict[str, object]) -> bool:
    """Whether a call only looks, by the list that a recorder has left in the store."""
    sys.path.append(__file__.rpartition("/")[0])
    from hook_looks import only_looks  # type: ignore[import-not-found]

    return only_looks(home, agent, said)  # type: ignore[no-any-return]


def is_started(home: str) -> bool:
    """Whether a recorder was started a moment ago for another plain call: each start loads all that a recorder needs."""
    mark, now = Path(home, "run", "started"), time.time()
    try:
        if abs(now - mark.stat().st_mtime) < STARTED_SECONDS:
            return True
    except OSError:
        pass
    with contextlib.suppress(OSError):
        mark.touch(0o600)
        os.utime(mark, (now, now))
    return False


def find_recorder(home: str) -> int:
    """The process of the recorder, if it listens, answering or not; 0 if no one does, or a stranger, which is noted."""
    peer = listener(home)
    if peer <= 0 or is_named(home, peer) or is_holder(home, peer):
        return peer
    with contextlib.suppress(OSError):
        Path(home, "spool", f"{peer}.stranger").touch(0o600)
    return 0


def listener(home: str) -> int:
    """The process that listens on the recorder's socket; 0: none does."""
    import _socket

    try:
        os.chdir(home + "/run")
        connection = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
        try:
            connection.settimeout(0.1)
            connection.connect("recorder.sock")
            asked = getattr(_socket, "SO_PEERCRED", None)
            found = asked and connection.getsockopt(_socket.SOL_SOCKET, asked)
        finally:
            connection.close()
    except (TimeoutError, BlockingIOError):  # too many wait there already
        return _UNKNOWN
    except OSError:
        return 0
    return found or _UNKNOWN


def is_named(home: str, peer: int) -> bool:
    """Whether a process is the recorder by the file of its pid."""
    try:
        return Path(home, "run", "recorder.pid").read_text("ascii").strip() == str(peer)
    except (OSError, ValueError):
        return False


def is_holder(home: str, peer: int) -> bool:
    """Whether a process holds the recorder's lock, as the system tells: its pid may have found no room on the disk.

    A recorder that was started in another container names itself by another number, too.
    """
    try:
        inode = f":{Path(home, 'run', 'recorder.lock').stat().st_ino}"
        locks = Path("/proc/locks").read_text("ascii").splitlines()
    except (OSError, ValueError):
        return False
    held = (words for line in locks if len(words := line.split()) == 8)
    return any(words[1] == "FLOCK" and words[4] == str(peer) and words[5].endswith(inode) for words in held)


def start_recorder(home: str) -> None:
    """Start the recorder as a process of its own, with nothing of the agent's environment but where things are."""
    kept = (b"HOME", b"PATH", b"LANG", b"LC_ALL", b"TZ", b"TMPDIR", b"USER", b"LOGNAME", b"XDG_RUNTIME_DIR")
    environment = {name: os.environb[name] for name in kept if name in os.environb}
    child = os.fork()
    if child:
        os.waitpid(child, 0)
        return
    try:
        os.setsid()
        if os.fork():
            os._exit(0)
        null = os.open("/dev/null", os.O_RDWR)
        for descriptor in (0, 1, 2):
            os.dup2(null, descriptor)
        os.closerange(3, 256)
        os.execve(sys.executable, [sys.executable, "-I", "-m", "tallystick.service", home], environment)
    finally:
        os._exit(1)


def spool(home: str, request: bytes, size: int) -> Path | None:
    """Keep a delivery on disk, for the recorder to take in later; its path, None if that is impossible too.

    The line after it says that its writer could read the store's key. Of a payload of more `size` than the recorder takes,
    only the line before it is kept: it tells of the gap.
    """
    folder = Path(home, "spool")
    part = folder / f"{time.time_ns()}-{os.getpid()}.part"
    agent = request[: request.find(b"\n")].split()[2]
    if size > _MOST_DATA:
        request = request[: len(request) - size]
    else:
        request += b"\nMAC %s\n" % mac(home, f"{part.stem}\n".encode() + request).encode()
    try:
        for each in (folder.parent, folder):
            with contextlib.suppress(FileExistsError):
                each.mkdir(0o700)
        with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(request)
            file.flush()
            os.fsync(file.fileno())
        note(home, b"%s %s spooled\n" % (part.stem.encode(), agent))
        return part.rename(part.with_suffix(".spool"))
    except OSError:
        note(home, b"%s %s lost\n" % (part.stem.encode(), agent))
        with contextlib.suppress(OSError):
            part.unlink()
        return None


def note(home: str, line: bytes) -> None:
    """Note what became of a delivery, for the recorder to miss it if it is never found."""
    with contextlib.suppress(OSError):
        flags = os.O_WRONLY | os.O_APPEND | os.O_NONBLOCK | os.O_NOFOLLOW | os.O_CLOEXEC
        descriptor = os.open(Path(home, "run", "deliveries"), flags)
        try:
            os.write(descriptor, line)
        finally:
            os.close(descriptor)


def mac(home: str, said: bytes) -> str:
    """The code that only who can read the store's key of the spool can make, in hex; empty where there is no such key."""
    import hmac

    try:
        key = bytes.fromhex(Path(home, "keys", "spool.key").read_text("ascii"))
    except (OSError, ValueError):
        return ""
    return hmac.digest(key, said, "sha256").hex()


def mark(home: str, spooled: Path | None, decided: str) -> None:
    """Say in a spooled delivery's name who decided on it, or beside it where the recorder has it already and no one did."""
    if spooled is None:
        return
    with contextlib.suppress(OSError):
        try:
            code = mac(home, f"{spooled.stem}.{decided}".encode())
            spooled.rename(spooled.with_suffix(f".{decided}.{code}.spool"))
        except FileNotFoundError:
            if decided != "alone":
                spooled.with_suffix(f".{decided}.late").touch(0o600)


def told(data: bytes) -> dict[str, object]:
    """The payload; empty if it is none, or cannot be read for certain: it is not UTF-8, or a member is there twice."""
    import json

    def pairs(members: list[tuple[str, object]]) -> dict[str, object]:
        made = dict(members)
        if len(made) < len(members):
            raise ValueError
        return made

    try:
        said = json.loads(data.decode(), object_pairs_hook=pairs)
    except (ValueError, RecursionError):
        return {}
    return said if isinstance(said, dict) else {}


def is_deciding(event: str, said: dict[str, object], data: bytes) -> bool:
    """Whether the agent waits for leave; what cannot be read is taken for that, unless it names another event."""
    if event or said:
        name = event or said.get("hook_event_name") or said.get("hook")
        return bool(data.strip()) and name in _DECIDING
    import re

    names = re.findall(rb'"(?:hook_event_name|hook)"\s*:\s*"([^"]*)"', data.replace(b"\0", b""))
    return bool(data.strip()) and (not names or any(name.decode("utf-8", "replace") in _DECIDING for name in names))


def mode_in(data: bytes) -> str:
    """The mode in which the agent asks no one, if a payload that cannot be read has the word."""
    mode = "bypassPermissions"
    return mode if mode.encode() in data else ""


def has_effects(said: dict[str, object]) -> bool:
    """Whether what the agent is about to do may change something: where no one can decide, no one is asked about the rest."""
    tool = said.get("tool_name") or said.get("toolName") or said.get("tool")
    return not (isinstance(tool, str) and tool in _READ_ONLY)


def decide_alone(home: str, agent: str, event: str, data: bytes, until: float) -> Answer | None:
    """Have a full interpreter decide: exit code, stdout, stderr; None if it could not in time."""
    left = until - time.monotonic()
    if left <= 0.05:
        return None
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-m", "tallystick.service.alone", home, agent, event],
            input=data,
            capture_output=True,
            timeout=left,
            check=False,
        )
    except (OSError, subprocess.SubprocessError):
        return None
    # 65 says "I could not", 1 that it broke, less than 0 that it was killed: other codes are the answer's own.
    return None if done.returncode in (1, 65) or done.returncode < 0 else (done.returncode, done.stdout, done.stderr)


def on_error(home: str, agent: str, said: dict[str, object]) -> tuple[str, Answer]:
    """The effect and the answer when no one could decide: what the setting hooks.on_error says."""
    wanted = "ask"
    try:
        import tomllib

        with os.fdopen(os.open(Path(home, "config.toml"), os.O_RDONLY | os.O_NOFOLLOW), "rb") as file:
            wanted = tomllib.load(file).get("hooks", {}).get("on_error", "ask")
    except (OSError, ValueError, AttributeError):
        pass
    if wanted == "allow":
        return "allow", (0, b"", b"")
    # In this mode Claude Code asks no one, and runs the call.
    if wanted == "ask" and agent in _ASKING and said.get("permission_mode") != "bypassPermissions":
        return "ask", (0, (_ASKING[agent] % _REASON).encode(), b"")
    if agent in _REFUSING:
        return "deny", (0, (_REFUSING[agent] % _REASON).encode(), b"")
    return "deny", (2, b"", _REASON.encode() + b"\n")
