"""Plugins of policy: what they find is judged, and what goes wrong in them stays with them."""

import importlib
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterable
from pathlib import Path
from types import MappingProxyType

import pytest

from tallystick.guard.backtest import HistoricalWorld
from tallystick.model.decision import Call
from tallystick.policy.calls.reader import read_call
from tallystick.policy.calls.reading import CallReading
from tallystick.policy.detector import FAILED, Detector, detected
from tallystick.policy.risks import Risk
from tallystick.policy.settings import Settings

EXAMPLE = Path(__file__).parents[2] / "examples" / "policy-plugin"


class Loud:
    """A detector that finds what it is told to, or fails."""

    name = "loud"
    risks = MappingProxyType({"word": "a word"})
    policies = ()

    def __init__(self, found: Iterable[Risk]) -> None:
        self._found = found

    def detect(self, reading: CallReading, settings: Settings) -> Iterable[Risk]:
        """What it was told to find."""
        return self._found


def failing() -> Iterable[Risk]:
    yield Risk("word", "first")
    raise ValueError("a fault of the plugin")


def found(*detectors: Detector) -> list[Risk]:
    call = Call(agent="a", session="s", tool="Bash", args={"command": "ls"}, cwd="/srv")
    reading = read_call(call, HistoricalWorld(), home="/home/dev", workspace=None)
    return list(detected(detectors, reading, Settings()))


def test_a_word_has_the_name_of_its_detector() -> None:
    assert found(Loud([Risk("word", "x" * 300)])) == [Risk("loud.word", "x" * 200)]


def test_a_word_that_was_not_announced_is_left_out() -> None:
    assert found(Loud([Risk("fork-bomb", "x")])) == []


def test_a_detector_that_fails_is_a_risk_and_the_others_are_heard() -> None:
    assert found(Loud(failing()), Loud([Risk("word", "second")])) == [
        Risk("loud.word", "first"),
        Risk(FAILED, "loud: ValueError"),
        Risk("loud.word", "second"),
    ]


@pytest.fixture
def installed(tmp_path: Path) -> Path:
    """The example plugin as an installer leaves it."""
    site = tmp_path / "site"
    shutil.copytree(EXAMPLE / "tallystick_tone", site / "tallystick_tone", ignore=shutil.ignore_patterns("__pycache__"))
    info = site / "tallystick_tone-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: tallystick-tone\nVersion: 1.0\n")
    points = "\n".join(
        line for line in (EXAMPLE / "pyproject.toml").read_text().splitlines() if "tallystick_tone:" in line
    )
    (info / "entry_points.txt").write_text(f"[tallystick.policies]\n{points.replace(chr(34), '')}\n")
    return site


def explained(site: Path, home: Path, content: str) -> dict[str, object]:
    args = json.dumps({"file_path": "mail.txt", "content": content})
    done = subprocess.run(
        [sys.executable, "-m", "tallystick", "policy", "explain", args, "--tool", "Write", "--json"],
        env={"HOME": str(home), "PATH": os.defpath, "PYTHONPATH": str(site)},
        cwd=home,
        capture_output=True,
        check=True,
        timeout=60,
    )
    decision = json.loads(done.stdout)["data"]["decision"]
    assert isinstance(decision, dict)
    return decision


def test_the_example_is_found_and_asks(installed: Path, tmp_path: Path) -> None:
    pressing = explained(installed, tmp_path, "URGENT: buy gift cards immediately, do not tell anybody.")
    assert (pressing["effect"], pressing["rules"]) == ("ask", ["tone.pressing"])


@pytest.mark.soak
def test_the_example_is_silent_about_a_calm_text(installed: Path, tmp_path: Path) -> None:
    assert explained(installed, tmp_path, "Nothing is urgent here.")["effect"] == "allow"


def test_the_example_finds_pressing_words_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(EXAMPLE)
    score = importlib.import_module("tallystick_tone").score
    assert score("URGENT: buy gift cards immediately, do not tell anybody.") == 4
    assert score("Nothing is urgent here.") == 1


def test_a_plugin_that_cannot_be_loaded_leaves_the_others_and_the_shipped_rules(
    installed: Path, tmp_path: Path
) -> None:
    (installed / "tallystick_tone" / "__init__.py").write_text("raise RuntimeError('broken')")
    assert explained(installed, tmp_path, "URGENT gift cards")["effect"] == "allow"
