"""What a plugin adds to policy: risks that it finds in calls, and the policies that speak of them.

Owns the protocol Detector and running detectors so that a fault of one does not reach the decision. A detector runs in the
recorder's process while an agent waits: what takes long belongs elsewhere. Entry point group: `tallystick.policies`.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Protocol

from tallystick.policy.calls.reading import CallReading
from tallystick.policy.risks.risk import Risk
from tallystick.policy.settings import Settings

_LOG = logging.getLogger(__name__)
FAILED = "detector-failed"
"""The risk that stands for a detector that could not say anything."""


class Detector(Protocol):
    """Finds risks in calls."""

    @property
    def name(self) -> str:
        """What its words have before them."""
        ...

    @property
    def risks(self) -> Mapping[str, str]:
        """The words that it may give, with what they mean. Policies ask for `NAME.WORD`."""
        ...

    @property
    def policies(self) -> Sequence[tuple[str, str]]:
        """Policies that come with it: names of files, which messages use, and texts."""
        ...

    def detect(self, reading: CallReading, settings: Settings) -> Iterable[Risk]:
        """The risks of a call, of `risks`."""
        ...


def detected(detectors: Iterable[Detector], reading: CallReading, settings: Settings) -> Iterator[Risk]:
    """What detectors find in a call, their words with the detector's name before them."""
    for detector in detectors:
        try:
            for risk in detector.detect(reading, settings):
                if risk.name in detector.risks:
                    yield Risk(f"{detector.name}.{risk.name}", str(risk.target)[:200])
        except Exception as error:  # whatever a plugin does, the other rules still decide
            _LOG.exception("the detector %s failed", detector.name)
            yield Risk(FAILED, f"{detector.name}: {type(error).__name__}")
