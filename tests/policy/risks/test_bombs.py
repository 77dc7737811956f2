"""What multiplies or fills a disk, and loops that are work."""

import pytest

from tallystick.policy.risks.bombs import RISKS, risks
from tests.policy.risks.readings import found

FOUND = {
    "fork-bomb": (
        ":(){:|:&};:",
        "bomb(){ bomb|bomb& };bomb",
        ".(){ .|.& };.",
        "f() { f | f & } && f",
        "forkbomb() {\n  forkbomb | forkbomb &\n}\nforkbomb",
        "while true; do $0 & done",
        "while :; do (while :; do :; done) & done",
        'perl -e "fork while fork" &',
        "node -e \"while(1){require('child_process').fork(__filename)}\"",
        'python -c "import os,sys; [os.fork() for i in range(100)]"',
        'ruby -e "loop{fork}"',
        "python3 -c \"import subprocess\nwhile True: subprocess.Popen(['sleep','999'])\"",
        "yes | xargs -P 0 -I{} sleep 999",
        "f(){ (f &); f; }; f",
        "coproc_bomb(){ coproc coproc_bomb; coproc_bomb; }; coproc_bomb",
        "perl -e 'while(1){fork}'",
        "zsh -c 'f(){ f|f& };f'",
        "cat > x.sh <<'EOF'\n:(){ :|:& };:\nEOF\nbash x.sh",
        "while true; do (sleep 1000 &); done",
        "until false; do nohup ./x >/dev/null 2>&1 & done",
        "while [ 1 ]; do xterm & done",
        "for i in {1..100000}; do sleep 100 & done",
        "function b() { b | b & }\nb",
        "a(){ c|c& }; c(){ a|a& }; a",
        "eval ':(){ :|:& };:'",
        'python3 -c "import os;[os.fork() for _ in iter(int,1)]"',
        "php -r 'while(true) pcntl_fork();'",
        "lua -e 'while true do io.popen(\"yes\") end'",
    ),
    "may-fork-bomb": (
        'b() { [ -n "$X" ] || b | b & }; b',
        "for i in $(seq 1 50000); do sleep 100 & done",
    ),
    "fills-memory": (
        "tail /dev/zero",
        "sort < /dev/urandom",
        "grep x /dev/zero",
        "tail -c 5 /dev/zero",
        "stress-ng --vm 8",
    ),
    "fills-disk": (
        "cat /dev/zero >> x",
        "tr -d x < /dev/zero > big",
        "base64 /dev/urandom > x.txt",
        "while :; do cat /etc/hosts >> big; done",
        "python3 -c \"f=open('x','w')\nwhile True: f.write('x'*1000000)\"",
        "dd if=/dev/zero of=$HOME/zero bs=1M",
        "openssl rand -hex 1 ; cat /dev/random | pv > out.bin",
        "cat /dev/urandom | tee big > /dev/null",
        "dd if=/dev/zero of=fill bs=1M",
        "while true; do echo x >> f; done",
        "yes hello | gzip > x.gz",
        "cp /dev/zero fill",
    ),
}

INNOCENT = (
    "tr -dc a-z < /dev/urandom | head -c 20",
    "grep -m1 -a x /dev/urandom",
    "shuf -n 5 --random-source=/dev/urandom words",
    "shuf -n 5 < /dev/urandom",
    "tail -f app.log",
    "stress-ng --help",
    "yes | head -5 > x",
    "yes | ./install.sh",
    "yes '' | make oldconfig",
    "head -c 100 /dev/urandom > seed",
    "while true; do curl -s localhost; sleep 1; done",
    "while read l; do echo $l >> x; done < f",
    "for i in 1 2 3; do ./t $i & done; wait",
    "for f in *.md; do pandoc $f & done; wait",
    "f() { echo hi | tee x; }; f",
    "build() { npm run build; }; build && build",
    "while ! nc -z localhost 5432; do sleep 1; done",
    "until curl -sf localhost:3000; do sleep 1; done",
    "while true; do inotifywait -q src; make; done",
    "for i in $(seq 1 10); do pytest -q & done; wait",
    'retry() { "$@" || { sleep 1; retry "$@"; }; }; retry ls',
    'walk() { for d in "$1"/*/; do walk "$d" | sort; done; }; walk .',
    "dd if=/dev/urandom of=t bs=1M count=1",
)


@pytest.mark.parametrize(
    ("word", "command"), [(word, command) for word, commands in FOUND.items() for command in commands]
)
def test_what_is_grave_is_found(word: str, command: str) -> None:
    assert word in found(risks, command)


@pytest.mark.parametrize("command", INNOCENT)
def test_what_only_looks_alike_is_not(command: str) -> None:
    assert found(risks, command) == set()


def test_each_word_is_explained() -> None:
    assert set(RISKS) == set(FOUND)
