"""SQL → what it does."""

import pytest

from tests.intent.code.cases import done


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("ATTACH 'x.db' AS x; SELECT * FROM t;", ["edit x.db"]),
        ("attach database ':memory:' as m", []),
        ("COPY t TO '/tmp/o.csv'; COPY t FROM 'i.csv'; COPY t FROM STDIN", ["write /tmp/o.csv", "read i.csv"]),
        ("COPY t FROM PROGRAM 'curl x'", ["sh: curl x"]),
        ("SELECT * INTO OUTFILE '/tmp/x' FROM t; LOAD DATA LOCAL INFILE 'y' INTO TABLE t", ["write /tmp/x", "read y"]),
        (".output o.txt\n.dump\n.read s.sql\n.shell ls -l\n", ["write o.txt", "execute s.sql", "sh: ls -l"]),
        (".output stdout\n.mode csv\n.import a.csv t", ["read a.csv"]),
        ("\\copy t to 'o.csv' csv\n\\i f.sql\n\\! rm x", ["write o.csv", "execute f.sql", "sh: rm x"]),
        ("VACUUM INTO 'b.db'", ["write b.db"]),
        ("SELECT load_file('/etc/passwd'); select writefile('w', x)", ["read /etc/passwd", "write w"]),
        ("INSERT INTO t VALUES('COPY t TO ''f''')", []),
        ("SELECT * FROM 'data.csv'", ["read data.csv"]),
        ("-- ATTACH 'no'\nSELECT 'ATTACH' /* COPY t TO 'x' */", []),
        ("SELECT load_extension('x.so')", ["execute x.so", "unknown"]),
        ("UPDATE t SET a = 'from' WHERE b = 'to'", []),
    ],
)
def test_a_program_does_what_its_text_says(text: str, expected: list[str]) -> None:
    assert done("sql", text) == expected
