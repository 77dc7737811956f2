"""Changes of which files a store has, where they lie, and of what kind they are.

Owns files that are gone, exchanged, moved, linked, very large or no files at all, and the keys beside the record. Must not
know what is in them.
"""

from __future__ import annotations

import os
import shutil
import socket
import stat
from collections.abc import Callable
from pathlib import Path

from tools.fuzz_stores.case import Case


def remove(case: Case) -> str | None:
    """A file is gone."""
    path = case.choose(case.record())
    if path is None:
        return None
    path.unlink()
    return f"{path.name}: gone"


def exchange(case: Case) -> str | None:
    """A file has what another has."""
    path, other = case.choose(case.record()), case.choose(case.record())
    if path is None or other is None or path == other:
        return None
    path.write_bytes(other.read_bytes())
    return f"{path.name}: what {other.name} has"


def move(case: Case) -> str | None:
    """A journal is in another folder, is there twice, or has another session's name."""
    path = case.choose(case.journals())
    if path is None:
        return None
    sid = case.chance.choice((path.stem, path.stem, "0123456789abcdef" * 2, path.stem.upper(), f"{path.stem}0"))
    below = case.chance.choice((".", "1999/12", f"{path.stem}.jsonl.d", "a/b/c/d"))
    target = case.store / "journals" / below / f"{sid}.jsonl"
    if target.exists():
        return None
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(path, target)
    if case.chance.random() < 0.6:
        path.unlink()
    return f"{path.name}: at {target.relative_to(case.store)} {'as well' if path.exists() else 'instead'}"


def _pipe(path: Path) -> None:
    os.mkfifo(path)


def _folder(path: Path) -> None:
    path.mkdir()
    (path / "x").write_bytes(b"x\n")


def _socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as bound:
        short = os.open(path.parent, os.O_RDONLY)  # the name of a socket is short, that of a journal is not
        try:
            bound.bind(f"/proc/self/fd/{short}/s")
            (path.parent / "s").rename(path)
        finally:
            os.close(short)


def _device(path: Path) -> None:
    path.symlink_to("/dev/zero")


def _dangling(path: Path) -> None:
    path.symlink_to("nothing")


def _link(path: Path) -> None:
    aside = path.with_name("aside")
    aside.write_bytes(b"{}\n")
    path.symlink_to("aside")


def _empty(path: Path) -> None:
    path.write_bytes(b"")


def _unreadable(path: Path) -> None:
    path.write_bytes(b"{}\n")
    path.chmod(0)


def _node(path: Path) -> None:
    os.mknod(path, stat.S_IFCHR | 0o600, os.makedev(1, 5))


def _same_folder(path: Path) -> None:
    path.symlink_to(".")


def _itself(path: Path) -> None:
    path.symlink_to(path.name)


KINDS: dict[str, Callable[[Path], None]] = {
    "a pipe": _pipe,
    "a device": _node,
    "a link to its folder": _same_folder,
    "a link to itself": _itself,
    "a folder": _folder,
    "a socket": _socket,
    "a link to a device": _device,
    "a link to nothing": _dangling,
    "a link to a file": _link,
    "an empty file": _empty,
    "a file that may not be read": _unreadable,
}


def another_kind(case: Case) -> str | None:
    """Something else is in the place of a file."""
    path = case.choose(case.record())
    if path is None:
        return None
    kind = case.chance.choice(list(KINDS))
    path.unlink()
    try:
        KINDS[kind](path)
    except OSError as error:
        return f"{path.name}: gone, {kind} could not be made: {error.strerror}"
    return f"{path.name}: {kind}"


def no_folder(case: Case) -> str | None:
    """Something else is in the place of a folder, or a folder is a link."""
    path = case.choose([case.store / name for name in ("journals", "heads", "blobs") if (case.store / name).is_dir()])
    if path is None or path.is_symlink():
        return None
    kind = case.chance.choice(["a link to the folder", *KINDS])
    aside = case.folder / f"{path.name}-aside"
    path.rename(aside)
    if kind == "a link to the folder":
        path.symlink_to(aside)
    else:
        try:
            KINDS[kind](path)
        except OSError as error:
            return f"{path.name}/: gone, {kind} could not be made: {error.strerror}"
    return f"{path.name}/: {kind}"


