"""The corpora hold what they should, and a case is judged as an agent's calls are."""

from __future__ import annotations

import tomllib
from collections import Counter
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.errors import FormatError, PolicyError
from tallystick.guard import policy_quality
from tallystick.guard.policy_quality import (
    HOME_FOLDER,
    Case,
    CaseCall,
    History,
    Judged,
    JudgedAt,
    Machine,
    Tally,
    Wants,
    corpus_digest,
    judge,
    read_cases,
    summed,
    tallies,
)
from tallystick.model.decision import Effect
from tallystick.workspace.indexing import open_index
from tests.support.cases import cases, each, each_case

CORPUS = Path(__file__).parents[1] / "policy" / "corpus"
ATTACKS = sorted(CORPUS.glob("attacks_*.toml"))
WORK = sorted(CORPUS.glob("benign_*.toml"))
CLASSES = cases(__file__, "classes", set[str])
FROBNICATE = '@id("mine") @decision("ask") forbid (principal, action == Action::"run", resource == Program::"frob");'


def files_everywhere() -> dict[str, str]:
    return msgspec.convert(tomllib.loads((CORPUS / "machine.toml").read_text("utf-8"))["files"], dict[str, str])


def shell(command: str, **more: object) -> CaseCall:
    return msgspec.convert({"tool": "Bash", "args": {"command": command}, **more}, CaseCall)


def case(*calls: CaseCall, wants: Wants = Wants.ASK_OR_DENY, **more: object) -> Case:
    made = Case(id="one", class_="some", wants=wants, calls=calls)
    return msgspec.structs.replace(made, **more) if more else made


def judged(one: Case, files: dict[str, str] | None = None) -> list[tuple[int, Effect]]:
    return [(found.call, found.effect) for found in judge([one], files or {})]


def machine(folder: Path) -> Machine:
    found = Machine(folder.resolve())
    found.lay_out({"project/README.md": "# Shop\n"})
    return found


# The corpora ---------------------------------------------------------------------------------------------------------


def test_the_attacks_are_of_every_class_and_in_many_spellings() -> None:
    classes = Counter(one.class_ for one in read_cases(ATTACKS))
    assert set(classes) == CLASSES
    assert sum(classes.values()) >= 1000
    assert all(count >= 4 for count in classes.values())


def test_the_work_is_a_thousand_calls() -> None:
    assert sum(len(one.calls) for one in read_cases(WORK)) >= 1000


@each("tables", [ATTACKS, WORK], ids=["attacks", "work"])
def test_no_case_stands_twice(tables: list[Path]) -> None:
    texts = Counter(msgspec.json.encode((one.agent, one.calls, one.files, one.links)) for one in read_cases(tables))
    assert [text for text, count in texts.items() if count > 1] == []


def test_no_single_call_is_both_an_attack_and_work() -> None:
    def alone(tables: list[Path]) -> set[bytes]:
        plain = (one for one in read_cases(tables) if len(one.calls) == 1 and not (one.files or one.links))
        return {msgspec.json.encode((one.calls[0].tool, one.calls[0].args)) for one in plain}

    assert alone(ATTACKS) & alone(WORK) == set()


def test_attacks_want_to_be_stopped_and_work_wants_to_be_let_through() -> None:
    assert {one.wants for one in read_cases(WORK)} == {Wants.SILENCE}
    assert {one.wants for one in read_cases(ATTACKS)} == {Wants.DENY, Wants.ASK_OR_DENY, Wants.WARN}


# Reading -------------------------------------------------------------------------------------------------------------

GOOD = '[[case]]\nid = "a"\nclass = "x"\nwants = "deny"\ncalls = [{ tool = "Bash", args = { command = "ls" } }]\n'


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (GOOD + GOOD, "used twice"),
        (GOOD + "judged = 1\n", "no call to judge"),
        (GOOD + "judged = -1\n", "no call to judge"),
        (GOOD.replace("calls = [{", "calls = []  # [{"), "no call to judge"),
        (GOOD.replace('"deny"', '"denied"'), "denied"),
        (GOOD + 'wnats = "deny"\n', "wnats"),
        (GOOD.replace("tool =", "tol ="), "tol"),
        (GOOD.replace('class = "x"\n', ""), "class"),
        ("[[cases]]\n", "cases"),
        ("id = ", "table.toml"),
    ],
)
def test_a_table_of_another_shape_is_refused(tmp_path: Path, text: str, why: str) -> None:
    table = tmp_path / "table.toml"
    table.write_text(text, "utf-8")
    with pytest.raises(FormatError, match=why):
        read_cases([table])


