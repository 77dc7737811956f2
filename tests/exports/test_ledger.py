from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.agents.gptme import ledger as gptme_ledger
from tallystick.agents.gptme import transcript as gptme
from tallystick.agents.headless import transcript as headless
from tallystick.exports import ledger
from tallystick.exports._ledger_forms import (
    PRIMARY,
    BodyForm,
    ChainForm,
    Escapes,
    Genesis,
    HashText,
    KeyOrder,
    Nulls,
    Root,
    Separators,
)
from tallystick.exports.ledger import Check, LedgerVerdict, summary, verify_ledger
from tallystick.model.recorded import Recorded
from tallystick.model.step import Json, Opening, Ref, Step
from tests.agents.conftest import events_of, events_of_lines
from tests.agents.gptme.test_transcript import RECEIPTS
from tests.agents.headless.test_transcript import GOLDEN
from tests.agents.mutations import steps_of
from tests.exports.conftest import Record, recorded_steps
from tests.support.cases import each

ELEVEN = (
    "step_id session_id step_type tool_name started_at duration_ms input_hash output_hash context_hash "
    "parent_step_hash self_hash"
)

Hash = Callable[[bytes], str]


def sha(data: bytes) -> str:
    return "sha256:" + hashlib.sha256(data).hexdigest()


# Another writer, written from the description of the format and not from our code ------------------------------------


def foreign(
    count: int = 5,
    *,
    dumps: Callable[[Json], str] = lambda body: json.dumps(body, sort_keys=True),
    link: Callable[[str], bytes] = str.encode,
    genesis: bytes = b"",
    root: Json = None,
    closes: bool = True,
    name: str = "shell",
) -> list[bytes]:
    lines: list[bytes] = []
    previous, parent = genesis, root
    for number in range(count):
        body = {
            "step_id": f"{number:04x}",
            "session_id": "1e23",
            "step_type": "session_end" if closes and number == count - 1 else "tool_call",
            "tool_name": name,
            "started_at": f"2026-06-29T21:58:{number:02}Z",
            "duration_ms": 10 * number,
            "input_hash": sha(b"in%d" % number),
            "output_hash": sha(b"out%d" % number),
        }
        if parent != "absent":
            body["parent_step_hash"] = parent
        own = sha(dumps(body).encode())
        context = sha(previous + b"\x00" + link(own))
        lines.append(json.dumps({**body, "context_hash": context, "self_hash": own}).encode() + b"\n")
        previous, parent = link(context), own
    return lines


def changed(line: bytes, **members: Json) -> bytes:
    return json.dumps(json.loads(line) | members).encode() + b"\n"


def test_a_whole_ledger_is_valid_and_the_summary_says_so() -> None:
    verdict = verify_ledger(foreign(28))
    assert verdict.variant == PRIMARY
    assert summary(verdict) == "valid | 28 steps | truncated: False"


COMPACT = (",", ":")


@each(
    "dumps, expected",
    [
        (lambda body: json.dumps(body, sort_keys=True, separators=COMPACT), BodyForm(separators=Separators.COMPACT)),
        (lambda body: json.dumps(body, sort_keys=True, ensure_ascii=False), BodyForm(escapes=Escapes.UTF8)),
        (json.dumps, BodyForm(keys=KeyOrder.WRITTEN)),
        (
            lambda body: json.dumps(body, separators=COMPACT, ensure_ascii=False),
            BodyForm(KeyOrder.WRITTEN, Separators.COMPACT, Escapes.UTF8),
        ),
        (
            lambda body: json.dumps({key: value for key, value in body.items() if value is not None}, sort_keys=True),
            BodyForm(nulls=Nulls.DROPPED),
        ),
    ],
    ids=["compact", "utf-8", "as written", "as written, compact, utf-8", "nulls dropped"],
)
def test_every_documented_way_to_write_a_body_is_found(dumps: Callable[[Json], str], expected: BodyForm) -> None:
    verdict = verify_ledger(foreign(dumps=dumps, name="sjöng"))
    assert verdict.valid
    assert verdict.variant is not None
    assert verdict.variant.body == expected


EMPTY = hashlib.sha256(b"").hexdigest()


