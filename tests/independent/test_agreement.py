"""The record and the independent reader say the same of every recording."""

from __future__ import annotations

from pathlib import Path

import pytest

from tallystick.graph.graph import Graph
from tools.agreement.__main__ import histories, imported
from tools.agreement.comparing import Comparison
from tools.agreement.recorded import Recorded

RECORDINGS = Path(__file__).parents[1] / "recordings"
SHARED = Path(__file__).parents[3] / "shared" / "data"
AGENTS = ("claude-code", "codex", "copilot-cli", "gemini-cli")
TWICE = "codex-session-"
"""Two files of one session with the same call after different prompts: only one of them can be recorded."""
DISAGREEMENTS = (
    "edits without a prompt",
    "edits with a wrong prompt",
    "edits not recorded",
    "transcripts not recorded",
)


def compared(folder: Path, tmp_path: Path) -> Comparison:
    comparison = Comparison()
    home = imported([folder], tmp_path)
    with Graph(home / "graph.db") as graph:
        recorded = Recorded(graph)
        for path, history in histories([folder]):
            comparison.take(path.name, history, recorded, is_whole=False)
    return comparison


@pytest.mark.parametrize("agent", AGENTS)
def test_recordings_say_the_same_to_both_readers(agent: str, tmp_path: Path) -> None:
    comparison = compared(RECORDINGS / agent, tmp_path)
    assert comparison.counts["transcripts"] > 0
    assert comparison.counts["edits"] > 0
    assert [words for sort, words in comparison.found if sort in DISAGREEMENTS] == []


@pytest.mark.skipif(not SHARED.is_dir(), reason="the shared histories are not here")
def test_shared_histories_say_the_same_to_both_readers(tmp_path: Path) -> None:
    comparison = compared(SHARED / "public", tmp_path)
    assert comparison.counts["edits"] > 0
    wrong = [words for sort, words in comparison.found if sort in DISAGREEMENTS]
    assert [words for words in wrong if not words.startswith(TWICE)] == []
