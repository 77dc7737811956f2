"""How every command is called, and how it ends."""

import json
import os
import re
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import click
import pytest

from tallystick.cli import main
from tallystick.cli.version import VERSION
from tests.cli.conftest import Tally
from tests.support.cases import cases


def commands(group: click.Group, name: str) -> Iterator[tuple[str, click.Command]]:
    context = click.Context(group, info_name=name)
    for word in group.list_commands(context):
        command = group.get_command(context, word)
        assert command is not None
        yield f"{name} {word}", command
        if isinstance(command, click.Group):
            yield from commands(command, f"{name} {word}")


ALL = dict(commands(main, "tally"))
LEAVES = {name: command for name, command in ALL.items() if not isinstance(command, click.Group)}
GROUPS = {"tally": main, **{name: command for name, command in ALL.items() if isinstance(command, click.Group)}}


def test_the_commands_are_those_of_this_version() -> None:
    assert set(LEAVES) == {
        *(
            f"tally {word}"
            for word in ("init", "demo", "status", "version", "import", "log", "show", "replay", "search")
        ),
        *(
            f"tally {word}"
            for word in ("export", "sql", "alerts", "verify-log", "verify", "prove", "erase", "rebuild", "coverage")
        ),
        *(
            f"tally {word}"
            for word in ("up", "doctor", "agents", "install", "uninstall", "hook", "audit-config", "completion")
        ),
        *(f"tally {word}" for word in ("run", "watch", "ingest", "otlp", "acp", "mcp", "tui", "open")),
        *(f"tally {word}" for word in ("why", "impact", "graph", "taint", "cost", "drift")),
        *(f"tally artifact {word}" for word in ("show", "list", "unexplained")),
        *(f"tally service {word}" for word in ("start", "stop", "status", "run", "unit")),
        *(f"tally session {word}" for word in ("diff", "list", "provenance", "show", "tree")),
        *(f"tally checkpoint {word}" for word in ("create", "list", "show", "diff", "verify", "prune")),
        *(f"tally alert {word}" for word in ("show", "ack", "feedback")),
        *(
            f"tally policy {word}"
            for word in ("list", "show", "words", "schema", "check", "test", "explain", "backtest", "suggest")
        ),
        *(f"tally policy {word}" for word in ("add", "allow", "release", "restore")),
        *(f"tally policy grants {word}" for word in ("list", "add", "revoke", "suggest")),
        *(f"tally signer {word}" for word in ("init", "run", "status", "verify", "restore", "recover", "leave")),
        *(f"tally anchor {word}" for word in ("status", "git", "tsa", "nats", "list", "verify", "stop")),
        "tally secrets scan",
        "tally new agent",
        *(f"tally config {word}" for word in ("show", "get", "set", "unset", "path")),
    }


@pytest.mark.parametrize("name", LEAVES)
def test_help_says_what_a_command_does_with_an_example(tally: Tally, name: str) -> None:
    result = tally(*name.split()[1:], "--help")
    assert result.exit_code == 0
    does = (LEAVES[name].help or "").split("\n")[0]
    assert does.endswith(".")
    assert f"Example:\n  {name}" in result.stdout or re.search(rf"Example:\n(  .*\n)*  .*{name}", result.stdout)
    assert "--json" in result.stdout
    assert tally(*name.split()[1:], "-h").stdout == result.stdout


@pytest.mark.parametrize("name", GROUPS)
def test_the_list_of_commands_says_what_the_commands_say(tally: Tally, name: str) -> None:
    group = GROUPS[name]
    assert isinstance(group, click.Group)
    lazy = group.lazy  # type: ignore[attr-defined]
    context = click.Context(group)
    for word, (_, does) in lazy.items():
        command = group.get_command(context, word)
        assert command is not None
        assert command.name == word
        assert (command.help or "").startswith(does), word
    shown = tally(*name.split()[1:], "--help").stdout
    assert all(re.search(rf"^  {word} ", shown, re.MULTILINE) for word in lazy)


@pytest.mark.parametrize("name", GROUPS)
def test_a_group_without_a_command_shows_its_help_and_says_that_this_was_wrong(tally: Tally, name: str) -> None:
    result = tally(*name.split()[1:])
    assert result.exit_code == 64
    assert result.stdout == ""
    assert "Usage:" in result.stderr


@pytest.mark.parametrize(
    "words",
    [
        ("nothing",),
        ("config", "sho"),
        ("version", "--nothing"),
        ("version", "too", "many"),
        ("show",),
        ("verify", "--require", "A9"),
        ("config", "get", "no.such"),
        ("--home",),
        ("import", "--agent", "nobody"),
        ("log", "--since", "sometime"),
        ("log", "--limit", "0"),
        ("replay", "--from"),
        ("export", "abcd", "--format", "none"),
        ("erase", "abcd:1", "--field", "content.output"),
    ],
)
def test_a_mistake_of_the_caller_is_64_and_never_2(tally: Tally, words: tuple[str, ...]) -> None:
    tally("init")
    result = tally(*words)
    assert result.exit_code == 64
    assert result.stdout == ""
    assert result.stderr.startswith("tally: ")
    assert "hint: " in result.stderr


