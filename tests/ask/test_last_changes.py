"""The last change of a file and its prompt, by `why` and by a reader of transcripts that has no code of ours."""

from __future__ import annotations

from pathlib import Path

import pytest

from tallystick.ask.story import Story
from tallystick.ask.why import why
from tallystick.journal.home import Home
from tallystick.workspace.index import Index
from tallystick.workspace.indexing import open_index
from tests.independent.facts import Edit, asked
from tests.independent.reader import read
from tests.support.fixtures import RECORDINGS, ImportPaths

PUBLISHED = Path(__file__).parents[3] / "shared" / "data"
BY_TOOL = 0.9
AGENTS = ("claude-code", "codex", "copilot-cli", "gemini-cli", "opencode")


def transcripts(*folders: Path) -> list[Path]:
    return sorted(path for folder in folders for path in folder.rglob("*.json*") if "subagents" not in path.parts)


def last_edits(path: Path) -> dict[str, Edit]:
    """Of each file that a transcript's calls wrote, the last such call."""
    history = read(path)
    if history is None:
        return {}
    done = [edit for edit in history.edits if history.outcomes.get(edit.call) == "ok"]
    return {
        name: edit for edit in sorted(done, key=lambda edit: edit.line) for name in edit.paths if name.startswith("/")
    }


def disagreement(index: Index, story: Story, edit: Edit) -> str | None:
    """How the story of a file differs from what the transcript says; None where they agree."""
    assert story.act is not None
    session, _, n = story.act.step.rpartition(":")
    # A call may be one that another one makes: the reader names the outer one.
    sql = "SELECT s.corr, p.corr FROM steps s LEFT JOIN steps p ON p.id = s.id - s.n + s.parent"
    row = index.graph.row(f"{sql} WHERE s.session_id = ? AND s.n = ?", (session, int(n)))
    if row is None or edit.call not in row:
        return f"{story.name}: {story.act.step} and not {edit.call} changed it last"
    request = asked(edit.request)
    theirs = " ".join(request.text.split()) if request is not None else ""
    ours = " ".join((story.prompt.text or "").split())
    if ours[:200] not in theirs:
        return f"{story.name}: {ours[:60]!r} and not {theirs[:60]!r} asked for it"
    return None


def differences(home: Home, import_paths: ImportPaths, paths: list[Path]) -> tuple[int, list[str]]:
    """How many files of one session each were compared, and what differs."""
    import_paths(*paths)
    edits = {name: edit for path in paths for name, edit in last_edits(path).items()}
    compared, found = 0, []
    with open_index(home) as index:
        for name, edit in edits.items():
            story = why(home, index, name, folder="/").story
            # A transcript does not say which of several was the last, and the reader reads no commands.
            if len(story.writers) == 1 and story.act is not None and story.act.confidence >= BY_TOOL:
                compared += 1
                found.append(disagreement(index, story, edit))
    return compared, [one for one in found if one is not None]


def test_the_last_change_and_its_prompt_are_those_of_an_independent_reader(
    home: Home, import_paths: ImportPaths
) -> None:
    compared, found = differences(home, import_paths, transcripts(*(RECORDINGS / agent for agent in AGENTS)))
    assert compared >= 5
    assert found == []


@pytest.mark.soak
@pytest.mark.skipif(not PUBLISHED.is_dir(), reason="the published histories are no part of the project")
def test_so_they_are_in_published_histories(home: Home, import_paths: ImportPaths) -> None:
    folders = [PUBLISHED / name for name in ("sessions", "public/small", "public/large")]
    compared, found = differences(home, import_paths, transcripts(*folders))
    assert compared >= 40
    assert found == []
