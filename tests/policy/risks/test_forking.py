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


STARTING_ITSELF = (
    (
        "javascript",
        'const c=require("child_process");(function f(){c.spawn(process.execPath,["-e","("+f+")()"]);f()})()',
    ),
    (
        "javascript",
        "const {spawn}=require('child_process');\nfunction go(){\n  spawn('node',['x.js']);\n  go();\n}\ngo();",
    ),
    (
        "javascript",
        "require('child_process').spawn(process.execPath,[__filename]);require('child_process').spawn(process.execPath,[__filename])",
    ),
    ("javascript", "cp.spawn(process.argv[0], process.argv.slice(1), {detached:true})"),
    ("javascript", "cp.exec(`node ${__filename} &`); cp.exec(`node ${__filename} &`)"),
    (
        "python",
        "import subprocess,sys\nsubprocess.Popen([sys.executable, __file__])\nsubprocess.Popen([sys.executable, __file__])",
    ),
    ("python", "import subprocess,sys\nsubprocess.Popen([sys.executable, __file__])"),
    ("python", "import subprocess,sys\nsubprocess.Popen([sys.executable]+sys.argv)"),
    (
        "python",
        "import subprocess,sys\nif __name__=='__main__':\n  for i in range(2): subprocess.Popen([sys.executable, *sys.argv])",
    ),
    ("python", "import os,sys\nos.system(f'{sys.executable} {__file__} &')"),
    (
        "python",
        "from multiprocessing import Process\ndef f():\n  Process(target=f).start()\n  Process(target=f).start()\nf()",
    ),
    ("python", "import os\n[os.fork() for _ in range(20)]"),
    ("python", "import os\n{os.fork() for i in range(1000)}"),
    ("perl", 'system("perl $0 &"); system("perl $0 &")'),
    ("ruby", "spawn('ruby', __FILE__); spawn('ruby', __FILE__)"),
    ("ruby", "def f; spawn('ruby', $0); f; end; f"),
    ("php", "exec('php '.__FILE__.' > /dev/null &'); exec('php '.__FILE__.' > /dev/null &');"),
)
STARTING_OTHERS = (
    ("javascript", "function build(){ spawn('tsc'); }\nbuild();"),
    ("javascript", "function start(){ const c = spawn('node',['server.js']); c.on('exit', () => start()); }\nstart();"),
    ("javascript", "function tick(){ spawn('date'); setTimeout(tick, 1000); }\ntick();"),
    ("javascript", "if (updated) { spawn(process.execPath, process.argv.slice(1), {detached:true}); process.exit(0) }"),
    ("javascript", "spawn(process.execPath, process.argv.slice(1), {detached:true}).unref(); process.exit(0)"),
    ("javascript", "const w=[]; for (let i=0;i<4;i++) w.push(new Worker(__filename.replace('main','worker')))"),
    ("javascript", "const args = process.argv.slice(2); spawn('tsc', args)"),
    (
        "javascript",
        "const { spawnSync } = require('child_process'); spawnSync('eslint', process.argv.slice(2), {stdio:'inherit'})",
    ),
    ("javascript", "spawn('npx', ['vite', ...process.argv.slice(2)], {stdio: 'inherit'})"),
    ("javascript", "function walk(d){ for (const f of fs.readdirSync(d)) walk(f); execSync('ls') }"),
    ("javascript", "const run = (cmd) => { return spawn(cmd) }; run('a'); run('b');"),
    ("javascript", "const run = cmd => {\n spawn(cmd)\n};\nrun('a');"),
    ("python", "import subprocess,sys\nsubprocess.Popen([sys.executable]+sys.argv)\nsys.exit()"),
    ("python", "import subprocess,sys\nif update(): subprocess.Popen([sys.executable]+sys.argv)"),
    ("python", "import subprocess,sys\nsubprocess.run([sys.executable,'-m','pytest',*sys.argv[1:]])"),
    ("python", "import subprocess,sys\nsubprocess.run([sys.executable,'tool.py',*sys.argv[1:]])"),
    (
        "python",
        "import subprocess,sys\nsubprocess.run([sys.executable, os.path.join(os.path.dirname(__file__),'x.py')])",
    ),
    ("python", "import subprocess\nsubprocess.run(['ls', Path(__file__).parent])"),
    ("python", "import subprocess\nsubprocess.Popen(['ls'], cwd=os.path.dirname(__file__))"),
    ("python", "import os\nos.system('pytest '+' '.join(__import__('sys').argv[1:]))"),
    (
        "python",
        "import os,sys\nif not os.environ.get('X'):\n"
        "  os.environ['X']='1'\n  os.execv(sys.executable,[sys.executable]+sys.argv)",
    ),
    (
        "python",
        "from multiprocessing import Process\ndef f(x): pass\nps=[Process(target=f,args=(i,)) for i in range(4)]\n"
        "for p in ps: p.start()",
    ),
    ("python", "import threading\ndef tick():\n  work()\n  threading.Timer(60, tick).start()\ntick()"),
    ("ruby", "system('rake', *ARGV)"),
    ("ruby", "spawn('rails s'); Process.wait"),
    ("php", "exec('php artisan migrate', $out);"),
    ("perl", "system('prove', '-l', @ARGV);"),
)


@pytest.mark.parametrize(("language", "text"), STARTING_ITSELF)
def test_a_program_or_function_that_starts_itself_anew_is_seen(language: str, text: str) -> None:
    assert multiplies(language, text)


@pytest.mark.parametrize(("language", "text"), STARTING_OTHERS)
def test_supervisors_pools_wrappers_and_one_new_start_are_not(language: str, text: str) -> None:
    assert not multiplies(language, text)
