"""Giving a store a signer of another user, and taking it away again: what `tally signer init` does to a machine.

Owns the order of the steps, each of which is reported before it is done and can be repeated: a user, a program that
only root may change, a folder for the key, a running process, what the administrator writes down, and the move of the
key in the ledger. Root does what only root can; inside the store, and inside the signer's folder, their own users do
it. Must not know what a signer checks.
"""

from __future__ import annotations

import contextlib
import os
import pwd
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

from tallystick.errors import JournalError, NotFoundError, TallystickError
from tallystick.journal.archive import Archive, system_clock
from tallystick.journal.home import Home
from tallystick.journal.keys import load_key, make_key
from tallystick.journal.signing import SignerAt, SignerPlace, forget_signer_place, signer_place, write_signer_place
from tallystick.recording.store import open_archive
from tallystick.recording.store_identity import read_store
from tallystick.seal.keys import PublicKey, did_key, parse_did_key
from tallystick.signer.epochs import epoch_plan, epochs_path, make_epochs
from tallystick.signer.pins import Pin, check_guarded, read_pins, write_pin
from tallystick.signer.server import SUFFIX
from tallystick.signer.vault import make_vault, vault_owner
from tallystick.trust.anchors import keys_of
from tallystick.trust.drop_privileges import as_user
from tallystick.trust.signer import ask_status, is_outdated, live_key
from tallystick.trust.signer_program import (
    LABEL,
    Places,
    copy_program,
    interpreter,
    launchd_plist,
    systemd_unit,
    usual_places,
)
from tallystick.trust.sudo_command import as_root

USER = "tally-signer"
_STARTS_SECONDS = 10.0
_NOBODY = 65534
"""The group of users that need none."""
_SYSTEM_PATH = "/usr/local/sbin:/usr/sbin:/sbin:/usr/bin:/bin:/run/current-system/sw/bin"
"""Where root's programs are: not what `su` kept of the user's own PATH, which an agent may write to."""
_DETACH = "import os, sys; os.fork() and os._exit(0); os.setsid(); os.execv(sys.argv[1], sys.argv[1:])"


class Step(msgspec.Struct, frozen=True):
    """One thing that is changed, in words, and how to undo it."""

    does: str
    undo: str


class Plan(msgspec.Struct, frozen=True, kw_only=True):
    """What `init` would do for a store."""

    store: str
    home: Path
    owner: int
    user: str
    uid: int | None
    """Of the signer's user; None: there is no such user yet."""
    places: Places
    epochs: int | None = None
    """The seconds of an epoch."""
    steps: tuple[Step, ...]
    """To undo them, the last comes first."""


class _Found(msgspec.Struct, frozen=True):
    """What is found in a store."""

    store: str
    signer: str | None
    """The key of the signer that it asks."""
    has_key: bool
    """Whether its own key is still there."""


def plan(home: Home, *, user: str = USER, places: Places | None = None, epochs: int | None = None) -> Plan:
    """What would be done, without doing it.

    Args:
        epochs: the seconds of an epoch, for a key that is erased after each; None: one key for ever.

    Raises:
        NotFoundError: there is no store. JournalError: it has such a signer already, or its folder is a link.
    """
    places = places or usual_places()
    if not home.folder.is_dir():
        raise NotFoundError(f"no store at {home.folder}", hint="create one with `tally init`")
    if home.folder.is_symlink():
        raise JournalError(f"{home.folder} is a link", hint="name the folder itself with --home")
    owner = home.folder.lstat().st_uid
    found = _look(home, owner)
    pins = list(read_pins(places.pins))
    own = next((pin for pin in pins if pin.store == found.store), None)
    if own is not None and _is_done(own, found, epochs) and not is_outdated(own):
        raise JournalError(f"store {found.store} already has a signer", hint="run `tally signer status`")
    if own is not None and own.epoch_seconds is not None:
        epochs = own.epoch_seconds
    uid = _uid_of(user)
    made = Plan(
        store=found.store,
        home=home.folder.absolute(),
        owner=owner,
        user=user,
        uid=uid,
        places=places,
        epochs=epochs,
        steps=(),
    )
    steps = _steps(home, made, is_shared=any(pin.store != found.store for pin in pins))
    if uid is None:
        steps = (_user_step(user), *steps)
    return msgspec.structs.replace(made, steps=steps)


