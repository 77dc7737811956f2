"""`tally session provenance`: the origin of a conversation."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tallystick.cli import completing
from tallystick.cli.command import Command
from tallystick.cli.context import Run, counted, labelled, pass_run, table
from tallystick.cli.steps import short
from tallystick.display.text import cut, first_line, one_line

if TYPE_CHECKING:
    from tallystick.review.provenance import Account
    from tallystick.sessions.compactions import Compaction
    from tallystick.sessions.provenance import Link

_EXAMPLE = """tally session provenance 27e41791
tally session provenance 27e41791 --hermes --json"""
_HOPS_SHOWN = 200
_RULES = ("0.19.0", "later")


@click.command("provenance", cls=Command, example=_EXAMPLE)
@click.argument("handle", shell_complete=completing.sessions)
@click.option("--hermes", is_flag=True, help="In the format of Hermes: the payload that its clients read.")
@click.option(
    "--rule", type=click.Choice(_RULES), default=_RULES[0], help="The version whose rule applies.", show_default=True
)
@click.option(
    "--store",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Hermes' state.db to compare with.  [default: the one imported from]",
)
@pass_run
def provenance(run: Run, handle: str, hermes: bool, rule: str, store: Path | None) -> None:
    """Where a conversation comes from: each session up to the first, and its compactions.

    HANDLE is our id, which means that session; or the id of the agent or of an editor, which means its last
    continuation.
    """
    from tallystick.capture.hermes_store import default_store
    from tallystick.review.provenance import account_of, in_hermes_words
    from tallystick.sessions.hermes_provenance import Rule
    from tallystick.workspace.indexing import open_index

    with open_index(run.home) as index:
        run.take(index.remarks)
        default = default_store(os.environ, Path.home())
        account = account_of(run.home, index, handle, store=store, default=default)
    if hermes:
        payload = in_hermes_words(account, Rule(rule))
        run.answer("session-provenance-hermes", payload, _payload_text(payload))
        return
    run.answer("session-provenance", account.said, _account_text(account, run.width))


def _payload_text(payload: object) -> Iterator[str]:
    for line in json.dumps(payload, indent=2, ensure_ascii=True).splitlines():
        yield one_line(line)


def _account_text(account: Account, width: int) -> Iterator[str]:
    row = account.current
    yield click.style(f"{short(row.session)}  {first_line(row.title or '(no prompt)', max(width - 10, 20))}", bold=True)
    yield from labelled(_facts(account), indent="  ")
    yield click.style("  ancestors", bold=True)
    yield from (
        f"  {line}" for line in table(list(_hops(account)), head=("SESSION", "KIND", "AGENT'S ID", "FORKED AT", ""))
    )
    left_out = len(account.way.hops) - _HOPS_SHOWN
    if left_out > 0:
        yield f"  … and {left_out:,} more; --json lists all"
    cut_at = _cut(account)
    if cut_at is not None:
        yield f"  {cut_at}"
    yield from _differences(account.said.get("agentStore"))


def _facts(account: Account) -> Iterator[tuple[str, str]]:
    said, row = account.said, account.current
    yield "agent", one_line(row.agent)
    yield "agent's id", one_line(row.source_session or "")
    yield "kind", one_line(str(said["kind"])) + _why(said)
    yield "depth", f"{counted(said['depth'], 'continuation')} since {one_line(str(said['continuationRoot']))}"
    if said["lineageRoot"] != said["continuationRoot"]:
        yield "first session", one_line(str(said["lineageRoot"]))
    if "continuedAs" in said:
        yield "continued as", one_line(str(said["continuedAs"]))
    yield "compactions", _compactions(account)
    yield "recorded to", f"entry {row.size - 1:,}, {row.last_hash[:16]}…"


def _why(said: Mapping[str, Any]) -> str:
    if said.get("reason", said["kind"]) != said["kind"]:
        words = [one_line(str(said["reason"]))]
    else:
        words = []
    if "toolCallId" in said:
        task = ""
        if "taskIndex" in said:
            task = f", task {said['taskIndex']}"
        words.append(f"by call {one_line(str(said['toolCallId']))[:60]}{task}")
    if said.get("claimed"):
        words.append("claimed by the agent, not sealed")
    if words:
        return f" ({'; '.join(words)})"
    return ""


def _compactions(account: Account) -> str:
    if not account.compactions:
        return "none"
    last, said = account.compactions[-1], account.said["compactions"]
    places = ""
    if said["inPlace"]:
        places = f", {said['inPlace']} in place"
    return f"{len(account.compactions)}{places}; the last: {', '.join(_compaction(last))}"


def _compaction(last: Compaction) -> Iterator[str]:
    """The details of one compaction, in words."""
    yield f"{last.entry[:8]}:{last.n}"
    yield " ".join(one_line(word) for word in (last.trigger, last.mode) if word)
    if last.summarized is not None or last.kept is not None:
        yield f"{last.summarized or 0} messages summarized, {last.kept or 0} kept"
    if last.tokens_before is not None:
        after = ""
        if last.tokens_after is not None:
            after = f" to {last.tokens_after:,}"
        yield f"{last.tokens_before:,}{after} tokens"
    if last.model is not None:
        yield f"by {one_line(last.model)[:60]}"
    if last.summary_sha256 is not None:
        yield f"summary {last.summary_sha256[:16]}…"


def _hops(account: Account) -> Iterator[tuple[str, ...]]:
    for key, link in account.way.hops[:_HOPS_SHOWN]:
        yield (
            short(link.journal or key),
            link.kind.value,
            cut(one_line(link.name or key), 40),
            _began(link),
            "claimed" if link.claimed else "",
        )


def _began(link: Link) -> str:
    if link.began is None:
        return ""
    if link.began.n is not None:
        place = f":{link.began.n}"
    else:
        place = f"#{link.began.hash[:8]}"
    return f"{short(link.began.journal)}{place} {one_line(link.began.type or '')}".rstrip()


def _cut(account: Account) -> str | None:
    if account.way.cycle:
        return "cut here: the parents form a cycle"
    if account.way.missing is not None:
        return f"cut here: its parent {one_line(account.way.missing)[:60]} is not recorded"
    return None


def _differences(store: Any) -> Iterator[str]:
    """What the agent's own store says now, where that differs from the record."""
    if not isinstance(store, dict):
        return
    if "error" in store:
        yield f"  its own store cannot be compared: {first_line(str(store['error']), 200)}"
    elif store["agrees"]:
        yield "  its own store says the same"
    else:
        yield click.style(f"  its own store now differs: {first_line(store['path'], 200)}", fg="yellow")
        for each in store["differences"]:
            yield f"    {one_line(str(each['session']))[:60]}: {_difference(each)}"


def _difference(each: Mapping[str, Any]) -> str:
    if each["now"] == "missing":
        return "no longer there"
    then, now = (
        f"{side['kind']} of {one_line(str(side['parent']))[:60]}" if side["parent"] is not None else str(side["kind"])
        for side in (each["recorded"], each["now"])
    )
    return f"recorded as {then}, now {now}"
