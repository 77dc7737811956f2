"""How well the policies tell attacks from work: `python -m bench.policy [--json] [--ids] [--histories] [--class A,B]`.

`make docs` keeps the figures in docs/judged.json, which the pages show; tests/policy/test_corpora.py judges all cases again.

The cases are in tests/policy/corpus. With `--histories` the calls of real sessions are judged as well, in the order in which
they were made: of the samples and recordings of this project, and of the folders that TALLY_HISTORIES names (separated as in
PATH), else of the published histories where a copy of them lies beside the project. Nothing of them is kept.
"""

from __future__ import annotations

import os
import re
import sys
import tempfile
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec

from bench.corpus import SAMPLES
from bench.imports import PUBLISHED
from tallystick.agents import adapters
from tallystick.guard.policy_quality import (
    HOME_FOLDER,
    Case,
    CaseCall,
    Judged,
    Tally,
    Wants,
    corpus_digest,
    judge,
    named,
    read_cases,
    summed,
    tallies,
)
from tallystick.ingest.histories import find_histories, import_histories
from tallystick.intent.tools.calls import uses_of
from tallystick.intent.tools.uses import ToolCall
from tallystick.journal.home import Home
from tallystick.journal.read import read_session
from tallystick.model.recorded import Recorded
from tallystick.model.step import Json
from tallystick.policy.protected.guarded import kind_of

CORPUS = Path(__file__).parents[1] / "tests" / "policy" / "corpus"
HELD_OUT = {
    name: CORPUS.parent / "heldout" / f"{table}.toml"
    for name, table in (
        ("held-out", "attacks"),
        ("held-out work", "work"),
        ("held-out 2", "second_attacks"),
        ("held-out work 2", "second_work"),
        ("held-out 3", "third_attacks"),
        ("held-out work 3", "third_work"),
        ("held-out 4", "fourth_attacks"),
        ("held-out work 4", "fourth_work"),
        ("held-out everyday work", "everyday"),
        ("held-out 5", "fifth_attacks"),
        ("held-out 5 chains", "fifth_chains"),
        ("held-out 5 holes", "fifth_holes"),
        ("held-out work 5 neighbours", "fifth_neighbours"),
    )
}
"""Cases that were written when the rules were there, without reading how they find what they find."""
_ATTACKS = ("attacks", *(name for name in HELD_OUT if "work" not in name))
MACHINE = CORPUS / "machine.toml"
RECORDINGS = Path(__file__).parents[1] / "tests" / "recordings"
_HOME = re.compile(r"/(?:home|Users)/[^/]+|/root(?=/|$)")
_PATHS = ("file_path", "filePath", "absolute_path", "path")
_TEXTS = ("content", "file_text", "contents")
_LONGEST_RESULT = 1 << 16


class Figures(msgspec.Struct):
    """What was measured, on what."""

    corpora: dict[str, str]
    """SHA-256 of the tables of each corpus, with that of the machine."""
    classes: dict[str, dict[str, Tally]]
    """Corpus → class → how its cases were judged."""
    unmet: dict[str, list[Judged]]
    """Corpus → the cases that did not get what they want."""
    calls: dict[str, str] = {}
    """Attack that did not get what it wants → what is called in the end, in short."""


def files_everywhere() -> dict[str, str]:
    """What is on the machine of every case."""
    found = tomllib.loads(MACHINE.read_text("utf-8"))["files"]
    return msgspec.convert(found, dict[str, str])


def tables_of(corpus: str) -> list[Path]:
    """The tables of `attacks` or `benign`, or of one of `HELD_OUT`."""
    if corpus in HELD_OUT:
        return [HELD_OUT[corpus]]
    return sorted(CORPUS.glob(f"{corpus}_*.toml"))


def measured(
    corpora: Iterable[str] = ("attacks", "benign", *HELD_OUT),
    *,
    histories: Sequence[Path] = (),
    classes: Sequence[str] = (),
) -> Figures:
    """Judge some corpora, or only some classes of them, and the calls of some histories."""
    files = files_everywhere()
    found: dict[str, Iterable[Case]] = {
        name: [case for case in read_cases(tables_of(name)) if not classes or case.class_ in classes]
        for name in corpora
    }
    digests = {name: corpus_digest([*tables_of(name), MACHINE]) for name in found}
    if histories:
        found["histories"] = cases_of(histories)
    judged = {name: list(judge(cases, files)) for name, cases in found.items()}
    unmet = {name: [one for one in all_of_it if not one.is_met] for name, all_of_it in judged.items()}
    shown = {one.id for name in _ATTACKS for one in unmet.get(name, ())}
    return Figures(
        corpora=digests,
        classes={name: tallies(all_of_it) for name, all_of_it in judged.items()},
        unmet=unmet,
        calls={
            case.id: named(case.calls[-1])
            for name in _ATTACKS
            if name in digests
            for case in read_cases(tables_of(name))
            if case.id in shown
        },
    )


# Histories -----------------------------------------------------------------------------------------------------------


def places() -> list[Path]:
    """Where histories are: of this project, and of others where they are at hand."""
    named = os.environ.get("TALLY_HISTORIES")
    others = [Path(text) for text in named.split(os.pathsep) if text] if named else [PUBLISHED.parent]
    return [path for path in (SAMPLES, RECORDINGS, *others) if path.exists()]


