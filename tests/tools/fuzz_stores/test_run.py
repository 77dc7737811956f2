"""The structured fuzzer: three verifiers agree on what is damaged at random, and one that does not is found out."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from tools.fuzz_stores import run, verifiers
from tools.fuzz_stores.run import fuzz, prepare, remove
from tools.fuzz_stores.sources import golden
from tools.fuzz_stores.verifiers import Answer, Verifiers, Worker, commands, disagreement

NODE = "node" in commands()


def test_the_verifiers_agree_on_damaged_stores(tmp_path: Path) -> None:
    found = fuzz(range(60), tmp_path)
    assert found.failures == []
    assert found.stores == 60
    assert found.exits.keys() >= {0, 2}


@pytest.mark.soak
@pytest.mark.parametrize("part", range(8))
def test_the_verifiers_agree_on_many_damaged_stores(tmp_path: Path, part: int) -> None:
    assert fuzz(range(1_000 + 250 * part, 1_250 + 250 * part), tmp_path).failures == []


@pytest.mark.skipif(not NODE, reason="node is not installed: two of the three verifiers are compared")
def test_three_verifiers_are_asked() -> None:
    with Verifiers() as asked:
        assert asked.names == ["ours", "alone", "node"]


def test_a_seed_does_the_same_again(tmp_path: Path) -> None:
    source = next(golden())
    for seed in range(12):
        one, other = (prepare(source, tmp_path / f"{seed}-{name}", seed) for name in "ab")
        assert one.done == other.done
        remove(one.folder)


def test_a_store_on_which_they_differ_is_kept_with_what_was_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run, "sources", lambda _: list(golden())[:2])
    monkeypatch.setattr(verifiers, "commands", lambda: {name: lying(name) for name in ("ours", "alone")})
    found = fuzz([7], tmp_path / "kept")
    assert found.failures == [f"seed 7, {found.failures[0].split()[2][:-1]}: alone and ours differ: exit 0 / 3"]
    kept = json.loads((tmp_path / "kept" / "7" / "failure.json").read_text("utf-8"))
    assert kept.keys() == {"source", "done", "request", "answers"}
    assert (tmp_path / "kept" / "7" / "store").is_dir()


def lying(name: str) -> list[str]:
    """A verifier that says the same of everything."""
    answer = {"exit": 3 * (name == "ours"), "defects": [], "first_bad": None, "integrity": "intact"}
    code = f"import sys\nfor line in sys.stdin:\n  print({json.dumps(answer)!r}, flush=True)"
    return [sys.executable, "-c", code]


@pytest.mark.parametrize(
    ("code", "fault"),
    [
        ("input(); raise SystemExit('no such thing')", "crashed: no such thing"),
        ("input(); print(1 / 0)", "ZeroDivisionError"),
        ("input(); sum(range(9_000_000)); print('{}', flush=True); input()", "took"),
        ("input(); b'x' * (40 << 20); print('{}', flush=True); input()", "MB"),
        ("while True: pass", "took"),
        ("input(); input()", "waits for ever"),
    ],
)
def test_a_verifier_that_crashes_or_takes_too_much_is_at_fault(
    code: str, fault: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    if fault == "took":  # the start of an interpreter takes as much
        monkeypatch.setattr(verifiers, "SECONDS", 0.02)
    monkeypatch.setattr(verifiers, "PATIENCE_SECONDS", 5)
    monkeypatch.setattr(verifiers, "MEGABYTES", 30)
    if not Path("/proc/self/stat").exists() and fault in ("took", "MB"):
        pytest.skip("this system does not say what a process takes")
    worker = Worker("x", [sys.executable, "-c", code])
    worker.ask({})
    answer = worker.answer()
    worker.end()
    assert fault in str(answer.fault)
    assert fault in str(disagreement({"alone": answer}))


def test_what_could_not_run_need_not_say_why() -> None:
    assert (
        disagreement({"ours": Answer({"exit": 1, "why": "x"}), "alone": Answer({"exit": 1, "integrity": "y"})}) is None
    )
