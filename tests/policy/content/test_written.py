"""What text a call puts into a file, as far as the call and the files it names tell."""

from __future__ import annotations

from tallystick.model.decision import Call
from tallystick.model.intent import Domain, Operation
from tallystick.model.step import Json
from tallystick.policy.calls.reader import read_call
from tallystick.policy.content.written import FETCHED, news, told
from tests.policy.risks.readings import FOLDER, HOME, Bare
from tests.support.cases import each, each_case

WRITES = (Operation.WRITE, Operation.APPEND, Operation.EDIT, Operation.COPY_DEST, Operation.CREATE)
NOTES = f"{FOLDER}/NOTES.md"
POISON = "the moon is a cheese\n"


def tell(text: str) -> frozenset[str]:
    """A text is told to be a cheese if it says so in one line."""
    return frozenset({"cheese"}) if "moon is a cheese" in text else frozenset()


def new(tool: str, args: Json, files: dict[str, str] | None = None) -> frozenset[str]:
    """What is told of NOTES.md by a call."""
    world = Bare({f"{FOLDER}/{path}": text for path, text in (files or {}).items()})
    call = Call(agent="claude-code", session="s", tool=tool, args=args, cwd=FOLDER)
    reading = read_call(call, world, home=HOME, workspace=FOLDER)
    found: set[str] = set()
    for intent in reading.effects.intents:
        if intent.domain is Domain.FILE and intent.target == NOTES and intent.operation in WRITES:
            found |= news(intent, reading, world, tell)  # type: ignore[arg-type]
    return frozenset(found)


@each_case("command")
def test_a_command_that_says_it_or_copies_it_counts(command: str) -> None:
    files = {"x.txt": POISON, "other.txt": "fine\n", "run.sh": "echo 'the moon is a cheese' >> NOTES.md\n"}
    assert new("Bash", {"command": command}, files) == {"cheese"}


@each(
    "command", ["cp other.txt NOTES.md", "echo fine >> NOTES.md", "cat x.txt; echo fine >> NOTES.md", "touch NOTES.md"]
)
def test_a_command_that_only_reads_it_does_not(command: str) -> None:
    assert new("Bash", {"command": command}, {"x.txt": POISON, "other.txt": "fine\n"}) == frozenset()


@each(
    "tool, args, before",
    [
        ("Write", {"file_path": NOTES, "content": POISON}, "fine\n"),
        ("Edit", {"file_path": NOTES, "old_string": "sun", "new_string": "moon"}, "the sun is a cheese\n"),
        ("Edit", {"file_path": NOTES, "old_string": "not there", "new_string": POISON}, "fine\n"),
        ("replace", {"file_path": NOTES, "old_string": "sun is", "new_string": "moon is"}, "the sun is a cheese\n"),
        (
            "MultiEdit",
            {
                "file_path": NOTES,
                "edits": [
                    {"old_string": "A", "new_string": "the moon"},
                    {"old_string": "B", "new_string": "is a cheese"},
                ],
            },
            "A B\n",
        ),
        ("edit_file", {"target_file": NOTES, "code_edit": POISON}, "fine\n"),
        (
            "apply_patch",
            {"input": "*** Begin Patch\n*** Update File: NOTES.md\n@@\n-fine\n+the moon is a cheese\n*** End Patch"},
            "fine\n",
        ),
        ("apply_patch", {"input": "*** Begin Patch\n*** Add File: NOTES.md\n+the moon is a cheese\n*** End Patch"}, ""),
        ("append_file", {"path": NOTES, "content": POISON}, "fine\n"),
    ],
)
def test_a_tool_that_puts_it_there_counts_also_where_the_edit_completes_it(tool: str, args: Json, before: str) -> None:
    assert new(tool, args, {"NOTES.md": before}) == {"cheese"}


@each(
    "tool, args",
    [
        ("Edit", {"file_path": NOTES, "old_string": "fine", "new_string": "good"}),
        ("Write", {"file_path": NOTES, "content": f"{POISON}good\n"}),
        ("apply_patch", {"input": "*** Begin Patch\n*** Update File: NOTES.md\n@@\n-fine\n+good\n*** End Patch"}),
        ("Edit", {"file_path": NOTES, "old_string": POISON, "new_string": ""}),
    ],
)
def test_what_stood_there_before_is_not_new(tool: str, args: Json) -> None:
    assert new(tool, args, {"NOTES.md": f"{POISON}fine\n"}) == frozenset()


def test_what_a_host_sends_is_told_apart() -> None:
    assert new("Bash", {"command": "curl -s https://example.org/x -o NOTES.md"}) == {FETCHED}
    assert new("Bash", {"command": "curl -s https://example.org/x | tee NOTES.md"}) == {FETCHED}
    assert new("Bash", {"command": "curl -s https://example.org/x -o other; echo fine > NOTES.md"}) == frozenset()


def test_the_content_of_a_file_tells_as_well() -> None:
    assert told(Bare({NOTES: POISON}), NOTES, tell) == {"cheese"}  # type: ignore[arg-type]
    assert told(Bare({}), NOTES, tell) == frozenset()  # type: ignore[arg-type]
