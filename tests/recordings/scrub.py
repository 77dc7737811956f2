"""Takes out of a recorded agent file what names a machine, a person or a secret, and what quotes a vendor.

Owns the list of such places and the way each is blanked. A vendor's prose (prompts, tool descriptions,
reminders) becomes `<elided: N chars>`; ids, times, usage, structure, line order and repeated lines stay as
the agent wrote them. Must not know which test reads the file.

    python -m tests.recordings.scrub SOURCE TARGET [--replace OLD=NEW]...

`--replace /build/home=/home/dev` rewrites a folder of the machine that made the recording; the order given
counts. A hash that an agent took over elided text no longer matches it, except gptme's, which are restated.
"""

import argparse
import itertools
import json
import re
import shutil
import sqlite3
from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from tests.recordings.elide import elide_vendor, elided
from tests.recordings.input_log import restated_digests
from tests.recordings.vendors import PASSAGES

Replacement = tuple[re.Pattern[str], str]

_OCTET = r"(?:25[0-5]|2[0-4]\d|1?\d?\d)"

IDENTIFYING: tuple[Replacement, ...] = (
    (re.compile(r"\b(?:sk|rk|pk)-[A-Za-z0-9_-]{16,}|\bgh[pousr]_[A-Za-z0-9]{20,}"), "<secret>"),
    (re.compile(r"\bAKIA[A-Z0-9]{16}\b|\bxox[abprs]-[A-Za-z0-9-]{10,}"), "<secret>"),
    (re.compile(r"\beyJ[\w-]{10,}\.[\w-]{10,}\.[\w-]*"), "<secret>"),
    (
        re.compile(r"\b(?!no-?reply@)[\w.+-]+@(?!devbox\.invalid\b)[\w.-]+\.[A-Za-z]{2,}\b"),
        "dev@devbox.invalid",
    ),
    (re.compile(r"\b(?:127\.0\.0\.1|localhost|0\.0\.0\.0):\d{2,5}\b"), "localhost:8787"),
    (re.compile(rf"\b(?!127\.|0\.)(?:{_OCTET}\.){{3}}{_OCTET}\b(?![.\w])"), "192.0.2.1"),
    (re.compile(r"\bLinux \d+\.\d+\.\d+[\w.+-]*"), "Linux 6.1.0"),
)
"""Applied to every string, after the replacements of the command line."""

MACHINE_KEYS = re.compile(r"^(userID|(device|machine|installation|anonymous)_?[iI]d|(account|organization)Uuid)$")
"""Members whose string value names an installation; only its shape is kept."""


def scrub_file(source: Path, target: Path, replacements: Sequence[Replacement]) -> None:
    """Write the scrubbed form of one recorded file.

    Args:
        source: a `.jsonl`, `.json` or SQLite `.db` file; anything else is treated as UTF-8 text.
        target: where to write; its folder is made.
        replacements: patterns and what to put in their place, applied to every string in this order.
    """
    target.parent.mkdir(parents=True, exist_ok=True)
    if source.suffix in {".db", ".sqlite"}:
        shutil.copyfile(source, target)
        _scrub_database(target, replacements)
    else:
        target.write_bytes(_scrub_text(source, replacements).encode())


def scrub_folder(source: Path, target: Path, replacements: Sequence[Replacement]) -> None:
    """Write the scrubbed form of every file below a folder, and keep the digests between them true."""
    digests: dict[str, str] = {}
    for conversation in source.rglob("conversation.jsonl"):
        digests |= restated_digests(_text(conversation), _scrub_text(conversation, replacements))
    restated = [*replacements, *((re.compile(old), new) for old, new in digests.items())]
    for path in sorted(path for path in source.rglob("*") if path.is_file()):
        scrub_file(path, target / path.relative_to(source), restated)


def scrub_json(text: str, replacements: Sequence[Replacement]) -> str:
    """One JSON document with its strings scrubbed, written the way it came.

    Raises:
        ValueError: the text is not JSON, or is written in a way that cannot be told from its bytes.
    """
    value = json.loads(text)
    scrubbed = _blank_machine_ids(_scrub_value(elide_vendor(value), replacements))
    return text if scrubbed == value else _dumped_like(text, value, scrubbed)


def scrub_string(text: str, replacements: Sequence[Replacement]) -> str:
    """A string without folders of the recording machine, people, secrets, addresses and vendor framing."""
    for passage in PASSAGES:
        text = passage.sub(lambda match: elided(match.group()), text)
    for pattern, new in (*replacements, *IDENTIFYING):
        text = pattern.sub(new, text)
    return text


def _text(path: Path) -> str:
    return path.read_bytes().decode()  # not read_text: a line's own ending is part of the recording


