"""Everything about one step, and what a model call was given.

Owns gathering it from the journal and the ledger, and checking the line against its hash and a model call's input against
its digest. The answer is about this line; whether the whole record stands is verify's.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from hashlib import sha256

import msgspec

from tallystick.errors import FormatError, NotFoundError, UsageError
from tallystick.journal.blobs import blob_reader
from tallystick.journal.home import Home
from tallystick.journal.lines import LineFile
from tallystick.journal.read import read_file, read_line
from tallystick.model.recorded import Recorded
from tallystick.model.step import Input, Json
from tallystick.recording.entry_index import KnownStep, KnownSteps, PathInput
from tallystick.seal.line import check_content, parse_line
from tallystick.workspace.ledger import ledger_entries

_LARGEST_SHOWN = 4 << 20
_NOT_GIVEN = frozenset(("model_call", "usage", "sighting"))
"""Types of steps on a path that say something about a call, and were not given to it."""


class Erasure(msgspec.Struct, frozen=True):
    """What the ledger says about values that are gone: when, on which ground, and why. `retention` names its rule."""

    names: tuple[str, ...]
    recorded: str | None
    basis: str | None
    reason: str | None


class Shown(msgspec.Struct, frozen=True, kw_only=True):
    """A step with all that is known of it.

    `step` has the values of JSON blobs up to 4 MiB; `blobs` are the sizes of all values that are kept as blobs. `defect` is
    what is wrong with its line, None if its hash is that of its values. `head_size` is the size of the session's newest head
    that covers it, None if none does yet.
    """

    step: Recorded
    blobs: dict[str, int]
    erasures: tuple[Erasure, ...]
    defect: str | None
    head_size: int | None


def show_step(home: Home, session: str, n: int, offset: int) -> Shown:
    """The step whose line begins at byte `offset` of a session's journal.

    Raises:
        NotFoundError: there is no such step there. FormatError: its line is none of ours.
    """
    text = _line_at(home, session, offset)
    step = read_line(home, text, load_blobs=True, largest=_LARGEST_SHOWN)
    if step.session != session or step.n != n:
        raise NotFoundError(
            f"step {session}:{n} is not where the index says", hint="`tally rebuild` rebuilds the index"
        )
    erasures, head_size = _in_ledger(home, step)
    return Shown(
        step=step,
        blobs=dict(read_line(home, text).unloaded),
        erasures=tuple(erasures),
        defect=_defect(home, text),
        head_size=head_size,
    )


def _line_at(home: Home, session: str, offset: int) -> bytes:
    path = home.journal(session)
    text = None
    if path is not None:
        text = next(iter(LineFile(path, start=offset)), None)
    if text is None:
        raise NotFoundError(f"the journal of session {session} has no line there", hint="run `tally verify`")
    return text


def _defect(home: Home, text: bytes) -> str | None:
    try:
        check_content(parse_line(text), read_blob=blob_reader(home.blobs))
    except FormatError as error:
        return f"{error.rule}: {error}"
    return None


def _in_ledger(home: Home, step: Recorded) -> tuple[list[Erasure], int | None]:
    """What was taken from a step, and the size of its session's newest head if that covers the step."""
    erasures: list[Erasure] = []
    size = 0
    for entry in ledger_entries(home, holding=step.session.encode()):
        if entry.meta.get("session") != step.session:
            continue
        if entry.type == "session_head" and type(entry.meta.get("size")) is int:
            size = max(size, entry.meta["size"])
        elif entry.type == "erasure" and entry.meta.get("n") == step.n:
            erasures.append(_erasure(entry))
        elif entry.type == "retention" and _covers(entry, step.n):
            rule = f"the rule `{entry.meta.get('rule')}`"
            erasures.append(msgspec.structs.replace(_erasure(entry), basis="retention", reason=rule))
    return erasures, size if size > step.n else None


