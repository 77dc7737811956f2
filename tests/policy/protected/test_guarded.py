"""What a call does to the places that protect the record; what is decided on it is in tests/guard/test_decide.py."""

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from tallystick.intent.tools.calls import uses_of
from tallystick.intent.tools.uses import ToolCall
from tallystick.model.decision import Call
from tallystick.model.step import Json
from tallystick.policy.calls.reader import read_call
from tallystick.policy.protected.guarded import Disk, Guarded, guarded, kind_of
from tallystick.policy.protected.places import Kind, Naming, Places, Projects, Protected
from tallystick.policy.protected.recorder import Recorder
from tests.policy.risks.readings import FOLDER, HOME, Bare
from tests.support.cases import each, each_case

STORE = f"{HOME}/.tally"
SETTINGS = ".claude/settings.json"
PLACES = Places(
    [
        Protected(Kind.STORE, STORE, is_folder=True),
        Protected(Kind.KEYS, f"{STORE}/keys", is_folder=True),
        Protected(Kind.HOOK_SETTINGS, f"{HOME}/{SETTINGS}", is_folder=False),
    ],
    home=HOME,
    projects=Projects(settings=(SETTINGS, "gptme.toml")),
)
RECORDER = Recorder(process=lambda: 4711)


def seen(tool: str, args: Json, *, files: dict[str, str] | None = None, there: Sequence[str] = ()) -> Guarded:
    call = Call(agent="claude-code", session="s", tool=tool, args=args, cwd=FOLDER)
    reading = read_call(call, Bare(files or {}), home=HOME, workspace=FOLDER)
    return guarded(reading, PLACES, RECORDER, Disk(exists=lambda path: path in there))


def shell(command: str, *, files: dict[str, str] | None = None, there: Sequence[str] = ()) -> Guarded:
    return seen("Bash", {"command": command}, files=files, there=there)


@each_case("kind, command")
def test_a_change_by_any_program_is_seen(kind: Kind, command: str) -> None:
    assert kind in shell(command).touches


@each_case("command")
def test_what_reads_or_is_elsewhere_changes_nothing(command: str) -> None:
    found = shell(command)
    assert not found.touches
    assert not found.may_touch


@each("command", ["find . -type f -mtime +30 -delete", "find . -size +9M -exec rm {} +", 'find . -name "*.$X" -delete'])
def test_what_picks_among_all_files_may_take_the_settings(command: str) -> None:
    found = shell(command)
    assert found.may_touch == {Kind.HOOK_SETTINGS}
    assert not found.touches


def test_a_copy_of_a_whole_folder_brings_its_settings_along() -> None:
    there = [f"{FOLDER}/evil/{SETTINGS}"]
    assert shell("cp -a evil/. .", there=there).touches == {Kind.HOOK_SETTINGS}
    assert shell("rsync -a evil/ ~", there=there).touches == {Kind.HOOK_SETTINGS}
    assert shell("rsync -a evil/ /mnt/backup", there=there).touches == frozenset()
    assert shell("cp -a evil/. .").touches == frozenset()


def test_a_script_counts_as_what_it_does() -> None:
    files = {f"{FOLDER}/fix.sh": "rm -rf ~/.tally\n", f"{FOLDER}/look.sh": "ls ~/.tally\n"}
    assert Kind.STORE in shell("bash fix.sh", files=files).touches
    assert not shell("bash look.sh", files=files).touches


def test_a_script_that_names_a_place_and_cannot_be_read_whole_may_change_it() -> None:
    files = {
        f"{FOLDER}/a.py": "import helper\nhelper.run('/home/dev/.tally')\n",
        f"{FOLDER}/b.py": "print(open('/home/dev/.tally/config.toml').read())\n",
    }
    assert shell("python3 a.py", files=files).may_touch == {Kind.STORE}
    assert shell("python3 b.py", files=files) == Guarded(kind="shell")


def test_a_removed_link_is_not_what_it_leads_to() -> None:
    places = Places(
        [Protected(Kind.STORE, STORE, is_folder=True)],
        home=HOME,
        naming=Naming(resolve=lambda path: path.replace(f"{FOLDER}/link", STORE)),
    )
    assert places.touched("link", [FOLDER], deep=False) == {Kind.STORE}
    assert places.removed("link", [FOLDER], deep=True) == set()
    assert places.removed("link/x", [FOLDER], deep=False) == {Kind.STORE}


@each(
    "tool, args",
    [
        ("mcp__sqlite__write_query", {"db_path": f"{STORE}/graph.db", "query": "DELETE FROM alerts"}),
        ("mcp__sqlite__query", {"db": f"{STORE}/graph.db", "sql": "delete from alerts"}),
        ("mcp__db__exec", {"connection_string": f"sqlite:///{STORE}/graph.db", "statement": "UPDATE steps SET a = 1"}),
        ("Write", {"file_path": "~/.tally/x", "content": ""}),
        ("mcp__desktop-commander__write_file", {"path": f"{STORE}/x", "content": ""}),
        ("write_stdin", {"session_id": 1, "chars": "rm -rf ~/.tally\n"}),
        ("exec", "await tools.exec_command({cmd: 'rm -rf ~/.tally'})"),
    ],
)
def test_a_change_by_any_tool_is_seen(tool: str, args: Json) -> None:
    assert Kind.STORE in seen(tool, args).touches


@each(
    "tool, args",
    [
        ("mcp__vault__sync", {"destination_folder": STORE}),
        ("mcp__x__do", {"options": {"where": ["~/.tally/config.toml"]}}),
        ("import_settings", {"value": f"{STORE}/x"}),
    ],
)
def test_a_tool_that_is_not_known_may_change_what_it_is_given(tool: str, args: Json) -> None:
    found = seen(tool, args)
    assert found.may_touch == {Kind.STORE}
    assert not found.touches


@each(
    "tool, args",
    [
        ("mcp__sqlite__query", {"db": f"{STORE}/graph.db", "sql": "select 1"}),
        ("Read", {"file_path": f"{STORE}/ledger.jsonl"}),
        ("mcp__notes__add", {"text": "remember that ~/.tally is the store"}),
        ("Task", {"prompt": "delete from ~/.tally", "subagent_type": "x"}),
    ],
)
def test_a_tool_that_looks_or_talks_changes_nothing(tool: str, args: Json) -> None:
    assert not seen(tool, args).touches | seen(tool, args).may_touch


def test_reading_the_key_is_told_by_any_route() -> None:
    for command in (
        "cat ~/.tally/keys/log.key",
        "cd ~/.tally/keys; base64 log.key",
        "node -e \"x('/home/dev/.tally/keys/log.key')\"",
    ):
        assert shell(command).reads_keys, command
    assert not shell("cat ~/.tally/ledger.jsonl").reads_keys


@each_case("tool, args, kind")
def test_a_tool_has_the_kind_of_what_it_does(tool: str, args: Json, kind: str) -> None:
    assert kind_of(uses_of(ToolCall(tool=tool, args=args, folder=FOLDER))) == kind


@given(tool=st.text(max_size=20), text=st.text(max_size=40))
def test_whatever_an_agent_gives_there_is_an_answer(tool: str, text: str) -> None:
    assert seen(tool, {"path": text, "command": text}).kind
    assert shell(text).kind == "shell"


@each("tool", ["\ud800", "a\0b", "Write\ud800", "mcp__\ud800__x", ""])
def test_a_name_that_is_no_text_is_answered(tool: str) -> None:
    assert seen(tool, {"path": "\ud800", "file_path": f"{STORE}/\ud800"}).kind
