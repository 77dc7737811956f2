"""What an administrator does to the record of a store whose signer erases its keys: with everything the signer has, too.

Each is a function of a Thief that runs as root while the signer is ended; what it says in its first line stands in the
table of the docs. Who holds the store against it has the key of the first epoch, noted down off the machine.
"""

from __future__ import annotations

import json
import os
import shutil
import sys
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import msgspec

from tallystick.seal.canonical import canonical
from tallystick.seal.epochs import Epoch, end_epoch, epoch_of
from tallystick.seal.keys import SigningKey, did_key
from tallystick.seal.line import parse_line
from tallystick.seal.merkle import Frontier
from tallystick.signer.entry_file import entries_path
from tools.redteam.forging import Edit, Forged, Register, Thief, Values, journals, lines_of, same

ATTACKS = attack = Register()
told = ATTACKS.told


def _signer() -> Path:
    return Path(os.environ["REDTEAM_SIGNER"])


def _log() -> Path:
    return next(_signer().glob("*.log"))


def _live() -> SigningKey:
    return SigningKey(bytes.fromhex(json.loads(_log().read_bytes().splitlines()[0])["key"]))


def _edit(_: int, values: Values) -> Values:
    return {**values, "content.text": "nothing happened here"} if "content.text" in values else values


def _session(thief: Thief, words: bytes) -> tuple[str, Path]:
    return next((sid, path) for sid, path in journals(thief.home) if words in path.read_bytes())


def _old(thief: Thief) -> str:
    """A session that was sealed before the first epoch's end."""
    return _session(thief, b"an old plan")[0]


def _rewrite(thief: Thief, edits: dict[str, Edit], ledger: Edit = same) -> None:
    """Rewrite everything with the signer's key, and what the signer remembers."""
    thief.home.key.write_text(json.loads(_log().read_bytes().splitlines()[0])["key"] + "\n")
    thief.rewrite(edits, ledger)
    _sign(thief)


def _sign(thief: Thief) -> None:
    thief.home.key.write_text(json.loads(_log().read_bytes().splitlines()[0])["key"] + "\n")
    thief.sign()
    thief.home.key.unlink()
    first, tree = _log().read_bytes().splitlines()[0], Frontier()
    for digest in Forged(thief.store, lines_of(thief.home.ledger), same).hashes:
        tree.append(digest)
    subtrees = [subtree.hex() for subtree in tree.subtrees]
    signed = {
        "prev": sha256(first).hexdigest(),
        "size": tree.size,
        "subtrees": subtrees,
        "at": "2026-11-22T00:00:00.000000Z",
    }
    _log().write_bytes(first + b"\n" + canonical(signed) + b"\n")
    entries_path(_log()).unlink(missing_ok=True)  # a signer that only has hashes takes what it is shown


def _ends(thief: Thief) -> list[tuple[int, Epoch]]:
    metas = [(n, parse_line(line).meta) for n, line in enumerate(lines_of(thief.home.ledger))]
    return [(n, end) for n, meta in metas if (end := epoch_of(meta)) is not None]


def _end_anew(thief: Thief, change: Callable[[Epoch], Epoch] = lambda end: end, *, since: int = 1) -> None:
    """Put other ends of epochs into the ledger, over the ledger as it is now, all signed by the live key."""
    for at, end in _ends(thief)[since - 1 :]:
        root = Forged(thief.store, lines_of(thief.home.ledger), same).root(end.size).hex()
        made = end_epoch(change(msgspec.structs.replace(end, root=root)), thief.store, _live())

        def put(n: int, values: Values, at: int = at, made: Epoch = made) -> Values:
            return {**values, "meta": {**values["meta"], **msgspec.to_builtins(made)}} if n == at else values

        Forged(thief.store, lines_of(thief.home.ledger), put).write(thief.home.ledger)
    _sign(thief)


@attack
def sign_the_past_again(thief: Thief) -> None:
    """Edit what was sealed in an epoch that is over, recompute everything and sign it with the live key."""
    _rewrite(thief, {_old(thief): _edit})


@attack
def end_the_epochs_again(thief: Thief) -> None:
    """Edit what was sealed in an epoch that is over, and sign the ends of all epochs with the live key, too."""
    _rewrite(thief, {_old(thief): _edit})
    _end_anew(thief)


