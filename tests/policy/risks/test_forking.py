"""Code that starts processes without end, and servers and workers that do not."""

import pytest

from tallystick.policy.risks.forking import multiplies

BOMBS = (
    ("python", "import os\nwhile True: os.fork()"),
    ("python", "import os\nwhile os.fork() or True: pass"),
    ("python", "import os\n[os.fork() for _ in iter(int, 1)]"),
    ("python", "import os\ndef f():\n  os.fork()\n  f()\nf()"),
    ("python", "import os\nfor i in range(50): os.fork()"),
    ("python", "import subprocess, sys\nwhile 1:\n  subprocess.Popen([sys.executable, __file__])"),
    ("python", "import threading\nwhile True: threading.Thread(target=f).start()"),
    ("python", "import multiprocessing\nwhile not False:\n    multiprocessing.Process(target=print).start()"),
    ("python", "import os\nwhile True: os.system('sleep 9 &')"),
    ("perl", "fork while 1"),
    ("perl", "fork while fork"),
    ("perl", "while(1){fork}"),
    ("perl", "while(fork||1){}"),
    ("perl", "for(;;){fork()}"),
    ("perl", "{fork;redo}"),
    ("perl", "sub f{fork;f()} f()"),
    ("ruby", "fork while true"),
    ("ruby", "fork until false"),
    ("ruby", "loop { fork }"),
    ("ruby", "loop do fork end"),
    ("ruby", "def f; fork; f; end; f"),
    ("php", "while(true) pcntl_fork();"),
    ("javascript", "const f=()=>{require('child_process').fork(__filename);f()};f()"),
    ("javascript", "while(true){require('child_process').spawn('node',[])}"),
)
WORK = (
    ("python", "import os\npid=os.fork()\nif pid==0: os._exit(0)\nos.waitpid(pid,0)"),
    ("python", "while True:\n  c,_=s.accept()\n  threading.Thread(target=h,args=(c,)).start()"),
    ("python", "import subprocess\nfor f in files: subprocess.Popen(['x',f]).wait()"),
    ("python", "while True:\n  p=subprocess.Popen(['srv'])\n  p.wait()"),
    ("python", "def walk(d):\n  for x in os.listdir(d):\n    walk(x)"),
    ("python", "ps=[Process(target=f) for _ in range(8)]\n[p.start() for p in ps]\n[p.join() for p in ps]"),
    ("python", "def broken(:\n  fork("),
    ("perl", "my $pid=fork; if(!$pid){exec 'ls'} waitpid($pid,0);"),
    ("ruby", "loop do\n c=s.accept\n Thread.new { h(c) }\nend"),
    ("ruby", "loop { puts 1; sleep 1 }"),
    (
        "javascript",
        "const {fork}=require('child_process'); if(process.argv[2]==='child'){run()}else{fork(__filename,['child'])}",
    ),
    ("javascript", "const s=http.createServer((q,r)=>{spawn('ls')}); s.listen(1)"),
    ("javascript", "while(true){ const l = await q.pop(); spawn('x',[l]) }"),
    ("javascript", "setInterval(()=>{console.log(1)},1000)"),
    ("sql", "select fork from cutlery"),
)


@pytest.mark.parametrize(("language", "text"), BOMBS)
def test_processes_without_end_are_seen(language: str, text: str) -> None:
    assert multiplies(language, text)


@pytest.mark.parametrize(("language", "text"), WORK)
def test_workers_and_servers_are_not(language: str, text: str) -> None:
    assert not multiplies(language, text)


@pytest.mark.parametrize("text", ["while(1){" * 2000 + "fork", "fork(" * 4000, "sub f{" * 3000 + "fork f"])
@pytest.mark.parametrize("language", ["python", "perl", "javascript"])
def test_text_made_to_hurt_is_answered(language: str, text: str) -> None:
    assert multiplies(language, text) in (True, False)
