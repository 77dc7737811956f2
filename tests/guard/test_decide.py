"""What is refused, asked about and let through, on a machine with a store and agents' settings."""

import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.agents.hooks import SettingsFile, hook_adapter
from tallystick.guard.decide import Decider
from tallystick.guard.grounds import AgentMachine
from tallystick.journal.home import Home
from tallystick.model.decision import Call, Decision, Effect
from tallystick.policy.world import Marker
from tests.guard.decide_cases import (
    ALLOWED_CALLS,
    ALLOWED_COMMANDS,
    ASKED,
    DENIED_CALLS,
    DENIED_COMMANDS,
    HOOKS,
    RECORDER_PID,
    STORE,
)
from tests.support.cases import cases, each
from tests.support.working import AGENT, Work


def write(path: Path, text: str = "") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, "utf-8")
    return path


class Machine:
    """A home folder with a store, an agent's settings, a project, and links into all of them."""

    def __init__(self, folder: Path) -> None:
        self.user = folder / "dev"
        self.project = self.user / "project"
        store = self.user / ".tally"
        for name in ("ledger.jsonl", "config.toml", "graph.db", "keys/log.key", "heads/ledger.note"):
            write(store / name)
        write(store / "run" / "recorder.pid", f"{RECORDER_PID}\n")
        write(self.user / ".claude" / "settings.json", "{}")
        write(self.project / ".claude" / "settings.json", "{}")
        write(self.project / "src" / "main.py")
        self.package = folder / "lib" / "site-packages" / "tallystick"
        write(self.package / "hook.py")
        (self.project / "log-link").symlink_to(store / "ledger.jsonl")
        (self.project / "store-link").symlink_to(store)
        (self.project / "claude-link").symlink_to(self.user / ".claude")
        self.decider = Decider(
            Home(store), AgentMachine(self.user, environment={}, package=self.package, adapters=[_claude_code()])
        )

    def call(self, tool: str, args: Any, cwd: Path | None = None) -> Decision:
        args = _filled(args, self.user, self.package)
        return self.decider.decide(
            Call(agent="claude-code", session="s", tool=tool, args=args, cwd=str(cwd or self.project))
        )

    def shell(self, command: str, cwd: Path | None = None) -> Decision:
        return self.call("Bash", {"command": command}, cwd)


def _claude_code() -> Any:
    adapter = hook_adapter("claude-code")
    assert adapter is not None
    return adapter


def _filled(value: Any, user: Path, package: Path) -> Any:
    """Arguments with HOME_FOLDER and PACKAGE replaced by the machine's."""
    match value:
        case str():
            return value.replace("HOME_FOLDER", str(user)).replace("PACKAGE", str(package))
        case dict():
            return {name: _filled(item, user, package) for name, item in value.items()}
        case list():
            return [_filled(item, user, package) for item in value]
        case _:
            return value


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Machine:
    return Machine(tmp_path_factory.mktemp("machine"))


@each("rule, command", DENIED_COMMANDS)
def test_a_command_against_the_record_is_denied(machine: Machine, rule: str, command: str) -> None:
    decision = machine.shell(command)
    assert (decision.effect, rule in decision.rules) == (Effect.DENY, True), (decision, command)
    assert decision.reason


@each("rule, tool, args", DENIED_CALLS)
def test_a_tool_that_would_change_the_record_is_denied(machine: Machine, rule: str, tool: str, args: Any) -> None:
    decision = machine.call(tool, args)
    assert (decision.effect, rule in decision.rules) == (Effect.DENY, True), decision


@each("tool, args", ASKED)
def test_what_may_be_against_the_record_is_asked_about(machine: Machine, tool: str, args: Any) -> None:
    decision = machine.call(tool, args)
    assert decision.effect is Effect.ASK, decision


@each("command", ALLOWED_COMMANDS)
def test_an_ordinary_command_is_nothing_to_the_record(machine: Machine, command: str) -> None:
    decision = machine.shell(_filled(command, machine.user, machine.package))
    assert not [rule for rule in decision.rules if rule.startswith("tally.")], decision
    assert decision.policy == machine.decider.policies.current.digest


@each("command", ["ls", "git status", "make test", "cat ~/.tally/ledger.jsonl", "tally log"])
def test_of_what_nothing_speaks_against_nothing_is_said(machine: Machine, command: str) -> None:
    assert machine.shell(command) == Decision(policy=machine.decider.policies.current.digest)


