"""Which files agents read as orders."""

from hypothesis import given
from hypothesis import strategies as st

from tallystick.policy.kinds.named import Named
from tallystick.policy.kinds.orders import is_orders, kinds
from tallystick.policy.settings import Settings
from tests.support.cases import each_case


@each_case("path")
def test_what_agents_obey_is_known_by_name_and_place(path: str) -> None:
    assert is_orders(path if path[0] in "/C" and path[1] != "L" else f"/home/dev/project/{path}")


@each_case("path")
def test_other_files_are_no_orders(path: str) -> None:
    assert not is_orders(f"/home/dev/project/{path}")


def test_where_a_link_leads_counts() -> None:
    named = Named(path="/p/x.txt", real="/p/CLAUDE.md", home="/home/dev")
    assert list(kinds(named, Settings())) == ["orders"]


@given(st.text(max_size=60))
def test_any_path_has_an_answer(path: str) -> None:
    assert is_orders(path) in (True, False)
