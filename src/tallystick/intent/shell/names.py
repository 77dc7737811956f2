"""Other names of the same program.

Owns the table that makes one name of `gsed`, `python3.12` and `batcat`. Must not know what any program does.
Sources: the packages of Homebrew and Debian that install coreutils, findutils, awk and others under a second name.
"""

from __future__ import annotations

import re
from functools import lru_cache

_COMMON = """
awk base64 basename cat chgrp chmod chown chroot cp csplit cut date dd df dirname du echo env expand find fmt fold
grep head id install join kill link ln locate ls make md5sum mkdir mkfifo mknod mktemp mv nice nl nohup od paste pr
printenv printf readlink realpath rm rmdir sed seq sha1sum sha256sum sha512sum shred shuf sort stat stdbuf sync tac
tail tar tee test time timeout touch tr truncate tsort unexpand uniq unlink updatedb wc who whoami xargs yes
"""
_WITH_G = frozenset(_COMMON.split())
_ALIASES = {
    "batcat": "bat",
    "fdfind": "fd",
    "mawk": "awk",
    "nawk": "awk",
    "gawk": "awk",
    "original-awk": "awk",
    "nodejs": "node",
    "pypy": "python",
    "pypy3": "python",
    "bsdtar": "tar",
    "vim.basic": "vim",
    "vim.tiny": "vim",
    "nvim": "vim",
    "rvim": "vim",
    "rgrep": "grep",
    "nc.openbsd": "nc",
    "nc.traditional": "nc",
    "pip3": "pip",
    "docker.io": "docker",
    "ksh93": "ksh",
    "bash5": "bash",
    "rbash": "bash",
    "exa": "ls",
    "eza": "ls",
    "lsd": "ls",
    "gunlink": "unlink",
    "delta": "diff",
    "trash-put": "rm",
}
_VERSIONED = re.compile(r"(python|pip|perl|ruby|lua|php|node|gcc|g\+\+|clang|clang\+\+|java|psql|tclsh)-?[\d.]+[tdm]?")


@lru_cache(4096)
def canonical(name: str) -> str:
    """The name under which tables list a program; the name itself where it has no other."""
    if name in _ALIASES:
        return _ALIASES[name]
    if name.endswith(".exe") and "/" not in name:
        return canonical(name[:-4])
    if name[:1] == "g" and name[1:] in _WITH_G:
        return name[1:]
    found = _VERSIONED.fullmatch(name[:64])
    return found[1] if found is not None else name
