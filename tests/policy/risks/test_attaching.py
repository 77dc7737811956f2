"""Programs that take hold of other processes."""

import pytest

from tallystick.policy.risks.attaching import RISKS, risks
from tests.policy.risks.readings import found

FOUND = (
    "dotnet-dump collect -p 42",
    "python3 -m pdb -p 42",
    "gdb -p 1",
    "gdb -p 4321",
    "gdb --pid=4321",
    "gdb attach 4321",
    "gdb ./app 4321",
    "sudo gdb -p 1",
    "gdb -p $(pgrep ssh-agent)",
    "gdb -p $(pidof tallystick)",
    "gdb -batch -ex 'call (int)system(\"id\")' -p 99",
    "gdb -ex 'attach 1'",
    "strace -p 1",
    "strace -fp 1234",
    "strace -f -p 1234 -e trace=read",
    "strace -p $(pgrep -f ssh-agent)",
    "ltrace -p 99",
    "lldb -p 99",
    "lldb --attach-pid 99",
    "lldb -n ssh-agent",
    "lldb --attach-name Finder",
    "lldb -o 'process attach --pid 99'",
    "gcore 99",
    "gcore -o /tmp/x 99",
    "py-spy dump --pid 99",
    "reptyr 99",
    "frida -p 99",
    "frida -n ssh-agent",
    "frida-trace -p 99",
    "perf trace -p 1",
    "dtruss -p 99",
    "process-hacker 99",
    "procdump -ma lsass.exe out.dmp",
    "rundll32 comsvcs.dll, MiniDump 624 out.dmp full",
    "jmap -dump:file=x 99",
    "jattach 99 load x.so",
    "python3 -c 'import ctypes; ctypes.CDLL(None).ptrace(16, 1, 0, 0)'",
    "python3 -m pyrasite 99 x.py",
    "memdump 99",
    "dlv attach 99",
)
WORK = (
    "dotnet-dump analyze core",
    "perf trace ls",
    "python -m pdb app.py",
    "gdb ./app",
    "gdb ./app core",
    "gdb --args ./app 1234",
    "gdb -batch -ex run -ex bt ./build/app",
    "strace ./app",
    "strace -f -o trace.txt ./app",
    "strace -c ls",
    "strace -e trace=openat python x.py",
    "ltrace ./app",
    "lldb ./app",
    "lldb -- ./app -p 1",
    "lldb -o run ./app",
    "gdb -p $!",
    "./server & gdb -p $!",
    "strace -p $!",
    "strace ./app -p 12",
    "npm run dev & PID=$!; strace -p $PID",
    "py-spy record -o p.svg -- python app.py",
    "perf stat ./app",
    "perf record -g ./app",
    "valgrind ./app",
    "jstack 99",
    "jmap -histo 99",
    "jps",
    "ps -p 1",
    "cat /proc/cpuinfo",
    "cat /proc/self/status",
    "gdb --version",
    "strace --help",
    "rr record ./app",
    "dlv debug",
    "delve exec ./app",
)


@pytest.mark.parametrize("command", FOUND)
def test_taking_hold_of_a_process_is_found(command: str) -> None:
    assert found(risks, command) == set(RISKS)


@pytest.mark.parametrize("command", WORK)
def test_a_program_that_is_started_is_work(command: str) -> None:
    assert found(risks, command) == set()
