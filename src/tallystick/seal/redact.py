"""Showing less of a line without moving its hash (docs/format.md 2, 10, 12).

Owns the forms a line can be turned into, and the check that a line shows no more than its level allows.
"""

from __future__ import annotations

import enum
from collections.abc import Mapping

from tallystick.errors import FormatError
from tallystick.model.step import Json
from tallystick.seal.canonical import canonical
from tallystick.seal.hashes import salt
from tallystick.seal.line import Line, field_commitments


class Redaction(enum.StrEnum):
    """What a bundle withholds, least first. `head` has no lines, so it is not a form of one."""

    NONE = "none"
    CONTENT = "content"
    FULL = "full"


def line_text(line: Line) -> bytes:
    """The canonical bytes of a line in whatever form it has, without LF."""
    members: dict[str, Json] = {
        "entry": {
            "fields": line.entry.fields,
            "n": line.entry.n,
            "parents": list(line.entry.parents),
            "prev": line.entry.prev,
            "sid": line.entry.sid,
            "v": line.entry.v,
        }
    }
    blobs = {
        name: {"commitment": ref.commitment, "kind": ref.kind, "size": ref.size} for name, ref in line.blobs.items()
    }
    parts: tuple[tuple[str, Mapping[str, Json]], ...] = (
        ("blobs", blobs),
        ("fields", line.fields),
        ("salts", line.salts),
        ("withheld", line.withheld),
    )
    for name, part in parts:
        if part:
            members[name] = dict(part)
    if line.seed is not None:
        members["seed"] = line.seed
    return canonical(members)


def withhold(line: Line, names: frozenset[str]) -> Line:
    """`line` without the values of `names`: their commitments stay, and salts replace the seed.

    Withholding everything gives the opaque form. Names that are withheld already stay so.

    Raises:
        FormatError: a name is not in the line.
    """
    disclosed = line.fields.keys() | line.blobs.keys()
    if unknown := names - disclosed - line.withheld.keys():
        raise FormatError(f"entry {line.entry.n} has no field {min(unknown)}")
    if not names & disclosed:
        return line
    commitments = field_commitments(line)
    seed = None
    if line.seed:
        seed = bytes.fromhex(line.seed)
    keep = disclosed - names
    return Line(
        entry=line.entry,
        blobs={name: ref for name, ref in line.blobs.items() if name in keep},
        fields={name: value for name, value in line.fields.items() if name in keep},
        salts={name: salt(seed, name).hex() if seed else line.salts[name] for name in sorted(keep)},
        withheld=dict(line.withheld) | {name: commitments[name].hex() for name in sorted(names & disclosed)},
    )


def redact(line: Line, level: Redaction) -> Line:
    """`line` as a bundle at `level` shows it. A level never discloses what the line withholds already."""
    if level is Redaction.FULL:
        return Line(entry=line.entry)
    disclosed = line.fields.keys() | line.blobs.keys()
    if level is Redaction.CONTENT:
        return withhold(line, frozenset(disclosed - {"meta"}))
    return withhold(line, frozenset(name for name in disclosed if name.startswith("local.")))


def check_level(line: Line, level: Redaction) -> None:
    """Check that a line of a bundle shows just what `level` promises (section 10).

    Raises:
        FormatError: rule `class`, the line shows more, or another form than the level has.
    """
    disclosed = line.fields.keys() | line.blobs.keys()
    if level is Redaction.FULL:
        wrong = not line.is_bare
    elif level is Redaction.CONTENT:
        wrong = disclosed != {"meta"} or (line.seed is not None and disclosed | line.withheld.keys() != {"meta"})
    else:
        local = any(name.startswith("local.") for name in disclosed)
        wrong = local or not disclosed
    if wrong:
        raise FormatError(f"the line shows other than level {level.value} promises", rule="class")