@each(
    "genesis, expected",
    [
        (b"0" * 64, Genesis.ZEROS),
        (b"sha256:" + b"0" * 64, Genesis.PREFIXED_ZEROS),
        (EMPTY.encode(), Genesis.EMPTY_DIGEST),
        (f"sha256:{EMPTY}".encode(), Genesis.PREFIXED_EMPTY_DIGEST),
        (b"1e23", Genesis.SESSION),
        (bytes(32), Genesis.RAW_ZEROS),
    ],
)
def test_every_documented_start_is_found(genesis: bytes, expected: Genesis) -> None:
    verdict = verify_ledger(foreign(genesis=genesis))
    assert verdict.valid
    assert verdict.variant is not None
    assert verdict.variant.chain == ChainForm(genesis=expected)


@each(
    "link, form",
    [
        (lambda text: text.removeprefix("sha256:").encode(), HashText.BARE),
        (lambda text: bytes.fromhex(text.removeprefix("sha256:")), HashText.RAW),
    ],
)
def test_every_documented_form_of_a_hash_in_the_next_one_is_found(link: Callable[[str], bytes], form: HashText) -> None:
    verdict = verify_ledger(foreign(link=link))
    assert verdict.valid
    assert verdict.variant is not None
    assert (verdict.variant.chain.own, verdict.variant.chain.previous) == (form, form)


@each("root, expected", [(None, Root.NULL), ("", Root.EMPTY), ("absent", Root.ABSENT)])
def test_every_documented_root_is_found(root: Json, expected: Root) -> None:
    verdict = verify_ledger(foreign(root=root))
    assert verdict.valid
    assert verdict.variant is not None
    assert verdict.variant.root is expected


# What tampering does -------------------------------------------------------------------------------------------------


def where(lines: Sequence[bytes]) -> tuple[int, Check] | None:
    verdict = verify_ledger(lines)
    assert verdict.valid is (verdict.first_bad is None)
    return None if verdict.first_bad is None else (verdict.first_bad.index, verdict.first_bad.check)


@given(st.integers(0, 4), st.sampled_from(["step_id", "tool_name", "started_at", "duration_ms", "input_hash"]))
def test_a_changed_field_is_found_where_it_is(index: int, field: str) -> None:
    lines = foreign()
    lines[index] = changed(lines[index], **{field: "other"})
    assert where(lines) == (index, Check.FIELD)


@given(st.integers(0, 4), st.integers(0, 4))
def test_a_moved_record_is_found(first: int, second: int) -> None:
    lines = foreign()
    lines[first], lines[second] = lines[second], lines[first]
    assert where(lines) == (None if first == second else (min(first, second), Check.ORDER))


@given(st.integers(0, 3))
def test_a_removed_record_is_found(index: int) -> None:
    lines = foreign()
    del lines[index]
    assert where(lines) == (index, Check.ORDER)


def test_an_inserted_record_with_a_right_hash_of_its_own_is_found() -> None:
    lines = foreign()
    assert where([*lines[:2], foreign(3, closes=False, name="other")[2], *lines[2:]]) == (2, Check.ORDER)


def test_a_parent_that_is_no_earlier_step_is_found_though_all_hashes_are_made_anew() -> None:
    lines = foreign(3)
    record = json.loads(lines[2])
    body = {key: value for key, value in record.items() if key not in ("self_hash", "context_hash")}
    body["parent_step_hash"] = sha(b"from elsewhere")
    own = sha(json.dumps(body, sort_keys=True).encode())
    context = sha(json.loads(lines[1])["context_hash"].encode() + b"\0" + own.encode())
    lines[2] = json.dumps({**body, "self_hash": own, "context_hash": context}).encode()
    assert where(lines) == (2, Check.PARENT)


def test_a_key_that_stands_twice_is_refused_since_readers_may_see_either() -> None:
    lines = foreign()
    lines[1] = lines[1].replace(b'"tool_name": "shell"', b'"tool_name": "evil", "tool_name": "shell"')
    assert where(lines) == (1, Check.FIELD)


