"""Verifying what a person names: a store, a journal file, or a session by id.

Owns turning a name into what trust.verify checks, and looking, before anything is read, for what is in a file's place and is
none, or is too large: a pipe is waited for, a device never ends, and a verification that does not end says nothing.
"""

from __future__ import annotations

import enum
import errno
import os
import stat
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from tallystick.errors import AmbiguousError, NotFoundError, UsageError
from tallystick.journal.archive import journal_starts, system_clock
from tallystick.journal.home import Home, default_folder, is_store
from tallystick.journal.session_keys import start_key
from tallystick.model.ids import SESSION_ID
from tallystick.model.verdict import Authenticity, Completeness, Defect, Level, Require, Rule, Verdict
from tallystick.seal.epochs import LiveEpoch
from tallystick.seal.keys import parse_did_key
from tallystick.trust.anchors import Target
from tallystick.trust.external_evidence import ExternalEvidence, outlook
from tallystick.trust.missing_store import Memory, verdict_on_missing
from tallystick.trust.tamper_signals import keep_evidence, open_before
from tallystick.trust.verify import Demand, Progress, StoreEvidence, verify_file, verify_store
from tallystick.workspace.indexing import indexed


def verify(
    target: str | Path | None = None,
    *,
    home: str | Path | None = None,
    require: Require | None = None,
    since: str | None = None,
    pinned: str | None = None,
    remembered: bytes | None = None,
    anchored: Sequence[Target] = (),
    progress: Progress = lambda _: None,
    now: Callable[[], float] = time.time,
) -> Verdict:
    """The verdict on a store folder, a journal file, or a session of the store at `home`.

    Args:
        target: a path, a session id (ours or the agent's own, or a unique prefix); None: the whole store.
        home: the store; default TALLY_HOME, else ~/.tally.
        require: what is wanted at least; default A2 for a store and its sessions, A1 for a lone file.
        since: the newest head of the signer (A3) or of an anchor (A4) may be no older than this time (docs/format.md 6.3).
        pinned: did:key to trust instead of the keys that the ledger names. remembered: a head kept from earlier.
        anchored: places off this machine that are known to have heads of the store, whatever its ledger says.
        progress: called with how many bytes more were verified. now: seconds since 1970.

    Of an alarm in the store at `home` evidence is kept under its `trust/`; nothing else is written.

    Raises:
        NotFoundError, AmbiguousError: nothing, or several sessions, have that name.
        UsageError: a lone file has no ledger, so no key or head can speak for it; or `since` is asked of a level at which
            no one else has heads. FormatError: the pinned key is not a did:key.
    """
    if since is not None and require not in (Require.A3, Require.A3F, Require.A4):
        raise UsageError("the age of a head is checked at A3 and A4 only", hint="add --require A3 or A4")
    if pinned is not None:
        parse_did_key(pinned)  # one that is not a key gives no verdict, whatever is there
    own = Home(Path(home) if home is not None else default_folder(os.environ))
    store = _store_of(target, own)
    if store is None:
        if pinned is not None or remembered is not None or since is not None or anchored:
            raise UsageError(
                f"{target} is a lone journal: no head covers it", hint="give its store, or a session of it"
            )
        return verify_file(Path(str(target)), require=require or Require.A1)
    unread = verdict_on_no_files(store)
    if unread is not None:
        return unread
    asks = require is Require.A4 or bool(anchored)
    around = outlook(store, with_anchors=asks, further=anchored, now=now())
    known = Memory(around=around, pinned=pinned or around.key, remembered=remembered, anchored=anchored)
    missing = verdict_on_missing(store, known)
    if missing is not None:
        return missing
    sessions = [find_session(store, str(target))] if target is not None and store is own else None
    verdict = verify_store(
        store,
        sessions=sessions,
        evidence=StoreEvidence(
            pinned=pinned or around.key,
            remembered=remembered,
            known=around.heads,
            live=live_epoch(around, at=system_clock(), is_noted=pinned is not None),
            alarms=tuple(dict.fromkeys((*around.alarms, *open_before(store, around)))),
            notes=around.notes,
            index=indexed(store) if store.graph.is_file() else (),
        ),
        demand=Demand(require=require or Require.A2, since=since),
        progress=progress,
    )
    if not verdict.valid and store.folder == own.folder:
        keep_evidence(store, around, at=system_clock())
    return verdict


def _store_of(target: str | Path | None, own: Home) -> Home | None:
    """The store that a target is, or is in; None: it is a file."""
    if target is None:
        return own
    path = Path(target)
    if is_store(path) or (path.is_absolute() and not path.exists()):
        return Home(path)
    return None if path.is_file() else own


def live_epoch(around: ExternalEvidence, *, at: str, is_noted: bool) -> LiveEpoch | None:
    """What a store's signer says of its epochs; None if it has none, or does not count.

    Args:
        is_noted: whether the pinned key comes from off this machine.
    """
    signer = around.signer
    if signer is None or signer.epochs is None or signer.head is None:
        return None
    return LiveEpoch(key=signer.keys[-1], ends=signer.epochs.ends, at=at, is_noted=is_noted)