def _is_done(own: Pin, found: _Found, epochs: int | None) -> bool:
    """Whether nothing is left to do. A signer with epochs has another key than the first one, which is written down."""
    if found.has_key or found.signer is None:
        return False
    return own.epoch_seconds is not None or (own.key == found.signer and epochs is None)


def _look(home: Home, owner: int) -> _Found:
    """Look into a store, as its owner does: root would follow links to where its owner may not look."""

    def look() -> str:
        place = signer_place(home)
        key = None
        if place is not None:
            key = place.key
        return msgspec.json.encode(_Found(read_store(home).store_id, key, home.key.exists())).decode()

    if os.geteuid() != 0:
        return msgspec.json.decode(look(), type=_Found)
    return msgspec.json.decode(as_user(owner, look), type=_Found)


def _user_step(user: str) -> Step:
    return Step(f"create the system user {user}, without login and home", f"userdel {user}")


def _steps(home: Home, plan: Plan, *, is_shared: bool) -> tuple[Step, ...]:
    """What is done once there is a user. What other stores use, too, is not taken away again."""
    store, places = plan.store, plan.places
    others = "nothing: the signer of other stores uses it"
    vault, pin = places.folder / f"{store}{SUFFIX}", places.pins / f"{store}.json"
    changes = ""
    if plan.epochs is not None:
        changes = f", and a new one every {plan.epochs:,} s, when the old one is erased"
    shared = None
    if is_shared:
        shared = others
    return (
        Step(
            f"copy the program to {places.program}, where only root can change it",
            shared or f"rm -r {places.program}",
        ),
        Step(
            f"create {vault}, for {plan.user} alone, with a key of this store{changes}",
            f"rm {vault}, or keep it: the key and what it signed",
        ),
        _start_step(places, shared),
        Step(f"record in {pin} who signs this store", f"rm {pin}"),
        Step("seal in the ledger that the new key signs and the old one no longer does", "tally signer leave"),
        Step(f"delete the old key {home.key}", "nothing: `tally signer leave` creates a new one"),
    )


def _uid_of(user: str) -> int | None:
    try:
        return pwd.getpwnam(user).pw_uid
    except KeyError:
        if user.isdecimal():
            return int(user)
        return None


def _start_step(places: Places, others: str | None) -> Step:
    if places.systemd.is_dir():
        undo = f"systemctl disable --now {places.unit.name}; rm {places.unit}"
        return Step(f"write {places.unit} and start it", others or undo)
    if places.plist.parent.is_dir():
        undo = f"launchctl bootout system/{LABEL}; rm {places.plist}"
        return Step(f"write {places.plist} and start it", others or undo)
    does = "start the signer now; this machine has no systemd, so start it at every boot: tally signer run"
    return Step(f"{does} {places.folder} {places.socket}, as its user", others or "`tally signer status` shows its pid")


def set_up(
    found: Plan,
    *,
    seeds: Callable[[int], bytes] = os.urandom,
    clock: Callable[[], str] = system_clock,
    told: Callable[[Step], object] = lambda _: None,
) -> Pin:
    """Do what a plan says, as root.

    Args:
        told: called with each step before it is done.

    Raises:
        JournalError: it cannot be done; the message says what, and what was done stands and can be repeated.
    """
    if os.geteuid() != 0:
        raise JournalError("only root can set up another user's signer", hint=as_root("signer init", Home(found.home)))
    places, home = found.places, Home(found.home)
    check_guarded(found.home, trusted=frozenset((0, found.owner)))
    os.umask(0o022)
    says = iter(found.steps)
    if found.uid is None:
        told(next(says))
        _run("useradd", "--system", "--no-create-home", "--shell", "/usr/sbin/nologin", found.user)
    uid = _uid_of(found.user)
    if uid is None:
        raise JournalError(f"no user {found.user}", hint="create it, or name another with --user")
    if uid in (0, found.owner):
        raise JournalError(
            f"user {found.user} is {'root' if uid == 0 else 'the one who records'}: a signer must be a user of its own"
        )
    told(next(says))
    copy_program(places.program)
    told(next(says))
    public = make_signer_key(places, found, uid, seeds, clock)
    told(next(says))
    start(places, uid, found.user)
    told(next(says))
    pin = Pin(
        store=found.store,
        key=did_key(public),
        socket=str(places.socket),
        signer=uid,
        owner=found.owner,
        home=str(found.home),
        epoch_seconds=found.epochs,
    )
    write_pin(pin, places.pins)
    told(next(says))
    as_user(found.owner, lambda: move_key(home, places.socket, public))
    told(next(says))
    as_user(found.owner, lambda: _delete_key(home))
    return pin