def test_work_in_short_is_one_case_a_command_and_a_call(tmp_path: Path) -> None:
    table = tmp_path / "table.toml"
    text = '[[work]]\nclass = "x"\ncommands = ["ls", "pwd"]\ncalls = [{ tool = "Read", args = { path = "a" } }]\n'
    table.write_text(text, "utf-8")
    found = read_cases([table])
    assert [one.id for one in found] == ["x: ls", "x: pwd", 'x: Read {"path":"a"}']
    assert [one.calls[0].tool for one in found] == ["Bash", "Bash", "Read"]


def test_the_digest_of_a_corpus_is_that_of_its_tables_whatever_their_order(tmp_path: Path) -> None:
    one, two = tmp_path / "one.toml", tmp_path / "two.toml"
    one.write_text(GOOD, "utf-8")
    two.write_text("", "utf-8")
    before = corpus_digest([one, two])
    assert corpus_digest([two, one]) == before
    two.write_text("# ", "utf-8")
    assert corpus_digest([one, two]) != before


# Judging -------------------------------------------------------------------------------------------------------------


def test_an_attack_is_judged_by_its_last_call() -> None:
    assert judged(case(shell("ls"), shell("rm -rf ~/.tally"))) == [(1, Effect.DENY)]
    assert judged(case(shell("ls"), shell("pwd"))) == [(1, Effect.ALLOW)]


def test_an_attack_ends_where_a_call_is_denied() -> None:
    assert judged(case(shell("cat ~/.tally/keys/log.key"), shell("ls"))) == [(0, Effect.DENY)]


def test_an_attack_that_names_its_judged_call_is_not_judged_by_what_follows() -> None:
    assert judged(case(shell("ls"), shell("rm -rf ~/.tally"), judged=0)) == [(0, Effect.ALLOW)]


@pytest.mark.parametrize(
    ("commands", "expected"),
    [
        (("git push --force origin main", "ls"), [(0, Effect.ASK)]),
        (("ls", "pwd"), [(0, Effect.ALLOW)]),
        (("git push --force origin main", "rm -rf ~", "ls"), [(1, Effect.DENY)]),
    ],
)
def test_a_chain_is_missed_only_where_no_call_of_it_is_stopped(
    commands: tuple[str, ...], expected: list[tuple[int, Effect]]
) -> None:
    chain = case(*map(shell, commands), judged_at=JudgedAt.ANY)
    assert judged(chain) == expected


def test_each_call_of_work_is_judged_and_none_ends_it() -> None:
    work = case(shell("rm -rf ~/.tally"), shell("ls"), wants=Wants.SILENCE)
    assert judged(work) == [(0, Effect.DENY), (1, Effect.ALLOW)]
    assert judged(msgspec.structs.replace(work, judged=1)) == [(1, Effect.ALLOW)]


def test_policies_in_the_store_of_the_machine_count() -> None:
    files = {".tally/policy/mine.cedar": FROBNICATE}
    assert judged(case(shell("frob x")), files) == [(0, Effect.ASK)]
    assert judged(case(shell("frob x"))) == [(0, Effect.ALLOW)]


def test_policies_that_cannot_be_loaded_end_the_measurement() -> None:
    with pytest.raises(PolicyError):
        judged(case(shell("ls")), {".tally/policy/mine.cedar": "forbid ("})


def test_links_of_a_case_are_there_when_it_is_judged() -> None:
    written = case(shell("echo x > log"))
    linked = msgspec.structs.replace(written, links={"log": f"{HOME_FOLDER}/.tally/ledger.jsonl"})
    assert judged(written) == [(0, Effect.ALLOW)]
    assert judged(linked) == [(0, Effect.DENY)]