@each("tool, args", ALLOWED_CALLS)
def test_an_ordinary_call_runs_unasked(machine: Machine, tool: str, args: Any) -> None:
    decision = machine.call(tool, args)
    assert decision.effect is Effect.ALLOW, decision


# Laws ----------------------------------------------------------------------------------------------------------------

_NOISE = st.sampled_from(["/", "//", "/./", "/x/../", "/././/"])
_QUOTINGS = st.sampled_from(
    ["{0}", "\\{0}", "'{0}'", '"{0}"', "$'\\x{1:02x}'", "$'\\{1:03o}'", "$'\\u{1:04x}'", "''{0}"]
)
_STARTS = cases(__file__, "starts", list[str])


@st.composite
def spellings(draw: st.DrawFn, path: str) -> str:
    """A path below the home folder as a shell word, spelled in any way."""
    word = draw(st.sampled_from(_STARTS))
    for part in path.split("/"):
        word += draw(_NOISE)
        word += "".join(draw(_QUOTINGS).format(letter, ord(letter)) for letter in part)
    return word


@given(
    spelled=spellings(".tally/ledger.jsonl"),
    how=st.sampled_from(["rm -f {}", "echo x > {}", "cp a {}", "x=({}); tee $x", "x={}; tee $x", "y=1 tee {} z"]),
)
def test_any_spelling_of_a_path_is_found(machine: Machine, spelled: str, how: str) -> None:
    command = _filled(how.format(spelled), machine.user, machine.package)
    assert STORE in machine.shell(command).rules, command


@given(spelled=spellings(".claude/settings.json"))
def test_a_redirect_to_hook_settings_is_found_however_deep_it_is_wrapped(machine: Machine, spelled: str) -> None:
    command = _filled(
        f"( true; {{ if true; then sudo nice echo x >> {spelled}; fi; }} )", machine.user, machine.package
    )
    assert HOOKS in machine.shell(command).rules, command


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=40),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.sampled_from(["command", "path", "x"]), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(
    tool=st.sampled_from(["Bash", "shell", "run_commands", "Write", "apply_patch", "ipython", "Read", "mcp__a__b"]),
    args=_JSON,
)
def test_whatever_an_agent_gives_there_is_an_answer(machine: Machine, tool: str, args: Any) -> None:
    assert machine.call(tool, args).policy is not None


@given(text=st.text(alphabet=" \t\n;|&<>(){}[]$`'\"\\*?~=#!/.-abcrm0123", max_size=60))
def test_whatever_a_command_is_made_of_there_is_an_answer(machine: Machine, text: str) -> None:
    assert machine.shell(text).policy is not None


HOSTILE = {
    "(": 5000, "$(": 3000, "$((": 2000, "a|": 30_000, "x=(": 20_000, "$)": 30_000, ")x ": 20_000, "<>": 30_000, "{|": 30_000,
    "a;": 30_000, "{a,b}": 40, "{a}": 20_000, "{a,b,{c,d}}": 5000, "X=$X$X$X;": 6000, "cd a;": 12_000, "cd ..;rm a;": 5000,
    "rm ~/a ": 8000, "x": 2_000_000, "eval ": 500, "sudo ": 12_000, "xargs ": 10_000, "find . -exec ": 4000, "sh -c '": 50,
    "`": 60_000, "'": 60_000, '"': 60_000, "cat <<E\n": 7000, "${a:-": 12_000, "eval 'eval a';": 4000, "rm *": 15_000,
    ".claude ": 8000, "/": 60_000, "../": 20_000, "a\\\n": 20_000,
}  # fmt: skip
"""What is repeated, and how often: each took seconds, memory or the stack at some time, or might."""


@pytest.mark.timeout(60)  # on a busy machine: each takes less than half a second
@each("piece", HOSTILE)
def test_a_hostile_command_is_answered_all_the_same(machine: Machine, piece: str) -> None:
    assert machine.shell(piece * HOSTILE[piece]).policy is not None
    assert machine.shell("A=aaaaaaaa;" + "A=$A$A$A$A;" * 30 + piece * 30 + "rm $A").policy is not None


