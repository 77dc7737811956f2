"""What people see of the record: hostile text made safe, steps in a few words. Shared by the terminal's programs.

Pure functions of values: they return text, and print nothing.
"""

__all__ = ["amounts", "axes", "bars", "facts", "lanes", "outcome", "said", "text", "timeline"]
