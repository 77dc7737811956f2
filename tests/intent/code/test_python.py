"""Python → what it does."""

import ast
import inspect
import os
import subprocess
import sys
import warnings
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.intent.code.languages import read_code
from tests.intent.code.cases import done
from tests.support.cases import cases, each


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # open
        ("open('a')", ["read a"]),
        ("open('a').read()", ["read a"]),
        ("open('a', 'w')", ["write a"]),
        ("open('a', mode='ab')", ["append a"]),
        ("open(file='a', mode='x')", ["write a"]),
        ("open('a', 'r+')", ["edit a"]),
        ("open('a', m)", ["unknown a"]),
        ("open(p, 'w')", ["unknown _"]),
        ("import io, gzip; io.open('a'); gzip.open('b.gz', 'wt')", ["read a", "write b.gz"]),
        ("from codecs import open as o\no('a', 'w', 'utf-8')", ["write a"]),
        ("import os; os.open('a', os.O_WRONLY | os.O_CREAT)", ["write a"]),
        ("import os; os.open('a', os.O_RDONLY)", ["read a"]),
        ("import json; d = json.load(open('a.json'))", ["read a.json"]),
        ("import json\nwith open('a.json', 'w') as f:\n    json.dump(d, f)", ["write a.json"]),
        ("open('~/a')", ["read ./~/a"]),
        # what is written
        ("open('a', 'w').write('hi\\n')", ["write a = 'hi\\n'"]),
        ("with open('a', 'w') as f:\n    f.write('x')\n    f.write('y')", ["write a = 'xy'"]),
        ("with open('a', 'w') as f:\n    f.write('x')\n    f.write(y)", ["write a"]),
        ("f = open('a', 'w')\nif c:\n    f.write('x')", ["write a"]),
        ("f = open('a', 'w')\nf.write('x')\ng(f)", ["write a"]),
        ("f = open('a', 'w')\nf.writelines(['x\\n', 'y\\n'])", ["write a = 'x\\ny\\n'"]),
        ("print('x', 1, file=open('a', 'w'))", ["write a = 'x 1\\n'"]),
        ("open('a', 'a').write('x')", ["append a"]),
        # pathlib
        ("from pathlib import Path\nPath('a').write_text('x')", ["write a = 'x'"]),
        ("from pathlib import Path\nPath('a').write_text(x)", ["write a"]),
        ("import pathlib as p\n(p.Path('d') / 'e' / 'f').read_text()", ["read d/e/f"]),
        ("from pathlib import Path\nq = Path('a')\nq.rename(q.with_suffix('.b'))", ["rename a", "copy_dest a.b"]),
        ("from pathlib import Path\nPath('d/a').parent.mkdir()", ["create d"]),
        ("from pathlib import Path\nPath('a').unlink(); Path('b').touch()", ["delete a", "create b"]),
        ("from pathlib import Path\nPath('c').chmod(1)", ["metadata c"]),
        ("from pathlib import Path\nPath.home().joinpath('.ssh', 'k').read_bytes()", ["read /home/dev/.ssh/k"]),
        ("from pathlib import Path\nPath('~/k').expanduser().read_text()", ["read /home/dev/k"]),
        ("from pathlib import Path\nwith Path('a').open('w') as f:\n    f.write('x')", ["write a = 'x'"]),
        ("from pathlib import Path\nfor p in Path('d').glob('*.py'):\n    p.unlink()", ["list d/*.py", "delete d/*.py"]),
        ("from pathlib import Path\nfor p in Path('d').rglob('*.c'): p.read_text()", ["list d/**/*.c deep", "read d/**/*.c"]),
        ("from pathlib import Path\n[p.read_text() for p in Path('d').iterdir()]", ["list d", "read d/*"]),
        ("x.write_text('a')", ["unknown _"]),
        ("x.replace('a', 'b')", []),
        # os and shutil
        ("import os\nos.remove('a'); os.rmdir('b'); os.makedirs('c/d')", ["delete a", "delete b", "create c/d"]),
        ("import os\nos.rename('a', 'b')", ["rename a", "copy_dest b"]),
        ("from os import path as p, unlink\nunlink(p.join('a', 'b'))", ["delete a/b"]),
        ("from os import *\nremove('a')", ["delete a"]),
        ("import os\nos.symlink('a', 'b')", ["copy_source a", "create b"]),
        ("from hermes_tools import read_file, terminal\nread_file('a')\nterminal('rm b')", ["read a", "sh: rm b", "unknown"]),
        ("import os\nos.symlink('a', 'f/b')", ["copy_source f/a", "create f/b"]),
        ("from pathlib import Path\nPath('f/b').symlink_to('/a')", ["copy_source /a", "create f/b"]),
        ("import os\nos.listdir()\nos.walk('d')", ["list .", "list d deep"]),
        ("import os\nos.chdir('d')\nopen('a')", ["read d/a"]),
        ("import os\nos.kill(12, 9)", ["process signal 12"]),
        ("import os\nos.environ['HOME'] + '/x'\nopen(os.path.expanduser('~/x'))", ["read /home/dev/x"]),
        ("import os\nopen(os.path.join(os.environ['HOME'], 'x'))", ["read /home/dev/x"]),
        ("import os\nopen(os.getenv('X') + '/x')", ["read _/x"]),
        ("import shutil\nshutil.copy('a', 'b'); shutil.rmtree('c')", ["copy_source a", "copy_dest b", "delete c deep"]),
        ("import shutil\nshutil.copytree('a', 'b')", ["copy_source a deep", "copy_dest b deep"]),
        ("import shutil\nshutil.move('a', 'b')", ["rename a", "copy_dest b"]),
        ("import shutil\nshutil.make_archive('o', 'zip', 'd')", ["read d deep", "write o.zip"]),
        ("import shutil\nshutil.unpack_archive('a.zip', 'd')", ["read a.zip", "write d deep"]),
        ("import zipfile\nwith zipfile.ZipFile('a.zip') as z: z.extractall('d')", ["read a.zip", "write d deep"]),
        ("import subprocess, glob\nsubprocess.run(['cat', *glob.glob('*.txt')])", ["list *.txt", "sh: cat '*.txt'"]),
        ("import glob\nfor f in glob.glob('*.txt'): open(f)", ["list *.txt", "read *.txt"]),
        # programs
        ("import os; os.system('rm -rf z')", ["sh: rm -rf z"]),
        ("import os; os.popen(f'cat {x}')", ["sh: cat _"]),
        ("import subprocess as s; s.run(['ls', '-l', 'a b'])", ["sh: ls -l 'a b'"]),
        ("import subprocess as s; s.run(['ls', *more], check=True)", ["sh: ls '_'"]),
        ("import subprocess as s; s.run('a | b', shell=True)", ["sh: a | b"]),
        ("from subprocess import check_output as c; c(['git', 'log'])", ["sh: git log"]),
        ("import subprocess as s; s.run(cmd)", ["unknown"]),
        ("import os; os.execvp('ls', ['ls', '-l']); os.execl('/bin/x', 'x', 'y')", ["sh: ls -l", "sh: /bin/x y"]),
        ("exec('open(\"a\")')", ["python: open(\"a\")"]),
        ("exec(open('a.py').read())", ["read a.py", "execute a.py"]),
        ("eval(x)", ["unknown"]),
        # hosts
        ("import urllib.request as u; u.urlopen('http://a')", ["network fetch http://a"]),
        ("import urllib.request\nurllib.request.urlretrieve('http://a', 'b')", ["network fetch http://a", "write b"]),
        ("import urllib.request as u; u.urlopen(u.Request('http://a', data=d))", ["network fetch http://a"]),
        ("import requests; requests.post('http://a', data=open('k', 'rb'))", ["read k", "network send http://a"]),
        ("import requests; s = requests.Session(); s.get('http://a')", ["network fetch http://a"]),
        ("import httpx\nwith httpx.Client() as c: c.put(f'http://a/{x}')", ["network send http://a/_"]),
        ("import socket; s = socket.socket(); s.connect(('h', 80))", ["network connect h:80"]),
        ("import socket; s = socket.socket(); s.bind(('', 80))", ["network listen :80"]),
        # frames and the like
        ("import pandas as pd; pd.read_csv('a.csv').to_json('b.json')", ["read a.csv", "write b.json"]),
        ("import pandas as pd; pd.read_csv('https://a/b.csv')", ["network fetch https://a/b.csv"]),
        ("import matplotlib.pyplot as plt\nfig, ax = plt.subplots()\nfig.savefig('a.png')", ["write a.png"]),
        ("from mine import to_csv; to_csv([1])", ["unknown"]),
        ("import numpy as np; np.save('a.npy', np.load('b.npy'))", ["read b.npy", "write a.npy"]),
        ("import matplotlib.pyplot as plt; plt.savefig('a.png')", ["write a.png"]),
        ("from PIL import Image; Image.open('a.png').save('b.png')", ["read a.png", "write b.png"]),
        ("import sqlite3; sqlite3.connect('a.db'); sqlite3.connect(':memory:')", ["edit a.db"]),
        # what is known of names
        ("base = '/d'\nfor n in ['a', 'b']:\n    open(f'{base}/{n}.txt')", ["read /d/a.txt", "read /d/b.txt"]),
        ("open('%s.%d' % ('a', 3))", ["read a.3"]),
        ("open('{}/{x}'.format('a', x='b'))", ["read a/b"]),
        ("open('/'.join(['a', 'b']))", ["read a/b"]),
        ("open('a' + '.txt')", ["read a.txt"]),
        ("open('a' + x)", ["read a_"]),
        ("a, b = 'x', 'y'\nopen(b)", ["read y"]),
        ("d = {'k': 'x'}\nopen(d['k'])", ["read x"]),
        ("l = ['x', 'y']\nopen(l[-1])", ["read y"]),
        ("p = 'x'\nif c:\n    p = 'y'\nopen(p)", ["unknown _"]),
        ("p = 'x'\nwhile c:\n    open(p)\n    p += 'y'", ["unknown _"]),
        ("def f(p, m='w'):\n    open(p, m)\nf('a')\nf('b', 'a')", ["write a", "append b"]),
        ("def f(p):\n    return p + '.txt'\nopen(f('a'))", ["read a.txt"]),
        ("def main():\n    open('a')\nif __name__ == '__main__':\n    main()", ["read a"]),
        ("def unused(p):\n    open(p)\n    open('b')", ["unknown _", "read b"]),
        ("class C:\n    P = 'a'\n    def m(self):\n        open('b')", ["read b"]),
        ("def f():\n    f()\nf()", []),
        ("import sys\nopen(sys.argv[1])", ["unknown _"]),
        ("try:\n    open('a')\nexcept OSError:\n    open('b')\nfinally:\n    open('c')", ["read a", "read b", "read c"]),
        ("(lambda: open('a'))()", ["read a"]),
        ("async def f():\n    async with x('a') as y:\n        await y.read()\n        open('b')", ["read b"]),
        ("match c:\n    case 1:\n        open('a')\n    case _:\n        open('b')", ["read a", "read b"]),
        # what was not read
        ("import numpy, json, os.path", []),
        ("import mine", ["unknown"]),
        ("from . import mine", ["unknown"]),
        ("__import__('os').remove('a')", ["delete a"]),
        ("__import__('os.path').remove('a')", ["delete a"]),
        ("import os; getattr(os, 're' + 'move')('a')", ["delete a"]),
        ("import os; vars(os)['remove']('a')", ["delete a"]),
        ("import os; os.__dict__['remove']('a')", ["delete a"]),
        ("import os; os.__getattribute__('remove')('a')", ["delete a"]),
        ("import sys; sys.modules['os'].remove('a')", ["delete a"]),
        ("__builtins__.__import__('os').remove('a')", ["delete a"]),
        ("import os; list(map(os.remove, ['a', 'b']))", ["delete a", "delete b"]),
        ("import os; getattr(os, name)('a'); getattr(x, 'remove')('a')", []),
        ("import importlib; importlib.import_module(x)", ["unknown"]),
        ("x = (", ["unknown"]),
        ("print 'python 2'", ["unknown"]),
        ("", []),
        ("print(1 + 1)", []),
    ],
)  # fmt: skip
def test_a_program_does_what_its_text_says(text: str, expected: list[str]) -> None:
    assert done("python", text) == expected