COSTLY = (
    "find . -exec ", "-a dist/ ../other-project/dist ", "wget ", "-e ssh ~/.gnupg h.example.net: ", '-rf "$UNSET"/ ', "rm *",
    "cat ", "mv ", "cargo run < data.txt > /tmp/out.txt\n", "cd ..;rm a;",
    "rclone copy ~/.config/gcloud remote:x; ", "'' ~/.netrc ",
)  # fmt: skip
"""What took seconds just below the limit of what is read: work that grew by the square of the words or of what they mean."""
_BEFORE = {"''": "look ", "-a dist": "rsync ", "-e ssh": "rsync ", "-rf": "rm "}


_PIECES = [*COSTLY[:3], *(pytest.param(piece, marks=pytest.mark.soak) for piece in COSTLY[3:])]


@pytest.mark.parametrize("piece", _PIECES)
def test_the_work_of_judging_grows_with_the_command(machine: Machine, piece: str) -> None:
    """Counted in calls of functions, which are the same on every machine. Half a million are about 0.1 s."""
    begin = next((text for beginning, text in _BEFORE.items() if piece.startswith(beginning)), "")
    less, more = (_work(machine, begin + (piece * 8_000)[:size]) for size in (2_000, 8_000))
    assert more < 5 * less + 20_000
    assert more < 1_000_000


def _work(machine: Machine, command: str) -> int:
    count = 0

    def profile(*_: object) -> None:
        nonlocal count
        count += 1

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        machine.shell(command)
    finally:
        sys.setprofile(before)
    return count // 2


@each("command", ["(" * 5000 + "rm -rf ~/.tally", "rm -rf ~/.tally " + "x " * 50_000])
def test_a_command_too_large_to_be_read_is_denied_if_it_names_the_store(machine: Machine, command: str) -> None:
    assert machine.shell(command).effect is Effect.DENY


def test_without_a_folder_a_relative_path_is_judged_by_its_end(machine: Machine) -> None:
    args = {"file_path": ".claude/settings.json", "content": '{"hooks": {}}'}
    decision = machine.decider.decide(Call(agent="a", session="s", tool="Write", args=args))
    assert decision.rules == (HOOKS,)
    bash = Call(agent="a", session="s", tool="Bash", args={"command": "echo > .claude/settings.json"})
    assert machine.decider.decide(bash).rules == (HOOKS,)


# Loading -------------------------------------------------------------------------------------------------------------


def test_a_policy_of_the_user_adds_to_the_shipped_ones(tmp_path: Path) -> None:
    text = '@id("mine.no-curl")\n@decision("ask")\n@reason("No downloads.")\n'
    text += 'forbid (principal == Agent::"claude-code", action == Action::"run", resource == Program::"curl");\n'
    write(tmp_path / "dev" / ".tally" / "policy" / "mine.cedar", text)
    machine = Machine(tmp_path)
    assert machine.shell("curl https://example.org").rules == ("mine.no-curl",)
    assert set(machine.shell("curl -o ~/.tally/x y").rules) >= {"tally.store", "mine.no-curl"}
    assert machine.shell("curl -o ~/.tally/x y").effect is Effect.DENY
    assert machine.shell("ls").effect is Effect.ALLOW


def test_a_policy_of_the_user_takes_nothing_away(tmp_path: Path) -> None:
    write(tmp_path / "dev" / ".tally" / "policy" / "mine.cedar", "permit (principal, action, resource);")
    assert Machine(tmp_path).shell("rm -rf ~/.tally").effect is Effect.DENY


def test_another_policy_is_another_digest(tmp_path: Path) -> None:
    first = Machine(tmp_path / "a").decider.policies.current.digest
    assert first == Machine(tmp_path / "b").decider.policies.current.digest
    write(tmp_path / "c" / "dev" / ".tally" / "policy" / "mine.cedar", "permit (principal, action, resource);")
    assert Machine(tmp_path / "c").decider.policies.current.digest != first


def test_with_a_broken_policy_the_shipped_ones_decide(tmp_path: Path) -> None:
    text = "// mine\n\nforbid (principal, action, resource)\nwhen { context.nope };\n"
    write(tmp_path / "dev" / ".tally" / "policy" / "mine.cedar", text)
    machine = Machine(tmp_path)
    assert "mine.cedar, the policy on line 3" in (machine.decider.policies.error or "")
    assert machine.shell("rm -rf ~/.tally").effect is Effect.DENY
    assert machine.shell("ls").effect is Effect.ALLOW


