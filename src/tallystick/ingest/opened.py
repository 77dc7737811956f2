"""A store for one look at records from elsewhere: a copy of another store, or histories that are imported into it.

Owns what can be opened, that nothing of it is written, and that the store is gone afterwards. Must not know what is asked
of it.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, suppress
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

import msgspec

from tallystick.agents import Adapter
from tallystick.errors import NotFoundError, SourceError, UsageError
from tallystick.ingest.histories import Imported, Reading, find_histories, import_histories, import_workers
from tallystick.journal.home import Home, is_store

_RECORD = ("ledger.jsonl", "heads", "journals", "blobs", "torn", "trust", "policy")
"""What is copied of a store, in this order: a ledger that is older than the journals is sound, one that is newer is not.

Neither its keys, which only its owner needs, nor what is derived and made here once more.
"""

Progress = Callable[[str, int], None]
"""Called with the name of what is read and how many bytes of it were."""
Bar = Callable[[int], AbstractContextManager[Progress]]
"""Gives a Progress, from how many bytes there are in all; entered when other processes that help have been started."""


class Opened(msgspec.Struct, frozen=True):
    """A store for one look. `imported`: what became of histories; None for a copy. `left_out`: paths that are no files."""

    home: Home
    imported: Imported | None = None
    left_out: tuple[str, ...] = ()


@contextmanager
def opened(paths: Sequence[Path], adapters: Mapping[str, Adapter], bar: Bar) -> Iterator[Opened]:
    """A store that holds what is at some paths: one store, or files and folders of agents' histories and ledgers.

    Raises:
        UsageError: a store is named beside something else. NotFoundError: a path is not there, or holds nothing that is
        known. SourceError: there is no room for a copy.
    """
    for path in paths:
        if not path.exists():
            raise NotFoundError(f"{path} is not there")
    stores = [path for path in paths if is_store(path)]
    if stores and len(paths) > 1:
        raise UsageError(f"{stores[0]} is a store, and a store is opened alone", hint="open one after the other")
    with TemporaryDirectory(prefix="tally-open-", ignore_cleanup_errors=True) as folder:
        home = Home(Path(folder) / "store")
        if stores:
            yield Opened(home, left_out=tuple(_copy(stores[0], home, bar)))
        else:
            yield Opened(home, imported=_import(home, paths, adapters, bar))


def _import(home: Home, paths: Sequence[Path], adapters: Mapping[str, Adapter], bar: Bar) -> Imported:
    found = find_histories(Path(), paths, adapters)
    if not found:
        raise NotFoundError(
            f"{paths[0]} holds no store, transcript or ledger that is known",
            hint="`tally ingest` reads events that a program writes as lines of JSON",
        )
    sizes = sum(getattr(item, "size", 0) for item in found)
    with import_workers(home, found, adapters) as workers, bar(sizes) as progress:
        done = import_histories(
            home, found, adapters, Reading(workers=workers), progress=lambda path, size: progress(path.name, size)
        )
    if not any(file.sessions for file in done.report.files):
        why = next((item.why for item in done.report.refused), None)
        why = why or next((file.error for file in done.report.files if file.error), "no session is in it")
        raise NotFoundError(f"nothing could be read of {paths[0]}: {why}")
    return done


def _copy(store: Path, home: Home, bar: Bar) -> Iterator[str]:
    """Copy the record of a store; gives the paths that are neither files nor folders, which are left out."""
    parts = [store / name for name in _RECORD]
    needed = sum(max(size, 0) for part in parts for _, size in _files(part))
    home.make_folder(home.folder)
    free = shutil.disk_usage(home.folder).free
    if needed > free:
        raise SourceError(
            f"{store} has {needed >> 20:,} MiB, and there is room for {free >> 20:,} MiB in {home.folder.parent.parent}",
            hint="set TMPDIR to a folder with more room",
        )
    with bar(needed) as progress:
        for path, size in chain.from_iterable(map(_files, parts)):
            name = path.relative_to(store)
            if size < 0:
                yield str(name)
                continue
            to = home.folder / name
            home.make_folder(to.parent)
            with suppress(FileNotFoundError):  # a live store's: erased or replaced since it was listed
                shutil.copyfile(path, to, follow_symlinks=False)
            progress(path.name, size)


def _files(path: Path) -> Iterator[tuple[Path, int]]:
    """What is at and below a path, but for folders, with its size: -1 for a link, a pipe or a device."""
    try:
        mode = path.lstat()
    except OSError:
        return
    if stat.S_ISREG(mode.st_mode):
        yield path, mode.st_size
    elif stat.S_ISDIR(mode.st_mode):
        with os.scandir(path) as inside:
            for entry in sorted(inside, key=lambda entry: entry.name):
                yield from _files(Path(entry.path))
    else:
        yield path, -1