def test_nothing_is_left_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(policy_quality, "_BESIDE_TMP", str(tmp_path))
    assert judged(case(shell("ls"), shell("pwd"), files={"a.txt": "a"})) == [(1, Effect.ALLOW)]
    assert list(tmp_path.iterdir()) == []


def test_what_was_called_before_is_in_the_record_and_on_disk(tmp_path: Path) -> None:
    here = machine(tmp_path)
    project = here.user / "project"
    wrote = CaseCall(
        tool="Write",
        args={"file_path": f"{HOME_FOLDER}/project/run.sh", "content": "ls"},
        session="earlier",
        leaves={"run.sh": "ls"},
    )
    ran = shell("sh run.sh", session="now", agent="codex")
    with History(here, here.decider(), case(wrote, ran)) as history:
        history.happened(wrote)
        history.happened(ran)
    assert (project / "run.sh").read_text("utf-8") == "ls"
    with open_index(here.home) as index:
        sessions = index.graph.rows("SELECT agent_id FROM sessions ORDER BY agent_id")
        written = index.graph.rows("SELECT uri FROM artifacts WHERE uri LIKE '%/project/run.sh'")
    assert [row[0] for row in sessions] == ["claude-code", "codex"]
    assert written


def test_hostile_texts_are_judged_and_recorded() -> None:
    hostile = "\x00\x1b[2J\ud800 HOME_FOLDER" + "x" * 100_000
    calls = (
        shell(hostile, result=hostile),
        CaseCall(tool="mcp__x__y", args={hostile: [hostile]}, result=hostile),
        shell("ls"),
    )
    assert [call for call, _ in judged(case(*calls, wants=Wants.SILENCE))] == [0, 1, 2]


# The machine ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("path", ["../../../out", "/tmp/elsewhere/out", "~/../../out", "a/../../../../out", "//out"])
def test_no_file_of_a_case_is_made_outside_its_machine(tmp_path: Path, path: str) -> None:
    here = machine(tmp_path / "machine")
    here.write(path, "x", here.user / "project")
    here.link(path, "/", here.user / "project")
    assert [found.name for found in tmp_path.iterdir()] == ["machine"]
    assert not list(tmp_path.rglob("out"))


def test_no_file_of_a_case_is_written_through_a_link_that_leads_out(tmp_path: Path) -> None:
    here = machine(tmp_path / "machine")
    here.link("away", str(tmp_path), here.user)
    here.link("out", str(tmp_path / "out"), here.user)
    here.write("away/out", "x", here.user)
    here.write("out", "x", here.user)
    assert [found.name for found in tmp_path.iterdir()] == ["machine"]


def test_a_copy_of_a_machine_has_its_files_and_is_another(tmp_path: Path) -> None:
    one = machine(tmp_path / "one")
    two = one.copy_to(tmp_path / "two")
    two.write("~/project/README.md", "changed", two.user)
    assert (one.user / "project" / "README.md").read_text("utf-8") == "# Shop\n"
    assert two.home.exists


def test_the_home_folder_is_filled_in_wherever_it_stands(tmp_path: Path) -> None:
    here = Machine(tmp_path)
    given_value = {f"{HOME_FOLDER}/a": [f"x {HOME_FOLDER}", 1, None, {"b": HOME_FOLDER}]}
    user = str(tmp_path / "dev")
    assert here.filled(given_value) == {f"{user}/a": [f"x {user}", 1, None, {"b": user}]}


# Counting ------------------------------------------------------------------------------------------------------------


@each_case("wants, met")
def test_a_case_gets_what_it_wants(wants: Wants, met: set[Effect]) -> None:
    assert {effect for effect in Effect if Judged(id="a", class_="x", wants=wants, effect=effect).is_met} == met


@given(st.lists(st.tuples(st.sampled_from("xyz"), st.sampled_from(list(Wants)), st.sampled_from(list(Effect)))))
def test_every_case_is_counted_once(drawn: list[tuple[str, Wants, Effect]]) -> None:
    found = [Judged(id="a", class_=name, wants=wants, effect=effect) for name, wants, effect in drawn]
    total = summed(tallies(found).values())
    assert total.total == total.denied + total.asked + total.warned + total.silent == len(found)
    assert total.met == sum(one.is_met for one in found)
    assert summed([]) == Tally()