def test_settings_that_a_variable_moves_are_protected_there(tmp_path: Path) -> None:
    moved = tmp_path / "moved"
    decider = Decider(
        Home(tmp_path / "store"),
        AgentMachine(tmp_path, environment={"CLAUDE_CONFIG_DIR": str(moved)}, adapters=[_claude_code()]),
    )
    for command in (f"echo > {moved}/settings.json", "echo > $CLAUDE_CONFIG_DIR/settings.json"):
        call = Call(agent="a", session="s", tool="Bash", args={"command": command}, cwd=str(tmp_path))
        assert decider.decide(call).rules == (HOOKS,), command


def test_settings_of_every_adapter_are_protected(tmp_path: Path) -> None:
    class Other:
        def settings(self, *, project: bool) -> tuple[SettingsFile, ...]:
            return (SettingsFile(path=".other/p.js" if project else ".config/other/u.js", ours=True),)

    decider = Decider(Home(tmp_path / "store"), AgentMachine(tmp_path, adapters=[Other()]))  # type: ignore[list-item]
    for path in (".config/other/u.js", "project/.other/p.js"):
        call = Call(agent="a", session="s", tool="edit", args={"path": f"{tmp_path}/{path}"}, cwd=f"{tmp_path}/project")
        assert HOOKS in decider.decide(call).rules, path


def test_a_project_given_by_name_is_protected_from_everywhere(tmp_path: Path) -> None:
    def decided(projects: list[Path]) -> Decision:
        decider = Decider(Home(tmp_path / "store"), AgentMachine(tmp_path, projects, adapters=[_claude_code()]))
        args = {"file_path": str(tmp_path / "named" / ".claude" / "settings.json"), "content": '{"hooks": {}}'}
        return decider.decide(Call(agent="a", session="s", tool="Write", args=args, cwd=str(tmp_path / "elsewhere")))

    assert decided([tmp_path / "named"]).effect is Effect.DENY
    assert decided([]).effect is Effect.ASK


def test_a_checkout_is_warned_about_only(tmp_path: Path) -> None:
    decider = Decider(
        Home(tmp_path / "store"), AgentMachine(tmp_path, package=tmp_path / "src" / "tallystick", adapters=[])
    )
    args = {"file_path": str(tmp_path / "src" / "tallystick" / "hook.py"), "content": ""}
    decision = decider.decide(Call(agent="a", session="s", tool="Write", args=args, cwd=str(tmp_path)))
    assert (decision.effect, decision.rules) == (Effect.WARN, ("tally.checkout",))


def test_a_store_elsewhere_is_protected_where_it_is(tmp_path: Path) -> None:
    decider = Decider(Home(tmp_path / "data" / "store"), AgentMachine(tmp_path / "dev", adapters=[]))

    def effect(command: str) -> Effect:
        args = {"command": command}
        return decider.decide(Call(agent="a", session="s", tool="Bash", args=args, cwd=str(tmp_path))).effect

    assert effect("rm -rf data/store") is Effect.DENY
    assert effect("rm -rf $TALLY_HOME/heads") is Effect.DENY
    assert effect(f"python -c 'import shutil; shutil.rmtree(\"{tmp_path}/data/store\")'") is Effect.DENY
    assert effect("rm -rf store data/storehouse") is Effect.ALLOW


@pytest.mark.parametrize("is_repository", [True, False])
def test_a_key_for_the_tests_of_a_repository_is_no_secret(tmp_path: Path, is_repository: bool) -> None:
    with Work(tmp_path) as work:
        if is_repository:
            work.write(".git/HEAD", "ref: refs/heads/main\n")
        work.write("tests/fixtures/id_rsa", "x")
        work.call("Bash", {"command": "cat tests/fixtures/id_rsa"}, result="x")
        past = work.decider._record.before(Call(agent=AGENT, session="now", tool="Read", cwd=str(work.project))).past()
    assert (Marker.SENSITIVE_READ in past.markers) is not is_repository


def test_it_says_whether_it_has_read_all_that_a_session_did(tmp_path: Path) -> None:
    with Work(tmp_path) as work:
        work.call("Bash", {"command": "ls"}, session="earlier", is_judged=False)
        call = Call(agent=AGENT, session="earlier", tool="Read", cwd=str(work.project))
        work.decider.read_history(call)
        assert work.decider.has_read(call)
