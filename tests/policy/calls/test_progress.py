"""What a call has done up to one of its intents."""

from tallystick.model.intent import Domain, Intent, Operation
from tallystick.policy.calls.progress import SoFar
from tests.policy.risks.readings import reading
from tests.support.cases import each, each_case


def emptied(command: str) -> set[str]:
    """The files that a command empties."""
    read = reading(command)
    so_far = SoFar(read)
    found = set()
    for intent in read.effects.intents:
        if intent.operation is Operation.RUN:
            so_far.started(intent.target)
        elif so_far.empties(intent):
            found.add(intent.target)
    return found


@each_case("command")
def test_a_file_that_is_cut_or_filled_with_noise_is_emptied(command: str) -> None:
    assert emptied(command) == {"/a"}


@each(
    "command",
    ["echo x > /a", "echo >> /a", "touch /a", "cp b /a", "truncate -s 9 /a", "dd if=b of=/a",
    "ls 2> /dev/null > /a", "cat b > /a",
     "sed -i d /a", "make > /a"],
)  # fmt: skip
def test_a_file_that_is_given_something_is_not(command: str) -> None:
    assert emptied(command) == set()


def test_what_was_made_and_what_lies_in_it_is_known() -> None:
    so_far = SoFar(reading("true"))
    assert not so_far.is_made("/a/b/c")
    so_far.made("/a/b")
    assert so_far.is_made("/a/b")
    assert so_far.is_made("/a/b/c/d")
    assert not so_far.is_made("/a")
    assert not so_far.is_made("/a/bc")
    assert not so_far.is_made("b")


@each_case("command, path, real")
def test_links_that_the_call_makes_are_followed(command: str, path: str, real: str) -> None:
    assert SoFar(reading(command)).linked(path) == real


def test_what_ln_makes_is_a_link() -> None:
    so_far = SoFar(reading("true"))
    made = Intent(domain=Domain.FILE, operation=Operation.CREATE, target="/a")
    assert not so_far.links(made)
    so_far.started("ln")
    assert so_far.links(made)


def test_the_program_is_the_last_one_that_started() -> None:
    so_far = SoFar(reading("true"))
    assert so_far.program == ""
    so_far.started("rm")
    assert so_far.program == "rm"


def test_only_sql_for_a_file_tells_what_becomes_of_it() -> None:
    so_far = SoFar(reading("sqlite3 a.db 'drop table x'"))
    assert so_far.data_tags() == frozenset()
    so_far.started("sqlite3")
    assert so_far.data_tags() == {"loses-rows"}


@each("operation", list(Operation))
def test_a_write_of_the_whole_is_one(operation: Operation) -> None:
    intent = Intent(domain=Domain.FILE, operation=operation, target="/a")
    assert SoFar(reading("true")).is_whole(intent) is (operation in (Operation.WRITE, Operation.COPY_DEST))