def test_records_of_an_unknown_formula_are_said_to_be_so() -> None:
    verdict = verify_ledger(foreign(dumps=lambda body: json.dumps(body, indent=1)))
    assert verdict.first_bad is not None
    assert "no documented formula" in verdict.first_bad.why
    assert verdict.variant is None
    assert summary(verdict).startswith("invalid | 0 steps | truncated: True | record 0 (field): ")


def test_a_formula_cannot_change_within_a_ledger() -> None:
    lines = foreign(name="sjöng")
    other = foreign(name="sjöng", dumps=lambda body: json.dumps(body, sort_keys=True, ensure_ascii=False))
    assert where([lines[0], other[1]]) == (1, Check.FIELD)


# What is no tampering ------------------------------------------------------------------------------------------------


@given(st.integers(1, 4))
def test_a_prefix_is_valid_and_truncated(count: int) -> None:
    verdict = verify_ledger(foreign()[:count])
    assert summary(verdict) == f"valid | {count} steps | truncated: True"
    assert any("cut off its end" in gap for gap in verdict.cannot_prove)


@given(st.data())
def test_a_torn_last_line_is_truncation(data: st.DataObject) -> None:
    text = b"".join(foreign())
    size = data.draw(st.integers(1, len(text) - 2))
    verdict = verify_ledger(text[:size].split(b"\n"))
    whole = text[: size + 1].count(b"\n")
    assert (verdict.valid, verdict.truncated, verdict.steps) == (True, True, whole)


def test_half_a_line_that_others_follow_is_damage() -> None:
    lines = foreign()
    lines[1] = lines[1][:40]
    assert where(lines) == (1, Check.FIELD)
    assert where([lines[0], lines[1] + b"\n"]) == (1, Check.FIELD)


def test_nothing_is_valid_and_truncated() -> None:
    assert summary(verify_ledger([])) == "valid | 0 steps | truncated: True"
    assert summary(verify_ledger([b'{"step'])) == "valid | 0 steps | truncated: True"


# Writing -------------------------------------------------------------------------------------------------------------


def written(steps: Sequence[Recorded], *, with_content: bool = False) -> list[dict[str, Json]]:
    return [json.loads(line) for line in ledger.write(steps, session="s1", with_content=with_content)]


@pytest.fixture
def golden(record: Record) -> list[Recorded]:
    return record(events_of(headless, GOLDEN))


@pytest.mark.parametrize("with_content", [False, True])
def test_what_is_written_verifies_under_the_primary_formula(golden: list[Recorded], *, with_content: bool) -> None:
    verdict = verify_ledger(ledger.write(golden, session="s1", with_content=with_content))
    assert verdict.variant == PRIMARY
    assert summary(verdict) == "valid | 14 steps | truncated: False"
    assert any("only hashes are kept" in gap for gap in verdict.cannot_prove) is not with_content


def test_records_have_the_eleven_members_in_their_order_and_content_only_on_demand(golden: list[Recorded]) -> None:
    assert {" ".join(record) for record in written(golden)} == {ELEVEN}
    *records, closing = written(golden, with_content=True)
    assert {" ".join(record) for record in records} == {f"{ELEVEN} input output"}
    assert " ".join(closing) == ELEVEN
    assert closing["step_type"] == "session_end"


def test_with_and_without_content_the_hashes_of_content_are_the_same(golden: list[Recorded]) -> None:
    bare, full = written(golden), written(golden, with_content=True)
    for name in ("input_hash", "output_hash"):
        assert [record[name] for record in bare] == [record[name] for record in full]


def test_hashes_are_those_of_the_content_that_a_reader_sees(golden: list[Recorded]) -> None:
    for record in written(golden, with_content=True)[:-1]:
        for name in ("input", "output"):
            value = record[name]
            data = value if isinstance(value, str) else json.dumps(value, sort_keys=True)
            assert record[f"{name}_hash"] == sha(data.encode())


def test_a_call_is_joined_with_its_result(golden: list[Recorded]) -> None:
    fetch = next(record for record in written(golden, with_content=True) if record["step_type"] == "tool_call")
    assert (fetch["tool_name"], fetch["started_at"], fetch["duration_ms"]) == ("web_fetch", "2026-03-25T09:00:02Z", 371)
    assert fetch["input"] == {"url": "https://changes.example.org/widget/2.4.0.txt"}
    assert fetch["output"].startswith("2.4.0: faster cold start")
    assert fetch["step_id"] in {step.hash for step in golden}


