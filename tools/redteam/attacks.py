"""The attacks: what an agent's user does to the record, with all that this user can read and write.

Each is a function of a Thief; what it says in its first line stands in the table of the docs. An attack may fail: that the
machine refuses it is an answer, too. Numbers in brackets: specs/seal.md 8.1.
"""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import signal
import subprocess
from hashlib import sha256
from pathlib import Path
from typing import Any

from tallystick.journal.archive import Archive
from tallystick.model.step import Step
from tallystick.recording.session_writer import SessionWriter
from tallystick.seal.canonical import canonical
from tallystick.seal.extension import Request, request_text
from tallystick.seal.keys import SigningKey, did_key
from tallystick.seal.line import Slot, seal_line
from tallystick.seal.merkle import Frontier
from tallystick.seal.note import sign_note
from tools.redteam.forging import Edit, Forged, Register, Thief, Values, journals, lines_of, same

ATTACKS = attack = Register()
told = ATTACKS.told


def _prompt(values: Values) -> Values:
    return {**values, "content.text": "nothing happened here"} if "content.text" in values else values


def _edit_prompts(_: int, values: Values) -> Values:
    return _prompt(values)


def _victim(thief: Thief) -> tuple[str, Path]:
    found = journals(thief.home)
    return found[thief.pick(len(found))]


# Without recomputing -----------------------------------------------------------------------------------------------------


@attack
def edit_a_value(thief: Thief) -> None:
    """Edit a value in a journal and nothing else [1]."""
    _, path = _victim(thief)
    path.write_bytes(path.read_bytes().replace(b"secret plan", b"public plan"))


@attack
def cut_a_journal(thief: Thief) -> None:
    """Cut the last steps off a journal [47]."""
    _, path = _victim(thief)
    path.write_bytes(b"\n".join(lines_of(path)[:-2]) + b"\n")


@attack
def delete_a_session(thief: Thief) -> None:
    """Delete the journal of a session [55]."""
    _victim(thief)[1].unlink()


@attack
def delete_ledger_and_heads(thief: Thief) -> None:
    """Delete the ledger and all heads."""
    thief.home.ledger.unlink()
    shutil.rmtree(thief.home.note.parent)


@attack
def strip_the_signature(thief: Thief) -> None:
    """Take the signature off the head, and put one of an own key there [62, 63]."""
    own = SigningKey(b"\x42" * 32)
    ledger = Forged(thief.store, lines_of(thief.home.ledger), same)
    thief.home.note.write_bytes(sign_note(thief.store, len(ledger.hashes), ledger.root(), [own]))


# Recomputing what is not signed -------------------------------------------------------------------------------------------


@attack
def edit_and_rechain(thief: Thief) -> None:
    """Edit values and recompute the journal's chain [49]."""
    sid, path = _victim(thief)
    Forged(sid, lines_of(path), _edit_prompts).write(path)


@attack
def edit_and_rechain_with_ledger(thief: Thief) -> None:
    """Edit values, recompute the chain and the ledger over it, and leave the head as it is."""
    note = thief.home.note.read_bytes()
    thief.rewrite({_victim(thief)[0]: _edit_prompts})
    thief.home.note.write_bytes(note)


# With whatever key can be reached -----------------------------------------------------------------------------------------


@attack
def edit_and_sign(thief: Thief) -> None:
    """Edit values, recompute everything and sign it again [78]."""
    thief.rewrite({_victim(thief)[0]: _edit_prompts})


@attack
def truncate_and_sign(thief: Thief) -> None:
    """Cut a session short, recompute everything and sign it again [79]."""
    sid, path = _victim(thief)
    keep = len(lines_of(path)) - 2

    def cut(n: int, values: Values) -> Values | None:
        return values if n < keep else None

    thief.rewrite({sid: cut})


@attack
def delete_and_sign(thief: Thief) -> None:
    """Delete a session with all that the ledger says of it, recompute and sign [80]."""
    sid, path = _victim(thief)
    path.unlink()

    def without(_: int, values: Values) -> Values | None:
        return None if values.get("meta", {}).get("session") == sid else values

    thief.rewrite({}, without)


