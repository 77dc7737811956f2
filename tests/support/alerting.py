"""A store with alerts, made as the recorder makes them: each decision that speaks against a call gives one."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable
from contextlib import closing
from importlib.resources import files

from msgspec.structs import replace

from tallystick.graph.graph import Graph, Mode
from tallystick.journal.home import Home
from tallystick.model.step import Json, Opening, Ref, Source, Step
from tallystick.policy.alert import alert_of_decision
from tallystick.recording.alert_chain import AlertChain, known_head, place_of
from tallystick.recording.record import as_said
from tallystick.recording.session_writer import SessionWriter, Taken
from tallystick.trust.rebuild import rebuild
from tallystick.workspace.indexing import bring_up_to_date, take_alerts

SESSION = "work"
AGENT = "demo"
PROMPT: dict[str, Json] = {"content.text": "Do it."}


def lay_tables(graph: Graph) -> None:
    """Lay the tables beside `alerts`, if the index does not have them by itself."""
    if graph.row("SELECT 1 FROM sqlite_master WHERE name = 'alert_chain_head'") is not None:
        return
    waiting = ""
    for line in files("tallystick.graph").joinpath("alerts.sql").read_text("utf-8").splitlines(keepends=True):
        waiting += line
        if sqlite3.complete_statement(waiting):
            graph.change(waiting)
            waiting = ""


def bring_alerts_up_to_date(home: Home) -> int:
    """Bring the index up to date, and its alerts; how many there are then."""
    with Graph(home.graph, Mode.WRITE) as graph:
        lay_tables(graph)
        bring_up_to_date(home, graph)
        take_alerts(home, graph)
        found = graph.row("SELECT count(*) FROM alerts")
    assert found is not None
    return int(found[0])


def rebuild_with_alerts(home: Home) -> int:
    """Make the index anew, and its alerts; how many there are then."""
    rebuild(home)
    return bring_alerts_up_to_date(home)


def refuse(
    session_writer: SessionWriter,
    chain: AlertChain,
    number: int,
    *,
    session: str = SESSION,
    effect: str = "deny",
    text: str = "No.",
    path: str = "/home/dev/.tally/ledger.jsonl",
    found: Json = None,
) -> Taken | None:
    """Record a call, the decision on it, and its alert."""
    if session_writer.writer.find(AGENT, session) is None:
        session_writer.open(Opening(session=session, agent=AGENT, source=Source.HOOK))
        prompt = Step(
            session=session, type="user", source=Source.HOOK, source_id="p", values=PROMPT, opens_request=True
        )
        session_writer.add(AGENT, prompt)
    id_, ts = f"c{number}", f"2026-01-02T03:04:{number:02}.000000Z"
    call = Step(
        session=session,
        type="tool_call",
        source=Source.HOOK,
        source_id=id_,
        ts=ts,
        meta={"tool": "Write", "corr": id_},
        values={"content.args": {"file_path": path}},
    )
    taken = session_writer.add(AGENT, call)
    meta: dict[str, Json] = {"effect": effect, "rules": ["tally.store"], "decided_by": "policy", "corr": id_}
    decision = Step(
        session=session,
        type="decision",
        source=Source.HOOK,
        source_id=f"{id_}/decision",
        ts=ts,
        meta=meta,
        values={"content.text": text, **({"content.evidence": found} if found is not None else {})},
        after=(Ref(id_),),
        within=Ref(id_),
    )
    session_writer.add(AGENT, replace(decision, values=as_said(decision.values)))
    record = session_writer.writer.find(AGENT, session)
    assert record is not None
    alert = alert_of_decision(decision, call, place_of(record, taken.n), created_at=1_767_323_045_000 + number)
    assert alert is not None
    return chain.add(record, alert)


def store_with(home: Home, numbers: Iterable[int], *, sessions: Callable[[int], str] = lambda _: SESSION) -> None:
    """Have calls refused, and the index brought up to date."""
    bring_alerts_up_to_date(home)
    with SessionWriter(home) as session_writer:
        chain = AlertChain(session_writer, known_head(home))
        for number in numbers:
            refuse(session_writer, chain, number, session=sessions(number))
    bring_alerts_up_to_date(home)


def tamper(home: Home, *statements: str) -> None:
    """Change the index with SQL of any kind, as somebody who can write the file does."""
    with closing(sqlite3.connect(home.graph)) as database:
        for statement in statements:
            database.execute(statement)
        database.commit()


def table(home: Home) -> list[tuple[object, ...]]:
    """All rows of `alerts`, and the anchor."""
    with Graph(home.graph) as graph:
        rows = graph.rows("SELECT * FROM alerts ORDER BY alert_id")
        return [*rows, *graph.rows("SELECT * FROM alert_chain_head")]