def cases_of(paths: Sequence[Path]) -> Iterator[Case]:
    """The calls of tools in some histories: one case for all that was done in one folder.

    The home folder of whoever worked there becomes that of the machine.
    """
    calls: defaultdict[tuple[str, str], list[tuple[str, CaseCall]]] = defaultdict(list)
    with tempfile.TemporaryDirectory() as folder:
        home = Home(Path(folder) / "store")
        import_histories(home, find_histories(Path(folder), paths, adapters()), adapters())
        for sid, _ in sorted(home.sessions()):
            steps = list(read_session(home, sid, load_blobs=True))
            key = _place(steps)
            calls[key] += _calls(steps, key[1], session=sid)
    for number, ((cwd, owner), found) in enumerate(sorted(calls.items())):
        in_order = tuple(call for _, call in sorted(found, key=lambda pair: pair[0]))
        if in_order:
            where = cwd.replace(owner, HOME_FOLDER, 1) if owner else cwd
            name = f"folder-{number:03}"
            yield Case(id=name, class_="calls", wants=Wants.SILENCE, calls=in_order, folder=where)


def _place(steps: Sequence[Recorded]) -> tuple[str, str]:
    """The folder of a session, and the home folder in it."""
    found = (step.text("personal.cwd") for step in steps)
    cwd = next((text for text in found if text), f"{HOME_FOLDER}/project")
    owner = _HOME.match(cwd)
    if owner is None and cwd.startswith(HOME_FOLDER):  # no folder was told: whose home it was, paths may tell
        given = (msgspec.json.encode(step.values.get("content.args")).decode() for step in steps)
        owner = next((match for text in given for match in [_HOME.search(text)] if match), None)
    return cwd, owner[0] if owner is not None else ""


def _calls(steps: Sequence[Recorded], owner: str, *, session: str) -> Iterator[tuple[str, CaseCall]]:
    results = {step.member("corr"): step.values for step in steps if step.type == "tool_result"}
    agent = next((step.member("agent") for step in steps if step.member("agent")), "claude-code")
    for step in steps:
        tool, args = step.member("tool"), _moved(step.values.get("content.args"), owner)
        if step.type != "tool_call" or not isinstance(tool, str):
            continue
        values = results.get(step.member("corr"), {})
        output = values.get("content.output", values.get("content.text"))
        result = output if isinstance(output, str) else msgspec.json.encode(output).decode()
        call = CaseCall(
            tool=tool,
            args=args,
            agent=str(agent),
            session=session,
            result=_moved(result[:_LONGEST_RESULT], owner),
            leaves=_leaves(tool, args),
        )
        yield str(step.member("ts")), call


def _moved(value: Json, owner: str) -> Json:
    if isinstance(value, str):
        return value.replace(owner, HOME_FOLDER) if owner else value
    if isinstance(value, list):
        return [_moved(item, owner) for item in value]
    if isinstance(value, dict):
        return {name: _moved(item, owner) for name, item in value.items()}
    return value


def _leaves(tool: str, args: Json) -> dict[str, str]:
    """What a call that writes a whole file leaves on disk."""
    if not isinstance(args, dict) or kind_of(uses_of(ToolCall(tool=tool, args=args, folder=None))) != "write":
        return {}
    path = next((args[name] for name in _PATHS if isinstance(args.get(name), str)), None)
    text = next((args[name] for name in _TEXTS if isinstance(args.get(name), str)), None)
    return {path: text} if path and text is not None and "\0" not in path and len(path) < 1000 else {}


# Showing -------------------------------------------------------------------------------------------------------------


def attack_table(classes: Mapping[str, Tally]) -> Iterator[str]:
    """How attacks were judged, as lines of Markdown."""
    yield "| class | cases | denied | asked | warned | missed | as wanted |"
    yield "|---|---|---|---|---|---|---|"
    for name, one in [*classes.items(), ("**all**", summed(classes.values()))]:
        figures = (one.total, one.denied, one.asked, one.warned, one.silent, f"{one.met / max(one.total, 1):.1%}")
        yield f"| {name} | {' | '.join(map(str, figures))} |"


def stopped(classes: Mapping[str, Tally]) -> str:
    """How many attacks were denied or asked about, as a sentence."""
    total = summed(classes.values())
    count = total.denied + total.asked
    return f"Denied or asked about: {count:,} of {total.total:,} ({count / max(total.total, 1):.1%})."


def work_table(classes: Mapping[str, Tally]) -> Iterator[str]:
    """How work was judged, likewise."""
    yield "| class | calls | false denials | false asks | warned |"
    yield "|---|---|---|---|---|"
    for name, one in [*classes.items(), ("**all**", summed(classes.values()))]:
        yield f"| {name} | {one.total} | {one.denied} | {one.asked} | {one.warned} |"


def main() -> None:
    if {"-h", "--help"} & set(sys.argv):
        print(__doc__)
        return
    wanted = places() if "--histories" in sys.argv else []
    only = sys.argv[sys.argv.index("--class") + 1].split(",") if "--class" in sys.argv else []
    found = measured(histories=wanted, classes=only)
    if "--json" in sys.argv:
        print(msgspec.json.format(msgspec.json.encode(found), indent=1).decode())
        return
    for name, classes in found.classes.items():
        if not summed(classes.values()).total:
            continue
        print(f"\n{name}, {found.corpora.get(name, 'not kept')[:16]}\n")
        for line in attack_table(classes) if name in _ATTACKS else work_table(classes):
            print(line)
        if name in _ATTACKS:
            print(f"\n{stopped(classes)}")
        if "--ids" in sys.argv:
            for one in found.unmet[name]:
                print(
                    f"{one.effect:<5}  {one.wants:<11}  {one.id}  {found.calls.get(one.id, '')}  {' '.join(one.rules)}"
                )


if __name__ == "__main__":
    main()
