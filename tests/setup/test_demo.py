"""The samples as a home folder, and the forger."""

from pathlib import Path

import pytest

from tallystick.errors import NotFoundError
from tallystick.journal.archive import Archive
from tallystick.journal.home import Home
from tallystick.setup.demo import forge, lay_out_samples, refused_call
from tallystick.trust.verify import verify_store
from tests.support.shown import shown


def test_the_samples_become_a_home_folder_with_hidden_files(tmp_path: Path) -> None:
    lay_out_samples(tmp_path / "home")
    assert {path.name for path in (tmp_path / "home").iterdir()} == {".claude", ".codex", ".local"}
    assert not [path for path in (tmp_path / "home").rglob("*") if path.name.startswith("dot-")]
    package = Path(__file__).parents[2] / "src" / "tallystick" / "samples" / "home"
    count = sum(path.is_file() for path in package.rglob("*"))
    assert sum(path.is_file() for path in (tmp_path / "home").rglob("*")) == count


def test_a_refused_call_is_found_with_its_result(samples: Home) -> None:
    call, result = refused_call(samples)
    assert shown(call.values["content.args"])["command"] == "git push --force origin main"
    assert result.meta["decision"] == "deny"
    assert call.meta["corr"] == result.meta["corr"]
    assert call.session == result.session


def test_one_forged_byte_is_found_where_it_is(samples: Home) -> None:
    assert verify_store(samples).exit_code == 0
    call, _ = refused_call(samples)
    size = samples.ledger.stat().st_size
    forged = forge(samples, call)
    assert sum(a != b for a, b in zip(forged.before, forged.after, strict=True)) == 1
    verdict = verify_store(samples)
    assert verdict.exit_code == 2
    assert verdict.first_bad is not None
    assert (verdict.first_bad.session, verdict.first_bad.n) == (call.session, call.n)
    assert samples.ledger.stat().st_size == size


def test_where_no_call_was_refused_there_is_none_to_forge(home: Home, archive: Archive) -> None:
    with pytest.raises(NotFoundError):
        refused_call(home)
