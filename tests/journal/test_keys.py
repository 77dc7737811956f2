from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest

from tallystick.errors import JournalError
from tallystick.journal.home import Home
from tallystick.journal.keys import configuration_key, load_key, make_key


def test_a_key_is_kept_and_loaded(home: Home) -> None:
    home.key.unlink()
    made = make_key(home, b"\x05" * 32)
    assert load_key(home).public == made.public
    with pytest.raises(JournalError, match="cannot write"):
        make_key(home, b"\x06" * 32)


def test_a_broken_key_is_a_clear_error(home: Home) -> None:
    home.key.write_text("not hex")
    with pytest.raises(JournalError, match="cannot read the store's key"):
        load_key(home)


def test_the_key_of_fingerprints_is_made_once_for_this_user_alone(home: Home) -> None:
    made = configuration_key(home)
    assert configuration_key(home) == made
    assert len(made) == 32
    assert home.configuration_key.stat().st_mode & 0o777 == 0o600
    assert sorted(path.name for path in home.configuration_key.parent.iterdir()) == ["configuration.key", "log.key"]


def test_of_several_who_make_it_one_makes_it(home: Home) -> None:
    with ThreadPoolExecutor(8) as pool:
        assert len(set(pool.map(lambda _: configuration_key(home), range(32)))) == 1


@pytest.mark.parametrize("content", ["not hex", "00" * 31, ""])
def test_a_broken_key_of_fingerprints_is_a_clear_error(home: Home, content: str) -> None:
    configuration_key(home)
    home.configuration_key.write_text(content)
    with pytest.raises(JournalError, match="the fingerprint key"):
        configuration_key(home)
