"""Ending everything that Tallystick started or wrote for a user, up to the store itself.

Owns the order and that nothing is left half-done: each step is reported, one that fails keeps the store in place, and a
second run goes on where the first one stopped. Knows what stays because this user cannot remove it, and the commands for
that. Must not know how a hook, a unit or a completion is written.
"""

from __future__ import annotations

import enum
import shutil
from collections.abc import Iterator
from pathlib import Path

import msgspec

from tallystick.agents.hooks import hook_adapters
from tallystick.capture import recorder
from tallystick.capture.completion_files import completion_files, remove_completion
from tallystick.capture.place import Place
from tallystick.capture.supervisor import remove_unit, units
from tallystick.capture.surroundings import Surroundings
from tallystick.errors import JournalError, TallystickError
from tallystick.journal.home import Home
from tallystick.recording.store_identity import read_store
from tallystick.setup.install import own_installation, uninstall
from tallystick.trust.anchors import targets
from tallystick.trust.signer_removal import left_for_root

_OF_THE_STORE = frozenset(
    (
        "backups",
        "blobs",
        "config.toml",
        "erasing",
        "foreign",
        "heads",
        "journals",
        "keys",
        "peers",
        "policy",
        "prices.cache",
        "prices.toml",
        "run",
        "spool",
        "torn",
        "trust",
    )
)
"""What a store's folder holds besides `graph.db…` and the ledger. Anything else in it is someone else's, and stays."""


class State(enum.StrEnum):
    """What became of one thing."""

    PLANNED = "planned"
    """It would be done."""
    DONE = "done"
    NOTHING = "nothing"
    """There was nothing to do."""
    STAYS = "stays"
    FAILED = "failed"


class Item(msgspec.Struct, frozen=True, kw_only=True):
    """One thing that was ended or removed, or that stays."""

    part: str
    state: State
    said: str
    command: str | None = None
    """What a person can do about it."""


class Losses(msgspec.Struct, frozen=True, kw_only=True):
    """What goes with a store."""

    store: Path
    sessions: int
    journal_bytes: int
    total_bytes: int
    own_policies: int
    """Policy files that the user wrote."""
    has_key: bool
    """Whether the key that signs its heads lies in it."""


def losses(home: Home) -> Losses | None:
    """What goes with the store; None without a store."""
    if not home.exists:
        return None
    files = home.files()
    policies = home.folder / "policy"
    return Losses(
        store=home.folder,
        sessions=len(files),
        journal_bytes=sum(_size(Path(path)) for _, path in files),
        total_bytes=sum(_size(path) for path in home.folder.rglob("*")),
        own_policies=sum(path.suffix == ".cedar" for path in policies.rglob("*")),
        has_key=home.key.exists(),
    )


def _size(path: Path) -> int:
    try:
        return path.lstat().st_size
    except OSError:
        return 0


def purge(home: Home, where: Surroundings, *, dry_run: bool = False) -> Iterator[Item]:
    """End and remove everything, one step after another. What failed is yielded as such and raises nothing."""
    stays = tuple(_stays(home))
    active = recorder.working(home.folder)
    failed = False
    for step in (_hooks, _units, _recorder, _completions):
        for item in step(home, where, dry_run=dry_run):
            failed = failed or item.state is State.FAILED
            yield item
    if failed:
        said = "it stays until the steps above succeed: it holds the backups of settings files"
        yield Item(part="store", state=State.STAYS, said=said, command="tally uninstall --purge")
    else:
        yield _store(home, dry_run=dry_run)
    for agent in sorted({session["agent"] for session in active}):
        said = f"{agent} is running: it calls the hook until it ends, and each call creates a store again"
        yield Item(part="agents", state=State.STAYS, said=said, command="stop it, then run tally uninstall --purge")
    yield from stays


def _failed(part: str, error: TallystickError) -> Item:
    return Item(part=part, state=State.FAILED, said=str(error), command=error.hint)


def _state(*, dry_run: bool) -> State:
    if dry_run:
        return State.PLANNED
    return State.DONE


# What is ended --------------------------------------------------------------------------------------------------------


