"""awk → what it does."""

import pytest

from tests.intent.code.cases import done


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('{print $1 > "out.txt"}', ["write out.txt"]),
        ('{print > $1".txt"; print "x" >> "log"; print | "sort > s"}', ["write _.txt", "append log", "sh: sort > s"]),
        ('BEGIN { while ((getline l < "in.txt") > 0) print l }', ["read in.txt"]),
        ('BEGIN { system("rm x"); "date" | getline d }', ["sh: rm x", "sh: date"]),
        ("$3 > 5 {print}", []),
        ('BEGIN { f = ENVIRON["HOME"] "/x"; while ((getline y < f) > 0) print y }', ["read /home/dev/x"]),
        ("/a>b/ {print $1}", []),
        ("{print ($1 > 2)}", []),
        ('{f = "o." NR; print > f}', ["write o._"]),
        ('BEGIN {f = "k"; print "a" > f}', ["write k"]),
        ("{f = $1; print > f}", ["unknown _"]),
        ('BEGIN {print "x" > "/dev/stderr"}', []),
        ('BEGIN {printf "GET" |& "/inet/tcp/0/h/80"}', ["network connect h:80"]),
        ('{print "a > b"} # print > "no"', []),
        ('@include "lib.awk"', ["execute lib.awk"]),
        ("{print $1, $2}", []),
    ],
)
def test_a_program_does_what_its_text_says(text: str, expected: list[str]) -> None:
    assert done("awk", text) == expected
