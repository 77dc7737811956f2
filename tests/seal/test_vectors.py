"""The golden vectors of docs/format.md 20: every verifier must give the expected report on every one of them."""

from __future__ import annotations

import filecmp
import functools
import json
import runpy
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any, cast

import pytest

import tallystick.seal
from tallystick.seal.merkle import verify_consistency, verify_inclusion
from tests.seal.sentences import reads_well
from tests.support.cases import each
from tools.fuzz_stores.verifiers import Worker, commands
from tools.vectors.build import build
from tools.vectors.loading import HERE, our_report, read_vector, subject, vector_folders
from tools.vectors.mutation import Tamperer

STANDALONE = Path(tallystick.seal.__path__[0]) / "standalone.py"
each_vector = pytest.mark.parametrize(
    "folder", vector_folders(), ids=lambda folder: f"{folder.parent.name}/{folder.name}"
)


def told(report: Mapping[str, Any]) -> dict[str, Any]:
    """The part of a report that `vector.json` states."""
    found = {
        key: report[key] for key in ("exit", "integrity", "completeness", "authenticity", "level", "steps", "unsealed")
    }
    bad = report["first_bad"]
    found["first_bad"] = None if bad is None else {key: bad[key] for key in ("session", "n", "rule")}
    return found | {key: report["disclosure"][key] for key in ("withheld", "erased")}


def without_prose(report: Mapping[str, Any]) -> dict[str, Any]:
    """A report less the sentences, which each implementation words for itself."""
    kept = {key: value for key, value in report.items() if key not in ("why_not_higher", "remarks")}
    for defect in (*kept["defects"], *filter(None, [kept["first_bad"]])):
        defect["why"] = bool(defect["why"])
    return kept


def options(folder: Path) -> dict[str, str]:
    """What the verifier is asked with, by the name of the option."""
    vector = read_vector(folder)
    return {name: vector[name] for name in ("pinned", "require", "redaction") if vector[name] is not None}


def run_alone(folder: Path) -> dict[str, Any]:
    """The report of the one-file verifier, run as an auditor would: with nothing but Python."""
    vector = read_vector(folder)
    command = [sys.executable, "-I", "-S", str(STANDALONE), str(subject(folder, vector)), "--json"]
    for name, value in options(folder).items():
        command += [f"--{name}", value]
    if vector["remembered"]:
        command += ["--remembered", str(folder / vector["remembered"])]
    run = subprocess.run(command, capture_output=True, check=False, timeout=120)
    found: dict[str, Any] = json.loads(run.stdout)
    assert found["exit"] == run.returncode
    return found


@pytest.fixture(scope="module")
def verify_alone() -> Callable[..., dict[str, Any]]:
    """The one-file verifier's function, for it is quicker to ask than to start; it checks no signature twice."""
    verify = runpy.run_path(str(STANDALONE))["verify"]
    verify.__globals__["verifies"] = functools.cache(verify.__globals__["verifies"])
    return cast("Callable[..., dict[str, Any]]", verify)


@each_vector
def test_both_verifiers_give_the_expected_report(folder: Path, verify_alone: Callable[..., dict[str, Any]]) -> None:
    vector, ours = read_vector(folder), our_report(folder)
    assert told(ours) == vector["expect"]
    sentences = [ours["why_not_higher"], *ours["remarks"], *(defect["why"] for defect in ours["defects"])]
    assert [sentence for sentence in sentences if not reads_well(sentence)] == []
    kept = vector["remembered"]
    remembered = (folder / kept).read_bytes() if kept else None
    alone = verify_alone(subject(folder, vector), remembered=remembered, **options(folder))
    assert told(alone) == vector["expect"]
    assert without_prose(alone) == without_prose(ours)


NODE = commands().get("node")


@pytest.mark.skipif(NODE is None, reason="node is not installed: the verifier in another language is not asked")
def test_the_verifier_in_another_language_gives_the_expected_report() -> None:
    worker = Worker("node", commands()["node"])
    for folder in vector_folders():
        vector = read_vector(folder)
        kept = str(folder / vector["remembered"]) if vector["remembered"] else None
        worker.ask({"path": str(subject(folder, vector)), "remembered": kept, **options(folder)})
        answer = worker.answer()
        assert (answer.fault, folder.name) == (None, folder.name)
        assert answer.report is not None
        assert (folder.name, told(answer.report)) == (folder.name, vector["expect"])
    worker.end()