def _hooks(home: Home, where: Surroundings, *, dry_run: bool) -> Iterator[Item]:
    """The hooks of all agents: the user's, and those of every project that is known."""
    found = False
    for agent in hook_adapters():
        try:
            report = uninstall(home, agent, where, dry_run=dry_run)
        except TallystickError as error:
            found = True
            yield _failed("hooks", error)
            continue
        for file in report.files:
            if file.is_changed:
                found = True
                as_before = ""
                if file.restored and file.after is not None:
                    as_before = " restored"
                said = f"{agent}: {file.path}{' removed' if file.after is None else as_before or ' without our hook'}"
                yield Item(part="hooks", state=_state(dry_run=dry_run), said=said)
    if not found:
        yield Item(part="hooks", state=State.NOTHING, said="no agent calls the hook")


def _units(home: Home, where: Surroundings, *, dry_run: bool) -> Iterator[Item]:
    """Units that run this store's recorder. Those of other stores stay."""
    for unit in units(where.user, where.environment):
        if unit.store.resolve() != home.folder.resolve():
            said = f"{unit.path} runs the recorder of another store, {unit.store}"
            yield Item(part="unit", state=State.STAYS, said=said)
            continue
        try:
            if not dry_run:
                remove_unit(unit, where.environment)
            yield Item(part="unit", state=_state(dry_run=dry_run), said=f"{unit.path} stopped and removed")
        except TallystickError as error:
            yield _failed("unit", error)


def _recorder(home: Home, _: Surroundings, *, dry_run: bool) -> Iterator[Item]:
    owner = Place(home.folder).owner()
    if owner is None:
        yield Item(part="recorder", state=State.NOTHING, said="not running")
        return
    try:
        if not dry_run:
            recorder.stop(home.folder)
        yield Item(part="recorder", state=_state(dry_run=dry_run), said=f"process {owner} stopped")
    except TallystickError as error:
        yield _failed("recorder", error)


def _completions(_: Home, where: Surroundings, *, dry_run: bool) -> Iterator[Item]:
    try:
        for path in completion_files(where.user, where.environment):
            if not dry_run:
                remove_completion(path)
            yield Item(part="completion", state=_state(dry_run=dry_run), said=f"{path} removed")
    except TallystickError as error:
        yield _failed("completion", error)


# The store ------------------------------------------------------------------------------------------------------------


def _store(home: Home, *, dry_run: bool) -> Item:
    if not home.folder.is_dir():
        return Item(part="store", state=State.NOTHING, said=f"none at {home.folder}")
    ours = [path for path in sorted(home.folder.iterdir()) if _is_of_the_store(path)]
    if not home.exists and not any(path.name in ("journals", "run") for path in ours):
        return Item(part="store", state=State.NOTHING, said=f"none at {home.folder}")
    others = [path.name for path in home.folder.iterdir() if path not in ours and path != home.ledger]
    if not dry_run:
        try:
            _remove(home, ours)
        except JournalError as error:
            return _failed("store", error)
    left = ""
    if others:
        left = f", but the folder stays: it holds {', '.join(sorted(others)[:5])}"
    return Item(part="store", state=_state(dry_run=dry_run), said=f"{home.folder} removed{left}")


def _is_of_the_store(path: Path) -> bool:
    return path.name in _OF_THE_STORE or path.name.startswith("graph.db")


def _remove(home: Home, ours: list[Path]) -> None:
    """Remove what is ours, the ledger last: until then a second run finds a store and goes on."""
    try:
        for path in ours:
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)
        home.ledger.unlink(missing_ok=True)
        if not any(home.folder.iterdir()) and not home.folder.is_symlink():
            home.folder.rmdir()
    except OSError as error:
        raise JournalError(
            f"cannot remove {error.filename}: {error.strerror}",
            hint="make it writable, then run tally uninstall --purge",
        ) from error


# What stays -----------------------------------------------------------------------------------------------------------


def _stays(home: Home) -> Iterator[Item]:
    """What this user cannot remove, or may want to keep; looked up while the store is still there."""
    if home.exists:
        try:
            for command in left_for_root(read_store(home).store_id):
                yield Item(
                    part="signer", state=State.STAYS, said="belongs to another user: needs root", command=command
                )
            for target in targets(home):
                said = f"{target.name} keeps its heads: they hold no content"
                yield Item(part="anchor", state=State.STAYS, said=said)
        except TallystickError as error:
            yield _failed("store", error)
    own = own_installation()
    yield Item(part="program", state=State.STAYS, said=f"{own.kind} at {own.folder}", command=own.removal)
