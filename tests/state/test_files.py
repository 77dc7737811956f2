from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from tallystick.intent.shell.commands import Environment
from tallystick.intent.shell.effects import effects
from tallystick.model.intent import Effects
from tallystick.state.files import By, Files, Made, is_upkeep
from tests.support.cases import each


def read(command: str) -> Effects:
    return effects(command, Environment(variables={"HOME": "/home/dev"}, folder="/p"))


def by(at_us: int = 1, *, existing: frozenset[str] | None = frozenset()) -> By:
    return By(at_us=at_us, session="s", step=f"s:{at_us}", request=1, existing=existing)


def after(*commands: str, existing: frozenset[str] | None = frozenset()) -> Files:
    files = Files()
    for number, command in enumerate(commands, 1):
        files = files.change(by(number, existing=existing), read(command)).files
    return files


def known(files: Files, path: str) -> Made:
    made = files.made(path)
    assert made is not None
    return made


def test_what_is_written_is_whole_and_has_a_digest() -> None:
    made = known(after("cat > a <<'EOF'\nhello\nEOF"), "/p/a")
    assert (made.is_whole, made.is_new, made.step) == (True, True, "s:1")
    assert made.digest == "sha256:5891b5b522d5df086d0ff0b110fbd9d21bb4fc7163af34d08286a2e846f6be03"


def test_a_secret_that_was_replaced_leaves_no_digest() -> None:
    assert known(after("cat > a <<'EOF'\nkey=‹secret:token›\nEOF"), "/p/a").digest is None


def test_a_part_that_is_changed_does_not_make_the_whole() -> None:
    files = after("echo x >> a", existing=frozenset({"/p/a"}))
    assert not known(files, "/p/a").is_whole
    assert known(after("echo x > a", "echo y >> a"), "/p/a").is_whole


def test_a_copy_remembers_where_it_came_from() -> None:
    assert known(after("cp a b"), "/p/b").sources == ("/p/a",)
    assert known(after("cp a b", "sort c >> b"), "/p/b").sources == ("/p/a", "/p/c")


def test_what_is_moved_is_gone_and_remembered() -> None:
    files = after("echo x > a", "mv a b")
    assert known(files, "/p/a").is_gone
    was = known(files, "/p/a").was
    assert was is not None
    assert was.step == "s:1"


def test_what_was_moved_is_new_only_if_it_was_before() -> None:
    assert not known(after("mv thesis.md old.md"), "/p/old.md").is_new
    assert known(after("echo x > a", "mv a b", "mv b c"), "/p/c").is_new


def test_a_folder_that_is_removed_takes_along_what_was_in_it() -> None:
    files = after("mkdir d && echo x > d/a", "rm -rf d")
    assert files.made("/p/d/a") is None
    assert known(files, "/p/d").is_gone


def test_touching_what_is_there_makes_nothing() -> None:
    assert after("touch a; mkdir -p d", existing=frozenset({"/p/a", "/p/d"})).made("/p/a") is None


def test_where_nobody_looked_only_what_was_written_whole_counts_as_new() -> None:
    files = after("touch a; echo x > b; cat c; echo y > c", existing=None)
    assert files.made("/p/a") is None
    assert known(files, "/p/b").is_new
    assert not known(files, "/p/c").is_new


def test_what_lies_in_a_folder_that_a_program_made_was_written_by_nobody() -> None:
    assert known(after("python3 -m venv .venv"), "/p/.venv/bin/activate").is_generated
    assert not known(after("git clone https://example.org/lib lib"), "/p/lib/a.sh").is_generated
    assert not known(after("cp -r a b"), "/p/b/x").is_generated


def test_a_folder_that_was_there_stays_what_it_was_when_something_is_copied_into_it() -> None:
    files = after("cp -r src mine", "rsync -a src/ mine/", existing=frozenset({"/p/mine"}))
    assert files.made("/p/mine") is None
    assert files.made("/p/mine/thesis.md") is None
    assert known(after("cp -r src mine", "cp -r src mine"), "/p/mine/a").step == "s:1"


def test_a_download_is_known_through_copies() -> None:
    files = after("curl -o a https://example.org/", "cp a b", "mv b c", "cp c d")
    assert files.is_download("/p/a")
    assert files.is_download("/p/b") or files.is_download("/p/c")
    assert not after("echo x > a").is_download("/p/a")


def test_a_formatter_loosens_what_lies_below() -> None:
    files = after("echo x > src/a", "black src")
    assert files.is_loose("/p/src/a", 1)
    assert not files.is_loose("/p/other", 1)
    assert not files.is_loose("/p/src/a", 3)
    assert files.loosen(9).is_loose("/p/other", 9)


@each(
    "command, expected",
    [("npm install x", True), ("black a.py", True), ("sed -i s/a/b/ a.sh", False), ("echo >> a", False)],
)
def test_upkeep_is_what_programs_do_by_themselves(command: str, expected: bool) -> None:
    changed = [one for one in read(command).intents if one.operation in ("edit", "append") and not one.is_deep]
    assert [is_upkeep(intent) for intent in changed] == [expected]


_COMMANDS = st.sampled_from(
    [
        "echo x > a",
        "echo x >> a",
        "cp a b",
        "mv a b",
        "mv b a",
        "rm a",
        "rm -rf .",
        "mkdir d",
        "touch d/x",
        "cat a",
        "black .",
    ]
)


@given(st.lists(_COMMANDS, max_size=6), st.lists(_COMMANDS, min_size=1, max_size=4))
def test_taking_back_a_change_leaves_what_was_there(before: list[str], then: list[str]) -> None:
    files = after(*before)
    paths = ("/p/a", "/p/b", "/p/d", "/p/d/x", "/p")
    was = {path: files.made(path) for path in paths}
    for number, command in enumerate(then, 10):
        changed = files.change(by(number), read(command))
        files = changed.files.undo(changed.before)
    assert {path: files.made(path) for path in paths} == was


@given(st.lists(_COMMANDS, max_size=6), _COMMANDS)
def test_a_change_gives_another_value_and_leaves_the_first_as_it_was(before: list[str], command: str) -> None:
    files, same = after(*before), after(*before)
    changed = files.change(by(9), read(command))
    assert files == same
    assert changed == same.change(by(9), read(command))