SIZES = (1 << 20, (1 << 20) + 1, 40 << 20, 8 << 30, 8 << 40)


def hole(case: Case) -> str | None:
    """A file is very large and takes no room."""
    path = case.choose(case.record())
    if path is None:
        return None
    size = path.stat().st_size + case.chance.choice(SIZES)
    try:
        os.truncate(path, size)
    except OSError:  # more than this file system has
        return None
    return f"{path.name}: a hole up to {size} bytes"


def litter(case: Case) -> str | None:
    """Files that are no part of the record."""
    name = case.chance.choice(
        ("notes.txt", "journals/x.jsonl", "heads/ledger-0.note", "state/x", "blobs/zz/x", "torn/x")
    )
    path = case.store / name
    if path.exists() or not (path.parent.is_dir() or not path.parent.exists()):
        return None
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(b"litter\n")
    return f"{name}: litter"


def swap(case: Case) -> str | None:
    """Two files changed places."""
    path, other = case.choose(case.record()), case.choose(case.record())
    if path is None or other is None or path == other:
        return None
    aside = path.with_name("aside")
    path.rename(aside)
    other.rename(path)
    aside.rename(other)
    return f"{path.name} and {other.name} changed places"


def share(case: Case) -> str | None:
    """A file has another name too, or is the same file as another."""
    path, other = case.choose(case.record()), case.choose(case.record())
    if path is None or other is None:
        return None
    if path == other:
        os.link(path, case.folder / f"{len(case.done)}-link")
        return f"{path.name}: has another name too"
    path.unlink()
    os.link(other, path)
    return f"{path.name}: the same file as {other.name}"


ODD_NAMES = (
    *("", "x", "a b", "é", "\n", "0" * 31, "0" * 33, "g" * 32, "0" * 200, "\udcff", "0" * 31 + "\u0660", "-" * 32),
    *("0" * 32 + ".jsonl", "0" * 32 + "\n", " " + "0" * 32),
)
ENDINGS = (".jsonl", ".JSONL", ".jsonl~", ".jsonl.gz", "jsonl", ".json", "")


def name_oddly(case: Case) -> str | None:
    """A journal has a name that is none of a journal, or almost one."""
    path = case.choose(case.journals())
    if path is None:
        return None
    name = case.chance.choice((*ODD_NAMES, path.stem)) + case.chance.choice((*ENDINGS, ".jsonl"))
    target = path.with_name(name or "x")
    if os.path.lexists(target):
        return None
    if case.chance.random() < 0.5:
        shutil.copyfile(path, target)
    else:
        path.rename(target)
    return f"{path.name}: {'as' if path.exists() else 'is'} {name!r}"


def change_keys(case: Case) -> str | None:
    """A file beside the keys is another, or of another kind; the keys are no part of the record."""
    keys = case.store / "keys"
    path = case.choose(sorted(keys.iterdir()) if keys.is_dir() and not keys.is_symlink() else [])
    if path is None or path.is_dir():
        return None
    kind = case.chance.choice(["gone", "other bytes", *KINDS])
    path.unlink()
    if kind == "other bytes":
        path.write_bytes(case.chance.randbytes(case.chance.choice((0, 1, 32, 64, 65, 4_096))))
    elif kind in KINDS:
        KINDS[kind](path)
    return f"keys/{path.name}: {kind}"


def unpermitted(case: Case) -> str | None:
    """A file or a folder is open to all, or may be run."""
    path = case.choose([*case.record(), case.store, case.store / "journals"])
    if path is None or not path.exists() or path.is_symlink():
        return None
    mode = case.chance.choice((0o777, 0o666, 0o4755, 0o1777, 0o700))
    path.chmod(mode | (0o700 if path.is_dir() else 0o600))
    return f"{path.name}: mode {mode:o}"


PLACES: dict[str, tuple[int, Callable[[Case], str | None]]] = {
    "remove": (4, remove),
    "exchange": (3, exchange),
    "swap": (2, swap),
    "share": (2, share),
    "move": (4, move),
    "name oddly": (2, name_oddly),
    "another kind": (5, another_kind),
    "no folder": (1, no_folder),
    "hole": (1, hole),
    "litter": (1, litter),
    "change keys": (4, change_keys),
    "unpermitted": (1, unpermitted),
}
"""The changes by name, with how often each is taken beside others."""
