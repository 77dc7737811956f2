"""`gptme-provenance`, which gptme runs for `gptme provenance`: its five commands, on a store or on a folder of plain ledgers.

Owns the translation to commands of `tally`, the one-line verdict (`valid | 28 steps | truncated: False`), and how plain
ledgers are shown. What a ledger's hashes say is exports.ledger's.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tallystick.display.text import first_line, one_line
from tallystick.errors import TallystickError

if TYPE_CHECKING:
    from tallystick.capture.ledger_files import LedgerFolder
    from tallystick.exports.ledger import LedgerVerdict
    from tallystick.graph.alerts import AlertEntry
    from tallystick.journal.home import Home
    from tallystick.model.step import Json

_USAGE = """\
usage: gptme provenance [--dir DIR] COMMAND

  verify SESSION                     valid or not, how many steps, truncated or not
  list                               the sessions of gptme
  show SESSION                       one session
  replay SESSION [--from-step STEP]  a session step by step, as it happened
  demo                               see it at work on recorded sessions

DIR is a store, or a folder of ledgers (`DIR/sessions/SESSION.jsonl`). Without it: $TALLY_HOME, else ~/.tally if it is there,
else ~/.local/share/gptme/provenance. On ledgers each command takes --json, on a store the options of `tally` besides."""
_WORDS = {
    "list": ["session", "list", "--agent", "gptme", "--agent", "gptme-ledger"],
    "show": ["session", "show"],
    "replay": ["replay"],
    "demo": ["demo"],
}
_ABOUT_OTHERS = ("alert", "sighting")
_LONGEST = 60
_NAME_COLUMN, _TYPE_COLUMN = 11, 12


def main(words: Sequence[str] | None = None) -> None:
    """Run the command that the words name, and end the process with its exit code."""
    from tallystick.cli.command import FAILED, USAGE

    rest = list(sys.argv[1:] if words is None else words)
    folder = None
    if rest[:1] == ["--dir"] and len(rest) > 1:
        folder, rest = Path(rest[1]), rest[2:]
    if not rest or rest[0] in ("-h", "--help"):
        sys.stdout.write(_USAGE + "\n")
        if rest:
            sys.exit(0)
        else:
            sys.exit(USAGE)
    if rest[0] not in (*_WORDS, "verify"):
        _end(f"no command {rest[0][:80]!r}\n{_USAGE}", USAGE)
    ledgers = _ledgers_in(folder)
    try:
        if ledgers is not None and rest[0] != "demo":
            sys.exit(_of_ledgers(ledgers, rest[0], rest[1:]))
        _of_store(folder, rest[0], rest[1:])
    except TallystickError as error:
        _end(str(error), FAILED)


def _end(said: str, code: int) -> None:
    sys.stderr.write(f"gptme provenance: {said}\n")
    sys.exit(code)


def _ledgers_in(folder: Path | None) -> LedgerFolder | None:
    """The folder of ledgers that is meant; None: a store is."""
    from tallystick.capture.ledger_files import LedgerFolder
    from tallystick.ingest.ledger_checks import ledger_folder

    store = _store(folder)
    if store.exists:
        return None
    if folder is None:
        folder = ledger_folder(Path(os.environ.get("HOME", "~")).expanduser())
    found = LedgerFolder(folder)
    if found.exists:
        return found
    return None


# A store --------------------------------------------------------------------------------------------------------------


def _of_store(folder: Path | None, command: str, rest: Sequence[str]) -> None:
    from tallystick.cli import main as tally

    home = ["--home", str(folder)] if folder is not None else []
    if command == "verify" and len(rest) == 1:
        sys.exit(_verify(folder, rest[0]))
    options = list(rest)
    if "--from-step" in options[:-1]:
        at = options.index("--from-step")
        options[at : at + 2] = ["--from", _step_of(folder, options[0], options[at + 1])]
    tally([*home, *_WORDS.get(command, [command]), *options])


def _step_of(folder: Path | None, session: str, name: str) -> str:
    """A step by the id that its ledger gave it, or a prefix of that, in words of `tally`; other names as they are."""
    from tallystick.errors import AmbiguousError
    from tallystick.journal.read import read_session
    from tallystick.trust.verify_named import find_session

    store = _store(folder)
    sid = find_session(store, session)
    found: dict[str, int] = {}
    for step in read_session(store, sid):
        own = str(step.member("source_id") or "")
        if own.startswith(name) and step.type not in _ABOUT_OTHERS:
            found.setdefault(own, step.n)
    if len(found) > 1:
        raise AmbiguousError(f"{name!r} is the beginning of {len(found)} steps", hint="give more of its step_id")
    return next((f"{sid}:{n}" for n in found.values()), name)


def _store(folder: Path | None) -> Home:
    from tallystick.journal.home import Home, default_folder

    return Home(folder if folder is not None else default_folder(os.environ))


def _verify(home: Path | None, session: str) -> int:
    """One line for one session; 0 sound, 2 tampered, 4 malformed, 1 could not run: as `tally verify`.

    A ledger that did not hold when it was imported is INVALID, however sound the record of it is.
    """
    from tallystick.cli.command import TAMPERED
    from tallystick.ingest.ledger_checks import broken_ledgers
    from tallystick.model.verdict import Require
    from tallystick.trust.verify_named import find_session, verify

    store = _store(home)
    verdict = verify(session, home=store.folder, require=Require.A1)
    broken: tuple[AlertEntry, ...] = ()
    if verdict.exit_code == 0:
        broken = broken_ledgers(store, find_session(store, session))
    sys.stdout.write(_said(verdict.valid and not broken, verdict.steps, truncated=verdict.truncated))
    for alert in broken:
        sys.stdout.write(f"   the record of it is sound; when it was imported, {one_line(alert.message)}\n")
    if broken:
        return TAMPERED
    return verdict.exit_code


def _said(valid: bool, steps: int, *, truncated: bool) -> str:
    if valid:
        return f"✅ valid | {steps} steps | truncated: {truncated}\n"
    return f"❌ INVALID | {steps} steps | truncated: {truncated}\n"


# Plain ledgers --------------------------------------------------------------------------------------------------------


def _of_ledgers(ledgers: LedgerFolder, command: str, words: Sequence[str]) -> int:
    from tallystick.cli.command import USAGE

    rest = [word for word in words if word != "--json"]
    as_json = len(rest) != len(words)
    start = None
    if command == "replay" and len(rest) == 3 and rest[1] == "--from-step":
        start, rest = rest[2], rest[:1]
    if len(rest) != (command != "list"):
        _end(f"{command} takes {'a session' if command != 'list' else 'no more words'}\n{_USAGE}", USAGE)
    if command == "list":
        return _list(ledgers, as_json=as_json)
    session = ledgers.find(rest[0])
    answer: Callable[[], int] = {
        "verify": lambda: _verify_ledger(ledgers, session, as_json=as_json),
        "show": lambda: _show(ledgers, session),
        "replay": lambda: _replay(ledgers, session, start, as_json=as_json),
    }[command]
    return answer()


def _list(ledgers: LedgerFolder, *, as_json: bool) -> int:
    from tallystick.cli.context import table

    found = [(session, _verdict(ledgers, session)) for session in ledgers.sessions()]
    if as_json:
        _print_json([{"session": session, **_members(verdict)} for session, verdict in found])
        return 0
    rows = ((one_line(session), f"{verdict.steps:,}", _word(verdict)) for session, verdict in found)
    for line in table(rows, head=("SESSION", "STEPS", "LEDGER"), right=frozenset((1,))):
        click.echo(line)
    return 0


def _word(verdict: LedgerVerdict) -> str:
    if not verdict.valid:
        return "INVALID"
    if verdict.truncated:
        return "valid, truncated"
    return "valid"


def _verdict(ledgers: LedgerFolder, session: str) -> LedgerVerdict:
    from tallystick.capture.ledger_files import ledger_lines
    from tallystick.exports.ledger import verify_ledger

    return verify_ledger(ledger_lines(ledgers.path(session)))


def _members(verdict: LedgerVerdict) -> dict[str, object]:
    bad = verdict.first_bad
    return {
        "valid": verdict.valid,
        "truncated": verdict.truncated,
        "steps": verdict.steps,
        "first_bad": {"index": bad.index, "check": bad.check.value, "why": bad.why} if bad is not None else None,
    }


def _verify_ledger(ledgers: LedgerFolder, session: str, *, as_json: bool) -> int:
    from tallystick.cli.command import TAMPERED

    verdict = _verdict(ledgers, session)
    if as_json:
        _print_json(_members(verdict))
    else:
        sys.stdout.write(_said(verdict.valid, verdict.steps, truncated=verdict.truncated))
        if verdict.first_bad is not None:
            bad = verdict.first_bad
            sys.stdout.write(f"   record {bad.index} ({bad.check.value}): {bad.why}\n")
    if verdict.valid:
        return 0
    return TAMPERED


def _records(ledgers: LedgerFolder, session: str) -> Iterator[Mapping[str, Json]]:
    from tallystick.capture.ledger_files import ledger_lines
    from tallystick.exports.ledger import records_of

    return records_of(ledger_lines(ledgers.path(session)))


def _show(ledgers: LedgerFolder, session: str) -> int:
    _print_json(list(_records(ledgers, session)))
    return 0


def _replay(ledgers: LedgerFolder, session: str, start: str | None, *, as_json: bool) -> int:
    from tallystick.exports.ledger import walk

    records: Iterable[Mapping[str, Json]] = _records(ledgers, session)
    if start is not None:
        records = walk(records, start)
    if as_json:
        _print_json(list(records))
        return 0
    for record in records:
        sys.stdout.write(_line(record) + "\n")
    return 0


def _line(record: Mapping[str, Json]) -> str:
    """`[HH:MM:SS] step_type  name  → (NNNms) summary`."""
    clock = one_line(str(record.get("started_at") or ""))[11:19] or "--:--:--"
    kind = one_line(str(record.get("step_type") or "?"))[:_LONGEST].ljust(_TYPE_COLUMN)
    name = one_line(str(record.get("tool_name") or ""))[:_LONGEST].ljust(_NAME_COLUMN)
    output = record.get("output")
    summary = ""
    if output is not None:
        summary = first_line(output if isinstance(output, str) else json.dumps(output), _LONGEST)
    return f"[{clock}] {kind} {name} → ({record.get('duration_ms') or 0}ms) {summary}".rstrip()


def _print_json(value: object) -> None:
    sys.stdout.write(json.dumps(value, indent=2) + "\n")
