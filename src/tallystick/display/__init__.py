"""What people see of the record: hostile text made safe, steps in a few words. Shared by the terminal's programs.

Pure functions of values: they return text, and print nothing.
"""

__all__ = [
    "acts",
    "amounts",
    "axes",
    "bars",
    "clock",
    "facts",
    "joining",
    "lanes",
    "outcome",
    "projects",
    "said",
    "text",
    "timeline",
]
