"""Changes of the note under `heads/`, and of what the verifier brings along: a pinned key, a remembered head."""

from __future__ import annotations

import base64
from collections.abc import Callable

from tallystick.seal.hashes import entry_hash
from tallystick.seal.keys import PublicKey, SigningKey, did_key
from tallystick.seal.line import legible_entry
from tallystick.seal.merkle import merkle_root
from tallystick.seal.note import sign_note
from tools.fuzz_stores.case import Case, is_plain, lines_of

OTHER = bytes(range(100, 132))
NO_KEYS = (bytes(32), bytes([1, *bytes(31)]), bytes([255] * 32), bytes([2, *bytes(31)]))
"""Of low order, in another spelling, not on the curve."""


def _edited(case: Case, change: Callable[[list[str]], list[str] | None]) -> bool:
    if not is_plain(case.note):
        return False
    lines = change(case.note.read_bytes().decode("utf-8", "surrogateescape").split("\n"))
    if lines is None:
        return False
    case.note.write_bytes("\n".join(lines).encode("utf-8", "surrogateescape"))
    return True


def edit_note(case: Case) -> str | None:
    """A line of the note says something else."""
    chance = case.chance
    text = chance.choice(
        (
            *(
                "",
                "0",
                "1",
                "2",
                "3",
                "00",
                "01",
                "+1",
                "-1",
                "1e3",
                "9007199254740993",
                "9" * 19,
                "9" * 20,
                "٣",
                "x",
                "\u2028",
            ),
            *(
                "tallystick/" + "0" * 32,
                "tallystick/" + "F" * 32,
                "tallystick/",
                "other/" + "0" * 32,
                "\t",
                "\r",
                "\x7f",
                "\u0085",
                "\xa0",
            ),
            *(
                base64.b64encode(bytes(32)).decode(),
                base64.b64encode(bytes(31)).decode(),
                "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=",
            ),
        )
    )
    at = chance.choice((0, 1, 1, 2, 2, 3, 4, 5))

    def change(lines: list[str]) -> list[str] | None:
        if at >= len(lines):
            return None
        if chance.random() < 0.3:
            return [*lines[:at], text, *lines[at:]]
        return [*lines[:at], text, *lines[at + 1 :]]

    return f"line {at} is {text!r}" if _edited(case, change) else None


def edit_signature(case: Case) -> str | None:
    """Signature lines are repeated, spelled otherwise, shortened, of another name."""
    chance = case.chance
    kind = chance.choice(
        ("twice", "64", "65", "fat", "short", "spelling", "name", "dash", "space", "bit", "unknown", "none", "odd name")
    )

    def change(lines: list[str]) -> list[str] | None:
        if len(lines) < 6:
            return None
        one = lines[4]
        parts = one.split(" ")
        if len(parts) != 3:
            return None
        dash, name, blob = parts
        raw = bytearray(base64.b64decode(blob + "==="))
        raw[chance.randrange(len(raw))] ^= 1
        unknown = f"{dash} someone/else {base64.b64encode(bytes(68)).decode()}"
        odd = chance.choice(
            ("\u0085", "\xa0", "\u2003", "\u3000", "\ufeff", "\u200b", "\u180e", "+", "é", "\U0001f600")
        )
        found = {
            "odd name": [one, f"{dash} some{odd}one {base64.b64encode(bytes(68)).decode()}"],
            "twice": [one, one],
            "64": [one, *[unknown] * 63],
            "65": [one, *[unknown] * 64],
            "fat": [f"{dash} someone/else {base64.b64encode(bytes(900_000)).decode()}", one],
            "short": [f"{dash} {name} {base64.b64encode(bytes(raw[:4])).decode()}"],
            "spelling": [f"{dash} {name} {blob.rstrip('=')}"],
            "name": [f"{dash} {name}x {blob}"],
            "dash": [f"- {name} {blob}"],
            "space": [f"{one} "],
            "bit": [f"{dash} {name} {base64.b64encode(bytes(raw)).decode()}"],
            "unknown": [unknown],
            "none": [],
        }[kind]
        return [*lines[:4], *found, *lines[5:]]

    return kind if _edited(case, change) else None


