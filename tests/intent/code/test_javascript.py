"""JavaScript → what it does."""

import pytest

from tests.intent.code.cases import done


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("require('fs').readFileSync('a')", ["read a"]),
        ("const fs = require('fs'); const p = 'd/' + 'x'; fs.writeFileSync(p, 'hi\\n')", ["write d/x = 'hi\\n'"]),
        (
            "import {readFile as r, writeFile} from 'node:fs/promises'; await r('a'); await writeFile(`${x}/b`, y)",
            ["read a", "write _/b"],
        ),
        ("import * as fs from 'fs'; fs.rmSync('z', {recursive: true}); fs.rmSync('y')", ["delete z deep", "delete y"]),
        ("const {unlinkSync: gone} = require('fs'); gone('a')", ["delete a"]),
        ("fs.promises.appendFile('a', x)", ["append a"]),
        (
            "fs.renameSync('a', 'b'); fs.copyFileSync('c', 'd')",
            ["rename a", "copy_dest b", "copy_source c", "copy_dest d"],
        ),
        (
            "fs.mkdirSync('e/f', {recursive: true}); fs.readdirSync('.'); fs.symlinkSync('a', 'b')",
            ["create e/f", "list .", "copy_source a", "create b"],
        ),
        (
            "const fs = require('fs'); fs.openSync('a', 'w'); fs.openSync('b'); fs.open('d', 'a', cb)",
            ["write a", "read b", "append d"],
        ),
        ("fs.createReadStream('a').pipe(fs.createWriteStream('b'))", ["read a", "write b"]),
        ("fs.readFileSync(p)", ["unknown _"]),
        ("let p = 'a'; p = 'b'; fs.readFileSync(p)", ["unknown _"]),
        ("const x: string = 'a.txt';\nfs.readFileSync(x)", ["read a.txt"]),
        (
            "const path = require('path'), os = require('os'); fs.readFileSync(path.join(os.homedir(), '.ssh', 'k'))",
            ["read /home/dev/.ssh/k"],
        ),
        ("fs.readFileSync(process.env.HOME + '/k')", ["read /home/dev/k"]),
        ("fs.readFileSync('~/k')", ["read ./~/k"]),
        ("process.chdir('d'); fs.readFileSync('a')", ["read d/a"]),
        ("const {execSync} = require('child_process'); execSync('rm -rf q')", ["sh: rm -rf q"]),
        (
            "const cp = require('child_process'); cp.spawn('ls', ['-l', x]); cp.exec(`cat ${f}`)",
            ["sh: ls -l '_'", "sh: cat _"],
        ),
        ("require('child_process').execFile('git', ['log'])", ["sh: git log"]),
        ("const {spawn} = require('child_process'); spawn('a | b', {shell: true})", ["sh: a | b"]),
        ("Bun.spawn(['ls', '-l'])", ["sh: ls -l"]),
        ("fetch('http://a')", ["network fetch http://a"]),
        ("fetch(u, {method: 'POST'})", ["network send _"]),
        ("axios.get('http://a').then(r => fs.writeFileSync('o', r.data))", ["network fetch http://a", "write o"]),
        ("require('https').request({hostname: 'a.b', method: 'PUT'})", ["network send a.b"]),
        ("new WebSocket('wss://a')", ["network connect wss://a"]),
        ("Deno.readTextFile('a'); Bun.write('b', x)", ["read a", "write b"]),
        ("eval(code)", ["unknown"]),
        ("eval('fs.unlinkSync(\"a\")')", ['javascript: fs.unlinkSync("a")']),
        ("require('./mine')", ["unknown"]),
        ("require('lodash'); require('node:fs')", []),
        ("// fs.readFileSync('no')\n/* fs.unlinkSync('no') */ console.log('fs.readFileSync(1)')", []),
        ('const r = await tools.exec_command({"cmd": "ls"}); text(r);', []),
        ("", []),
    ],
)
def test_a_program_does_what_its_text_says(text: str, expected: list[str]) -> None:
    assert done("javascript", text) == expected
