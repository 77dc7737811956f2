"""Code inside of commands, in languages other than the shell's.

Owns language and text → Read: actions on files, hosts and processes, and code that is run in turn. Must not know commands or
pipes. Nothing is run and nothing is looked up; a text that does not tell all is unknown.
"""

from __future__ import annotations

from tallystick.intent.code.found import Read
from tallystick.intent.code.languages import glimpse_code, languages, read_code

__all__ = ["Read", "glimpse_code", "languages", "notebooks", "python_names", "read_code"]
