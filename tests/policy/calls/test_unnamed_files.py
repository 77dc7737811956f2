"""Files that a call does not name one by one → what it names with them."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from tallystick.guard.live_world import LiveWorld
from tallystick.model.decision import Call
from tallystick.model.intent import Operation
from tallystick.policy.calls.reader import read_call
from tallystick.policy.calls.unnamed_files import Incidental, UnnamedFiles, is_shallow, wholes
from tests.policy.risks.readings import FOLDER, HOME, Bare, reading
from tests.support.cases import each, each_case


def removed(command: str) -> set[str]:
    """What is removed: `folder/` where all below it is, `folder/…` where it is not told which of it."""
    read = reading(command)
    made = [
        one
        for found in read.effects.intents
        if found.operation is Operation.DELETE
        for one in UnnamedFiles(read).of(found)
    ]
    return {one.target + ("" if one.is_known and not one.is_deep else "/" if one.is_known else "/…") for one in made}


@each(
    "command, expected",
    [
        ("find /a | xargs rm", {"/a/"}),
        ("find /a -print0 | xargs -0 rm -f", {"/a/"}),
        ("find /a -type f -exec rm {} +", {"/a/"}),
        ("find /a -exec rm -rf {} \\;", {"/a/"}),
        ("find /a -name '*.o' -exec rm {} +", {"/a/…"}),
        ("find /a -mtime +3 | xargs rm", {"/a/…"}),
        ("find /a | grep x | xargs rm", {"/a/…"}),
        ("find /a | sort | xargs rm", {"/a/"}),
        ("find /a /b | xargs rm", {"/a/", "/b/"}),
        ("ls /a | xargs rm", {"/a/…"}),
        ("cd /a && ls | xargs rm", {"/a/…"}),
        ('for f in $(find /a -type f); do rm "$f"; done', {"/a/"}),
        ('find /a | while read f; do rm "$f"; done', {"/a/"}),
        ("rm $(find /a -name x)", {"/a/…"}),
        ('rm "$x"', {"/…"}),
        ('find /a; rm "$x"', {"/…"}),
        ("cat list | xargs rm", {"/…"}),
        ("grep -rl x /a | xargs rm", {"/a/…"}),
        ("rg -l x /a | xargs rm -f", {"/a/…"}),
        ("parallel rm ::: /a /b/c", {"/a", "/b/c"}),
        ("find /a | grep -v x | xargs rm", {"/a/"}),
        ("rm /a/b", {"/a/b"}),
        ('rm -rf "$(git rev-parse --show-toplevel)"', {f"{FOLDER}/"}),
    ],
)
def test_a_list_that_is_handed_on_tells_where_its_names_come_from(command: str, expected: set[str]) -> None:
    assert removed(command) == expected


class Folder(Bare):
    """A machine on which every pattern matches two names."""

    def matches(self, pattern: str) -> Sequence[str]:
        return [pattern[:-1] + "one", pattern[:-1] + "two"] if pattern.endswith("*") else []


def gone(command: str) -> list[str]:
    world = Folder({})
    call = Call(agent="claude-code", session="s", tool="Bash", args={"command": command}, cwd=FOLDER)
    return [one.target for one in wholes(read_call(call, world, home=HOME, workspace=FOLDER), world)]


@each(
    "command, folders",
    [
        ("rm -rf *", [FOLDER]),
        ("rm -rf ./*", [FOLDER]),
        ("rm -rf /a/*", ["/a"]),
        ("cd /a; rm -r *", ["/a"]),
        ("rm -rf /*", ["/"]),
        ("rm *", [f"{FOLDER}/*"]),
        ("rm /a/x*", ["/a/x*"]),
        ("rm -rf /a/x*", ["/a/x*"]),
        ("rm *.c", []),
        ("ls *; rm -rf one", []),
        ("ls *", []),
        ("cp -r * /tmp; rm -rf one", []),
    ],
)
def test_a_pattern_stands_for_all_that_it_names_if_that_is_removed(command: str, folders: list[str]) -> None:
    assert gone(command) == folders


@pytest.mark.parametrize(
    ("command", "program", "wanted"),
    [
        ("wc -l *", "wc", True),
        ("cat *", "cat", False),
        ("wc -l *.key", "wc", False),
        ("wc -l server.key *", "wc", False),
        ("wc -l sub/*", "wc", False),
    ],
)
def test_a_file_that_nobody_named_is_incidental(tmp_path: Path, command: str, program: str, wanted: bool) -> None:
    (tmp_path / "server.key").write_text("x")
    call = Call(agent="claude-code", session="s", tool="Bash", args={"command": command}, cwd=str(tmp_path))
    read = read_call(call, LiveWorld(), home=str(tmp_path.parent), workspace=str(tmp_path))
    assert Incidental(read).has(f"{tmp_path}/server.key", program) is wanted


@each_case("command, wanted")
def test_a_sum_or_one_level_is_shallow(command: str, wanted: bool) -> None:
    read = reading(command)
    lists = [intent for intent in read.effects.intents if intent.operation is Operation.LIST]
    assert lists
    assert all(is_shallow(intent, read) for intent in lists) is wanted
