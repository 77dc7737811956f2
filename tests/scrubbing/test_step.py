"""Steps without their secrets, and stores in which none can be found."""

from __future__ import annotations

import base64
import json
import os
import random
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from ahocorasick_rs import AhoCorasick
from hypothesis import given

from tallystick.journal.home import Home
from tallystick.journal.read import read_session
from tallystick.model.step import Json, Opening, Source, Step
from tallystick.recording.event_dedup import Outcome
from tallystick.recording.session_writer import SessionWriter
from tallystick.scrubbing.step import scrub_opening, scrub_step
from tallystick.workspace.settings import set_setting
from tests.scrubbing.labelled_set import secrets_of_every_kind, thirds
from tests.scrubbing.test_json_values import VALUES
from tests.support.cases import each

SECRETS = secrets_of_every_kind(random.Random(11))
FLOOD = "".join(f"token: {number} " for number in range(40_000))
PLANTED = [*(secret for _, secret in SECRETS), "Sw0rdf1sh!x9", "aZ3kQ9xW2mV7bN5c"]


def step(n: int, **values: Json) -> Step:
    named = {f"content.{name}": value for name, value in values.items()}
    return Step(session="s", type="assistant", source=Source.SDK, source_id=f"m{n}", values=named)


def test_the_number_of_secrets_stands_in_meta() -> None:
    clean = scrub_step(step(1, text=f"{SECRETS[0][1]} and {SECRETS[5][1]}", args={"password": "hunter2"}))
    assert clean.meta == {"scrubbed": 3}


def test_a_step_without_secrets_is_the_very_same_object() -> None:
    plain = step(1, text="max_tokens=5, commit 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b")
    assert scrub_step(plain) is plain
    opening = Opening(session="s", agent="a", values={"personal.cwd": "/home/dev/project"})
    assert scrub_opening(opening) is opening


@given(VALUES)
def test_what_is_skipped_quickly_holds_no_secret(value: Json) -> None:
    """The quick look and the walk agree: a step is left alone only if the walk would leave it alone."""
    from tests.scrubbing.scrubbing import scrubbed_value

    assert scrub_step(step(1, args=value)).values["content.args"] == scrubbed_value(value)


def test_an_id_is_never_changed() -> None:
    kept = Step(
        session="s", type="tool_call", source_id="re_12345678_abcdefghijklmnopqrstuvwx", meta={"corr": SECRETS[0][1]}
    )
    assert scrub_step(kept) is kept


