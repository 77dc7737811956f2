"""Settings: one table, checked values, and a file that stays a person's own."""

import re
from pathlib import Path

import pytest

from tallystick.errors import FormatError, UsageError
from tallystick.journal.home import Home
from tallystick.workspace.settings import SETTINGS, read_setting, read_settings, set_setting, unset_setting


@pytest.fixture
def home(tmp_path: Path) -> Home:
    return Home(tmp_path / "store")


def test_without_a_file_all_settings_have_their_defaults(home: Home) -> None:
    found, unknown = read_settings(home)
    assert [(item.setting.key, item.value) for item in found] == [(item.key, item.default) for item in SETTINGS]
    assert all(item.is_default for item in found)
    assert unknown == []


def test_a_default_is_a_value_that_could_be_set(home: Home) -> None:
    for setting in SETTINGS:
        text = ",".join(setting.default) if isinstance(setting.default, tuple) else str(setting.default)
        assert set_setting(home, setting.key, text).value == setting.default


def test_each_says_in_a_sentence_what_it_does() -> None:
    assert [
        setting.key for setting in SETTINGS if not re.fullmatch(r"[A-Z].{15,}", setting.does or "", re.DOTALL)
    ] == []


def test_what_is_set_is_in_force_until_it_is_unset(home: Home) -> None:
    set_setting(home, "journal.fsync", "always")
    set_setting(home, "output.limit", "7")
    assert (read_setting(home, "journal.fsync"), read_setting(home, "output.limit")) == ("always", 7)
    assert unset_setting(home, "output.limit").value == 50
    assert (read_setting(home, "journal.fsync"), read_setting(home, "output.limit")) == ("always", 50)


def test_a_list_is_set_with_commas_and_read_back(home: Home) -> None:
    assert set_setting(home, "policy.trusted", "~/notes, /srv/site").value == ("~/notes", "/srv/site")
    assert read_setting(home, "policy.trusted") == ("~/notes", "/srv/site")
    assert set_setting(home, "policy.trusted", "").value == ()
    with pytest.raises(UsageError, match="cannot be"):
        set_setting(home, "policy.trusted", "a,,b")
    home.config.write_text("[policy]\ntrusted = [1]\n")
    with pytest.raises(FormatError, match=r"policy\.trusted"):
        read_setting(home, "policy.trusted")


@pytest.mark.parametrize("key", ["policy.sensitive", "policy.not_sensitive", "policy.trusted"])
def test_a_path_that_would_match_nothing_is_refused(home: Home, key: str) -> None:
    assert set_setting(home, key, "~, ~/x, /srv").value == ("~", "~/x", "/srv")
    for text in ("notes", "~bob/x", "/srv, notes"):
        with pytest.raises(UsageError, match="cannot be") as refused:
            set_setting(home, key, text)
        assert "begin with / or ~/" in str(refused.value.hint)


def test_comments_and_order_survive_a_change(home: Home) -> None:
    home.make_folder(home.folder)
    home.config.write_text('# mine\n[output]\npager = "never"  # I scroll\n\n[other]\nkept = 1\n')
    set_setting(home, "output.pager", "auto")
    set_setting(home, "journal.fsync", "always")
    text = home.config.read_text()
    assert text.startswith('# mine\n[output]\npager = "auto"  # I scroll\n')
    assert "[other]\nkept = 1" in text
    assert read_settings(home)[1] == ["other.kept"]


@pytest.mark.parametrize(
    ("key", "value"), [("journal.fsync", "sometimes"), ("output.limit", "0"), ("output.limit", "many")]
)
def test_a_value_that_cannot_be_is_refused_and_nothing_written(home: Home, key: str, value: str) -> None:
    with pytest.raises(UsageError, match="cannot be"):
        set_setting(home, key, value)
    assert not home.config.exists()


def test_an_unknown_key_brings_the_nearest(home: Home) -> None:
    with pytest.raises(UsageError, match=r"did you mean 'journal\.fsync'"):
        set_setting(home, "journal.fsnc", "always")


@pytest.mark.parametrize(
    "text", ["[output", "output = 3\n[output]", "\x00", "[output]\npager = 5", "[output]\nlimit = true"]
)
def test_a_broken_file_is_an_error_that_names_it(home: Home, text: str) -> None:
    home.make_folder(home.folder)
    home.config.write_text(text)
    with pytest.raises(FormatError, match=r"config\.toml"):
        read_settings(home)


def test_a_wrong_value_in_the_file_can_be_set_right(home: Home) -> None:
    home.make_folder(home.folder)
    home.config.write_text("[output]\npager = 5\n")
    assert set_setting(home, "output.pager", "never").value == "never"
    assert read_setting(home, "output.pager") == "never"


def test_a_word_where_a_table_should_be_is_an_error(home: Home) -> None:
    home.make_folder(home.folder)
    home.config.write_text("output = 3\n")
    with pytest.raises(FormatError, match="output is not a table"):
        set_setting(home, "output.pager", "never")


def test_a_switch_may_be_written_as_true_and_false_too(home: Home) -> None:
    home.folder.mkdir()
    home.config.write_text("[checkpoints]\nenabled = false\nauto_on_policy = true\n")
    assert read_setting(home, "checkpoints.enabled") == "off"
    assert read_setting(home, "checkpoints.auto_on_policy") == "on"
    assert set_setting(home, "checkpoints.enabled", "True").value == "on"
    assert set_setting(home, "checkpoints.enabled", "false").value == "off"
    assert 'enabled = "off"' in home.config.read_text()
    home.config.write_text("[policy]\ninteractive = false\n")
    with pytest.raises(FormatError):
        read_setting(home, "policy.interactive")  # of three answers true is none


@pytest.mark.parametrize("text", ["0", "7"])
def test_some_numbers_may_be_none(home: Home, text: str) -> None:
    assert set_setting(home, "checkpoints.max_per_session", text).value == int(text)
    with pytest.raises(UsageError, match="cannot be set to '0'"):
        set_setting(home, "output.limit", "0")


@pytest.mark.parametrize("is_there", [True, False])
def test_a_file_that_is_a_link_is_an_error_that_says_what_to_do(home: Home, is_there: bool) -> None:
    home.folder.mkdir()
    elsewhere = home.folder.parent / "elsewhere.toml"
    if is_there:
        elsewhere.write_text('[hooks]\non_error = "allow"\n')
    home.config.symlink_to(elsewhere)
    for ask in (lambda: read_settings(home), lambda: set_setting(home, "hooks.on_error", "ask")):
        with pytest.raises(FormatError, match=r"config\.toml is a symbolic link") as caught:
            ask()
        assert "in its place" in str(caught.value.hint)


def test_of_a_list_with_choices_only_these_can_be_set(home: Home) -> None:
    set_setting(home, "policy.packs", "releases,hooks")
    assert read_setting(home, "policy.packs") == ("releases", "hooks")
    with pytest.raises(UsageError, match="cannot be set"):
        set_setting(home, "policy.packs", "relases")