def _delete_key(home: Home) -> str:
    try:
        home.key.unlink(missing_ok=True)
    except OSError as error:
        raise JournalError(f"cannot delete {home.key}: {error.strerror}") from error
    return ""


def _run(*words: str) -> None:
    try:
        done = subprocess.run(words, capture_output=True, text=True, check=False, env={"PATH": _SYSTEM_PATH})
    except OSError as error:
        hint = None
        if words[0] == "useradd":
            hint = "create a system user yourself and name it: --user NAME"
        raise JournalError(f"cannot run {words[0]}: {error.strerror}", hint=hint) from error
    if done.returncode != 0:
        raise JournalError(f"{' '.join(words)}: {done.stderr.strip()[:500] or f'exit {done.returncode}'}")


def command(places: Places) -> list[str]:
    """How the signer is started: a Python told to look nowhere but at its own library and the copy."""
    code = (
        f"import sys; sys.path.insert(0, {str(places.program)!r});"
        " from tallystick.signer.__main__ import main; sys.exit(main(sys.argv[1:]))"
    )
    return [str(interpreter()), "-I", "-S", "-c", code, str(places.folder), str(places.socket)]


# The key and the process -----------------------------------------------------------------------------------------------


def make_signer_key(
    places: Places, found: Plan, uid: int, seeds: Callable[[int], bytes], clock: Callable[[], str]
) -> PublicKey:
    """Make the signer's key, and what its epochs begin with, where it has none yet; the key, of its first epoch."""
    places.folder.mkdir(parents=True, exist_ok=True, mode=0o700)
    places.folder.chmod(0o700)
    os.chown(places.folder, uid, -1)
    path = places.folder / f"{found.store}{SUFFIX}"

    def make() -> str:
        if not path.exists():  # one that is there was made by a run that was interrupted, or before a `leave`
            make_vault(path, found.store, seeds(32), (found.owner, 0))
        key, users = vault_owner(path)
        if found.owner not in users:
            raise JournalError(f"{path} is the key of another user's store", hint="`tally signer status` shows whose")
        if found.epochs is None:
            return did_key(key)
        return _first_key(path, found, did_key(key), clock)

    return parse_did_key(as_user(uid, make))


def _first_key(path: Path, found: Plan, key: str, clock: Callable[[], str]) -> str:
    """The key that the row of epochs begins with, which is this one where there is no row yet."""
    row = epochs_path(path)
    begun = epoch_plan(row)
    if begun is None and found.epochs is not None:
        make_epochs(row, store=found.store, key=key, seconds=found.epochs, at=clock())
        return key
    if begun is not None:
        return begun[0]
    return key


