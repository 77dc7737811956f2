"""Code inside of commands, in languages other than the shell's.

Owns language and text → Read: actions on files, hosts and processes, and code that is run in turn; `languages` has the
way from a language to its reader. Must not know commands or pipes. Nothing is run and nothing is looked up; a text that
does not tell all is unknown.
"""

__all__ = ["characters", "notebooks", "python_names"]