def test_parents_follow_the_graph_and_not_the_file(golden: list[Recorded]) -> None:
    records = written(golden)
    place = {record["self_hash"]: index for index, record in enumerate(records)}
    parents = [None if record["parent_step_hash"] is None else place[record["parent_step_hash"]] for record in records]
    # The second attempt hangs on the first, the sub-agent's calls on each other, the end on the main agent.
    assert parents == [None, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 9]


def test_what_the_model_said_is_the_output_of_its_call(record: Record) -> None:
    records = written(record(events_of(gptme, RECEIPTS)), with_content=True)
    assert records[0]["output"].startswith("First I'll see whether")
    assert [record["step_type"] for record in records] == ["model_call", "tool_call"] * 8


def made(*steps: Step, folder: Path) -> list[Recorded]:
    return recorded_steps([Opening(session="s", agent="demo"), *steps], folder)


def test_parallel_calls_are_records_in_the_order_in_which_they_began(tmp_path: Path) -> None:
    def step(kind: str, name: str, call: str, *after: str) -> Step:
        refs = tuple(Ref(source_id) for source_id in after)
        values = {"content.output" if kind == "tool_result" else "content.args": name}
        return Step(
            session="s", type=kind, source_id=name, meta={"tool": call, "corr": call}, values=values, after=refs
        )

    steps = made(
        step("tool_call", "a", "a"),
        step("tool_call", "b", "b", "a"),
        step("tool_result", "b/result", "b", "b"),
        step("tool_result", "a/result", "a", "b/result", "a"),
        Step(session="s", type="model_call", source_id="m", meta={"model": "x"}),
        folder=tmp_path / "store",
    )
    records = written(steps, with_content=True)
    assert [(record["input"], record["output"]) for record in records[:2]] == [("a", "a/result"), ("b", "b/result")]
    # The call came after both results, of which that of the first call was the last.
    assert [record["parent_step_hash"] for record in records] == [None, *[records[0]["self_hash"]] * 2]
    assert verify_ledger(ledger.write(steps, session="s", with_content=False)).truncated


def test_a_revised_result_is_written_once_as_it_was_last(tmp_path: Path) -> None:
    def result(text: str) -> Step:
        return Step(session="s", type="tool_result", source_id="r", meta={"corr": "c"}, values={"content.output": text})

    call = Step(session="s", type="tool_call", source_id="c", meta={"corr": "c"}, values={"content.args": "x"})
    steps = made(call, result("first"), result("second"), result("third"), folder=tmp_path / "store")
    assert [record["output"] for record in written(steps, with_content=True)] == ["third"]
    assert written(iter(steps)) == written(steps)  # type: ignore[arg-type]


def test_erased_content_has_no_hash(golden: list[Recorded]) -> None:
    erased = [
        msgspec.structs.replace(step, values={}, withheld=tuple(step.values)) if step.type == "tool_result" else step
        for step in golden
    ]
    records = written(erased, with_content=True)
    fetch = next(record for record in records if record["step_type"] == "tool_call")
    assert fetch["output_hash"] is None
    assert "output" not in fetch
    assert verify_ledger(ledger.write(erased, session="s", with_content=True)).valid


def test_a_written_ledger_can_be_imported_again(golden: list[Recorded]) -> None:
    lines = list(ledger.write(golden, session="s1", with_content=True))
    steps = steps_of(events_of_lines(gptme_ledger, lines))
    assert [step.source_id for step in steps] == [record["step_id"] for record in written(golden)]
    assert [step.type for step in steps][-1] == "session_end"
    assert steps[1].after == (Ref(steps[0].source_id),)
    assert steps[1].values["content.args"] == {"url": "https://changes.example.org/widget/2.4.0.txt"}


def test_a_verdict_is_a_value() -> None:
    assert verify_ledger(foreign()) == verify_ledger(iter(foreign()))
    assert isinstance(verify_ledger(foreign()), LedgerVerdict)