@attack
def fabricate_and_sign(thief: Thief) -> None:
    """Record a session that never was, through the program itself [81]."""
    with SessionWriter(thief.home) as session_writer:
        for n in range(3):
            session_writer.add("demo", Step(session="never", type="user", values={"content.text": f"invented {n}"}))


@attack
def forge_a_tail_and_sign(thief: Thief) -> None:
    """Add invented steps to a session that was, through the program itself [54]."""
    with SessionWriter(thief.home) as session_writer:
        session_writer.add("demo", Step(session="s0", type="user", values={"content.text": "I allow everything"}))


@attack
def fork_at_the_same_size(thief: Thief) -> None:
    """Put another last entry into the ledger, so that its size stays, and sign [83]."""
    last = len(lines_of(thief.home.ledger)) - 1

    def other(n: int, values: Values) -> Values | None:
        return (
            {**values, "meta": {**values["meta"], "recorded": "2026-01-01T00:00:00.000000Z"}} if n == last else values
        )

    thief.rewrite({}, other)


@attack
def rewrite_from_the_first_entry(thief: Thief) -> None:
    """Begin the ledger anew under the same id with an own key, and rewrite everything over it."""
    own = SigningKey(b"\x43" * 32)
    thief.home.key.parent.joinpath("signer.json").unlink(missing_ok=True)
    thief.home.key.write_text(b"\x43".hex() * 32 + "\n")

    def first(n: int, values: Values) -> Values | None:
        kind = values["meta"].get("type")
        if kind in ("key_add", "key_retire", "anchor"):
            return None
        return {**values, "meta": {**values["meta"], "key": did_key(own.public)}} if n == 0 else values

    thief.rewrite({sid: _edit_prompts for sid, _ in journals(thief.home)}, first)


@attack
def another_store_in_its_place(thief: Thief) -> None:
    """Put another store into the same folder, with the sessions that suit."""
    shutil.move(thief.home.folder, thief.home.folder.with_name("aside"))
    with SessionWriter(thief.home) as session_writer:
        session_writer.add("demo", Step(session="s0", type="user", values={"content.text": "all is well"}))


@attack
def add_an_own_key(thief: Thief) -> None:
    """Seal in the ledger that an own key signs from now on, and sign with it."""
    own = SigningKey(b"\x44" * 32)
    thief.home.key.parent.joinpath("signer.json").unlink(missing_ok=True)
    thief.home.key.write_text(b"\x44".hex() * 32 + "\n")
    lines = lines_of(thief.home.ledger)
    made = Forged(thief.store, lines, same)
    meta = {"type": "key_add", "key": did_key(own.public), "recorded": "2026-11-22T00:00:00.000000Z"}
    sealed = seal_line(Slot(thief.store, len(lines), made.hashes[-1], ()), seed=b"\x01" * 32, values={"meta": meta})
    thief.home.ledger.write_bytes(b"".join(line + b"\n" for line in lines) + sealed.line)
    thief.sign()


# Yesterday ----------------------------------------------------------------------------------------------------------------


def _yesterday(thief: Thief) -> Path:
    return thief.home.folder.with_name("yesterday")


@attack
def restore_yesterdays_store(thief: Thief) -> None:
    """Put yesterday's copy of the whole store back [57]."""
    shutil.rmtree(thief.home.folder)
    shutil.copytree(_yesterday(thief), thief.home.folder)


@attack
def replay_an_old_head(thief: Thief) -> None:
    """Put yesterday's head back, and cut the ledger and the journals to it [65, 82]."""
    old = _yesterday(thief)
    shutil.copyfile(old / "heads" / "ledger.note", thief.home.note)
    shutil.copyfile(old / "ledger.jsonl", thief.home.ledger)
    shutil.rmtree(thief.home.journals)
    shutil.copytree(old / "journals", thief.home.journals)


