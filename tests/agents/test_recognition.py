from __future__ import annotations

import itertools
import json
import random
import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.agents import adapters
from tallystick.agents.recognition import count_members, first_object, objects
from tallystick.capture.discover import HEAD_BYTES, best_matches, read_head
from tallystick.model.step import Json
from tests.support.cases import each

ROOT = Path(__file__).parents[2]
RECORDINGS = ROOT / "tests" / "recordings"
SHARED = ROOT.parent / "shared" / "data"
KNOWN = adapters()
SPACINGS = {"compact": (",", ":"), "spaced": (", ", ": "), "wide": (" , ", " : ")}
FOLDERS = {"copilot-cli": "copilot", "gemini-cli": "gemini", "qwen-code": "qwen"}
"""Folders of recordings that are not named like their agent."""
HISTORY = re.compile(
    r"\.claude/.*\.jsonl|\.codex/.*\.jsonl|\.gemini/.*\.jsonl|conversation\.jsonl|\.qwen/.*\.jsonl|\.local/grid/.*|events\.jsonl"
    r"|trajectory\.json|\.pi/.*\.jsonl|\.messages\.json|chat\.history\.md|\.db\Z"
)
"""The files of a recording that are a history; beside them are settings and descriptions."""
PUBLISHED = (
    (r"public/.*claude|public/.*pup-mcp|transcripts/claude(_subagent)?_transcript", "claude-code"),
    (r"public/.*codex|transcripts/codex(_\w+)?_transcript", "codex"),
    (r"public/.*copilot|transcripts/copilot_transcript", "copilot"),
    (r"public/.*cursor", "cursor"),
    (r"public/.*gemini|transcripts/gemini_transcript", "gemini"),
    (r"public/.*pi-session|transcripts/pi_transcript", "pi"),
    (r"public/.*\.traj\Z", "swe-agent"),
    (r"transcripts/qwen_transcript", "qwen"),
    (r"transcripts/cline_transcript", "cline"),
    (r"transcripts/mini_transcript", "mini-swe-agent"),
    (r"transcripts/aider_transcript", "aider"),
    (r"sessions/gptme_conversation", "gptme"),
    (r"sessions/headless_session\.jsonl", "headless"),
    (r"sessions/headless_session_legacy", "headless-legacy"),
    (r"sessions/hermes_state", "hermes"),
    (r"public/.*droid", "droid"),
    (r"public/.*windsurf", "windsurf"),
)


def owner_of_recording(path: Path) -> str | None:
    relative = path.relative_to(RECORDINGS)
    folder, version = relative.parts[:2]
    is_session = folder not in ("acp", "hooks", "otlp") and "gptme/logs" not in str(relative.parent)
    is_history = HISTORY.search(str(relative)) if is_session else relative.name == "conversation.jsonl"
    if is_history is None or not is_history:
        return None
    return "headless-legacy" if version.endswith("legacy") else FOLDERS.get(folder, folder)


def owner_of_published(path: Path) -> str | None:
    relative = path.relative_to(SHARED).as_posix()
    return next((agent for pattern, agent in PUBLISHED if re.search(pattern, relative)), None)


def cases() -> Iterator[tuple[Path, str | None]]:
    for path in sorted(RECORDINGS.rglob("*")):
        if (path.is_file() and path.suffix not in (".py", ".md", ".pyc")) or path.name == ".aider.chat.history.md":
            yield path, owner_of_recording(path)
    for path in sorted(Path(__file__).parent.glob("*/made/*")):
        yield path, path.parts[-3].replace("_", "-")
    for path in sorted(SHARED.rglob("*")):
        if path.is_file() and path.name != "README.md":
            yield path, owner_of_published(path)


CASES = [pytest.param(path, agent, id=f"{path.parent.name}/{path.name}") for path, agent in cases()]


def values_of(path: Path) -> list[Json]:
    """The JSON values that a file begins with: one a line, or one for a document; none if it holds something else."""
    data = path.read_bytes()
    try:
        return [json.loads(line) for line in data.split(b"\n")[:100] if line.strip()]
    except ValueError:
        pass
    try:
        return [json.loads(data)]
    except ValueError:
        return []


def reordered(value: Json, order: random.Random) -> Json:
    if isinstance(value, dict):
        names = list(value)
        order.shuffle(names)
        return {name: reordered(value[name], order) for name in names}
    return [reordered(item, order) for item in value] if isinstance(value, list) else value


def written(values: list[Json], spacing: str) -> bytes:
    lines = (json.dumps(value, ensure_ascii=False, separators=SPACINGS[spacing]) for value in values)
    return "".join(f"{line}\n" for line in lines).encode()


@pytest.mark.parametrize(("path", "agent"), CASES)
def test_a_file_is_its_own_agents_and_no_others(path: Path, agent: str | None) -> None:
    assert best_matches(str(path), read_head(path), KNOWN) == ([agent] if agent else [])


def assert_is_told_by_its_text(path: Path, agent: str | None, ways: Iterable[tuple[str, int]]) -> None:
    values = values_of(path)
    for spacing, seed in ways:
        text = written([reordered(value, random.Random(seed)) if seed else value for value in values], spacing)
        if text:
            assert best_matches(f"/elsewhere/{path.name}", text[:HEAD_BYTES], KNOWN) == ([agent] if agent else [])


@pytest.mark.parametrize(("path", "agent"), CASES)
def test_it_stays_so_where_only_its_text_is_known_however_its_json_is_written(path: Path, agent: str | None) -> None:
    assert_is_told_by_its_text(path, agent, (("compact", 1), ("wide", 2)))


@pytest.mark.soak
@each("path, agent", cases(), ids=lambda value: str(value))
def test_it_stays_so_in_every_order_and_spacing(path: Path, agent: str | None) -> None:
    assert_is_told_by_its_text(path, agent, itertools.product(SPACINGS, range(4)))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text('a"\\{[,:]}\n é', max_size=6),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text('ab"\\,{', max_size=3), inner, max_size=4),
    max_leaves=20,
)


@given(st.dictionaries(st.text('ab"\\', max_size=3), JSON, max_size=5), st.data())
def test_of_an_object_that_is_cut_off_anywhere_the_members_before_the_cut_are_seen(
    value: dict[str, Json], data: st.DataObject
) -> None:
    text = json.dumps(value, indent=data.draw(st.sampled_from((None, 2)))).encode()
    head = text[: data.draw(st.integers(1, len(text)))]
    seen = first_object(head)
    names = list(value)
    assert list(seen) == names[: len(seen)]
    assert all(seen[name] == value[name] for name in list(seen)[:-1])


def test_lines_that_are_no_json_hide_none_of_the_others() -> None:
    assert objects(b'cut"}\n\0\0\n{"a":1}\n[2]\n{"b":') == ({"a": 1},)


def test_members_are_counted_only_if_all_that_are_needed_are_there() -> None:
    value: Json = {"a": {"b": None}, "c": 1}
    assert count_members(value, "a.b", "c", also=("d", "a")) == 3
    assert count_members(value, "a.b", "d", also=("a",)) == 0
    assert count_members([], "a") == 0