def sign_otherwise(case: Case) -> str | None:
    """A head over fewer or more entries, with another root, or by another key; signed properly."""
    if not is_plain(case.note) or not is_plain(case.ledger) or not case.secrets:
        return None
    chance = case.chance
    hashes = [legible_entry(line) or entry_hash(line) for line in lines_of(case.ledger)[:-1]]
    size = chance.choice((0, 1, max(0, len(hashes) - 1), len(hashes), len(hashes) + 1, 2**53, 10**18))
    root = chance.choice((merkle_root(hashes[:size]), merkle_root(hashes[:size]), bytes(32)))
    secrets = chance.choice((case.secrets, case.secrets, (OTHER,), (*case.secrets, OTHER)))
    origin = case.note.read_bytes().split(b"\n")[0].decode("ascii", "replace")
    case.note.write_bytes(
        sign_note(origin.removeprefix("tallystick/"), size, root, [SigningKey(each) for each in secrets])
    )
    return f"of {size} entries, by {len(secrets)} keys{', another one' * (OTHER in secrets)}"


def pin(case: Case) -> str | None:
    """The verifier knows the key, the right one or another."""
    key = SigningKey(case.chance.choice((*case.secrets, *case.secrets, OTHER))).public
    if case.chance.random() < 0.1:
        key = PublicKey(case.chance.choice(NO_KEYS))
    case.request["pinned"] = did_key(key)
    return f"pinned {case.request['pinned']}"


def remember(case: Case) -> str | None:
    """The verifier has a head from earlier."""
    if not is_plain(case.note):
        return None
    kept = case.folder / "remembered.note"
    kept.write_bytes(case.note.read_bytes())
    case.request["remembered"] = str(kept)
    return "the head as it is now is remembered"


ODD_KEYS = (
    *(
        "",
        "x",
        "did:key:",
        "did:key:z",
        "did:web:example.org",
        "did:key:zDnaerDaTF5BXEavCrfRZEk316dpbLsfPDZ3WJ5hRTPFU2169",
    ),
    *(
        "did:key:z6MkehRgf7yJbgaGfYsdoAsKdBPE3dj2CYhowQdcjqSJgvV",
        "did:key:z6MkehRgf7yJbgaGfYsdoAsKdBPE3dj2CYhowQdcjqSJgvVd ",
    ),
    *(
        "DID:KEY:z6MkehRgf7yJbgaGfYsdoAsKdBPE3dj2CYhowQdcjqSJgvVd",
        "0" * 64,
        "did:key:z" + "1" * 60,
        "did:key:z0OIl",
        "\u0661",
    ),
)


def pin_oddly(case: Case) -> str | None:
    """What the verifier takes for a key is none."""
    case.request["pinned"] = case.chance.choice(ODD_KEYS)
    return f"pinned {case.request['pinned']!r}"


def remember_oddly(case: Case) -> str | None:
    """The head that the verifier has is damaged, large, empty, of another store or of another time."""
    if not is_plain(case.note):
        return None
    kept, data, chance = case.folder / "remembered.note", case.note.read_bytes(), case.chance
    lines = data.split(b"\n")
    size = lines[1] if len(lines) > 1 else b""
    ways = {
        "empty": b"",
        "an LF": b"\n",
        "too large": data + b"x" * (1 << 20),
        "without its end": data[:-1],
        "two": data + data,
        "of another size": data.replace(size, chance.choice((b"0", b"1", b"2", b"3", b"9" * 19, b"01", b"-1")), 1),
        "of another store": data.replace(b"tallystick/", b"tallystick/0", 1),
        "without signatures": b"\n".join([*lines[:4], b""]),
        "other bytes": chance.randbytes(64),
        "the ledger": case.ledger.read_bytes()[:1_000] if is_plain(case.ledger) else b"",
    }
    way = chance.choice(list(ways))
    kept.write_bytes(ways[way])
    case.request["remembered"] = str(kept)
    return f"the head that is remembered is {way}"


HEADS: dict[str, Callable[[Case], str | None]] = {
    "edit note": edit_note,
    "edit signature": edit_signature,
    "sign otherwise": sign_otherwise,
    "pin": pin,
    "pin oddly": pin_oddly,
    "remember": remember,
    "remember oddly": remember_oddly,
}