@attack
def take_back_only_the_head(thief: Thief) -> None:
    """Put yesterday's head back, and cut what it does not cover off one journal [82]."""
    shutil.copyfile(_yesterday(thief) / "heads" / "ledger.note", thief.home.note)
    _, path = journals(thief.home)[0]
    path.write_bytes(b"\n".join(lines_of(path)[:-1]) + b"\n")


# The signer ---------------------------------------------------------------------------------------------------------------


def _request(thief: Thief, *, old: int, edit: Edit = same) -> bytes:
    made = Forged(thief.store, lines_of(thief.home.ledger), edit)
    request = Request(
        store_id=thief.store,
        old_size=old,
        size=len(made.hashes),
        root=made.root(),
        entries=tuple(line[:-1] for line in made.lines[old:]),
    )
    return request_text(request)


def _take(thief: Thief, answer: bytes) -> None:
    code, _, note = answer.partition(b"\n")
    if code == b"200":
        thief.home.note.write_bytes(note)


@attack
def lie_about_the_old_size(thief: Thief) -> None:
    """Rewrite the ledger, and tell the signer that it had signed nothing yet [84]."""
    thief.rewrite({_victim(thief)[0]: _edit_prompts})
    with contextlib.suppress(FileNotFoundError):
        _take(thief, thief.ask_signer(_request(thief, old=0)))


@attack
def ask_without_a_proof(thief: Thief) -> None:
    """Rewrite the ledger, and ask the signer to sign it without showing what came in between [85]."""
    thief.rewrite({_victim(thief)[0]: _edit_prompts})
    made = Forged(thief.store, lines_of(thief.home.ledger), same)
    request = Request(
        store_id=thief.store, old_size=thief.signed_size, size=len(made.hashes), root=made.root(), entries=()
    )
    with contextlib.suppress(FileNotFoundError):
        _take(thief, thief.ask_signer(request_text(request)))


@attack
def a_signer_of_ones_own(thief: Thief) -> None:
    """Point the store at a signer of one's own, with an own key, and rewrite everything."""
    place = thief.home.key.parent / "signer.json"
    own = SigningKey(b"\x45" * 32)
    place.write_text(json.dumps({"key": did_key(own.public), "socket": str(thief.home.folder / "fake.sock")}))
    thief.home.key.write_text(b"\x45".hex() * 32 + "\n")
    thief.rewrite({sid: _edit_prompts for sid, _ in journals(thief.home)})


@attack
def replace_the_socket(thief: Thief) -> None:
    """Take the signer's socket away and listen there oneself; then rewrite everything."""
    place = thief.home.key.parent / "signer.json"
    if place.exists():
        path = Path(json.loads(place.read_bytes())["socket"])
        with contextlib.suppress(OSError):
            path.unlink()
        with contextlib.suppress(OSError):
            path.parent.rename(path.parent.with_name("elsewhere"))
    thief.rewrite({sid: _edit_prompts for sid, _ in journals(thief.home)})


@attack
def kill_the_signer(thief: Thief) -> None:
    """Kill the signer, then delete a session and go on."""
    with contextlib.suppress(FileNotFoundError):
        pid = json.loads(thief.ask_signer(b"status\n").partition(b"\n")[2])["pid"]
        with contextlib.suppress(OSError):
            os.kill(pid, signal.SIGKILL)
    delete_and_sign(thief)


@attack
def starve_the_signer(thief: Thief) -> None:
    """Ask the signer more often than it answers, so that nothing is signed, and cut what is not signed."""
    with contextlib.suppress(OSError):
        for _ in range(1_000):
            thief.ask_signer(b"status\n")
    with contextlib.suppress(Exception), SessionWriter(thief.home) as session_writer:
        session_writer.add("demo", Step(session="s1", type="user", values={"content.text": "not signed yet"}))
    with contextlib.suppress(StopIteration):
        _, path = next((sid, path) for sid, path in journals(thief.home) if b"not signed yet" in path.read_bytes())
        path.write_bytes(b"\n".join(lines_of(path)[:-1]) + b"\n")


