"""What commands of Windows' `cmd` do."""

from hypothesis import given
from hypothesis import strategies as st

from tallystick.intent.code.batch import unix_drives, unix_folders
from tallystick.intent.code.languages import read_code
from tests.support.cases import each_case


@each_case("text, said")
def test_a_command_is_said_in_the_words_of_a_shell(text: str, said: str) -> None:
    codes = [code.text.plain.strip() for code in read_code("batch", text).codes]
    assert codes == ([said] if said else []) or codes[0].startswith(said)


def test_drives_and_folders_have_one_name() -> None:
    assert unix_drives("C:\\x D:/y https://z a:b") == "/mnt/c\\x /mnt/d/y https://z a:b"
    assert unix_folders("%APPDATA%\\x %NAME%") == "$HOME/AppData/Roaming\\x ${NAME}"


@given(st.text(max_size=200))
def test_no_text_is_too_odd(text: str) -> None:
    read_code("batch", text)