def test_a_mistyped_command_brings_the_nearest_ones(tally: Tally) -> None:
    assert "did you mean 'verify' or 'verify-log'?" in tally("verfy").stderr
    assert "did you mean 'unset'" in tally("config", "unst").stderr


MAKES_A_STORE = cases(__file__, "makes_a_store", tuple[str, ...])
WORKS_WITHOUT = (
    "new agent",
    "completion",
    "version",
    "demo",
    "doctor",
    "agents",
    "install",
    "uninstall",
    "service stop",
    "service status",
    "service unit",
    "signer run",
    "open",
    *(f"policy {word}" for word in ("add", "list", "show", "words", "schema", "check", "test", "explain")),
)
NEEDS_NO_STORE = {f"tally {words}" for words in (*MAKES_A_STORE, *WORKS_WITHOUT)}


@pytest.mark.parametrize("name", [name for name in LEAVES if name not in NEEDS_NO_STORE and "config" not in name])
def test_what_cannot_run_without_a_store_is_1_with_a_hint(tally: Tally, name: str) -> None:
    more = {
        "tally show": ("abcd:1",),
        "tally session provenance": ("abcd",),
        "tally session diff": ("abcd", "bcde"),
        "tally session show": ("abcd",),
        "tally session tree": ("abcd",),
        "tally replay": ("abcd",),
        "tally checkpoint create": ("before",),
        "tally checkpoint show": ("abcd",),
        "tally checkpoint diff": ("abcd", "bcde"),
        "tally search": ("word",),
        "tally sql": ("SELECT 1",),
        "tally drift": ("abcd",),
        "tally why": ("src/shop.py",),
        "tally impact": ("src/shop.py",),
        "tally graph": ("src/shop.py",),
        "tally taint": ("src/shop.py",),
        "tally artifact show": ("src/shop.py",),
        "tally alert show": ("1",),
        "tally alert ack": ("1",),
        "tally alert feedback": ("1", "confirmed"),
        "tally policy add": ("deny", "write", "infra/prod/**"),
        "tally policy allow": ("1", "--here"),
        "tally policy release": ("1",),
        "tally policy grants add": ("1",),
        "tally policy grants revoke": ("abcd:1",),
        "tally export": ("abcd", "--format", "jsonl"),
        "tally anchor git": ("anchors.git",),
        "tally anchor tsa": ("http://127.0.0.1:9",),
        "tally anchor nats": ("nats://127.0.0.1:9",),
        "tally anchor stop": ("git",),
        "tally prove": ("abcd:1",),
        "tally erase": ("abcd:1", "--field", "content.text", "--reason", "asked"),
    }.get(name, ())
    result = tally(*name.split()[1:], *more)
    assert result.exit_code == 1
    assert result.stdout == ""
    assert "no store at" in result.stderr
    assert "hint: create one with `tally init`" in result.stderr


def test_errors_come_as_json_too(tally: Tally) -> None:
    result = tally("verify", "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout) == {
        "schema": "tally.error",
        "version": 1,
        "data": None,
        "warnings": [],
        "error": {
            "message": json.loads(result.stdout)["error"]["message"],
            "hint": "create one with `tally init`",
            "exit_code": 1,
        },
    }
    assert result.stderr.startswith("tally: no store")
    assert json.loads(tally("nothing", "--json").stdout)["error"]["exit_code"] == 64


def test_global_options_may_stand_before_and_after_the_command(tally: Tally, tmp_path: Path) -> None:
    before = tally("--home", tmp_path / "a", "config", "path").stdout
    after = tally("config", "path", "--home", tmp_path / "a").stdout
    assert before == after == f"{tmp_path / 'a' / 'config.toml'}\n"


def test_the_version_is_told_where_people_look_first(tally: Tally) -> None:
    result = tally("--version")
    assert (result.exit_code, result.stdout) == (0, f"tallystick {VERSION}\n")
    assert tally("version").stdout.startswith(f"tallystick {VERSION},")


def test_the_store_is_named_by_the_option_then_the_environment_then_the_home(tally: Tally, user: Path) -> None:
    assert tally("config", "path").stdout == f"{user}/.tally/config.toml\n"
    assert tally("config", "path", env={"TALLY_HOME": "/elsewhere"}).stdout == "/elsewhere/config.toml\n"
    assert (
        tally("--home", "/named", "config", "path", env={"TALLY_HOME": "/elsewhere"}).stdout == "/named/config.toml\n"
    )


def test_an_error_shows_what_was_typed_without_obeying_it(tally: Tally) -> None:
    result = tally("config", "get", "\x1b]0;title\x07\u202e")
    assert "\x1b" not in result.stderr
    assert "\u202e" not in result.stderr


