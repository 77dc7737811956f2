"""What an agent told our plugin, beside what its own transcript says of the same run."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from tallystick.agents import Adapter, SourceFile, adapters
from tallystick.agents.hooks import HookAdapter
from tallystick.model.step import Event, Step
from tests.agents.hooks.recorded import FOLDER, payloads, steps

Named = dict[tuple[str, str], Step]


def told_by_hooks(adapter: HookAdapter) -> Named:
    """The calls and results of the plugin's payloads, by session and id."""
    return _named(steps(payloads(adapter)))


def told_by_transcript(adapter: HookAdapter) -> Named:
    """The same, as the agent's reader has them from what the agent wrote in that run."""
    reader_of: Adapter = adapters()[adapter.NAME]
    fed: dict[str, list[bytes]] = {}
    for line in Path(FOLDER / "same_run" / f"{adapter.NAME}.jsonl").read_text("utf-8").splitlines():
        record = json.loads(line)
        fed.setdefault(record["path"], []).append(json.dumps(record["fed"], ensure_ascii=False).encode())
    events: list[Event] = []
    for path, lines in fed.items():
        reader = reader_of.reader(SourceFile(path))
        for number, data in enumerate(lines):
            events += reader.feed(data, number)
        events += reader.finish()
    return _named([event for event in events if isinstance(event, Step)])


def _named(found: Sequence[Step]) -> Named:
    calls = [step for step in found if step.type in ("tool_call", "tool_result")]
    return {(step.session, step.source_id or "?"): step for step in calls}


def assert_both_agree(adapter: HookAdapter, *, unseen: Sequence[str] = ()) -> None:
    """Every call and result has the same session, id, tool, arguments and outcome in both.

    Args:
        unseen: a word in the arguments of each call whose result the plugin is not told.
    """
    hooks, transcript = told_by_hooks(adapter), told_by_transcript(adapter)
    refused = {name for (_, name), step in transcript.items() if any(word in str(step.values) for word in unseen)}
    missing = {f"{name}/result" for name in refused if not name.endswith("/result")}
    assert {key for key in transcript if key[1] not in missing} == set(hooks)
    assert len(missing) == len(unseen)
    for key, step in hooks.items():
        other = transcript[key]
        assert (step.type, step.meta["tool"], step.meta["corr"]) == (other.type, other.meta["tool"], other.meta["corr"])
        for name in step.values.keys() & other.values.keys():
            assert step.values[name] == other.values[name], (key, name)
        if "success" in step.meta and "success" in other.meta:
            assert step.meta["success"] == other.meta["success"], key
