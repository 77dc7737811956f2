"""What live sessions run under: sealed at their start, and when it changes."""

from __future__ import annotations

import json
import subprocess
import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path

import pytest

from tallystick.capture.surroundings import Surroundings
from tallystick.journal.home import Home
from tallystick.journal.read import read_session
from tallystick.live.configuration import AgentUser, LiveConfiguration, Sighting
from tallystick.live.watched_places import Look
from tallystick.model.recorded import Recorded
from tallystick.model.step import Event, Opening, Source, Step
from tallystick.recording.checkpoints.auto import git_of
from tallystick.recording.isolation import MEMBER
from tallystick.recording.run_config.gathered import Gathered, gather
from tallystick.recording.session_writer import SessionWriter
from tallystick.workspace.settings import set_setting
from tests.support.shown import shown

AGENT, SESSION = "claude-code", "s-1"


class Watching:
    """A session_writer, what watches its sessions, and a project with files."""

    def __init__(self, session_writer: SessionWriter, folder: Path) -> None:
        self.session_writer = session_writer
        self.now = 1000.0
        self.project = folder / "project"
        (self.project / ".git").mkdir(parents=True)
        self.live = self.anew(folder)

    def anew(self, folder: Path) -> LiveConfiguration:
        """As another recorder would watch them."""
        self.live = LiveConfiguration(
            self.session_writer, AgentUser(folder, {}), monotonic=lambda: self.now, look=Look(gather, git_of, 0.001)
        )
        return self.live

    def tell(self, *events: Event, session: str = SESSION, environment: Mapping[str, str] | None = None) -> None:
        """What hooks do: events are recorded, then the session is watched."""
        size = self.live.size(AGENT, session)
        self.session_writer.take(AGENT, events)
        self.live.saw(Sighting(AGENT, session, size, None, lambda: environment), events)

    def begin(self, session: str = SESSION, **environment: str) -> None:
        """A session begins in the project."""
        opening = Opening(
            session=session,
            agent=AGENT,
            source=Source.HOOK,
            meta={"model": "opus"},
            values={"personal.cwd": str(self.project)},
        )
        self.tell(opening, session=session, environment=environment or None)

    def settled(self, count: int, session: str = SESSION) -> list[Recorded]:
        """What the session tells of its configuration, once there are so many steps of it."""
        tick = threading.Event()
        for _ in range(12_000):
            self.live.tick()
            found = self.steps(session)
            if len(found) >= count:
                return found
            tick.wait(0.005)
        raise AssertionError(f"there are only {len(self.steps(session))}")

    def steps(self, session: str = SESSION) -> list[Recorded]:
        record = self.session_writer.writer.find(AGENT, session)
        assert record is not None
        steps = read_session(self.session_writer.home, record.sid, load_blobs=True)
        return [step for step in steps if step.type in ("checkpoint", "config_change")]

    def quiet(self, look: Callable[[], object] = lambda: None) -> None:
        """Some looks at the files later."""
        for _ in range(20):
            threading.Event().wait(0.005)
            self.live.tick()
            look()


@pytest.fixture
def watching(session_writer: SessionWriter, tmp_path: Path) -> Iterator[Watching]:
    watching = Watching(session_writer, tmp_path)
    yield watching
    watching.live.settle(seconds=1)


def prompt(number: int, **meta: str) -> Step:
    return Step(session=SESSION, type="user", source=Source.HOOK, source_id=f"p{number}", meta=meta)


def test_a_session_begins_with_a_checkpoint(watching: Watching) -> None:
    (watching.project / "CLAUDE.md").write_text("be brief")
    watching.begin(CODEX_HOME="/x")
    (mark,) = watching.settled(1)
    assert (mark.type, mark.meta["trigger"], mark.meta["position"]) == ("checkpoint", "session_start", 0)
    inputs = shown(mark.values["content.configuration"])
    assert [item["name"] for item in inputs["instructions"]] == ["project:CLAUDE.md"]
    assert [item["name"] for item in inputs["environment"]] == ["CODEX_HOME"]
    assert mark.values["content.hook_registry"] == []
    assert mark.meta["tokens_used"]["input"] == 0


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ({"HOME": "/srv/agent"}, "/srv/agent"),
        ({"HOME": "/srv/a\udcff"}, "/srv/a\ufffd"),
        ({"HOME": "relative"}, None),
        ({"PATH": "/bin"}, None),
        ({}, None),
    ],
)
def test_the_home_folder_is_the_one_that_the_process_of_the_hook_has(
    watching: Watching, said: dict[str, str], kept: str | None
) -> None:
    watching.begin(**said)
    (mark,) = watching.settled(1)
    assert mark.values.get("personal.home") == kept
    assert "content.configuration" in mark.values


