from hypothesis import given
from hypothesis import strategies as st

from tallystick.policy.texts import policies_in


def test_a_policy_is_found_with_the_line_it_begins_on() -> None:
    text = "// first; not a policy\npermit (principal, action, resource);\n\n\n"
    text += '@reason("a; b // c \\" d")\nforbid (\n);  // end;\n'
    found = list(policies_in(text))
    assert [line for line, _ in found] == [2, 5]
    assert found[1][1].startswith('@reason("a; b // c \\" d")\nforbid (')


def test_what_stands_after_the_last_policy_is_one_too() -> None:
    assert list(policies_in("permit (a);\n  forbid")) == [(1, "permit (a);"), (2, "forbid")]
    assert list(policies_in("permit (a);\n // that is all\n")) == [(1, "permit (a);")]
    assert list(policies_in("")) == []


@given(st.lists(st.text(alphabet='ab "/\n', max_size=12), max_size=6).map(";".join))
def test_no_text_is_lost(text: str) -> None:
    kept = "".join(part for _, part in policies_in(text))
    assert all(kept.count(letter) <= text.count(letter) for letter in "ab")
    if "//" not in text:
        assert kept.count("a") == text.count("a")
