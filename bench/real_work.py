"""Stops on real histories, and what people said of each: right or wrong.

Owns the sheet that is labelled, and the labels: a digest with the salt of their file stands for a call and the first rule
that stops it, so that no text of anybody's history is kept. Must not know how histories are read, nor how a call is judged.
"""

from __future__ import annotations

import csv
import secrets
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from hashlib import sha256
from pathlib import Path

import msgspec

from tallystick.guard.policy_quality import Case, CaseCall, Judged, named
from tallystick.guard.real_work import Counted, RealWork

LABELS = Path(__file__).parents[1] / "docs" / "real_work_labels.json"
"""What was said of the stops that this project has looked at."""
_SAID = ("right", "wrong")
_LONGEST = 700


class Stop(msgspec.Struct, frozen=True):
    """A call that was stopped."""

    judged: Judged
    call: CaseCall

    @property
    def rule(self) -> str:
        """The first rule that stops it."""
        return self.judged.rules[0] if self.judged.rules else "-"


class Labels(msgspec.Struct):
    """What people said: digest → right or wrong."""

    salt: str
    said: dict[str, str] = {}

    def digest(self, stop: Stop) -> str:
        """What stands for one stop."""
        told = msgspec.json.encode([stop.rule, stop.call.agent, stop.call.tool, stop.call.args], order="sorted")
        return sha256(self.salt.encode() + told).hexdigest()[:24]

    def of(self, stop: Stop) -> str:
        """What was said of a stop; nothing where no one did."""
        return self.said.get(self.digest(stop), "")


def read_labels(path: Path) -> Labels:
    """The labels of a file; without one, none, with a salt of their own."""
    if not path.exists():
        return Labels(salt=secrets.token_hex(16))
    return msgspec.json.decode(path.read_bytes(), type=Labels)


def write_labels(path: Path, labels: Labels) -> None:
    """Keep labels, in order, so that a change of them reads well."""
    kept = Labels(salt=labels.salt, said=dict(sorted(labels.said.items())))
    path.write_bytes(msgspec.json.format(msgspec.json.encode(kept), indent=1) + b"\n")


def stops_of(cases: Iterable[Case], judged: Iterable[Judged]) -> Iterator[Stop]:
    """The calls that were stopped."""
    of = {case.id: case.calls for case in cases}
    for one in judged:
        if not one.is_met:
            yield Stop(one, of[one.id.partition(" [")[0]][one.call])


def counted(cases: Iterable[Case], stops: Iterable[Stop], labels: Labels) -> RealWork:
    """The figures of some histories. A stop that no one labelled counts as neither right nor wrong."""
    calls = [call for case in cases for call in case.calls]
    said = [(stop, labels.of(stop)) for stop in stops]
    rules: dict[str, Counted] = {}
    of_rule: defaultdict[str, set[str]] = defaultdict(set)
    for stop, label in said:
        one = rules.setdefault(stop.rule, Counted())
        of_rule[stop.rule].add(stop.call.session)
        one.stops += 1
        one.wrong += label == "wrong"
        one.unlabelled += not label
        one.sessions = len(of_rule[stop.rule])
    return RealWork(
        calls=len(calls),
        sessions=len({call.session for call in calls}),
        stops=len(said),
        wrong=sum(label == "wrong" for _, label in said),
        unlabelled=sum(not label for _, label in said),
        sessions_stopped=len({stop.call.session for stop, _ in said}),
        sessions_wrongly_stopped=len({stop.call.session for stop, label in said if label == "wrong"}),
        rules=dict(sorted(rules.items())),
    )


def sheet(stops: Iterable[Stop], labels: Labels) -> Iterator[tuple[str, ...]]:
    """Each distinct stop once: what was said of it, how often it came, and what it is, for people to label."""
    found = list(stops)
    times = Counter(labels.digest(stop) for stop in found)
    yield ("label", "digest", "times", "effect", "rules", "agent", "call")
    for digest, stop in sorted({labels.digest(one): one for one in found}.items(), key=lambda pair: pair[1].rule):
        text = named(stop.call) if not isinstance(stop.call.args, dict) else _told(stop.call)
        yield (
            labels.said.get(digest, ""),
            digest,
            str(times[digest]),
            str(stop.judged.effect),
            " ".join(stop.judged.rules),
            stop.call.agent or "",
            text,
        )


def _told(call: CaseCall) -> str:
    text = f"{call.tool} {msgspec.json.encode(call.args).decode()}"
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}…"


def write_sheet(path: Path, rows: Iterable[tuple[str, ...]]) -> None:
    """Write a sheet, values apart by tabs."""
    with path.open("w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter="\t").writerows(rows)


def take_labels(path: Path, labels: Labels) -> int:
    """Take the labels that people wrote into a sheet; how many there were."""
    with path.open(encoding="utf-8", newline="") as file:
        said = {row["digest"]: row["label"] for row in csv.DictReader(file, delimiter="\t") if row["label"] in _SAID}
    labels.said |= said
    return len(said)


def table(found: RealWork) -> Iterator[str]:
    """The figures, as lines of Markdown."""
    per = 1000 / max(found.calls, 1)
    yield (
        f"{found.calls:,} calls of {found.sessions:,} sessions: {found.stops} stopped ({found.stops * per:.2f} of 1,000) in "
        f"{found.sessions_stopped} sessions; wrongly {found.wrong} ({found.wrong * per:.2f} of 1,000) in "
        f"{found.sessions_wrongly_stopped} sessions; not labelled {found.unlabelled}.\n"
    )
    yield "| rule | stops | of 1,000 calls | sessions | wrong | not labelled |"
    yield "|---|---|---|---|---|---|"
    for name, one in sorted(found.rules.items(), key=lambda pair: -pair[1].stops):
        yield f"| `{name}` | {one.stops} | {one.stops * per:.2f} | {one.sessions} | {one.wrong} | {one.unlabelled} |"
