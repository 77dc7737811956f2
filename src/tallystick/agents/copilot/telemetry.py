"""What is GitHub Copilot's own in its telemetry, which keeps to the conventions otherwise."""

from __future__ import annotations

import re

from tallystick.agents.protocols._otlp_steps import Telemetry

TELEMETRY = Telemetry(
    note=re.compile(r"\A<current_datetime>[^<]{0,100}</current_datetime>\s*"),
    has_other_ids=True,
)