def verify_session(session: str, *, home: str | Path | None = None, require: Require = Require.A2) -> Verdict:
    """The verdict on one session: its journal, and the ledger as far as it speaks of it.

    Raises:
        NotFoundError, AmbiguousError: nothing, or several sessions, have that id or prefix.
    """
    store = Home(Path(home) if home is not None else default_folder(os.environ))
    unread = verdict_on_no_files(store)
    if unread is not None:
        return unread
    return verify_store(store, sessions=[find_session(store, session)], demand=Demand(require=require))


def find_session(home: Home, name: str) -> str:
    """The id of the session that `name` means: our id, the agent's own, or a unique prefix of at least 4 characters.

    Reads the first line of journals where the name is none of our ids. A prefix of the agent's id does not mean the session's
    sub-agents and continuations (`<id>/…`, `<id>~…`).

    Raises:
        NotFoundError, AmbiguousError: nothing, or several sessions, have that name.
    """
    ids = [sid for sid, _ in home.sessions()]
    if name in ids:
        return name
    own: dict[str, str] = {}
    for sid, line in journal_starts(home):
        key = start_key(line)
        if key is not None:
            own[sid] = key[1]
    exact = [sid for sid, source in own.items() if source == name]
    if len(exact) == 1:
        return exact[0]
    starts = [sid for sid in ids if sid.startswith(name) or _begins(own.get(sid, ""), name)]
    matches = exact or (starts if len(name) >= 4 else [])
    if len(matches) > 1:
        listed = "\n".join(f"  {sid}  {own.get(sid, '')}" for sid in matches[:20])
        raise AmbiguousError(f"{name!r} is ambiguous: {len(matches)} sessions:\n{listed}", hint="give more of the id")
    if not matches:
        raise NotFoundError(f"no session {name!r}", hint="`tally session list` lists the sessions")
    return matches[0]


def _begins(own: str, name: str) -> bool:
    rest = own.removeprefix(name)
    return rest != own and "/" not in rest and "~" not in rest


_MOST_SETTINGS = 1 << 20


class Part(enum.Enum):
    """What of a store is looked at before it is read."""

    RECORD = "record"
    """What docs/format.md says of it."""
    STORE = "store"
    """The settings too, and who signs: they are no part of the format."""


def verdict_on_no_files(home: Home, part: Part = Part.STORE) -> Verdict | None:
    """The verdict on a store that cannot be read because of what stands there; None: it can be read."""
    defects = tuple(_defects(home))
    if part is Part.STORE:
        defects = (*defects, *_defects_beside(home))
    if not defects:
        return None
    return Verdict(
        completeness=Completeness.MISSING,
        authenticity=Authenticity.UNSIGNED,
        level=Level.A1,
        why_not_higher="the store was not read: it contains a path that is not a regular file",
        defects=defects,
    )


def _defects(home: Home) -> Iterator[Defect]:
    """Of the record's own files as docs/format.md 19.9 says, in its order."""
    for path in (home.ledger, home.note):
        yield from _defect(None, path, os.lstat)
    for folder in (home.journals, home.note.parent, home.blobs):
        if os.path.lexists(folder) and not folder.is_dir():
            yield Defect(None, None, Rule.MISSING, f"{folder} is not a folder")
    for sid, journal in sorted((*home.files(), *_folders_of_journals(home))):
        yield from _defect(sid, journal, os.lstat)


def _defects_beside(home: Home) -> Iterator[Defect]:
    for path in (home.config, home.key.parent / "signer.json"):
        yield from _defect(None, path, os.stat, _MOST_SETTINGS)


def _folders_of_journals(home: Home) -> Iterator[tuple[str, str]]:
    """The folders, and links to folders, that have the name of a journal: the session that it says, and the path."""
    for parent, below, _ in os.walk(home.journals, onerror=_refuse):
        for name in below:
            sid = name.removesuffix(".jsonl")
            if sid != name and SESSION_ID.match(sid):
                yield sid, f"{parent}{os.sep}{name}"


def _refuse(error: OSError) -> None:
    """A folder that cannot be listed must not look like sessions that are gone; what is not a folder lists nothing."""
    if not isinstance(error, FileNotFoundError | NotADirectoryError) and error.errno != errno.ELOOP:
        raise error


def _defect(
    sid: str | None, path: Path | str, look: Callable[[Path | str], os.stat_result], most: int | None = None
) -> Iterator[Defect]:
    try:
        found = look(path)
    except OSError:
        return  # what is not there is found missing where it matters
    if not stat.S_ISREG(found.st_mode):
        yield Defect(
            sid, None, Rule.MISSING, f"{path} is not a file: a link, a pipe, a device or a folder is in its place"
        )
    elif most is not None and found.st_size > most:
        yield Defect(sid, None, Rule.LIMIT, f"{path} has {found.st_size} bytes; the limit is {most}")
