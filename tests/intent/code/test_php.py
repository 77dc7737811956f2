"""PHP → what it does."""

import pytest

from tests.intent.code.cases import done


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("<?php echo file_get_contents('a'); file_put_contents(\"b\", 'x');", ["read a", "write b = 'x'"]),
        ("file_put_contents('a', $x, FILE_APPEND);", ["append a"]),
        ("$p = 'q'; fopen($p, 'w'); fopen(\"$d/x\", 'r');", ["write q", "read _/x"]),
        (
            "unlink($f); rename('a', 'b'); copy('c', 'd');",
            ["delete _", "rename a", "copy_dest b", "copy_source c", "copy_dest d"],
        ),
        ("exec('ls'); echo shell_exec(\"cat $x\"); echo `pwd`;", ["sh: pwd", "sh: ls", "sh: cat _"]),
        ("include 'z.php';", ["execute z.php"]),
        ("array_map('unlink', glob('/d/*'));", ["delete _", "list /d/*"]),
        ("array_map('trim', $lines);", []),
        (
            "file_get_contents('http://x/y'); curl_init('http://z');",
            ["network fetch http://x/y", "network fetch http://z"],
        ),
        ("file_get_contents('php://stdin');", []),
        ("// unlink('no');\necho 'unlink(1)';", []),
    ],
)
def test_a_program_does_what_its_text_says(text: str, expected: list[str]) -> None:
    assert done("php", text) == expected