def start(places: Places, uid: int, user: str = "") -> None:
    """Start the signer, or start it again, and wait until it answers. Raises JournalError."""
    places.socket.parent.mkdir(parents=True, exist_ok=True, mode=0o755)
    places.socket.parent.chmod(0o755)
    os.chown(places.socket.parent, uid, -1)
    if places.systemd.is_dir():
        text = systemd_unit(command(places), uid, folder=places.folder, socket=places.socket)
        places.unit.write_text(text, "utf-8")
        _run("systemctl", "daemon-reload")
        _run("systemctl", "enable", "--now", places.unit.name)
        _run("systemctl", "restart", places.unit.name)
    elif places.plist.parent.is_dir():
        places.plist.write_text(launchd_plist(command(places), user or str(uid)), "utf-8")
        with contextlib.suppress(JournalError):  # there was none
            _run("launchctl", "bootout", f"system/{LABEL}")
        _run("launchctl", "bootstrap", "system", str(places.plist))
    else:
        _stop_answering(places.socket, uid)
        words = command(places)
        subprocess.run(  # a child of no one's: it goes on when this program ends
            [*words[:3], "-c", _DETACH, *words],
            user=uid,
            group=_NOBODY,
            extra_groups=[],
            env={},
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            check=True,
        )
    _wait_for(places.socket)


def _stop_answering(path: Path, uid: int) -> None:
    try:
        _, said = ask_status(path)
    except TallystickError:
        return
    pid = said.get("pid")
    if isinstance(pid, int):
        as_user(uid, lambda: _end(pid))  # not by root: who listens there may name any process
        _wait(lambda: not path.exists(), "the signer that runs does not end")


def _end(pid: int) -> str:
    try:
        os.kill(pid, signal.SIGTERM)
    except OSError as error:
        raise JournalError(f"cannot stop the running signer, process {pid}: {error.strerror}") from error
    return ""


def _wait_for(path: Path) -> None:
    def answers() -> bool:
        try:
            ask_status(path)
        except TallystickError:
            return False
        return True

    _wait(answers, f"the signer does not answer at {path}")


def _wait(true: Callable[[], bool], else_: str) -> None:
    until = time.monotonic() + _STARTS_SECONDS
    while not true():
        if time.monotonic() > until:
            raise JournalError(else_, hint="its log says why: journalctl -u tallystick-signer")
        time.sleep(0.02)


# The ledger ------------------------------------------------------------------------------------------------------------


def move_key(home: Home, socket: Path, public: PublicKey) -> str:
    """Seal in the ledger that another key signs from now on: its addition under both keys, then the end of the old one.

    Where it was interrupted before, it goes on.

    Raises:
        JournalError: the signer refuses, or the store cannot be written.
    """
    place = SignerPlace(str(socket), did_key(public))
    here = signer_place(home)
    if here == place or (here is not None and here.socket == place.socket and not home.key.exists()):
        return ""  # what is left to be signed is signed with the next head
    old = load_key(home).public
    archive = open_archive(home)
    try:
        with archive.ledger.locked():
            signer, view = SignerAt(place), archive.ledger.view
            if public not in keys_of(home):
                _add_key(archive, public)
            archive.ledger.follow(signer)
            if signer.turn_to(live_key(socket, archive.ledger.store_id)) not in view.keys:
                _add_key(archive, signer.public)
            if old in view.keys:
                archive.ledger.sign_together(signer)
                archive.ledger.append({"type": "key_retire", "key": did_key(old)})
            write_signer_place(home, socket, signer.public)
            archive.sign(keep=True)
    finally:
        archive.close()
    return ""


def _add_key(archive: Archive, key: PublicKey) -> None:
    archive.sign()
    archive.ledger.append({"type": "key_add", "key": did_key(key)})


def leave(home: Home, *, seeds: Callable[[], bytes]) -> PublicKey:
    """Give a store a key of its own again: the signer signs its addition last.

    Raises:
        NotFoundError: the store has no signer. JournalError: the signer refuses, or the store cannot be written.
    """
    read_store(home)
    place = signer_place(home)
    if place is None:
        raise NotFoundError("this store has no signer", hint="set one up with `tally signer init`")
    if home.key.exists():
        key = load_key(home)
    else:
        key = make_key(home, seeds())
    archive = open_archive(home)
    try:
        with archive.ledger.locked():
            signer = SignerAt(place)
            archive.ledger.append({"type": "key_add", "key": did_key(key.public)})
            archive.ledger.sign_together(signer)
            archive.ledger.append({"type": "key_retire", "key": did_key(signer.public)})
            forget_signer_place(home)
            archive.sign(keep=True)
    finally:
        archive.close()
    return key.public
