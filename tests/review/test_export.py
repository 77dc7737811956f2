"""A session in another format."""

import json

import pytest

from tallystick.errors import NotFoundError, UsageError
from tallystick.exports.ledger import verify_ledger
from tallystick.journal.home import Home
from tallystick.journal.read import read_session
from tallystick.review.export import export, format_named
from tallystick.trust.verify_named import find_session
from tallystick.workspace.indexing import open_index


def test_jsonl_has_a_line_for_each_step(indexed_samples: Home) -> None:
    sid = find_session(indexed_samples, "receipts-currency")
    made = export(indexed_samples, sid, format_named("jsonl"), with_content=True)
    lines = [json.loads(line) for line in made.lines]
    steps = list(read_session(indexed_samples, sid, load_blobs=True))
    assert [line["hash"] for line in lines] == [step.hash for step in steps]
    assert made.session == lines[0]["session"] == "receipts-currency"


@pytest.mark.parametrize("with_content", [True, False])
def test_a_ledger_verifies_under_its_own_formula(indexed_samples: Home, with_content: bool) -> None:
    sid = find_session(indexed_samples, "a42b3437")
    made = export(indexed_samples, sid, format_named("ledger"), with_content=with_content)
    verdict = verify_ledger(made.lines)
    assert verdict.valid
    assert verdict.variant is not None
    assert verdict.variant.is_primary


@pytest.mark.parametrize("name", ["jsonl", "ledger", "headless", "otel", "prov-json"])
def test_without_content_no_word_of_it_leaves(indexed_samples: Home, name: str) -> None:
    sid = find_session(indexed_samples, "a42b3437")
    shown = b"".join(export(indexed_samples, sid, format_named(name), with_content=True).lines)
    hidden = b"".join(export(indexed_samples, sid, format_named(name), with_content=False).lines)
    assert b"git push --force" in shown
    assert b"git push --force" not in hidden
    assert hidden


def test_an_export_says_of_which_entries_it_is_and_whether_they_verify(samples: Home) -> None:
    sid = find_session(samples, "a42b3437")
    made = export(samples, sid, format_named("jsonl"), with_content=False)
    origin = made.origin
    assert (origin.session, origin.entries, origin.unsealed) == (sid, len(list(made.lines)), 0)
    assert (origin.is_valid, origin.integrity, origin.completeness) == (True, "intact", "truncated")
    path = samples.journal(sid)
    assert path is not None
    path.write_bytes(path.read_bytes().replace(b"ticket", b"tacket", 1))
    changed = export(samples, sid, format_named("jsonl"), with_content=False).origin
    assert (changed.is_valid, changed.integrity) == (False, "fields")


def test_a_format_that_shows_the_graph_is_given_it(indexed_samples: Home) -> None:
    sid = find_session(indexed_samples, "a42b3437")
    (line,) = export(indexed_samples, sid, format_named("prov-json"), with_content=True).lines
    document = json.loads(line)
    uris = {entity.get("tally:uri") for entity in document["entity"].values()}
    assert "file:///home/dev/project/receipts/totals.py" in uris
    assert document["wasGeneratedBy"]
    with open_index(indexed_samples) as index:
        assert [line] == list(
            export(indexed_samples, sid, format_named("prov-json"), with_content=True, index=index).lines
        )


def test_an_unknown_format_is_a_mistake(indexed_samples: Home) -> None:
    with pytest.raises(UsageError, match="no format 'xml'"):
        format_named("xml")


def test_a_session_that_is_not_there_cannot_be_exported(indexed_samples: Home) -> None:
    with pytest.raises(NotFoundError):
        export(indexed_samples, "0" * 32, format_named("jsonl"), with_content=True)
