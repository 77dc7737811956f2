from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from tallystick.capture.watch import Batch
from tallystick.capture.watch_storm import WatchGap
from tallystick.ingest.watch_steps import AGENT, Effects, Watched, effect_step, gap_step
from tallystick.journal.home import Home
from tallystick.journal.read import read_session
from tallystick.model.effect import EffectKind, FileEffect, Holder
from tallystick.model.step import Opening, Source
from tallystick.recording.session_writer import SessionWriter
from tallystick.trust.verify import verify_store

MADE = FileEffect(kind=EffectKind.CREATE, path="/w/a", at_ms=1_763_800_000_123, size_bytes=3, digest="sha256:ab")


def test_an_effect_says_what_and_how_much_in_meta_and_where_in_content() -> None:
    step = effect_step(MADE)
    assert (step.type, step.source, step.ts) == ("file_effect", Source.WATCH, "2025-11-22T08:26:40.123+00:00")
    assert step.meta == {"effect": "create", "bytes": 3, "process": "unknown", "seen": "event"}
    assert step.values == {"content.path": "/w/a", "content.digest": "sha256:ab"}


def test_a_rename_has_both_paths_and_a_process_is_named_with_its_number() -> None:
    step = effect_step(
        replace(MADE, kind=EffectKind.RENAME, old_path="/w/old", holder=Holder(7, "make"), before="sha256:ab")
    )
    assert step.values["content.paths"] == ["/w/old", "/w/a"]
    assert (step.meta["effect"], step.meta["process"], step.meta["pid"]) == ("rename", "make", 7)


@given(
    st.builds(
        FileEffect,
        kind=st.sampled_from(EffectKind),
        path=st.text(),
        at_ms=st.integers(0, 4_000_000_000_000),
        digest=st.none() | st.just("sha256:" + "ab" * 32),
        before=st.none() | st.just("sha256:" + "cd" * 32),
        is_folder=st.booleans(),
        is_brief=st.booleans(),
        by_look=st.booleans(),
        holder=st.none() | st.builds(Holder, st.integers(1), st.text()),
    )
)
def test_no_digest_of_content_and_no_path_ever_stands_in_meta(effect: FileEffect) -> None:
    said = str(dict(effect_step(effect).meta))
    assert "sha256" not in said
    assert len(effect.path) < 3 or effect.path not in said.replace(str(effect.holder and effect.holder.name), "")


@pytest.mark.parametrize("name", ["\udcff\x00\x1b[31m", "a" * 4000, "‮gpj.exe", "sk-ant-api03-" + "x" * 40])
def test_names_of_every_kind_are_recorded_and_verify(home: Home, name: str) -> None:
    effect = replace(MADE, path=f"/w/{name}", old_path=f"/v/{name}", holder=Holder(1, name))
    with SessionWriter(home) as session_writer:
        record = session_writer.open(Opening(session="s", agent=AGENT, source=Source.WATCH))
        Effects(session_writer, lambda: record, Watched()).take(
            Batch((effect,), (WatchGap(reason="x", folders={name: 2}),))
        )
    assert [step.type for step in read_session(home, record.sid)] == ["session_start", "gap", "file_effect"]
    assert verify_store(home).exit_code == 0


def test_a_gap_has_counts_and_folders() -> None:
    gap = WatchGap(reason="too-many-effects", events=9, kinds={"create": 9}, folders={"/w": 9})
    step = gap_step(gap)
    assert step.meta == {"reason": "too-many-effects", "events": 9, "create": 9}
    assert step.values == {"content.folders": {"/w": 9}}
