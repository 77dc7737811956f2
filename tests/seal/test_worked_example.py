"""The worked example of docs/format.md 18, to the byte."""

from __future__ import annotations

import re
from pathlib import Path

from tallystick.model.verdict import Rule, report
from tallystick.seal.hashes import commitment, genesis, salt
from tallystick.seal.keys import SigningKey, did_key
from tallystick.seal.line import Slot, field_commitments, hash_of, parse_line, seal_line
from tallystick.seal.merkle import merkle_root
from tallystick.seal.note import parse_note, sign_note, verify_note
from tallystick.seal.redact import Redaction, line_text, redact
from tallystick.seal.verify import check_lone
from tools.vectors.maker import Held

SID = "000102030405060708090a0b0c0d0e0f"
STORE = "f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff"

LINE_1 = (
    '{"entry":{"fields":"10890cb6d1047da8f91432147da32522108a8b657be9fd8d136c48237be928fd","n":1,"parents":[],'
    '"prev":"fa79c1eab42ddd3b018da52e091f85085c68c5d3d68b1397a7b931beeba13159","sid":"000102030405060708090a0b0c0d0e0f",'
    '"v":1},"fields":{"content.args":{"command":"printf \'%s\' €","timeout":1.5},"local.note":null,"meta":{"corr":"c1",'
    '"recorded":"2026-01-02T03:04:06.000000Z","source":"sdk","source_id":"c1","tool":"Bash","type":"tool_call"}},'
    '"seed":"0202020202020202020202020202020202020202020202020202020202020202"}'
)
CONTENT_1 = (
    '"fields":{"meta":{"corr":"c1","recorded":"2026-01-02T03:04:06.000000Z","source":"sdk","source_id":"c1",'
    '"tool":"Bash","type":"tool_call"}},"salts":{"meta":"bdfcd1a366293e176023eede5909bbb35a4c2af4ed01b087e380f237dc5c0088"},'
    '"withheld":{"content.args":"2dac206c2909ce10f43bbed264018716765a2dc7bef7f42669cebe69226c5e6d",'
    '"local.note":"9153cb5158ff25af31603a450ba4b92d01ccc7385e5fdc46e311c25ee9021b65"}}'
)
HEAD = """tallystick/f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff
2
hSKrIxnMnIdr1mcw9/3KwnbwGOosdp4ZrKIssBS5UyE=

— tallystick/f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff \
RPtkwY/wiMw2vOZUpzd0YRz3as89wCA3vUwC/fiTXBmcP51hKYfokh0YPPFeHHzEa+5nWMcjgxxB+RZ1mgudbZXPtAc=
"""


def session_lines() -> list[bytes]:
    zero = seal_line(
        Slot(SID, 0, genesis(SID), ()),
        seed=b"\x01" * 32,
        values={
            "meta": {
                "agent": "demo",
                "kind": "root",
                "recorded": "2026-01-02T03:04:05.000006Z",
                "source": "sdk",
                "type": "session_start",
            },
            "personal.cwd": "/home/dev",
        },
    )
    meta = {
        "corr": "c1",
        "recorded": "2026-01-02T03:04:06.000000Z",
        "source": "sdk",
        "source_id": "c1",
        "tool": "Bash",
        "type": "tool_call",
    }
    one = seal_line(
        Slot(SID, 1, zero.hash, ()),
        seed=b"\x02" * 32,
        values={"meta": meta, "content.args": {"command": "printf '%s' €", "timeout": 1.5}, "local.note": None},
    )
    two = seal_line(
        Slot(SID, 2, one.hash, (one.hash.hex(),)),
        seed=b"\x03" * 32,
        values={
            "meta": {
                "corr": "c1",
                "recorded": "2026-01-02T03:04:07.000000Z",
                "source": "sdk",
                "source_id": "c1/result",
                "success": True,
                "tool": "Bash",
                "type": "tool_result",
            },
            "content.output": "€",
        },
        raw={"content.part_0": b"\x89PNG"},
    )
    assert zero.hash.hex() == "fa79c1eab42ddd3b018da52e091f85085c68c5d3d68b1397a7b931beeba13159"
    assert one.hash.hex() == "4cdfe9012038bc8daa63810cc17cfc9e0f9e71b116ad7a69c4b1af2377b9dc4d"
    assert two.hash.hex() == "9101233437cdf6d29c5cc2e3851c0b9e194c66062229bdc6696a73e7a1bc925c"
    root = merkle_root([zero.hash, one.hash, two.hash])
    assert root.hex() == "a3112fd83ad4266cfb4375186763d4b2abc05cee77100655a98e4403d26c40ea"
    return [zero.line, one.line, two.line]


