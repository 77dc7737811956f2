"""`tally artifact`: one file, page or resource over all its versions, and lists of them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from tallystick.cli.command import Command, Group
from tallystick.cli.context import Run, counted, labelled, pass_run, table
from tallystick.cli.filters import limit_option
from tallystick.cli.fitting import wrapped
from tallystick.cli.nodes import edge_data, moment, name_of, node_data, relation_words, step_ref, tail
from tallystick.display.text import first_line, one_line
from tallystick.lineage.walk import Edge, NodeId, NodeKind

if TYPE_CHECKING:
    from tallystick.ask.artifact import ThingHistory
    from tallystick.ask.graph_walk import Known
    from tallystick.ask.unexplained import Report
    from tallystick.graph.resources import ListedThing, VersionRow

KINDS = ("file", "url", "mcp_resource", "commit", "search")

artifact = Group(
    "artifact",
    lazy={
        "show": (
            "tallystick.cli.ask.artifact:show",
            "Show one file, page or resource: its versions, facts, relations and risk tags.",
        ),
        "list": ("tallystick.cli.ask.artifact:list_", "List the files, pages and resources that agents used."),
        "unexplained": (
            "tallystick.cli.ask.artifact:unexplained",
            "List files that an agent wrote and that lead to no prompt.",
        ),
    },
    help="List the files, pages and resources that agents used.",
)

_FLAGS = {
    "is_agent_authored": "written by an agent",
    "is_unmatched_modified": "changed outside the agent",
    "is_executable": "executed as code",
    "is_memory_artifact": "read by agents as instructions",
    "is_persistent_target": "persists after a restart",
    "is_control_plane": "settings of an agent",
}


# One thing ------------------------------------------------------------------------------------------------------------


@click.command("show", cls=Command, example="tally artifact show src/shop.py")
@click.argument("path")
@limit_option("versions")
@pass_run
def show(run: Run, path: str, limit: int | None) -> None:
    """Show one file, page or resource: its versions, facts, relations and risk tags.

    PATH may also be a URL or a resource.
    """
    from tallystick.ask.artifact import thing_history
    from tallystick.workspace.indexing import open_index

    with open_index(run.home) as index:
        run.take(index.remarks)
        found = thing_history(run.home, index, path, folder=str(Path.cwd()), most_versions=run.limit(limit))
    run.answer("artifact", lambda: _data(found), _history_text(found, run.width))
    if found.version_count > len(found.versions):
        run.note(f"Showing the newest of {found.version_count:,} versions; --limit N shows more")


def _data(found: ThingHistory) -> dict[str, object]:
    import msgspec

    versions = [
        {**msgspec.to_builtins(version), "id": str(version.id), "made_by": _maker(found, version)}
        for version in found.versions
    ]
    return {
        "kind": found.thing.kind,
        "uri": found.thing.uri,
        "version_count": found.version_count,
        "versions": versions,
        "facts": found.facts,
        "relations": [edge_data(edge) for edge in found.relations],
        "nodes": [node_data(node) for node in found.nodes],
        "more_relations": {str(version): total for version, total in found.more_relations.items()},
        "tags": found.tags,
        "observations": found.observations,
    }


def _maker(found: ThingHistory, version: VersionRow) -> str | None:
    return next((node.step for node in found.nodes if node.node == NodeId(NodeKind.ARTIFACT, version.id)), None)


def _history_text(found: ThingHistory, width: int) -> Iterator[str]:
    yield click.style(f"{one_line(found.thing.uri)}  {one_line(found.thing.kind)}", bold=True)
    yield from labelled(_facts(found), indent="  ")
    yield click.style("  versions, the newest first", bold=True)
    for line in table(_version_cells(found), head=("VERSION", "SINCE (UTC)", "MADE BY", "DIGEST", "GONE (UTC)")):
        yield f"  {line}"
    known = {node.node: node for node in found.nodes}
    if found.relations:
        yield click.style("  relations", bold=True)
        for version in found.versions:
            yield from _relations(found, version, known, width)
    if found.tags:
        yield click.style("  risk tags", bold=True)
        for tag in found.tags:
            words = f"{one_line(tag.severity)} {one_line(tag.rule_id)}: "
            yield f"    {words}{first_line(tag.message, max(width - 60, 20))}  {moment(tag.observed_at)}"


def _facts(found: ThingHistory) -> Iterator[tuple[str, str]]:
    facts = found.facts or {}
    yield "known", ", ".join(words for name, words in _FLAGS.items() if facts.get(name))
    yield "last seen", _moment(facts.get("last_seen_at"))
    session = facts.get("last_modified_session_id")
    by = ""
    if session:
        by = f" in session {one_line(str(session)[:8])}"
    changed = _moment(facts.get("last_modified_at"))
    if changed:
        yield "changed", f"{changed} by {one_line(str(facts.get('last_modified_source')))}{by}"
    for name, words in (
        ("recent_unmatched_effect_count", "recent changes outside the agent"),
        ("recent_cross_session_write_count", "recent writes that follow those of another session"),
    ):
        if facts.get(name):
            yield words, str(facts[name])
    yield "risk", one_line(f"{facts['risk_level']}, {facts.get('risk_rule_id')}") if facts.get("risk_level") else ""
    if found.observations:
        yield "content seen", f"{counted(len(found.observations), 'time')}, {moment(found.observations[0].observed_at)}"


def _moment(value: object) -> str:
    if isinstance(value, int):
        return moment(value)
    return ""


def _version_cells(found: ThingHistory) -> Iterator[tuple[str, ...]]:
    for version in found.versions:
        maker = _maker(found, version)
        made_by = "not seen"
        if maker:
            made_by = step_ref(maker)
        elif version.version == 0:
            made_by = "found"
        yield (
            str(version.version),
            moment(version.created_at_ms),
            made_by,
            one_line(version.digest[:19]),
            moment(version.deleted_at_ms),
        )


def _relations(found: ThingHistory, version: VersionRow, known: dict[NodeId, Known], width: int) -> Iterator[str]:
    own = NodeId(NodeKind.ARTIFACT, version.id)
    for edge in found.relations:
        if own in (edge.source, edge.target) and not (edge.relation == "changed_into" and edge.source == own):
            yield _relation(edge, own, known[edge.far(own)], version.version, width)
    if version.id in found.more_relations:
        yield f"    version {version.version}: … cut here: {found.more_relations[version.id]:,} in all"


def _relation(edge: Edge, own: NodeId, far: Known, version: int, width: int) -> str:
    words = relation_words([edge], far, upwards=edge.target == own)
    before = f"    version {version}: {words} "
    after = tail([edge], far, narrow=width < 110)
    room = max(width - len(before) - len(after) - 2, 24)
    return f"{click.style(before, dim=True)}{name_of(far, room)}  {click.style(after, dim=True)}"


# The list -------------------------------------------------------------------------------------------------------------


@click.command("list", cls=Command, example="tally artifact list --kind url\ntally artifact list --prefix src/")
@click.option("--kind", "kinds", multiple=True, type=click.Choice(KINDS), help="Of this kind. May be repeated.")
@click.option(
    "--prefix",
    metavar="TEXT",
    help="Whose path or URL begins with this; a relative path counts from the current folder.",
)
@limit_option("things")
@pass_run
def list_(run: Run, kinds: tuple[str, ...], prefix: str | None, limit: int | None) -> None:
    """List the files, pages and resources that agents used."""
    from tallystick.ask.artifact import list_known
    from tallystick.workspace.indexing import open_index

    most = run.limit(limit)
    with open_index(run.home) as index:
        run.take(index.remarks)
        found = list_known(index, kinds=kinds, prefix=prefix, folder=str(Path.cwd()), limit=most + 1)
    shown, has_more = found[:most], len(found) > most
    run.answer("artifacts", {"artifacts": shown, "has_more": has_more}, _list_text(shown, run.width))
    if has_more:
        run.note(f"Showing {len(shown)}; --limit N shows more")


def _list_text(things: tuple[ListedThing, ...], width: int) -> Iterator[str]:
    if not things:
        yield "no artifacts recorded"
        return
    rows = [
        (
            one_line(thing.kind),
            f"{thing.versions:,}",
            moment(thing.updated_at_ms, narrow=True),
            "gone" if thing.deleted_at_ms is not None else "",
            one_line(thing.uri.removeprefix("file://")),
        )
        for thing in things
    ]
    head = ("KIND", "VERSIONS", "LAST SEEN", "", "NAME")
    yield from table(rows, head=head, right=frozenset((1,)), width=width, gives={4: 24})


# What leads to no prompt ----------------------------------------------------------------------------------------------


@click.command("unexplained", cls=Command, example="tally artifact unexplained")
@pass_run
def unexplained(run: Run) -> None:
    """List files that an agent wrote and that lead to no prompt. For every other file `tally why` ends at a prompt."""
    from tallystick.ask.unexplained import report
    from tallystick.workspace.indexing import open_index

    with open_index(run.home) as index:
        run.take(index.remarks)
        found = report(index)
    run.answer("unexplained", found, _unexplained_text(found, run.width))


def _unexplained_text(found: Report, width: int) -> Iterator[str]:
    told = (
        f"{counted(found.written, 'file')} written by agents: {found.explained:,} lead to the prompt that asked "
        f"for them, {len(found.unexplained):,} do not"
    )
    yield from wrapped(told, width)
    rows = [(step_ref(one.step), one_line(one.why_not), one_line(one.path)) for one in found.unexplained]
    if rows:
        yield from table(rows, head=("STEP", "WHY NOT", "PATH"), width=width, gives={1: 16, 2: 24})
