"""What is told of the content of a file: every tag, and what it means.

Owns the list, for those who write policies. Which content gets a tag, the modules know that it comes from.
"""

from __future__ import annotations

from tallystick.policy.calls.progress import LOSES_ROWS
from tallystick.policy.content import credentials, inspection, prompt_injection
from tallystick.policy.content.unasked import ACTS_UNASKED, RUNS_UNSEEN
from tallystick.policy.content.written import FETCHED
from tallystick.policy.risks import RISKS

TAGS: dict[str, str] = {
    **{name: meaning for name, meaning in RISKS.items() if name in inspection.GRAVE_RISKS},
    **inspection.TAGS,
    **credentials.TAGS,
    **prompt_injection.TAGS,
    FETCHED: "A host sends it.",
    RUNS_UNSEEN: "It makes a project run code of a host, or code that hides or sends secrets, by itself.",
    ACTS_UNASKED: "It lets agents or tasks act unasked in an editor.",
    LOSES_ROWS: "Rows or tables of the database in it would be gone.",
}
"""By the word that policies ask `resource.tags` for."""