def test_genesis_salts_and_commitments_are_those_of_the_text() -> None:
    assert genesis(SID).hex() == "006eebffd4478405bded448f0ce81faa6457a4311c46024ad048852f4b3e20ad"
    assert (
        salt(b"\x02" * 32, "content.args").hex() == "c3e21115342cb2e29b75e62920232a9195f53b619dc27705ac7e2e8d548eac81"
    )
    cwd = commitment("personal.cwd", "json", salt(b"\x01" * 32, "personal.cwd"), b'"/home/dev"')
    assert cwd.hex() == "d90771ee68593c9f1af6a4c97a4461117bba6a6b4b642e7a75b3a1219a961d0f"
    raw = commitment("content.part_0", "raw", salt(b"\x03" * 32, "content.part_0"), b"\x89PNG")
    assert raw.hex() == "3349310aeac8d29ca52c05aba95ffc95cf32c09e73d11ae58515dd6cfb5b8218"


def test_the_line_is_the_line_of_the_text() -> None:
    assert session_lines()[1] == LINE_1.encode() + b"\n"


def test_its_content_form_is_the_one_of_the_text() -> None:
    text = line_text(redact(parse_line(LINE_1.encode()), Redaction.CONTENT)).decode()
    assert text[text.index('"fields":{"meta"') :] == CONTENT_1


def test_the_ledger_and_its_signed_head_are_those_of_the_text() -> None:
    key = SigningKey(bytes(range(32)))
    assert did_key(key.public) == "did:key:z6MkehRgf7yJbgaGfYsdoAsKdBPE3dj2CYhowQdcjqSJgvVd"
    start = seal_line(
        Slot(STORE, 0, genesis(STORE), ()),
        seed=b"\x04" * 32,
        values={"meta": {"key": did_key(key.public), "recorded": "2026-01-02T03:04:05.000000Z", "type": "store_start"}},
    )
    assert start.hash.hex() == "3a37be18edb8d49f7daccc4f3e6c1b18b52cd9cdf272abe042c9cb4ec4ae687f"
    head = seal_line(
        Slot(STORE, 1, start.hash, ()),
        seed=b"\x05" * 32,
        values={
            "meta": {
                "closed": False,
                "recorded": "2026-01-02T03:04:08.000000Z",
                "root": "a3112fd83ad4266cfb4375186763d4b2abc05cee77100655a98e4403d26c40ea",
                "session": SID,
                "size": 3,
                "type": "session_head",
            }
        },
    )
    assert head.hash.hex() == "9ed07104b518c2782b61668a448d1488c9cf5f731022d12574dbf31817665d92"
    note = sign_note(STORE, 2, merkle_root([start.hash, head.hash]), [key])
    assert note.decode() == HEAD
    assert verify_note(parse_note(note), [key.public]) == (key.public,)


# The page itself -----------------------------------------------------------------------------------------------------

PAGE = (Path(__file__).resolve().parents[2] / "docs" / "format.md").read_text("utf-8")


def section(number: int) -> str:
    return PAGE[PAGE.index(f"\n## {number}. ") : (PAGE + "\n## ").index("\n## ", PAGE.index(f"\n## {number}. ") + 1)]


def test_every_hash_on_the_page_is_one_that_comes_out() -> None:
    lines = [parse_line(line[:-1]) for line in session_lines()]
    seeds = [bytes([number]) * 32 for number in (1, 2, 3)]
    computed = {genesis(SID), merkle_root([hash_of(line.entry) for line in lines])}
    for line, seed in zip(lines, seeds, strict=True):
        names = field_commitments(line)
        computed |= {seed, hash_of(line.entry), bytes.fromhex(line.entry.fields), *names.values()}
        computed |= {salt(seed, name) for name in names}
    text = section(18)
    found = set(re.findall(r"\b[0-9a-f]{64}\b", text))
    ledger = {
        "3a37be18edb8d49f7daccc4f3e6c1b18b52cd9cdf272abe042c9cb4ec4ae687f",
        "9ed07104b518c2782b61668a448d1488c9cf5f731022d12574dbf31817665d92",
    }
    assert len(found) > 15
    assert found - {digest.hex() for digest in computed} == ledger  # these two are computed further up
    for part in (LINE_1, CONTENT_1, HEAD):
        assert part in text


def test_the_page_lists_the_rules_in_their_order() -> None:
    table = section(19).split("\n**19.2")[0]
    first_cells = re.findall(r"^\| (`[^|]*) \|", table, re.MULTILINE)
    rules = re.findall(r"`(\w+)`", " ".join(first_cells))
    assert rules.pop(2) == "member"  # asked twice: of a line without any entry early
    assert rules == [rule.value for rule in Rule]


def test_the_page_lists_the_members_of_the_report() -> None:
    verdict = check_lone(Held(b"".join(session_lines())))
    table = section(20).split("\n20.2")[0]
    first_cells = re.findall(r"^\| (`[^|]*) \|", table, re.MULTILINE)
    assert set(re.findall(r"`(\w+)`", " ".join(first_cells))) == set(report(verdict))