@each(
    "flood",
    [
        "cookie: ",
        "password=",
        "://",
        "-eyJ",
        "‹secret:a›",
        "AKIAR7A72V9UIPV6EOM2:Yv+1yAKysr/T58z0XwWTrATTCM62YDW0/U7RlUPF ",
    ],
)
def test_a_flood_of_one_word_is_recorded(flood: str) -> None:
    """Five megabytes of `cookie: ` took more than a hundred seconds, and then they were not recorded."""
    clean = scrub_step(step(1, text=f"here: {SECRETS[0][1]}", output=flood * (5_000_000 // len(flood))))
    assert SECRETS[0][1] not in str(clean.values["content.text"])
    assert flood[-28:-1] not in str(clean.values["content.output"]) or flood[:4] != "AKIA"
    assert "unsearched" not in clean.meta


def test_a_flood_that_does_not_repeat_itself_is_not_recorded_and_what_is_beside_it_is() -> None:
    """What is counted is the same on every machine."""
    clean = scrub_step(step(1, text=f"here: {SECRETS[0][1]}", output=FLOOD))
    assert SECRETS[0][1] not in str(clean.values["content.text"])
    assert str(clean.values["content.output"])[:18] == "\x10tally:unsearched:"
    assert clean.meta == {"scrubbed": 1, "unsearched": 1}


def test_of_a_raw_flood_length_and_digest_are_a_value() -> None:
    clean = scrub_step(Step(session="s", type="tool_result", raw={"content.part_0": FLOOD.encode()}))
    assert (list(clean.raw), list(clean.values)) == ([], ["content.part_0"])


def test_a_long_text_with_little_in_it_is_recorded() -> None:
    text = "https://example.org/a?b=c lorem ipsum dolor sit amet token count " * 20_000
    assert scrub_step(step(1, output=text)).values["content.output"] == text


# Whole stores --------------------------------------------------------------------------------------------------------


def places(secret: str) -> list[Callable[[int], Step]]:
    """Every place of a step that a secret may be in."""
    text = f"here: {secret} ok"
    size = 70_000 if secret in PLANTED[::10] else 100
    return [
        lambda n: Step(session="s", type="user", source_id=f"u{n}", values={"content.text": text}, opens_request=True),
        lambda n: step(n, args={"command": ["sh", "-c", text], "deep": [{"a": {"b": text}}]}),
        lambda n: step(n, output=json.dumps({"out": text})),
        lambda n: step(n, output=f"{'x' * size}\n{text}\n{'y' * size}"),
        lambda n: step(n, error=text, thinking=text, label=text, url=text),
        lambda n: Step(session="s", type="assistant", source_id=f"r{n}", raw={"content.part_0": text.encode()}),
        lambda n: Step(session="s", type="assistant", source_id=f"w{n}", raw={"content.part_0": text.encode("utf-16")}),
        lambda n: step(n, raw=base64.b64encode(f"token and secret: {text}".encode()).decode()),
        lambda n: Step(
            session="s", type="assistant", source_id=f"p{n}", values={"personal.host": text, "local.note": text}
        ),
        lambda n: Step(session="s", type="tool_call", source_id=f"t{n}", meta={"tool": text, "corr": f"c{n}"}),
        lambda n: Step(session="s", type="tool_call", source_id=f"k{n}", meta={"label": secret[:190]}),
        lambda n: step(n, args={secret: 1}),
    ]


def everything_in(folder: Path) -> dict[str, str]:
    """The text of every file of a store, UTF-16 among it read too, and of every value of its index, by name."""
    found = {}
    for path in sorted(folder.rglob("*")):
        if path.is_file():
            data = path.read_bytes()
            found[str(path.relative_to(folder))] = data.decode("utf-8", "replace") + data.replace(b"\0", b"").decode(
                "latin-1"
            )
    for path in folder.glob("*.db"):
        database = sqlite3.connect(path)
        tables = [row[0] for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")]
        for table in tables:
            rows = database.execute(f'SELECT * FROM "{table}"').fetchall()
            found[f"{path.name}:{table}"] = "\n".join(repr(row) for row in rows)
        database.close()
    return found


def tally(home: Home, *arguments: str, **environment: str) -> None:
    run = {"PATH": os.environ["PATH"], "HOME": str(home.folder.parent), "TALLY_HOME": str(home.folder), **environment}
    done = subprocess.run([sys.executable, "-m", "tallystick", *arguments], env=run, capture_output=True, check=False)
    assert done.returncode in (0, 1), done.stderr.decode()


def test_a_store_holds_no_secret_whatever_place_it_came_in(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Journals, blobs, ledger and index are searched for each secret after sessions that hold it in every place."""
    for number, secret in enumerate(PLANTED):
        monkeypatch.setenv(f"PLANTED_{number}", secret)
    home = Home(tmp_path / "store")
    n = 0
    with SessionWriter(home) as session_writer:
        session_writer.open(Opening(session="s", agent="agent", values={"personal.cwd": f"/home/dev/{PLANTED[0]}"}))
        for secret in PLANTED[:-2]:
            for place in places(secret):
                n += 1
                session_writer.add("agent", place(n))
        session_writer.add("agent", step(n + 1, args={"password": PLANTED[-2], "env": {"API_KEY": PLANTED[-1]}}))
        session_writer.add("agent", step(n + 2, output=f"DB_PASSWORD={PLANTED[-2]}\nAPI_KEY={PLANTED[-1]}\n"))
    tally(home, "rebuild", **{f"PLANTED_{number}": secret for number, secret in enumerate(PLANTED)})
    texts = everything_in(home.folder)
    assert any(name.startswith("graph.db:") for name in texts)
    assert _shown(texts) == set()
    sid = next(iter(home.sessions()))[0]
    assert sum(entry.meta.get("scrubbed", 0) for entry in read_session(home, sid)) >= 10 * len(PLANTED[:-2])


def _shown(texts: dict[str, str]) -> set[tuple[str, str]]:
    """Which secrets can be read by a third of what is secret of them, and in which text."""
    secret_of = {piece: secret[:12] for secret in PLANTED for piece in _pieces(secret)}
    search = AhoCorasick(list(secret_of))
    return {
        (secret_of[piece], name)
        for name, text in texts.items()
        for piece in search.find_matches_as_strings(text, overlapping=True)
    }


def _pieces(secret: str) -> set[str]:
    """What of a secret must not be read. The index has small letters."""
    pieces = [piece for piece in secret.split("\n") if not piece.startswith("-----")]
    hidden = max(pieces, key=len).rsplit("/", 1)[-1]
    return thirds(hidden) | thirds(hidden.lower())


def test_the_same_search_finds_them_where_scrubbing_is_off(tmp_path: Path) -> None:
    home = Home(tmp_path / "store")
    with SessionWriter(home):
        pass
    set_setting(home, "secrets.scrub", "off")
    with SessionWriter(home) as session_writer:
        for number, secret in enumerate(PLANTED):
            session_writer.add("agent", step(number, output=f"here: {secret} ok"))
    found = {secret for secret, _ in _shown(everything_in(home.folder))}
    assert {secret[:12] for secret in PLANTED} - found == set()


@pytest.mark.parametrize("before", ["on", "off"])
def test_a_step_that_comes_again_is_known_even_if_it_was_recorded_before_scrubbing(tmp_path: Path, before: str) -> None:
    home = Home(tmp_path / "store")
    told = step(1, output=f"here: {PLANTED[0]} ok")
    with SessionWriter(home):
        pass
    set_setting(home, "secrets.scrub", before)
    with SessionWriter(home) as session_writer:
        assert session_writer.add("agent", told).outcome is Outcome.RECORDED
    set_setting(home, "secrets.scrub", "on")
    with SessionWriter(home) as session_writer:
        assert session_writer.add("agent", told).outcome is Outcome.KNOWN