@pytest.mark.parametrize("is_isolated", [True, False])
def test_a_checkpoint_says_whether_its_session_stands_alone(watching: Watching, is_isolated: bool) -> None:
    values = {"personal.cwd": str(watching.project)}
    watching.tell(Opening(session=SESSION, agent=AGENT, source=Source.HOOK, meta={MEMBER: is_isolated}, values=values))
    assert [mark.meta[MEMBER] for mark in watching.settled(1)] == [is_isolated]


def test_each_session_says_where_the_repository_stood_when_it_began(watching: Watching) -> None:
    for branch in ("one", "two"):
        subprocess.run(["git", "init", "-q", watching.project], check=True)
        (watching.project / ".git" / "HEAD").write_text(f"ref: refs/heads/{branch}\n")
        watching.begin(branch)
        (mark,) = watching.settled(1, branch)
        assert mark.values["content.git"] == {"ref": f"refs/heads/{branch}"}


def test_the_position_is_where_it_stood_when_it_was_first_seen(watching: Watching) -> None:
    watching.begin()
    watching.tell(prompt(1))
    assert watching.settled(1)[0].meta["position"] == 0


def test_two_sessions_under_the_same_have_the_same_fingerprint(watching: Watching) -> None:
    watching.begin("one")
    watching.begin("two")
    prints = {watching.settled(1, session)[0].meta["config_fingerprint"] for session in ("one", "two")}
    assert len(prints) == 1


def test_a_file_that_changes_is_a_step(watching: Watching) -> None:
    path = watching.project / "CLAUDE.md"
    path.write_text("be brief")
    watching.begin()
    watching.settled(1)
    path.write_text("be very brief")
    mark, change = watching.settled(2)
    assert change.type == "config_change"
    assert change.values["content.text"] == "instructions: project:CLAUDE.md changed"
    assert change.meta["config_before"] == mark.meta["config_fingerprint"]
    assert change.meta["position"] == change.n


def test_what_does_not_change_is_no_step(watching: Watching) -> None:
    path = watching.project / ".claude/settings.json"
    path.parent.mkdir()
    path.write_text('{"model": "x"}')
    watching.begin()
    watching.settled(1)
    path.write_text('{ "model":\n"x" }')
    watching.quiet()
    assert len(watching.steps()) == 1


def test_no_value_of_a_file_or_a_variable_reaches_the_store(watching: Watching, home: Home) -> None:
    secret = "sk-ant-api03-verysecretverysecretverysecret"
    settings = {"env": {"ANTHROPIC_API_KEY": secret}, "mcpServers": {"docs": {"headers": {"Authorization": secret}}}}
    (watching.project / ".claude").mkdir()
    (watching.project / ".claude/settings.json").write_text(json.dumps(settings))
    (watching.project / "CLAUDE.md").write_text(secret)
    watching.begin(ANTHROPIC_AUTH_TOKEN=secret)
    inputs = shown(watching.settled(1)[0].values["content.configuration"])
    assert [len(inputs[name]) for name in ("settings", "mcp", "instructions", "environment")] == [1, 1, 1, 1]
    watching.session_writer.seal()
    held = [path.read_bytes() for path in home.folder.rglob("*") if path.is_file()]
    assert not any(b"verysecret" in data for data in held)


def test_what_a_session_tells_later_completes_its_start(watching: Watching) -> None:
    watching.begin()
    watching.settled(1)
    watching.tell(prompt(1, permission_mode="default"))
    first, later = watching.settled(2)
    assert (later.type, later.meta["trigger"]) == ("checkpoint", "session_start")
    assert later.meta["config_fingerprint"] != first.meta["config_fingerprint"]


def test_another_mode_is_a_change_from_the_step_that_told_it_on(watching: Watching) -> None:
    watching.begin()
    watching.tell(prompt(1, permission_mode="default"))
    watching.settled(1)
    watching.tell(prompt(2, permission_mode="bypassPermissions"))
    *_, change = watching.settled(2)
    assert change.type == "config_change"
    assert change.meta["sections"] == ["permissions"]
    assert change.meta["permission_mode"] == "bypassPermissions"
    changed_at = [
        step for step in read_session(watching.session_writer.home, change.session) if step.n == change.meta["position"]
    ]
    assert [step.meta["source_id"] for step in changed_at] == ["p2"]


def test_another_model_is_a_change_and_a_sub_agents_is_none(watching: Watching) -> None:
    watching.begin()
    watching.settled(1)
    watching.tell(Step(session=SESSION, type="subagent_start", source=Source.HOOK, source_id="a", meta={"model": "x"}))
    watching.quiet()
    assert len(watching.steps()) == 1
    watching.tell(prompt(1, model="haiku"))
    assert watching.settled(2)[1].values["content.text"] == "agent: model changed"