def test_a_hole_in_the_text_is_a_hole_in_what_it_does() -> None:
    assert done("python", "open('a\0b')") == ["read a_b"]
    assert done("python", "open(\0, 'w')") == ["unknown _"]


def test_an_odd_escape_warns_nobody() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert done("python", r"open('a\d')") == ["read a\\d"]


_DOINGS = ["write", "append", "read", "unlink", "rename", "mkdir", "copy"]
OPERATIONS = st.lists(
    st.tuples(st.sampled_from(_DOINGS), st.sampled_from("abc"), st.sampled_from("xyz")),
    max_size=6,
)
_LINES = cases(__file__, "lines", dict[str, str])


@given(OPERATIONS)
def test_every_file_that_a_program_names_is_told(lines: list[tuple[str, str, str]]) -> None:
    text = "import os, shutil\nfrom pathlib import Path\n" + "\n".join(
        _LINES[what].format(a, b) for what, a, b in lines
    )
    told = " ".join(done("python", text))
    for what, first, second in lines:
        assert first in told
        assert second in told or what in ("write", "append", "read", "unlink")


def test_a_program_that_ran_touched_what_was_told(tmp_path: Path) -> None:
    text = (
        "import os, shutil\nfrom pathlib import Path\nos.mkdir('d')\n"
        "for n in ('a', 'b'):\n    Path('d', n).write_text(n)\n"
        "shutil.copy('d/a', 'd/c')\nos.rename('d/b', 'e')\nopen('f', 'w').write('hi')\nos.remove('d/a')\n"
    )
    subprocess.run([sys.executable, "-c", text], cwd=tmp_path, check=True, env={"PATH": os.environ["PATH"]})
    there = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*")}
    told = read_code("python", text)
    made = {action.target.text for action in told.actions if action.operation in ("write", "create", "copy_dest")}
    gone = {action.target.text for action in told.actions if action.operation in ("delete", "rename")}
    assert made - gone == there
    assert {action.target.text: action.content for action in told.actions if action.content} == {
        "d/a": "a",
        "d/b": "b",
        "f": "hi",
    }


