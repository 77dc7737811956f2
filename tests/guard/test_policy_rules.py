"""What is told of the rules in force."""

from __future__ import annotations

from pathlib import Path

import pytest

from tallystick.errors import NotFoundError, PolicyError
from tallystick.guard.policy_rules import check_files, rules_in_force, show_rule
from tallystick.journal.home import Home

OWN = '@id("mine.notes")\n@lifts("outside.write")\npermit (principal, action, resource is File);\n'
SHARED = '@id("ours.no-push") @decision("ask")\nforbid (principal, action, resource == Program::"git");\n'


@pytest.fixture
def root(tmp_path: Path, home: Home) -> str:
    """A repository with a rule of its own, and a store whose owner has another."""
    for folder, text in ((home.folder / "policy", OWN), (tmp_path / "work" / ".tally" / "policy", SHARED)):
        folder.mkdir(parents=True)
        (folder / "rules.cedar").write_text(text)
    return str(tmp_path / "work")


def test_a_rule_says_who_brought_it_and_what_lifts_it(home: Home, root: str) -> None:
    found = rules_in_force(home, root)
    rules = {row.id: row for row in found.rules}
    assert [rules[name].origin for name in ("outside.write", "mine.notes", "ours.no-push")] == [
        "shipped",
        "user",
        "repository",
    ]
    assert (rules["outside.write"].lifted_by, rules["mine.notes"].lifts) == (("mine.notes",), ("outside.write",))
    assert "ours.no-push" not in {row.id for row in rules_in_force(home, None).rules}
    assert found.error is None


def test_a_rule_is_found_by_the_one_part_of_its_name_that_no_other_has(home: Home, root: str) -> None:
    assert show_rule(home, root, "no-push").text == SHARED.strip()
    assert show_rule(home, root, "outside.write").rule.id == "outside.write"  # not another that begins so
    with pytest.raises(NotFoundError, match=r"'outside\.'.*outside\.refused"):
        show_rule(home, root, "outside.")
    with pytest.raises(NotFoundError, match=r"no rule 'mine\.note5'; did you mean 'mine\.notes'"):
        show_rule(home, root, "mine.note5")


def test_a_file_that_cannot_be_used_is_named_with_its_line(home: Home, tmp_path: Path) -> None:
    good, bad = tmp_path / "good.cedar", tmp_path / "bad.cedar"
    good.write_text(OWN)
    bad.write_text(f"{OWN}\nforbid (")
    assert "mine.notes" in {rule.id for rule in check_files(home, [good]).rules}
    with pytest.raises(PolicyError, match=r"bad\.cedar, the policy on line 5"):
        check_files(home, [bad])
    with pytest.raises(PolicyError, match=r"none\.cedar: No such file"):
        check_files(home, [tmp_path / "none.cedar"])
    bad.write_bytes(b"\xff")
    with pytest.raises(PolicyError, match="is not UTF-8"):
        check_files(home, [bad])
