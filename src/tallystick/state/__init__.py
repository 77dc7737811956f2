"""What sessions have done so far, as later calls are judged by it: values, and functions from one value to the next.

Must not know journals, files or the index: who follows those (`guard`) gives each recorded step, and what its call does.
"""

__all__ = ["approvals", "effects", "families", "family_state", "files", "grants", "reducer", "steps"]