def _scrub_text(path: Path, replacements: Sequence[Replacement]) -> str:
    text = _text(path)
    if path.suffix == ".jsonl":
        return "\n".join(_scrub_line(line, replacements) for line in text.split("\n"))
    return scrub_json(text, replacements) if path.suffix == ".json" else scrub_string(text, replacements)


def _scrub_line(line: str, replacements: Sequence[Replacement]) -> str:
    return scrub_json(line, replacements) if line.strip() else line


def _scrub_database(path: Path, replacements: Sequence[Replacement]) -> None:
    connection = sqlite3.connect(path)
    indexes = _full_text_indexes(connection)
    for table, column in _text_columns(connection, indexes):
        for rowid, value in connection.execute(f'SELECT rowid, "{column}" FROM "{table}"').fetchall():
            scrubbed = _scrub_cell(value, replacements) if isinstance(value, str) else value
            if scrubbed != value:
                connection.execute(f'UPDATE "{table}" SET "{column}" = ? WHERE rowid = ?', (scrubbed, rowid))
    if connection.total_changes:
        _forget_old_rows(connection, indexes)
    connection.close()


def _forget_old_rows(connection: sqlite3.Connection, indexes: Sequence[str]) -> None:
    # The triggers of an index followed each change, but the words that went are still in its segments.
    for index in indexes:
        connection.execute(f'INSERT INTO "{index}" ("{index}") VALUES (\'optimize\')')
    connection.commit()
    connection.execute("PRAGMA journal_mode = DELETE")
    connection.execute("VACUUM")  # or the old strings stay readable in the free pages


def _full_text_indexes(connection: sqlite3.Connection) -> list[str]:
    sql = "SELECT name FROM sqlite_master WHERE sql LIKE 'CREATE VIRTUAL TABLE%USING fts5%'"
    return [name for (name,) in connection.execute(sql)]


def _text_columns(connection: sqlite3.Connection, indexes: Sequence[str]) -> Iterator[tuple[str, str]]:
    tables = "SELECT name, sql FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite_%'"
    for table, sql in connection.execute(tables).fetchall():
        of_index = any(table == index or table.startswith(f"{index}_") for index in indexes)
        if not of_index and "WITHOUT ROWID" not in sql:
            for row in connection.execute(f'PRAGMA table_info("{table}")').fetchall():
                yield table, row[1]


def _scrub_cell(value: str, replacements: Sequence[Replacement]) -> str:
    if value[:1] in {"{", "["}:
        try:
            return scrub_json(value, replacements)
        except ValueError:  # looks like JSON, is not: plain text
            pass
    return scrub_string(value, replacements)


def _dumped_like(text: str, value: Any, changed: Any) -> str:
    """`changed`, written as `text` writes `value`: agents differ in spaces, indents and escapes."""
    styles = itertools.product((False, True), (((",", ":"), None), ((", ", ": "), None), ((",", ": "), 2)))
    for ascii_only, (separators, indent) in styles:
        dump = partial(json.dumps, ensure_ascii=ascii_only, separators=separators, indent=indent)
        if dump(value) == text.strip():
            return dump(changed)
    raise ValueError(f"cannot rewrite this JSON the way it came: {text[:80]!r}")


def _scrub_value(value: Any, replacements: Sequence[Replacement]) -> Any:
    match value:
        case str():
            return scrub_string(value, replacements)
        case list():
            return [_scrub_value(item, replacements) for item in value]
        case dict():
            scrubbed = ((scrub_string(key, replacements), item) for key, item in value.items())
            return {key: _scrub_value(item, replacements) for key, item in scrubbed}
        case _:
            return value


def _blank_machine_ids(value: Any, key: str = "") -> Any:
    match value:
        case str() if MACHINE_KEYS.match(key):
            return re.sub(r"[0-9a-fA-F]", "0", value)
        case list():
            return [_blank_machine_ids(item) for item in value]
        case dict():
            return {name: _blank_machine_ids(item, name) for name, item in value.items()}
        case _:
            return value


def main(arguments: Sequence[str] | None = None) -> None:
    """Scrub one file, or every file below a folder, as the command line says."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("source", type=Path)
    parser.add_argument("target", type=Path)
    parser.add_argument("--replace", action="append", default=[], metavar="OLD=NEW")
    options = parser.parse_args(arguments)
    pairs = [text.split("=", 1) for text in options.replace]
    replacements = [(re.compile(re.escape(old)), new) for old, new in pairs]
    scrub = scrub_file if options.source.is_file() else scrub_folder
    scrub(options.source, options.target, replacements)


if __name__ == "__main__":
    main()