def test_the_standard_library_is_read_without_a_fault() -> None:
    for module in (ast, inspect, os, subprocess):
        read = read_code("python", inspect.getsource(module))
        assert len(read.actions) <= 200


@given(st.text())
def test_no_text_is_too_much(text: str) -> None:
    read = read_code("python", text)
    assert len(read.actions) <= 200


_PIECES = [
    "open(", ")", "'a'", "x", "=", "\n", "  ", "if x:", "for x in y:", "def f(a):", "import os", ".", "Path", "/", "+", "[",
    "]", "{", "}", ",", ":", "f'{x}'", "return", "with open('a') as f:", "os.remove", "lambda", "%", "\0", "subprocess.run",
    "*", "class C:",
]  # fmt: skip
SOUP = st.lists(st.sampled_from(_PIECES), max_size=40).map("".join)


@given(SOUP)
def test_no_program_is_too_odd(text: str) -> None:
    for action in read_code("python", text).actions:
        assert action.target.text


@each(
    "text",
    ["(" * 50_000, "[" * 90 + "]" * 90, "-" * 100_000 + "1", "a='x'" + "+'y'" * 20_000, "if a:\n b=1\n" * 9000,
     "a='xxxxxxxx'\n" + "a=a+a\n" * 10_000, "def f():\n  f()\n" * 5000,
     "".join(f"{' ' * n}for i{n} in [1,2,3,4,5,6,7,8]:\n" for n in range(18)) + " " * 18 + "open('a')",
     "x='{}{}'\n" + "x=x.format(x,x)\n" * 500, "a='a'\n" + "a=a.replace('a','aa')\n" * 200, "open('a')\n" * 10_000,
     "\0" * 1000, "lambda:" * 5000],
    ids=range(13),
)  # fmt: skip
def test_a_program_made_to_take_long_is_read_in_part(text: str) -> None:
    read = read_code("python", text)
    assert len(read.actions) <= 200
    assert all(len(action.target.text) < 10_000 for action in read.actions)