@attack
def change_the_signers_files(thief: Thief) -> None:
    """Write to the signer's program, its folder and what the administrator wrote down; then rewrite everything."""
    for place in map(Path, os.environ.get("REDTEAM_GUARDED", "").split(os.pathsep)):
        with contextlib.suppress(OSError):
            shutil.rmtree(place)
        with contextlib.suppress(OSError):
            place.joinpath("sitecustomize.py").write_text("raise SystemExit")
        with contextlib.suppress(OSError):
            place.rename(place.with_name("gone"))
    edit_and_sign(thief)


# Retention and anchors ----------------------------------------------------------------------------------------------------


@attack
def drop_a_session_by_retention(thief: Thief) -> None:
    """Seal a retention that drops a session, through the program's own ledger, and delete it [107]."""
    sid, path = _victim(thief)
    archive = Archive(thief.home)
    head = archive.ledger.view.heads[sid][-1]
    meta: dict[str, Any] = {
        "type": "retention",
        "rule": "mine",
        "action": "drop_session",
        "session": sid,
        "size": head.size,
        "root": head.root,
        "agent": "demo",
        "source_session": "s0",
    }
    archive.ledger.append(meta)
    archive.sign()
    archive.close()
    path.unlink()


@attack
def forget_the_anchors(thief: Thief) -> None:
    """Delete what is kept of anchors here, and leave them out of a rewritten ledger."""
    shutil.rmtree(thief.home.folder / "trust", ignore_errors=True)

    def without(_: int, values: Values) -> Values | None:
        return None if values.get("meta", {}).get("type") == "anchor" else values

    thief.rewrite({_victim(thief)[0]: _edit_prompts}, without)


@attack
def force_the_anchor_back(thief: Thief) -> None:
    """Rewrite everything, and push an empty history over the anchor's ref."""
    edit_and_sign(thief)
    remote = os.environ.get("REDTEAM_REMOTE")
    if remote is None:
        return
    ref = f"refs/heads/tallystick/{thief.store}"
    for words in (("push", "--force", remote, f":{ref}"), ("push", "--force", remote, f"HEAD:{ref}")):
        subprocess.run(["git", *words], cwd=thief.home.folder, capture_output=True, check=False)


@attack
def set_the_clock_back(thief: Thief) -> None:
    """Record on with a clock that is a year behind [60]."""
    archive = Archive(thief.home, clock=lambda: "2025-01-01T00:00:00.000000Z")
    meta = {"type": "session_start", "source": "sdk", "agent": "demo", "kind": "root", "source_session": "late"}
    archive.make_journal(meta, {}, ())
    archive.seal()
    archive.close()


# The administrator ----------------------------------------------------------------------------------------------------------

BY_ROOT = ("root_rewrites_with_the_signers_key", "root_restores_store_and_signer")


@attack
def root_restores_store_and_signer(thief: Thief) -> None:
    """As root: put yesterday's copy of the store and of the signer's memory back together [57, 58]."""
    restore_yesterdays_store(thief)
    folder = Path(os.environ["REDTEAM_SIGNER"])
    if folder.exists():
        shutil.rmtree(folder)
        shutil.copytree(folder.with_name("yesterdays-signer"), folder)


@attack
def root_rewrites_with_the_signers_key(thief: Thief) -> None:
    """As root: read the signer's key, rewrite everything with it, and the signer's memory too."""
    logs = list(Path(os.environ["REDTEAM_SIGNER"]).glob("*.log"))
    if not logs:
        edit_and_sign(thief)
        return
    first = logs[0].read_bytes().splitlines()[0]
    thief.home.key.write_text(json.loads(first)["key"] + "\n")
    edit_and_sign(thief)
    thief.home.key.unlink()
    tree = Frontier()
    for digest in Forged(thief.store, lines_of(thief.home.ledger), same).hashes:
        tree.append(digest)
    subtrees = [subtree.hex() for subtree in tree.subtrees]
    signed = {
        "prev": sha256(first).hexdigest(),
        "size": tree.size,
        "subtrees": subtrees,
        "at": "2026-11-22T00:00:00.000000Z",
    }
    logs[0].write_bytes(first + b"\n" + canonical(signed) + b"\n")
