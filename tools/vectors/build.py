"""Make all vectors: `python -m tools.vectors.build [FOLDER]`. Nothing in them depends on when or where that happens."""

from __future__ import annotations

import json
import shutil
import sys
from pathlib import Path

from tools.vectors.accepting import accepting
from tools.vectors.covered import under_a_head
from tools.vectors.misshapen import misshapen
from tools.vectors.proofs import proofs
from tools.vectors.rewriting import rewriting
from tools.vectors.step_proofs import step_proofs
from tools.vectors.tampering import tampering
from tools.vectors.vector import Vector

HERE = Path(__file__).resolve().parents[2] / "tests" / "vectors"


def all_vectors() -> list[Vector]:
    """Every vector, in order of its folder."""
    found = sorted(
        (*accepting(), *tampering(), *misshapen(), *rewriting(), *under_a_head()), key=lambda vector: vector.folder
    )
    names = [vector.folder for vector in found]
    if twice := {name for name in names if names.count(name) > 1}:
        raise ValueError(f"two vectors have one name: {', '.join(sorted(twice))}")
    return found


def build(folder: Path) -> None:
    """Write the vectors to `folder`, in place of those that are there."""
    for kind in ("accept", "reject"):
        shutil.rmtree(folder / kind, ignore_errors=True)
    for vector in all_vectors():
        vector.write(folder)
    (folder / "proofs.json").write_text(json.dumps(proofs(), indent=1) + "\n", "utf-8")
    (folder / "step_proofs.json").write_text(json.dumps(step_proofs(), indent=1) + "\n", "utf-8")


if __name__ == "__main__":
    build(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE)