def test_hooks_that_register_late_are_told_by_a_later_checkpoint_too(watching: Watching) -> None:
    watching.begin()
    watching.settled(1)
    path = watching.project / ".claude/settings.json"
    path.parent.mkdir()
    path.write_text('{"hooks": {"PreToolUse": [{"hooks": [{"type": "command", "command": "guard"}]}]}}')
    _, change, mark = watching.settled(3)
    assert change.meta["sections"] == ["hooks"]
    assert (mark.type, mark.meta["position"]) == ("checkpoint", change.n)
    assert [hook["name"] for hook in shown(mark.values["content.hook_registry"])] == ["guard"]


def test_another_recorder_goes_on_where_the_last_one_stopped(watching: Watching, tmp_path: Path) -> None:
    watching.begin(CODEX_HOME="/x")
    watching.tell(prompt(1, permission_mode="default"))
    watching.settled(1)
    watching.anew(tmp_path)
    watching.tell(prompt(2))
    watching.quiet()
    assert len(watching.steps()) == 1, "what it told before holds"
    watching.anew(tmp_path)
    (watching.project / "CLAUDE.md").write_text("new")
    watching.tell(prompt(3))
    assert watching.settled(2)[1].values["content.text"] == "instructions: project:CLAUDE.md added"


def test_a_session_waits_for_its_checkpoint_before_it_ends(watching: Watching) -> None:
    watching.begin()
    is_due_first = watching.live.is_due(AGENT, SESSION)
    watching.settled(1)
    assert (is_due_first, watching.live.is_due(AGENT, SESSION)) == (True, False)


def test_it_does_not_wait_for_files_that_do_not_answer(watching: Watching) -> None:
    watching.begin()
    watching.now += 60
    assert not watching.live.is_due(AGENT, SESSION)


def test_what_is_pending_is_recorded_at_the_end(watching: Watching) -> None:
    watching.begin()
    watching.live.settle()
    assert [step.meta["trigger"] for step in watching.steps()] == ["session_start"]


def test_a_session_that_has_ended_is_not_opened_again(watching: Watching) -> None:
    watching.begin()
    watching.settled(1)
    watching.session_writer.add(AGENT, Step(session=SESSION, type="session_end", source=Source.HOOK))
    (watching.project / "CLAUDE.md").write_text("late")
    watching.quiet()
    assert len(watching.steps()) == 1
    watching.live.end(AGENT, SESSION)


def test_where_checkpoints_are_off_changes_are_still_steps(watching: Watching, home: Home) -> None:
    set_setting(home, "checkpoints.enabled", "off")
    watching.begin()
    watching.quiet()
    (watching.project / "CLAUDE.md").write_text("new")
    (change,) = watching.settled(1)
    assert change.type == "config_change"


def test_of_an_agent_whose_files_nobody_knows_its_own_word_is_recorded(watching: Watching) -> None:
    opening = Opening(session="x", agent="stranger", source=Source.HOOK, meta={"model": "m"})
    watching.session_writer.take("stranger", [opening])
    watching.live.saw(Sighting("stranger", "x", 0, None, lambda: None), [opening])
    watching.live.settle()
    record = watching.session_writer.writer.find("stranger", "x")
    assert record is not None
    (mark,) = [step for step in read_session(watching.session_writer.home, record.sid) if step.type == "checkpoint"]
    assert list(mark.meta["config_sections"]) == ["agent"]


def test_a_key_that_cannot_be_read_is_an_error_that_holds_nothing_up(watching: Watching, home: Home) -> None:
    home.configuration_key.write_text("no key")
    watching.begin()
    watching.quiet()
    assert watching.steps() == []
    assert watching.live.failures > 0
    assert "the fingerprint key" in str(watching.live.last_error)
    assert not watching.live.is_due(AGENT, SESSION)


def test_a_fault_while_gathering_is_noted(session_writer: SessionWriter, tmp_path: Path) -> None:
    def broken(agent: str, where: Surroundings) -> Gathered:
        raise RuntimeError("broken")

    live = LiveConfiguration(session_writer, AgentUser(tmp_path, {}), monotonic=lambda: 0.0, look=Look(broken, git_of))
    opening = Opening(session="x", agent=AGENT, source=Source.HOOK)
    session_writer.take(AGENT, [opening])
    live.saw(Sighting(AGENT, "x", 0, None, lambda: None), [opening])
    live.settle()
    assert live.last_error == "RuntimeError: broken"


def test_many_sessions_are_watched_in_bounded_memory(watching: Watching) -> None:
    for number in range(140):
        watching.begin(f"s{number}")
    assert len(watching.live._sessions) == 128
