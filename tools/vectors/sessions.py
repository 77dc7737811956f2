"""Vectors on how sessions hang together, and on how they end when nothing ended them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from tools.vectors.maker import Journal, Store, alpha, beta, journal_path, lone, moment, open_session, session_id
from tools.vectors.vector import Vector, sound_file, sound_store


def trees() -> Iterator[Vector]:
    yield _tree("child", "7", "a sub-agent's session: spawned by a step, and ended by one", *child())
    yield _tree("fork-and-merge", "7", "a fork of a session, and a merge of both tips", *fork())
    yield _tree("continuation", "7", "a session that goes on in another after its compaction", *continuation())
    yield _tree("resumed", "7", "a session that ended, went on and ended again", resumed())
    parent = alpha()
    foreign = Journal(session_id("foreign"))
    foreign.add("session_start", parents=(parent.reference(2),), agent="demo", kind="fork")
    yield Vector(
        name="foreign-parent-unresolved",
        title="a lone file of a fork: the session it hangs on is not at hand, which is said and no defect",
        section="14",
        files=lone(foreign),
        expect=sound_file(1),
    )
    yield Vector(
        name="29-parent-in-no-session",
        title="a lone file cannot tell that the session it refers to does not exist",
        case=29,
        section="14",
        level="A2",
        files=lone(orphan()),
        expect=sound_file(2),
    )
    claimed = Journal(session_id("claimed"))
    claim = {"session": "s-99", "step": "c7"}
    claimed.add("session_start", agent="demo", kind="child", parent_source=claim)
    claimed.add("session_end", status="completed")
    yield _tree("claimed-parent", "7", "the parent step was not recorded: a claim instead of an edge", claimed)


def _tree(name: str, section: str, title: str, *journals: Journal) -> Vector:
    steps = sum(len(journal.sealed) for journal in journals)
    files = Store(*journals).seal().files()
    return Vector(name=name, title=title, section=section, files=files, expect=sound_store(steps))


def child() -> tuple[Journal, Journal]:
    parent, sub = Journal(session_id("parent")), Journal(session_id("child"))
    parent.add("session_start", agent="demo", kind="root", source_session="p")
    call = parent.add("tool_call", {"content.args": {"prompt": "look"}}, source_id="c1", corr="c1", tool="Task")
    start = parent.add("subagent_start", source_id="c1/start", parent=call)
    sub.add("session_start", parents=(parent.reference(start),), agent="demo", kind="child", source_session="p/a")
    sub.add("user", {"content.text": "look"}, source_id="u1")
    end = sub.add("session_end", status="completed")
    parent.add("subagent_end", parents=(start, sub.reference(end)), source_id="c1/end")
    parent.add("session_end", status="completed")
    return parent, sub


def fork() -> tuple[Journal, Journal]:
    trunk, branch = Journal(session_id("trunk")), Journal(session_id("branch"))
    trunk.add("session_start", agent="demo", kind="root", source_session="t")
    shared = trunk.add("user", {"content.text": "try both ways"}, source_id="u1")
    branch.add("session_start", parents=(trunk.reference(shared),), agent="demo", kind="fork", source_session="b")
    tip = branch.add("assistant", {"content.text": "the second way"}, source_id="a2")
    branch.add("session_end", status="completed")
    first = trunk.add("assistant", {"content.text": "the first way"}, source_id="a1")
    trunk.add("merge", parents=(first, branch.reference(tip)), source_id="m1")
    trunk.add("session_end", status="completed")
    return trunk, branch


def continuation() -> tuple[Journal, Journal]:
    first, second = Journal(session_id("first")), Journal(session_id("second"))
    first.add("session_start", agent="demo", kind="root", source_session="k")
    compaction = first.add("compaction", {"content.text": "so far"}, source_id="k1")
    first.add("session_end", status="completed")
    reference = first.reference(compaction)
    second.add("session_start", parents=(reference,), agent="demo", kind="continuation", source_session="k~1")
    second.add("session_end", status="completed")
    return first, second


def resumed() -> Journal:
    journal = beta()
    journal.add("session_start", agent="demo", resumed=True)
    journal.add("user", {"content.text": "And 7 times 8?"}, source_id="u2")
    journal.add("session_end", status="completed")
    return journal


def orphan() -> Journal:
    """A session that refers to one that never was."""
    journal = Journal(session_id("orphan"))
    journal.add("session_start", agent="demo", kind="root")
    journal.add("user", parents=(f"{session_id('nowhere')}#{'5' * 64}",), source_id="u1")
    return journal


def interrupted() -> Iterator[Vector]:
    files = lone(alpha())
    files["journal.jsonl"] += b'{"entry":{"fields":"'
    yield Vector(
        name="39-torn-tail",
        title="bytes after the last LF are a torn write, never read as record",
        case=39,
        section="1",
        files=files,
        expect=sound_file(6),
    )
    going_on = open_session()
    yield Vector(
        name="open-session",
        title="a session that goes on: sound, and truncated",
        section="14",
        files=Store(going_on, beta()).seal().files(),
        expect=sound_store(7, completeness="truncated"),
    )
    yield Vector(
        name="open-session-require-sealed",
        title="a session that goes on is below `sealed`",
        section="14",
        files=Store(going_on, beta()).seal().files(),
        require="sealed",
        expect=sound_store(7, completeness="truncated", exit=3),
    )
    store = Store(going_on)
    store.head(going_on, 1).sign()
    yield Vector(
        name="unsealed-tail",
        title="two entries that no head covers yet",
        section="14",
        files=store.files(),
        expect=sound_store(3, completeness="truncated", unsealed=2),
    )
    crashed = Store(going_on).seal().files()
    crashed[journal_path(going_on.sid)] += b'{"entry":{"fields":"00'
    yield Vector(
        name="crash",
        title="a session that a crash cut short, with a torn line beyond what was sealed",
        section="14",
        files=crashed,
        expect=sound_store(3, completeness="truncated"),
    )
    empty = Store(beta()).seal().files() | {journal_path(session_id("empty")): b""}
    yield Vector(
        name="journal-without-lines",
        title="a journal whose first line was never written",
        section="14",
        files=empty,
        expect=sound_store(4, completeness="truncated", authenticity="partly signed"),
    )
    yield recovered()
    ended = beta()
    ended.add("recovery", bytes=20)
    yield Vector(
        name="recovery-after-end",
        title="a recovery after session_end: allowed, but the session no longer ends with session_end",
        section="7",
        files=Store(ended).seal().files(),
        expect=sound_store(5, completeness="truncated"),
    )
    backwards = alpha().rewritten(
        lambda specs: [replace(s, meta={**s.meta, "recorded": moment(50 - n)}) for n, s in enumerate(specs)]
    )
    yield Vector(
        name="60-clock-set-back",
        title="`recorded` goes back: order is `n`, so this is said and no defect",
        case=60,
        section="6.3",
        files=Store(backwards).seal().files(),
        expect=sound_store(6),
    )
    ledger_tail = Store(alpha(), beta())
    ledger_tail.head(alpha()).sign()
    ledger_tail.head(beta())
    yield Vector(
        name="unsealed-ledger-tail",
        title="a ledger entry beyond the head justifies nothing: its session counts as unsealed",
        section="14",
        files=ledger_tail.files(),
        expect=sound_store(10, completeness="truncated", authenticity="partly signed", unsealed=4),
    )


def recovered() -> Vector:
    journal = Journal(session_id("recovered"))
    journal.add("session_start", agent="demo", kind="root")
    journal.add("user", {"content.text": "go on"}, source_id="u1")
    torn = b'{"entry":{"fields":"8a3a'
    journal.add("recovery", {"local.source": {"digest": "0" * 64}}, bytes=len(torn))
    journal.add("session_end", status="completed")
    files = Store(journal).seal().files()
    files[f"store/torn/{journal.sid}-2-20260102T030407Z"] = torn
    return Vector(
        name="recovery",
        title="a torn line was moved away and a recovery step says so",
        section="11.5",
        files=files,
        expect=sound_store(4),
    )