@attack
def backdate_the_live_epoch(thief: Thief) -> None:
    """Have the live epoch begin where the first one ended, and edit what the epochs between them sealed."""
    first, *_, last = _ends(thief)

    def as_second(end: Epoch) -> Epoch:
        return msgspec.structs.replace(end, began=first[1].ended, ended=last[1].ended)

    _rewrite(
        thief,
        {_session(thief, b"a plan of yesterday")[0]: _edit},
        lambda n, values: None if n == last[0] else values,
    )
    _end_anew(thief, as_second, since=2)


@attack
def leave_out_an_epoch(thief: Thief) -> None:
    """Leave an epoch's end out of the ledger, and sign with the live key."""
    (at, _), *_others = _ends(thief)[1:]
    _rewrite(thief, {}, lambda n, values: None if n == at else values)


@attack
def leave_out_all_epochs(thief: Thief) -> None:
    """Leave all epochs out of the ledger, add the live key like any other, and rewrite everything."""
    ends, key = _ends(thief), did_key(_live().public)

    def plain(n: int, values: Values) -> Values | None:
        meta = values["meta"]
        if n == ends[-1][0]:
            return {**values, "meta": {"type": "key_add", "key": key, "recorded": meta["recorded"]}}
        return None if n in dict(ends) or meta["type"] == "key_retire" else values

    _rewrite(thief, {_old(thief): _edit}, plain)


@attack
def begin_another_row(thief: Thief) -> None:
    """Make a row of epochs with own keys from the first one on, and write its first key down as the administrator's."""
    own = SigningKey(b"\x47" * 32)

    def first(_: int, values: Values) -> Values | None:
        meta = values["meta"]
        if meta["type"] == "store_start":
            return {**values, "meta": {**meta, "key": did_key(own.public)}}
        return None if meta["type"] in ("key_add", "key_retire") else values

    owner = json.loads(_log().read_bytes().splitlines()[0])
    _log().write_bytes(canonical({**owner, "key": (b"\x47" * 32).hex()}) + b"\n")
    (row,) = _signer().glob("*.epochs")
    row.write_bytes(canonical({**json.loads(row.read_bytes().splitlines()[0]), "key": did_key(own.public)}) + b"\n")
    for pin in Path(os.environ["REDTEAM_PINS"]).glob("*.json"):
        pin.write_bytes(canonical({**json.loads(pin.read_bytes()), "key": did_key(own.public)}))
    place = thief.home.key.parent / "signer.json"
    place.write_bytes(canonical({**json.loads(place.read_bytes()), "key": did_key(own.public)}))
    _rewrite(thief, {_old(thief): _edit}, first)


@attack
def put_the_store_back(thief: Thief) -> None:
    """Put yesterday's copy of the store back, and have the signer remember no more than that."""
    shutil.rmtree(thief.home.folder)
    shutil.copytree(thief.home.folder.with_name("yesterday"), thief.home.folder)
    _sign(thief)


@attack
def change_the_live_epoch(thief: Thief) -> None:
    """Edit what was sealed since the newest epoch's end, recompute everything and sign it with the live key."""
    _rewrite(thief, {_session(thief, b"an anchored plan")[0]: _edit})


@attack
def cut_back_to_the_anchor(thief: Thief) -> None:
    """Cut off what was sealed after the newest anchor, since the newest epoch's end, and sign with the live key."""
    sid, path = _session(thief, b"a plan after the anchor")
    path.unlink()
    _rewrite(thief, {}, lambda _, values: None if values["meta"].get("session") == sid else values)


@attack
def restore_a_key(thief: Thief) -> None:
    """Put yesterday's copies of the store and of the signer's folder back, its key among them, and rewrite what is since."""
    shutil.rmtree(thief.home.folder)
    shutil.copytree(thief.home.folder.with_name("yesterday"), thief.home.folder)
    shutil.rmtree(_signer())
    shutil.copytree(_signer().with_name("yesterdays-signer"), _signer())
    _rewrite(thief, {_session(thief, b"a plan of yesterday")[0]: _edit})


NOT_AT_A3F = ("change_the_live_epoch", "cut_back_to_the_anchor", "restore_a_key")
NOT_AT_A4 = ("cut_back_to_the_anchor",)


if __name__ == "__main__":
    _, name, folder, seed = sys.argv
    ATTACKS[name](Thief(folder, int(seed)))
