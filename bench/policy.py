"""How well the policies tell attacks from work: `python -m bench.policy`; `--help` lists what it takes.

`make docs` keeps the figures in docs/judged.json, which the pages show; tests/policy/test_corpora.py judges all cases again.

The cases are in tests/policy/corpus. With `--histories` the calls of real sessions are judged as well, in the order in which
they were made: of the folders that it names, else of the samples and recordings of this project and of the published
histories where a copy of them lies beside the project. What a replay assumes stands in `bench.histories`. Nothing of them is
kept but labels by digest (`bench.real_work`) and, with `--write`, figures in tallystick/guard/real_work.json.
"""

from __future__ import annotations

import argparse
import datetime
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path

import msgspec
from msgspec.structs import replace

from bench.corpus import SAMPLES
from bench.histories import cases_of
from bench.imports import PUBLISHED
from bench.real_work import (
    LABELS,
    Labels,
    counted,
    read_labels,
    sheet,
    stops_of,
    table,
    take_labels,
    write_labels,
    write_sheet,
)
from tallystick.guard.policy_quality import (
    Case,
    Judged,
    Tally,
    corpus_digest,
    judge,
    named,
    read_cases,
    summed,
    tallies,
)
from tallystick.guard.real_work import FIGURES, RealWork, keep

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
        ("held-out everyday work 6", "sixth_work"),
        ("held-out everyday work 6 tasks", "sixth_tasks"),
        ("held-out 6 neighbours", "sixth_neighbours"),
        ("held-out 7", "seventh_attacks"),
        ("held-out 7 chains", "seventh_chains"),
        ("held-out everyday work 7", "seventh_work"),
        ("held-out everyday work 7 tasks", "seventh_tasks"),
    )
}
"""Cases that were written when the rules were there, without reading how they find what they find."""
_ATTACKS = ("attacks", *(name for name in HELD_OUT if "work" not in name))
MACHINE = CORPUS / "machine.toml"
RECORDINGS = Path(__file__).parents[1] / "tests" / "recordings"


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
    classes: Sequence[str] = (),
) -> Figures:
    """Judge some corpora, or only some classes of them."""
    files = files_everywhere()
    found: dict[str, Iterable[Case]] = {
        name: [case for case in read_cases(tables_of(name)) if not classes or case.class_ in classes]
        for name in corpora
    }
    digests = {name: corpus_digest([*tables_of(name), MACHINE]) for name in found}
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
    """Where histories are that no one has to name: of this project, and of others where they are at hand."""
    return [path for path in (SAMPLES, RECORDINGS, PUBLISHED.parent) if path.exists()]


def on_histories(paths: Sequence[Path], labels: Labels, sheet_file: Path | None) -> RealWork:
    """Judge the calls of some histories; what is stopped is written to a sheet, for people to label."""
    cases = list(cases_of(paths))
    stops = list(stops_of(cases, judge(cases, files_everywhere())))
    if sheet_file is not None:
        write_sheet(sheet_file, sheet(stops, labels))
    return counted(cases, stops, labels)


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


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench.policy", description="Tell how policies judge cases.")
    parser.add_argument("--json", action="store_true", help="everything as one document")
    parser.add_argument("--ids", action="store_true", help="also each case that did not get what it wants")
    parser.add_argument("--class", dest="classes", default="", metavar="A,B", help="only cases of these classes")
    parser.add_argument(
        "--histories", nargs="*", type=Path, metavar="PATH", help="real histories instead of the corpora"
    )
    parser.add_argument(
        "--sheet", type=Path, metavar="FILE", help="write each stop to FILE, to be labelled right or wrong"
    )
    parser.add_argument("--take", type=Path, metavar="FILE", help="first take the labels that FILE, such a sheet, has")
    parser.add_argument("--labels", type=Path, default=LABELS, metavar="FILE", help="where labels are kept, by digest")
    parser.add_argument("--write", metavar="NAME", help=f"keep the figures as NAME in {FIGURES.name}")
    return parser.parse_args()


def main() -> None:
    given = _arguments()
    if given.histories is not None:
        _real_work(given)
        return
    found = measured(classes=[name for name in given.classes.split(",") if name])
    if given.json:
        print(msgspec.json.format(msgspec.json.encode(found), indent=1).decode())
        return
    for name, classes in found.classes.items():
        if summed(classes.values()).total:
            _print(name, found, with_ids=given.ids)


def _real_work(given: argparse.Namespace) -> None:
    labels = read_labels(given.labels)
    if given.take is not None:
        print(f"{take_labels(given.take, labels)} labels taken from {given.take}.")
        write_labels(given.labels, labels)
    found = on_histories(given.histories or places(), labels, given.sheet)
    if given.write is not None:
        keep(given.write, replace(found, measured=datetime.date.today().isoformat()))
    if given.json:
        print(msgspec.json.format(msgspec.json.encode(found), indent=1).decode())
        return
    for line in table(found):
        print(line)


def _print(name: str, found: Figures, *, with_ids: bool) -> None:
    print(f"\n{name}, {found.corpora.get(name, 'not kept')[:16]}\n")
    for line in attack_table(found.classes[name]) if name in _ATTACKS else work_table(found.classes[name]):
        print(line)
    if name in _ATTACKS:
        print(f"\n{stopped(found.classes[name])}")
    if with_ids:
        for one in found.unmet[name]:
            print(f"{one.effect:<5}  {one.wants:<11}  {one.id}  {found.calls.get(one.id, '')}  {' '.join(one.rules)}")


if __name__ == "__main__":
    main()
