"""Perl → what it does."""

import pytest

from tests.intent.code.cases import done


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("open(my $f, '<', 'a'); while (<$f>) { print }", ["read a"]),
        ("@ARGV = ('~/x'); print while <>", ["read /home/dev/x"]),
        ("system(q{awk '{print}' a})", ["sh: awk '{print}' a"]),
        ("HTTP::Tiny->new->get('http://a/')", ["network fetch http://a/"]),
        ("open(F, '>b.txt'); print F 'x'", ["write b.txt"]),
        ("open F, '>>', 'b' or die", ["append b"]),
        ("open(my $p, '-|', 'ls -l'); open(G, 'cat x|');", ["sh: ls -l", "sh: cat x"]),
        ("open(my $f, '<', \\$text)", []),
        ("open(F, $x)", ["unknown _"]),
        ("my $p = '/d/x'; unlink $p, 'q' if -e $p;", ["delete /d/x", "delete q"]),
        (
            "rename('a', 'b'); mkdir 'c'; rmdir('d'); chmod 0755, 'e', 'f'",
            ["rename a", "copy_dest b", "create c", "delete d", "metadata e", "metadata f"],
        ),
        ("system('rm -rf z'); system('ls', '-l', $x); exec \"a $b\"", ["sh: rm -rf z", "sh: ls -l '_'", "sh: a _"]),
        ("my $o = `cat /etc/passwd`; print qx{ls $d}", ["sh: cat /etc/passwd", "sh: ls _"]),
        ("use File::Copy; copy('a', 'b'); move 'c', 'd';", ["copy_source a", "copy_dest b", "rename c", "copy_dest d"]),
        ("open my $fh, '>>', \"$ENV{HOME}/log\";", ["append /home/dev/log"]),
        (
            "use LWP::Simple; getstore('http://a', 'b'); my $t = get('http://c');",
            ["network fetch http://a", "write b", "network fetch http://c"],
        ),
        ("use My::Thing;", ["unknown"]),
        ("unlink glob '/d/*';", ["delete _", "list /d/*"]),
        ("unlink </d/*.o>;", ["delete _", "list /d/*.o"]),
        ("for (glob('~/x/*')) { unlink }", ["list /home/dev/x/*"]),
        ("if ($a < 3 and $b > 4) { print }", []),
        ("use strict; use warnings; use 5.010;", []),
        ("do 'x.pl'", ["execute x.pl"]),
        ("eval $x; eval { 1 };", ["unknown"]),
        ("$s =~ s/foo/unlink \"x\"/; # unlink 'no'\nprint \"unlink('no')\";", []),
        ("", []),
    ],
)
def test_a_program_does_what_its_text_says(text: str, expected: list[str]) -> None:
    assert done("perl", text) == expected
