"""Long texts of code, looked at only where a word stands that reads, deletes, sends or runs something.

Owns which words those are, and how much around each is read. For texts that are longer than their reader reads: what is found
is claimed, and that there is more is always said. Must not know any language.
"""

from __future__ import annotations

import re

from tallystick.intent.code.found import Found
from tallystick.intent.code.verbs import read_verbs

_MOST = 100
_AROUND = 300
_WORD = re.compile(
    r"\b(?:os\.system|popen\w?|system2?|shell_exec|passthru|proc_open|exec(?:Sync|File|FileSync|v[pe]*|l[pe]*)?|spawn(?:Sync)?|getoutput"
    r"|check_output|check_call|subprocess\.\w+|Popen|run_shell|execute|ProcessBuilder|rmtree|rmSync|rm_rf|removeAll|remove_dir_all|unlink"
    r"|urlopen|urlretrieve|requests\.\w+|fetch|curl_exec|open|fopen|file_get_contents|readFile(?:Sync)?|read_text|read_bytes|slurp"
    r"|create_connection|connect)[ \t]*\("
)


def read_glimpses(text: str, found: Found, *, start: int = 0) -> None:
    """Note what a text does where it says so in so many words, from a place on."""
    found.is_unknown = True
    pieces: list[str] = []
    end = start
    for match in _WORD.finditer(text, start):
        if match.start() < end:
            continue
        end = min(match.start() + _AROUND, len(text))
        pieces.append(text[match.start() : end].partition("\n\n")[0])
        if len(pieces) >= _MOST:
            break
    for piece in pieces:
        read_verbs(piece, found)