def _covers(entry: Recorded, n: int) -> bool:
    first, last = entry.meta.get("from"), entry.meta.get("to")
    return type(first) is int and type(last) is int and first <= n <= last


def _erasure(entry: Recorded) -> Erasure:
    names = entry.meta.get("names")
    return Erasure(
        names=tuple(map(str, names)) if isinstance(names, list) else (),
        recorded=_text_or_none(entry.meta.get("recorded")),
        basis=_text_or_none(entry.meta.get("basis")),
        reason=entry.text("content.reason"),
    )


def _text_or_none(value: Json) -> str | None:
    if isinstance(value, str):
        return value
    return None


# What a model call was given -----------------------------------------------------------------------------------------


class Given(msgspec.Struct, frozen=True, kw_only=True):
    """What a model call was given: the steps, oldest first.

    `visible` is False where the source does not show it; then nothing else is said. `matches`: the hashes of the steps on
    the path give the digest that was sealed with the call. `on_path` counts all steps of the path, those left out of
    `steps` among them because they only say something about a call.
    """

    visible: bool
    steps: tuple[Recorded, ...] = ()
    on_path: int = 0
    digest: str | None = None
    matches: bool = False


def given_to(home: Home, call: Recorded) -> Given:
    """What the model call `call` was given.

    Raises: UsageError: it is not a step that says what it was given. FormatError: what it says cannot be read.
    """
    said = call.meta.get("input")
    if said is None:
        hint = "`tally replay SESSION --type model_call` lists those that do"
        raise UsageError(f"step {call.n}, of type {call.type}, has no recorded input", hint=hint)
    if said == Input.HIDDEN.value:
        return Given(visible=False)
    digest = None
    if isinstance(said, dict):
        digest = said.get("digest")
    if not isinstance(digest, str):
        raise FormatError(f"step {call.n}: cannot read its input")
    wanted = _numbers(home, call, said)
    found = {step.n: step for step in _steps(home, call.session, set(wanted))}
    # In the order in which the model was given them, which need not be that of the journal.
    given = [found[n] for n in wanted if n in found]
    state = sha256(b"".join(bytes.fromhex(step.hash) for step in given))
    matches = len(given) == len(wanted) and state.hexdigest() == digest
    steps = tuple(step for step in given if step.type not in _NOT_GIVEN)
    return Given(visible=True, steps=steps, on_path=len(wanted), digest=digest, matches=matches)


def _steps(home: Home, session: str, wanted: set[int]) -> Iterator[Recorded]:
    path = home.journal(session)
    last = max(wanted, default=-1)
    for placed in read_file(home, path) if path is not None else ():
        if placed.step.n > last:
            return
        if placed.step.n in wanted:
            yield placed.step


def _numbers(home: Home, call: Recorded, said: dict[str, Json]) -> list[int]:
    """The numbers of the steps that the call names, as runs (`"0-4"`) or by the last one of their path."""
    runs, tip = said.get("steps"), said.get("path")
    if type(tip) is int:
        return [n for first, last in _path(home, call.session, tip).runs for n in range(first, last + 1)]
    if isinstance(runs, list):
        with suppress(ValueError):
            return [n for run in runs for n in _run(str(run), call.n)]
    raise FormatError(f"step {call.n}: cannot read its input")


def _run(text: str, limit: int) -> range:
    first, _, last = text.partition("-")
    run = range(int(first), int(last or first) + 1)
    if run.start < 0 or run.stop > limit:  # a model is given what came before
        raise ValueError
    return run


def _path(home: Home, session: str, tip: int) -> PathInput:
    known = KnownSteps()
    path = home.journal(session)
    for placed in read_file(home, path) if path is not None else ():
        step = placed.step
        known.add(KnownStep(bytes.fromhex(step.hash), placed.offset, step.parents))
        if step.n == tip:
            return known.path_to(tip)
    raise FormatError(f"cannot read the path to step {tip}")
