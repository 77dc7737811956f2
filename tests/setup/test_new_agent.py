from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tallystick.agents import Shape
from tallystick.errors import SourceError, UsageError
from tallystick.setup.new_agent import draft_agent, globs_of, sample_of

ROOT = Path(__file__).parents[2]
MADE = ROOT / "tests" / "agents"
FLAT = [
    {"kind": "start", "session": "a"},
    {"uuid": "1", "time": "2026-01-01T00:00:00Z", "role": "user", "content": "Sort it"},
    {"uuid": "2", "role": "assistant", "content": [{"type": "tool_use", "id": "c", "name": "Run", "input": {}}]},
    {"uuid": "3", "role": "user", "content": [{"type": "tool_result", "tool_use_id": "c", "content": "ok"}]},
]


def lines(path: Path, *items: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(item) + "\n" for item in items))
    return path


def pytest_passes(root: Path, *more: str) -> None:
    environment = {
        **os.environ,
        "PYTHONPATH": os.pathsep.join((str(root / "src"), *more)),
        "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1",  # it needs none, and they take longer to load than it takes
    }
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-c", os.devnull, str(root / "tests")]
    done = subprocess.run(command, cwd=root, env=environment, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


@pytest.mark.parametrize(
    "file",
    [MADE / "droid/made/7d1c.jsonl", MADE / "windsurf/made/4ab0.jsonl", MADE / "amp/made/T-5f0e.json", None],
    ids=["droid", "windsurf", "amp", "flat"],
)
def test_the_draft_of_a_package_passes_its_own_tests_or_says_what_it_lacks(tmp_path: Path, file: Path | None) -> None:
    source = file if file is not None else lines(tmp_path / "home/.flat/s.jsonl", *FLAT)
    done = draft_agent("my-agent", [source], home=tmp_path / "home", into=tmp_path / "it")
    assert done.is_package
    places = {path.relative_to(done.root).as_posix() for path in done.written}
    assert {
        "pyproject.toml",
        "README.md",
        "src/tallystick_my_agent/transcript.py",
        "tests/test_transcript.py",
    } <= places
    if file is not None and "windsurf" in file.parts:  # it has no roles: every line is counted, and the test says so
        with pytest.raises(AssertionError, match="no line gives a step"):
            pytest_passes(done.root)
    else:
        pytest_passes(done.root)


def test_a_package_is_found_by_its_entry_point(tmp_path: Path) -> None:
    draft_agent("my-agent", [MADE / "droid/made/7d1c.jsonl"], home=tmp_path, into=tmp_path / "it")
    info = tmp_path / "it" / "src" / "tallystick_my_agent-0.1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: tallystick-my-agent\nVersion: 0.1.0\n")
    (info / "entry_points.txt").write_text("[tallystick.agents]\nmy-agent = tallystick_my_agent.transcript\n")
    asked = "from tallystick.ingest.adapters import adapters; print('my-agent' in adapters())"
    environment = {**os.environ, "PYTHONPATH": str(tmp_path / "it" / "src")}
    done = subprocess.run([sys.executable, "-c", asked], env=environment, capture_output=True, text=True, check=True)
    assert done.stdout == "True\n"


def test_in_a_checkout_the_draft_becomes_part_of_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    listed = tmp_path / "src" / "tallystick" / "agents" / "__init__.py"
    listed.parent.mkdir(parents=True)
    listed.write_text('NAMES: tuple[str, ...] = (\n    "codex.transcript",\n)\n')
    monkeypatch.chdir(tmp_path)
    source = lines(tmp_path / "home" / ".my" / "2026-01-01" / "s.jsonl", *FLAT)
    done = draft_agent("my-agent", [source], home=tmp_path / "home")
    assert not done.is_package
    assert {path.relative_to(tmp_path).as_posix() for path in done.written} == {
        "src/tallystick/agents/__init__.py",
        "src/tallystick/agents/my_agent/__init__.py",
        "src/tallystick/agents/my_agent/transcript.py",
        "src/tallystick/catalog/agents/my-agent.toml",
        "tests/agents/my_agent/test_transcript.py",
        "tests/recordings/my-agent/unknown/README.md",
        "tests/recordings/my-agent/unknown/.my/2026-01-01/s.jsonl",
        "docs/agents/my-agent.md",
    }
    assert listed.read_text() == 'NAMES: tuple[str, ...] = (\n    "codex.transcript",\n    "my_agent.transcript",\n)\n'
    drafted = (tmp_path / "src/tallystick/agents/my_agent/transcript.py").read_text()
    assert 'return (".my/*/*.jsonl",)' in drafted
    assert 'word(line.get("uuid"))' in drafted
    compile(drafted, "transcript.py", "exec")
    assert "list_of" not in drafted, "what a draft does not use it does not import"


def test_nothing_is_written_over_and_names_are_plain(tmp_path: Path) -> None:
    source = lines(tmp_path / "a.jsonl", *FLAT)
    draft_agent("my-agent", [source], home=tmp_path, into=tmp_path / "it")
    with pytest.raises(UsageError, match="exists already"):
        draft_agent("my-agent", [source], home=tmp_path, into=tmp_path / "it")
    for name in ("My", "a_b", "../x", "", "-a", "1a"):
        with pytest.raises(UsageError, match="not a name for an agent"):
            draft_agent(name, [source], home=tmp_path, into=tmp_path / "other")
    assert not (tmp_path / "other").exists()


@pytest.mark.parametrize(
    ("content", "says"),
    [(b"SQLite format 3\0", "is a database"), (b"# Chat\n", "neither lines of JSON"), (b"", "neither lines of JSON")],
)
def test_files_of_other_forms_are_refused(content: bytes, says: str) -> None:
    with pytest.raises(SourceError, match=says):
        sample_of(Path("a"), content)


def test_what_is_guessed_from_a_file() -> None:
    flat = "".join(json.dumps(item) + "\n" for item in FLAT).encode()
    sample = sample_of(Path("a.jsonl"), flat)
    assert (sample.shape, sample.id, sample.ts, sample.nested) == (Shape.LINES, "uuid", "time", False)
    document = sample_of(
        Path("a.json"), json.dumps({"v": 1, "turns": [{"message": {"role": "user"}}]}, indent=1).encode()
    )
    assert (document.shape, document.messages, document.nested) == (Shape.DOCUMENT, "turns", True)
    assert document.marks == ("v", "turns")


def test_parts_of_a_path_that_name_one_session_are_any_others_too() -> None:
    home = Path("/home/dev")
    paths = [home / ".x/2026/11/20/a.jsonl", home / ".x/0a1b2c3d4e/b.jsonl", Path("/tmp/c.json")]
    assert globs_of(paths, home) == (".x/*/11/20/*.jsonl", ".x/*/*.jsonl", "*.json")
