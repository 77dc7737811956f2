"""Programs that print secrets which they keep."""

from tallystick.model.decision import Call
from tallystick.policy.calls.reader import read_call
from tallystick.policy.risks.secret_managers import RISKS, risks
from tallystick.policy.settings import Settings
from tests.policy.risks.readings import FOLDER, HOME, Bare, found
from tests.support.cases import each, each_case


@each_case("command")
def test_a_program_that_prints_a_secret_is_found(command: str) -> None:
    assert len(found(risks, command) & set(RISKS)) == 1


@each_case("command")
def test_names_of_secrets_and_log_ins_are_work(command: str) -> None:
    assert found(risks, command) == set()


@each("command", ["security dump-keychain -d", "bw export", "gpg -a --export-secret-keys", "getent shadow"])
def test_a_whole_store_is_told_from_one_secret(command: str) -> None:
    assert found(risks, command) == {"prints-all-secrets"}


@each_case("tool, is_found")
def test_a_tool_that_shows_a_secret_says_so_by_its_name(tool: str, is_found: bool) -> None:
    call = Call(agent="claude-code", session="s", tool=tool, args={"name": "db"}, cwd=FOLDER)
    read = read_call(call, Bare({}), home=HOME, workspace=FOLDER)
    assert bool(list(risks(read, Settings()))) is is_found