def test_a_fault_of_ours_is_told_in_one_sentence(tally: Tally, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object) -> None:
        raise ZeroDivisionError("by zero")

    monkeypatch.setattr("tallystick.workspace.settings.read_settings", fail)
    result = tally("config", "show")
    assert result.exit_code == 1
    assert result.stderr.startswith("tally: internal error: ZeroDivisionError: by zero\n")


# As processes of their own --------------------------------------------------------------------------------------------

PROGRAM = [sys.executable, "-m", "tallystick"]


def environment(user: Path) -> dict[str, str]:
    return {"HOME": str(user), "PATH": os.environ["PATH"], "LANG": "C.UTF-8"}


def test_nobody_reading_the_answer_is_no_error_worth_words(user: Path) -> None:
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run([*PROGRAM, "config", "show"], env=environment(user), stdout=writer, stderr=subprocess.PIPE)
    os.close(writer)
    assert done.returncode == 141
    assert done.stderr == b""


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&- 2>&-"])
def test_streams_that_the_caller_has_closed_are_no_fault(user: Path, closed: str) -> None:
    words = ["/bin/sh", "-c", f'"$0" -m tallystick version {closed}', sys.executable]
    done = subprocess.run(words, capture_output=True)
    assert done.returncode == 0
    assert b"fault" not in done.stdout + done.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_an_answer_that_cannot_be_written_is_an_error(user: Path) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run([*PROGRAM, "config", "show"], env=environment(user), stdout=full, stderr=subprocess.PIPE)
    assert done.returncode == 1
    assert b"No space left" in done.stderr


def test_ctrl_c_is_130_without_a_traceback(user: Path) -> None:
    from tallystick.recording.recorder import Recorder

    with Recorder(user / ".tally") as recorder:
        session = recorder.session("demo", "open")
        process = subprocess.Popen(
            [*PROGRAM, "replay", session.id, "--follow"],
            env=environment(user),
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert process.stdout is not None
        process.stdout.readline()  # it is following now
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        _, told = process.communicate(timeout=120)
    assert process.returncode == 130
    assert b"Traceback" not in told
    assert b"tally: interrupted" in told


def test_output_that_the_terminal_cannot_encode_is_escaped_not_fatal(user: Path) -> None:
    latin = {**environment(user), "PYTHONIOENCODING": "latin-1:strict"}
    done = subprocess.run([*PROGRAM, "config", "get", "grüße.世界"], env=latin, capture_output=True)
    assert done.returncode == 64
    assert "grüße".encode("latin-1") + b".\\u4e16\\u754c" in done.stderr


def modules_of(user: Path, *words: str) -> set[str]:
    """The packages that a command imports."""
    text = f"import sys; from tallystick.cli import main\ntry: main({list(words)!r})\nexcept SystemExit: pass\n"
    text += "print('|'.join(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", text], env=environment(user), capture_output=True, text=True, check=True
    )
    return set(done.stdout.splitlines()[-1].split("|"))


# Each costs milliseconds that a person waits for.
COSTLY = cases(__file__, "costly", set[str])


def test_version_imports_next_to_nothing(user: Path) -> None:
    loaded = modules_of(user, "version")
    ours = {name for name in loaded if name.startswith("tallystick.")}
    assert ours == {
        *("tallystick.cli", "tallystick.display", "tallystick.display.text", "tallystick.errors"),
        *(f"tallystick.cli.{name}" for name in ("command", "context", "start", "start.store", "version")),
    }
    assert loaded & (COSTLY | {"msgspec", "orjson", "sqlite3", "tomllib"}) == set()


def test_log_imports_only_what_it_reads_with(full: Path) -> None:
    modules_of(full, "log")  # brings the index up to date, which takes more
    loaded = modules_of(full, "log")
    assert loaded & COSTLY == set()
    packages = {name.split(".")[1] for name in loaded if name.startswith("tallystick.")}
    assert packages == {
        *(
            "capture",
            "catalog",
            "cli",
            "display",
            "errors",
            "journal",
            "lineage",
            "model",
            "ask",
            "graph",
            "workspace",
            "policy",
            "scrubbing",
            "seal",
            "sessions",
            "state",
        ),
    }


@pytest.mark.parametrize(
    ("words", "offered"),
    [
        ("tally ver", {"verify", "verify-log", "version"}),
        ("tally session ", {"diff", "list", "provenance", "show", "tree"}),
        ("tally log --si", {"--since"}),
    ],
)
def test_the_shell_is_told_how_words_go_on(user: Path, words: str, offered: set[str]) -> None:
    position = str(len(words.split(" ")) - 1)
    asked = {"_TALLY_COMPLETE": "bash_complete", "COMP_WORDS": words, "COMP_CWORD": position}
    done = subprocess.run(PROGRAM, env={**environment(user), **asked}, capture_output=True, text=True)
    assert {line.partition(",")[2] for line in done.stdout.splitlines()} == offered
