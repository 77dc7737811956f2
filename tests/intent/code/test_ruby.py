"""Ruby → what it does."""

import pytest

from tests.intent.code.cases import done


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("puts File.read('a'); File.write('b', 'hi')", ["read a", "write b = 'hi'"]),
        ("File.write('b', x, mode: 'a')", ["append b"]),
        (
            "require 'fileutils'; FileUtils.rm_rf 'x'; FileUtils.cp 'a', 'b'; FileUtils.mkdir_p(File.join('a', n))",
            ["delete x deep", "copy_source a", "copy_dest b", "create a/_"],
        ),
        (
            "FileUtils.mv('a', 'b'); FileUtils.touch('c'); File.rename 'd', 'e'; FileUtils.chmod 0755, 'f'",
            ["rename a", "copy_dest b", "create c", "rename d", "copy_dest e", "metadata f"],
        ),
        ("include FileUtils\nrm_rf 'x'", ["delete x deep"]),
        ("system('ls -l'); `cat x`; system 'ls', '-l'", ["sh: cat x", "sh: ls -l", "sh: ls -l"]),
        ("Open3.capture2e('git', 'log')", ["sh: git log"]),
        ("File.open('o', 'w') { |f| f.puts 1 }; File.open(\"#{d}/x\")", ["write o", "read _/x"]),
        (
            "require 'net/http'; Net::HTTP.get(URI('http://a')); URI.open('http://b').read",
            ["network fetch http://a", "network fetch http://b"],
        ),
        ("require './mine'", ["unknown"]),
        ("load 'a.rb'", ["execute a.rb"]),
        ("Dir.glob('*.rb').each { |f| File.delete(f) }", ["list *.rb deep", "delete _"]),
        ("IO.readlines(File.expand_path('~/x'))", ["read /home/dev/x"]),
        ("p = 'a'\nFile.read p", ["read a"]),
        ("p = 'a'\np = 'b'\nFile.read(p)", ["unknown _"]),
        ("eval(x)", ["unknown"]),
        ("# File.read('no')\nputs \"File.read('no')\"", []),
        ("", []),
    ],
)
def test_a_program_does_what_its_text_says(text: str, expected: list[str]) -> None:
    assert done("ruby", text) == expected
