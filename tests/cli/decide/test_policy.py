from __future__ import annotations

import json
from pathlib import Path

import msgspec
import pytest

from tallystick.guard.real_work import by_rule
from tallystick.journal.archive import Archive
from tallystick.journal.home import Home
from tallystick.model.step import Json, Opening, Source, Step
from tallystick.policy.settings import Profile
from tallystick.recording.alert_chain import AlertChain
from tallystick.recording.session_writer import SessionWriter
from tests.cli.conftest import Tally, TallyJson
from tests.support.alerting import bring_alerts_up_to_date, refuse

NO_CURL = (
    '@id("mine.no-curl") @decision("ask") @severity("low") @reason("No downloads.")\n'
    'forbid (principal, action == Action::"run", resource == Program::"curl");\n'
)
BROKEN = "// mine\n\nforbid (principal, action, resource) when { context.nope };\n"


@pytest.fixture(autouse=True)
def elsewhere(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Commands run in a folder that is not a git repository."""
    (tmp_path / "work").mkdir()
    monkeypatch.chdir(tmp_path / "work")
    return tmp_path / "work"


def own_policy(user: Path, text: str) -> Path:
    path = user / ".tally" / "policy" / "mine.cedar"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def test_the_rules_in_force_are_listed_the_strictest_first(tally: Tally, tally_json: TallyJson, user: Path) -> None:
    own_policy(user, NO_CURL)
    rows = tally_json("policy", "list")["rules"]
    assert {"id": "mine.no-curl", "effect": "ask", "severity": "low", "origin": "user"}.items() <= next(
        row for row in rows if row["id"] == "mine.no-curl"
    ).items()
    text = tally("policy", "list", "--no-color").stdout.splitlines()
    assert text[0].startswith(f"profile standard, {len(rows)} rules (")
    groups = [line for line in text[1:] if line[:1] != " "]
    assert groups == sorted({row["id"].partition(".")[0] for row in rows}), "each concern is one part"
    part = text[text.index("destroy") + 1 : text.index("detectors")]
    assert [line.split()[1] for line in part] == sorted(
        (line.split()[1] for line in part), key=["deny", "ask", "warn", "allow"].index
    )
    assert any(line.startswith("  mine.no-curl") and line.endswith("[user]") for line in text)
    assert any("outside.write" in line and "(policy.trusted)" in line for line in text)
    assert {row["effect"] for row in tally_json("policy", "list", "--effect", "ask")["rules"]} == {"ask"}


def test_beside_a_rule_stands_how_often_it_stopped_real_work_wrongly(
    tally: Tally, tally_json: TallyJson, user: Path
) -> None:
    own_policy(user, NO_CURL.replace("mine.no-curl", "mine.secrets.read"))
    rows = {row["id"]: row for row in tally_json("policy", "list")["rules"]}
    measured = by_rule()["secrets.read"]
    assert rows["secrets.read"]["real_work"] == msgspec.to_builtins(measured)
    assert rows["destroy.root"]["real_work"] is None
    text = tally("policy", "list", "--no-color").stdout.splitlines()
    assert f"wrong stops per 1,000 calls, of {measured.calls:,} calls of real sessions" in text[1]
    shown = {line.split()[0]: line.split()[2] for line in text if line.startswith("  ")}
    assert shown["secrets.read"] == f"{measured.wrong_per_1000_calls:.2f}"
    assert (shown["destroy.root"], shown["mine.secrets.read"]) == ("–", "–")


def test_a_broken_file_is_said_while_the_rest_is_listed(tally: Tally, user: Path) -> None:
    path = own_policy(user, BROKEN)
    result = tally("policy", "list")
    assert result.exit_code == 0
    assert f"not in force: {path}, the policy on line 3" in result.stderr
    assert "tally.store" in result.stdout


def test_a_rule_is_shown_with_its_text(tally: Tally, tally_json: TallyJson) -> None:
    text = tally("policy", "show", "tally.store", "--no-color").stdout
    assert text.splitlines()[0] == "tally.store  deny  critical"
    assert "in every profile, without exceptions" in text
    assert 'resource.touches.contains("store")' in text
    assert tally_json("policy", "show", "store")["rule"]["id"] == "tally.store"


def test_everything_that_is_known_of_a_rule_is_printed(tally: Tally, tally_json: TallyJson, user: Path) -> None:
    path = own_policy(user, NO_CURL)
    assert tally("policy", "show", "mine.no-curl", "--no-color").stdout.splitlines() == [
        "mine.no-curl  ask  low",
        "  reason  No downloads.",
        f"  from    user: {path}:1",
        "",
        *NO_CURL.splitlines(),
    ]
    found = tally_json("policy", "show", "mine.no-curl")
    assert found == {
        "rule": {
            "id": "mine.no-curl",
            "effect": "ask",
            "severity": "low",
            "reason": "No downloads.",
            "remedy": "",
            "holds_always": False,
            "lifts": [],
            "lifted_by": [],
            "origin": "user",
            "settings": [],
            "real_work": None,
            "file": str(path),
            "line": 1,
        },
        "text": NO_CURL.rstrip("\n"),
    }
    listed = tally_json("policy", "list")
    assert found["rule"] in listed["rules"]
    assert (listed["profile"], listed["error"], len(listed["digest"])) == ("standard", None, 64)
    rows = [line.split() for line in tally("policy", "list", "--no-color").stdout.splitlines()]
    assert ["mine.no-curl", "ask", "–", "No", "downloads.", "[user]"] in rows


def test_an_explanation_is_printed_act_by_act_with_its_facts(
    tally: Tally, tally_json: TallyJson, user: Path, elsewhere: Path
) -> None:
    own_policy(user, NO_CURL)
    command = "curl https://example.org/x > out.txt"
    assert tally("policy", "explain", command, "--no-color").stdout.splitlines() == [
        "ask",
        "  reason    No downloads.",
        "  severity  low",
        "  run curl → whatever is known of it → mine.no-curl (ask)",
        "  the answer would be another one if",
        "    an exception lifts mine.no-curl: allow",
        "    policy.profile = observe: allow",
        "call Bash",
        "    kind: shell",
        "run curl  ← mine.no-curl",
        "    from: curl",
        "fetch example.org",
        "    scheme: https",
        "    from: https://example.org/x",
        f"write {elsewhere}/out.txt",
        "    place: workspace",
        "    kinds: workspace-part",
        "    is_whole: yes",
        "    program: curl",
        "    from: > out.txt",
    ]
    found = tally_json("policy", "explain", command)
    assert found["call"] == {
        "agent": "claude-code",
        "session": "explain",
        "tool": "Bash",
        "args": {"command": command},
        "cwd": str(elsewhere),
        "call_id": None,
        "home": None,
    }
    decision = found["decision"]
    assert (decision["effect"], decision["rules"], decision["would"]) == ("ask", ["mine.no-curl"], None)
    assert decision["evidence"] == [{"rule": "mine.no-curl", "action": "run", "target": "curl", "because": ["curl"]}]
    assert [(act["action"], act["type"], act["target"], act["rules"]) for act in found["acts"]] == [
        ("call", "Call", "Bash", []),
        ("run", "Program", "curl", ["mine.no-curl"]),
        ("fetch", "Host", "example.org", []),
        ("write", "File", f"{elsewhere}/out.txt", []),
    ]
    assert found["recorded"] is None


@pytest.mark.parametrize(("name", "said"), [("tally.stor3", "did you mean 'tally.store'"), ("tally.", "is ambiguous")])
def test_a_rule_that_is_not_told_apart_is_an_error(tally: Tally, name: str, said: str) -> None:
    result = tally("policy", "show", name)
    assert result.exit_code == 1
    assert said in result.stderr


def test_the_words_and_the_schema_are_told(tally: Tally, tally_json: TallyJson) -> None:
    words = {(one["member"], one["word"]) for one in tally_json("policy", "words")}
    assert {("File.kinds", "secret"), ("File.tags", "hidden-text"), ("Host.kinds", "metadata")} <= words
    assert ("Call.risks", "fork-bomb") in words
    assert all(one["meaning"] for one in tally_json("policy", "words"))
    assert "entity File" in tally("policy", "schema").stdout


def test_files_are_checked_without_coming_into_force(tally: Tally, tmp_path: Path, user: Path) -> None:
    (tmp_path / "good.cedar").write_text(NO_CURL)
    (tmp_path / "bad.cedar").write_text(BROKEN)
    good = tally("policy", "check", tmp_path / "good.cedar")
    assert (good.exit_code, good.stdout) == (0, "mine.no-curl: ask\n1 policy can be used\n")
    bad = tally("policy", "check", tmp_path / "good.cedar", tmp_path / "bad.cedar")
    assert bad.exit_code == 1
    assert "bad.cedar, the policy on line 3: attribute `nope` in context not found" in bad.stderr
    assert not (user / ".tally" / "policy").exists()


CASES = """
[[case]]
id = "no downloads"
class = "mine"
wants = "ask-or-deny"
calls = [{tool = "Bash", args = {command = "curl https://example.org/x"}}]

[[case]]
id = "looking"
class = "mine"
wants = "silence"
calls = [{tool = "Bash", args = {command = "ls"}}]
"""


def test_cases_are_judged_by_the_policies_in_force_or_by_a_candidate(tally: Tally, tmp_path: Path, user: Path) -> None:
    table = tmp_path / "cases.toml"
    table.write_text(CASES)
    failed = tally("policy", "test", table, "--no-color")
    assert failed.exit_code == 1
    assert failed.stdout.splitlines() == [
        "✕ no downloads: allow, expected ask-or-deny",
        "✓ looking: allow",
        "2 cases, 1 failed",
    ]
    (tmp_path / "mine.cedar").write_text(NO_CURL)
    passed = tally("policy", "test", table, "--policy", tmp_path / "mine.cedar")
    assert (passed.exit_code, passed.stdout.splitlines()[0]) == (0, "✓ no downloads: ask (mine.no-curl)")
    own_policy(user, NO_CURL)
    assert tally("policy", "test", table).exit_code == 0


def test_a_command_is_explained_act_by_act(tally: Tally, tally_json: TallyJson, user: Path) -> None:
    found = tally_json("policy", "explain", "cat ~/.ssh/id_rsa; ls")
    assert found["decision"]["effect"] == "deny"
    spoke = {(act["action"], act["target"]): act["rules"] for act in found["acts"]}
    assert spoke["read", f"{user}/.ssh/id_rsa"]
    assert spoke["run", "ls"] == []
    text = tally("policy", "explain", "echo \x1b[31m > ~/.tally/x", "--no-color").stdout
    assert text.splitlines()[0] == "deny"
    assert "\x1b" not in text


def test_a_call_of_another_tool_is_explained_from_its_arguments(tally_json: TallyJson, elsewhere: Path) -> None:
    args = json.dumps({"file_path": "notes.md", "content": "x"})
    found = tally_json("policy", "explain", args, "--tool", "Write", "--folder", str(elsewhere))
    assert ("write", str(elsewhere / "notes.md")) in {(act["action"], act["target"]) for act in found["acts"]}


def test_what_other_sessions_wrote_is_known_though_the_index_is_not_there_yet(
    tally: Tally, tally_json: TallyJson, user: Path, elsewhere: Path
) -> None:
    tally("init")
    script = elsewhere / "go.sh"
    script.write_text("echo hi\n")
    meta: dict[str, Json] = {"corr": "c", "tool": "Write"}
    args: dict[str, Json] = {"file_path": str(script), "content": "echo hi\n"}
    with SessionWriter(Home(user / ".tally")) as session_writer:
        session_writer.open(Opening(session="one", agent="claude-code", values={"personal.cwd": str(elsewhere)}))
        session_writer.add(
            "claude-code", Step(session="one", type="tool_call", meta=meta, values={"content.args": args})
        )
        session_writer.add("claude-code", Step(session="one", type="tool_result", meta={**meta, "success": True}))
        session_writer.seal()
    found = tally_json("policy", "explain", "sh go.sh")
    assert found["decision"]["rules"] == ["provenance.other-session"]


def test_a_step_of_the_record_is_explained(tally: Tally, tally_json: TallyJson, full: Path) -> None:
    calls = tally_json("log", "--type", "tool_call", "--tool", "Bash")["steps"]
    step = f"{calls[0]['session'][:8]}:{calls[0]['n']}"
    found = tally_json("policy", "explain", step)
    assert found["call"]["tool"] == "Bash"
    assert found["acts"][0]["action"] == "call"
    prompts = tally_json("log", "--type", "user")["steps"]
    refused = tally("policy", "explain", f"{prompts[0]['session'][:8]}:{prompts[0]['n']}")
    assert refused.exit_code == 1
    assert "is not a call of a tool" in refused.stderr


def test_the_record_is_held_against_a_candidate(
    tally: Tally, tally_json: TallyJson, full: Path, tmp_path: Path
) -> None:
    (tmp_path / "mine.cedar").write_text('@id("mine.all") @decision("ask") forbid (principal, action, resource);')
    found = tally_json("policy", "backtest", tmp_path / "mine.cedar")
    assert found["calls"] > 10
    assert found["candidate"]["asked"] + found["candidate"]["denied"] == found["calls"]
    text = tally("policy", "backtest", tmp_path / "mine.cedar", "--no-color").stdout
    assert "what would change" in text
    assert "mine.all" in text
    for profile in Profile:
        known = profile is not Profile.OBSERVE
        assert (tally("policy", "backtest", "--profile", profile.value).exit_code == 0) is known


def test_without_an_accepted_ask_nothing_is_suggested(tally: Tally, tally_json: TallyJson, full: Path) -> None:
    assert tally_json("policy", "suggest") == []
    assert tally("policy", "suggest").stdout.startswith("// no question")


def test_of_a_recorded_call_both_answers_are_shown(tally: Tally, tally_json: TallyJson, user: Path) -> None:
    tally("init")
    with SessionWriter(Home(user / ".tally")) as session_writer:
        session_writer.open(Opening(session="one", agent="claude-code", source=Source.HOOK))
        for number, command in enumerate(("git status", "cat ~/.ssh/id_rsa")):
            meta: dict[str, Json] = {"corr": str(number), "tool": "Bash"}
            values: dict[str, Json] = {"content.args": {"command": command}}
            session_writer.add(
                "claude-code", Step(session="one", type="tool_call", source=Source.HOOK, meta=meta, values=values)
            )
        session_writer.seal()
    (sid,) = (sid for sid, _ in Home(user / ".tally").sessions())
    same, other = (tally("policy", "explain", f"{sid}:{n}", "--no-color").stdout.splitlines() for n in (1, 2))
    assert (same[0], same[-2:]) == ("allow: no rule objects", ["decided at the time: allow", "the two agree"])
    assert (other[0], other[-2:]) == (
        "deny",
        ["decided at the time: allow", "the two differ, unless files have changed since"],
    )
    assert tally_json("policy", "explain", f"{sid}:2")["agreement"] == "different"


# Why ------------------------------------------------------------------------------------------------------------------


def test_an_explanation_says_what_by_which_fact_by_which_rule_and_what_would_change_it(
    tally: Tally, tally_json: TallyJson, user: Path
) -> None:
    target = user / "notes.md"
    text = tally("policy", "explain", f"echo x > {target}", "--no-color").stdout
    assert f"  write {target} → place home, is_in_use no → outside.write (ask)" in text.splitlines()
    found = tally_json("policy", "explain", f"echo x > {target}")
    assert {"what": f"policy.trusted has {user}", "effect": "allow", "rules": []} in found["changes"]
    assert {"what": "an exception lifts outside.write", "effect": "allow", "rules": []} in found["changes"]
    assert found["findings"][0]["facts"][0] == {"name": "place", "value": "home"}
    held = tally("policy", "explain", f"rm -rf {user}/.tally", "--no-color").stdout
    assert "  no single change would make the answer milder" in held.splitlines()
    assert tally_json("policy", "explain", "ls")["findings"] == []


# Rules of one's own ---------------------------------------------------------------------------------------------------


def test_a_rule_is_added_and_speaks(tally: Tally, tally_json: TallyJson, elsewhere: Path) -> None:
    added = tally("policy", "add", "deny", "write", "infra/prod/**")
    assert added.exit_code == 0, added.stderr
    assert 'resource.meets.contains("infra/prod/**")' in added.stdout
    (elsewhere / "infra").mkdir()
    for command in ("touch infra/prod/x", "rm -rf infra"):
        assert "mine.deny-write-infra-prod" in tally_json("policy", "explain", command)["decision"]["rules"]
    assert "mine.deny-write-infra-prod" not in tally_json("policy", "explain", "touch a")["decision"]["rules"]
    again = tally("policy", "add", "deny", "write", "infra/prod/**")
    assert again.exit_code != 0
    assert "mine.deny-write-infra-prod" in again.stderr


def test_a_glob_that_the_shell_filled_in_is_noticed(tally: Tally) -> None:
    result = tally("policy", "add", "deny", "write", "a.tf", "b.tf")
    assert result.exit_code != 0
    assert "quotes" in result.stderr


def test_a_file_with_a_rule_that_never_matches_is_refused(tally: Tally, user: Path, tmp_path: Path) -> None:
    text = '@id("mine.infra")\nforbid (principal, action, resource is File) when { resource.path like "infra/**" };\n'
    (tmp_path / "mine.cedar").write_text(text)
    result = tally("policy", "check", str(tmp_path / "mine.cedar"))
    assert result.exit_code != 0
    assert "it can never match" in result.stderr
    assert 'resource.meets.contains("infra/**")' in result.stderr
    own_policy(user, text)  # one that is in force already stays so, and is named
    listed = tally("policy", "list")
    assert listed.exit_code == 0
    assert "it can never match" in listed.stderr


def test_what_an_alert_stopped_is_let_through_here(tally: Tally, tally_json: TallyJson, user: Path) -> None:
    own_policy(user, NO_CURL)
    home = Home(user / ".tally")
    Archive.make(home)
    with SessionWriter(home) as session_writer:
        found: Json = [{"rule": "mine.no-curl", "action": "run", "target": "curl", "because": ["curl"]}]
        refuse(session_writer, AlertChain(session_writer), 0, effect="ask", found=found)
    bring_alerts_up_to_date(home)
    result = tally("policy", "allow", "1", "--here")
    assert result.exit_code == 0, result.stderr
    assert '@lifts("mine.no-curl")' in result.stdout
    assert "mine.no-curl" not in tally_json("policy", "explain", "curl --version")["decision"]["rules"]


def test_the_use_of_rules_is_told(tally: Tally, tally_json: TallyJson, user: Path) -> None:
    tally("init")
    found = tally_json("policy", "list", "--usage")
    assert (found["decisions"], found["always_accepted"]) == (0, [])
    assert "outside.write" in found["never_fired"]
    text = tally("policy", "list", "--usage", "--no-color").stdout
    assert f"{len(found['never_fired'])} rules never fired:" in text
