"""Where a store stands."""

from collections import Counter
from pathlib import Path

import pytest

from tallystick.errors import FormatError, NotFoundError
from tallystick.graph.queries import SessionFilter, list_sessions
from tallystick.journal.home import Home
from tallystick.recording.recorder import Recorder
from tallystick.recording.store_identity import read_store
from tallystick.setup.status import store_status
from tallystick.trust.erase import Erasure, erase
from tallystick.trust.verify_named import find_session
from tallystick.workspace.indexing import open_index


def test_a_store_says_who_it_is(samples: Home) -> None:
    found = read_store(samples)
    assert len(found.store_id) == 32
    assert found.key is not None
    assert found.key.startswith("did:key:z6Mk")


def test_the_status_counts_what_is_there(samples: Home) -> None:
    found = store_status(samples)
    assert found.sessions == {"claude-code": 4, "codex": 2, "gptme": 1, "headless": 1}
    assert (found.entries, found.unsealed, found.erasures) == (289, 0, 0)
    assert found.ledger_size == found.signed_size
    assert found.sizes.journals == sum(path.stat().st_size for _, path in samples.sessions())
    assert (found.sizes.blob_files, found.sizes.blobs) == (1, 93)
    assert found.index == "current"


def test_checkpoints_and_what_the_settings_say_of_them_are_told(samples: Home) -> None:
    found = store_status(samples)
    assert found.checkpoints.by_trigger == {"compaction": 1, "phase": 3}
    assert found.checkpoints.rules is not None
    assert found.checkpoints.rules.max_per_session == 100
    with open_index(samples) as index:
        rows = list_sessions(index.graph, SessionFilter(limit=None))
    assert found.by_status == dict(Counter(row.status for row in rows))
    assert sum(found.by_status.values()) == 8
    assert (found.alerts, found.attributions) == (0, 0)
    assert found.bundles == {"import": 8, "export": 0}
    samples.config.write_text("[checkpoints]\nenabled = 7\n")
    assert store_status(samples).checkpoints.rules is None


def test_what_is_pending_is_counted(home: Home) -> None:
    with Recorder(home.folder) as recorder:
        session = recorder.session("demo", "one")
        recorder.seal()
        session.prompt("hello")
        assert store_status(home).unsealed == 1


def test_erasures_are_counted(samples: Home) -> None:
    erase(samples, find_session(samples, "a42b3437"), 47, Erasure(("content.output",), "asked"))
    assert store_status(samples).erasures == 1


def test_a_store_without_a_head_or_an_index_says_so(samples: Home) -> None:
    samples.note.write_bytes(b"no head")
    samples.graph.write_bytes(b"damaged " * 1000)
    found = store_status(samples)
    assert found.signed_size is None
    assert "graph.db" in found.index


def test_what_is_no_store_has_no_status(tmp_path: Path, home: Home) -> None:
    with pytest.raises(NotFoundError):
        store_status(Home(tmp_path / "none"))
    home.ledger.write_bytes(b"")
    with pytest.raises(FormatError):
        store_status(home)


def test_sessions_by_rules_of_before_are_counted_and_left_until_somebody_asks(samples: Home) -> None:
    with open_index(samples) as index:
        index.graph.change("UPDATE sessions SET rules = 'of before' WHERE agent_id = 'claude-code'")
    for _ in range(2):
        found = store_status(samples)
        assert found.index == "4 of 8 sessions to project again with the current rules"
        assert found.sessions == {"claude-code": 4, "codex": 2, "gptme": 1, "headless": 1}
    with open_index(samples) as index:
        assert index.remarks == ["the rules of the index have changed: 4 sessions were projected again"]
    assert store_status(samples).index == "current"