SMALL = [folder for folder in vector_folders() if folder.name not in ("44-long-line", "43-deep")]


def disagreements(seeds: range, folder: Path, verify_alone: Callable[..., dict[str, Any]]) -> Iterator[str]:
    """Vectors that both verifiers judge differently after some more tampering."""
    for seed in seeds:
        source = SMALL[seed % len(SMALL)]
        target = folder / str(seed)
        shutil.copytree(source, target)
        Tamperer(seed).tamper(target)
        path, kept = subject(target, read_vector(target)), target / "remembered.note"
        if path.is_file() or any((path / name).exists() for name in ("ledger.jsonl", "journals", "heads/ledger.note")):
            remembered = kept.read_bytes() if kept.exists() else None
            alone = verify_alone(path, remembered=remembered, **options(target))
            if without_prose(alone) != without_prose(our_report(target)):
                yield f"{source.name} with seed {seed}"
        shutil.rmtree(target)


def test_both_verifiers_agree_on_what_was_tampered_with_further(
    tmp_path: Path, verify_alone: Callable[..., dict[str, Any]]
) -> None:
    assert list(disagreements(range(100), tmp_path, verify_alone)) == []


@pytest.mark.soak
@pytest.mark.parametrize("thousand", range(50))
def test_both_verifiers_agree_for_long(
    thousand: int, tmp_path: Path, verify_alone: Callable[..., dict[str, Any]]
) -> None:
    assert list(disagreements(range(thousand * 1_000, thousand * 1_000 + 1_000), tmp_path, verify_alone)) == []


RUN = [
    folder
    for folder in vector_folders()
    if read_vector(folder)["remembered"]
    or options(folder)
    or folder.name in ("store", "44-long-line", "63-another-key")
]


def asked(folder: Path) -> tuple[object, ...]:
    """Which options the program is given."""
    return (*options(folder), bool(read_vector(folder)["remembered"]))


@each("folder", {asked(folder): folder for folder in RUN}.values(), ids=lambda folder: folder.name)
def test_the_one_file_verifier_runs_alone(folder: Path) -> None:
    assert told(run_alone(folder)) == read_vector(folder)["expect"]


@pytest.mark.soak
@each("folder", RUN, ids=lambda folder: f"{folder.parent.name}/{folder.name}")
def test_the_one_file_verifier_runs_alone_on_every_vector_with_wishes(folder: Path) -> None:
    assert told(run_alone(folder)) == read_vector(folder)["expect"]


def test_the_vectors_are_what_build_makes(tmp_path: Path) -> None:
    build(tmp_path)
    made = {path.relative_to(tmp_path) for path in tmp_path.rglob("*") if path.is_file()}
    kept = {
        path.relative_to(HERE) for kind in ("accept", "reject") for path in (HERE / kind).rglob("*") if path.is_file()
    }
    assert made == kept | {Path("proofs.json"), Path("step_proofs.json")}
    names = sorted(map(str, made))
    assert filecmp.cmpfiles(tmp_path, HERE, names, shallow=False) == (names, [], [])


def test_every_rule_is_broken_by_some_vector() -> None:
    from tallystick.model.verdict import Rule

    broken = {read_vector(folder)["expect"]["integrity"] for folder in vector_folders()}
    assert broken == {"intact", *(rule.value for rule in Rule)}


PROOFS = json.loads((HERE / "proofs.json").read_bytes())


@each("proof", PROOFS["inclusion"], ids=lambda proof: f"{proof['index']}-of-{proof['size']}")
def test_inclusion_proofs_are_judged_as_expected(proof: Mapping[str, Any]) -> None:
    nodes = [bytes.fromhex(node) for node in proof["proof"]]
    leaf, root = bytes.fromhex(proof["leaf"]), bytes.fromhex(proof["root"])
    assert verify_inclusion(leaf, proof["index"], proof["size"], nodes, root) is proof["valid"], proof["why"]


@each("proof", PROOFS["consistency"], ids=lambda proof: f"{proof['old_size']}-to-{proof['new_size']}")
def test_consistency_proofs_are_judged_as_expected(proof: Mapping[str, Any]) -> None:
    nodes = [bytes.fromhex(node) for node in proof["proof"]]
    old, new = bytes.fromhex(proof["old_root"]), bytes.fromhex(proof["new_root"])
    assert verify_consistency(proof["old_size"], proof["new_size"], old, new, nodes) is proof["valid"], proof["why"]
