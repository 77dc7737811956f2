from tallystick.model.script import HOLE, Command, Word
from tallystick.policy.protected.recorder import Recorder, names_process, stops
from tests.support.cases import each, each_case

RECORDER = Recorder(process=lambda: 4711, line="/usr/bin/python3 -I -m tallystick.service /dev/.tally")


def command(text: str) -> Command:
    return Command(words=tuple(map(Word, text.split())))


@each_case("text")
def test_what_would_end_the_recorder_is_found(text: str) -> None:
    assert stops(command(text), RECORDER)


@each(
    "text",
    ["kill 47110", "kill %1", "kill -l", "pkill node", "pkill -f vite", "pkill -f manage.py", "killall -u somebody",
     "systemctl status tallystick", "systemctl stop nginx", "pip install tallystick", "pip uninstall requests", "echo 4711",
     "fuser -k 3000/tcp", "fuser /dev/.tally/run/recorder.sock", "gdb ./a.out"],
)  # fmt: skip
def test_what_ends_something_else_is_not(text: str) -> None:
    assert not stops(command(text), RECORDER)


def test_a_signal_to_what_a_search_for_it_found_is_found() -> None:
    assert stops(Command(words=(Word("kill"), Word(HOLE, "pgrep -f tallystick"))), RECORDER)
    assert stops(Command(words=(Word("kill"), Word(HOLE, "cat /x/run/recorder.pid"))), RECORDER)
    assert stops(Command(words=(Word("kill"), Word(HOLE, "lsof -t ~/.tally/run/x.sock"))), RECORDER)
    assert stops(Command(words=(Word("kill"), Word(HOLE, "ps ax awk /[t]ally/{print $1}"))), RECORDER)
    assert not stops(Command(words=(Word("kill"), Word(HOLE, "pgrep -f tally-app"))), RECORDER)
    assert stops(Command(words=(Word("chmod"), Word("-x"), Word(HOLE, "which tally"))), RECORDER)
    assert not stops(Command(words=(Word("chmod"), Word("-x"), Word(HOLE, "which tally-app"))), RECORDER)
    assert not stops(Command(words=(Word("kill"), Word(HOLE, "lsof -t -i:8000"))), RECORDER)
    assert not stops(Command(words=(Word("kill"), Word(HOLE, "ps ax awk /[v]ite/{print $1}"))), RECORDER)


def test_the_process_is_looked_up_only_for_a_signal() -> None:
    def fail() -> int:
        raise AssertionError

    assert not stops(command("ls 4711"), Recorder(process=fail))
    assert not names_process("print(4711)", Recorder(process=fail))
    assert names_process("os.kill(4711, 9)", RECORDER)
    assert not names_process("os.kill(14711, 9)", RECORDER)
    assert names_process("[os.kill(int(p), 9) for p in out(['pgrep', '-f', 'tally']).split()]", RECORDER)
    assert not names_process("[os.kill(int(p), 9) for p in out(['pgrep', '-f', 'vite']).split()]", RECORDER)


def test_a_hostile_expression_costs_nothing() -> None:
    assert not stops(command("pkill -f " + "(a*)*" * 1000 + "b$"), RECORDER)
