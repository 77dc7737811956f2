"""Addresses in every spelling."""

import ipaddress

from hypothesis import given
from hypothesis import strategies as st

from tallystick.policy.addresses import addresses_in, addresses_of, clear, inner, is_mapped
from tests.support.cases import each_case

METADATA = ipaddress.IPv4Address("169.254.169.254")


@each_case("spelling")
def test_each_spelling_of_an_address_is_that_address(spelling: str) -> None:
    assert METADATA in addresses_of(clear(spelling))


@each_case("spelling")
def test_an_address_in_an_address_is_found(spelling: str) -> None:
    assert METADATA in [inner(address) for address in addresses_of(clear(spelling))]


@each_case("name")
def test_a_name_is_no_address(name: str) -> None:
    assert addresses_of(clear(name)) == ()


@each_case("name, has")
def test_an_address_in_a_name_is_found_where_it_stands_alone(name: str, *, has: bool) -> None:
    assert (METADATA in list(addresses_in(name))) is has


def test_what_a_leading_zero_means_is_read_both_ways() -> None:
    assert {str(each) for each in addresses_of("010.0.0.1")} == {"8.0.0.1", "10.0.0.1"}


def test_a_mapped_address_is_told_from_one_of_its_own() -> None:
    assert is_mapped(ipaddress.ip_address("::ffff:1.2.3.4"))
    assert is_mapped(ipaddress.ip_address("64:ff9b::1.2.3.4"))
    assert not is_mapped(ipaddress.ip_address("fd00:ec2::254"))
    assert not is_mapped(ipaddress.ip_address("::1"))


def _spelled(value: int, form: int, parts: int) -> str:
    """An address in one of the forms that inet_aton takes."""
    write = (str, hex, lambda number: f"0{number:o}")[form]
    head = [value >> 24 - 8 * n & 0xFF for n in range(parts - 1)]
    tail = value & (1 << 8 * (5 - parts)) - 1
    return ".".join(map(write, [*head, tail]))


@given(st.integers(0, (1 << 32) - 1), st.integers(0, 2), st.integers(1, 4))
def test_every_form_leads_back_to_the_address(value: int, form: int, parts: int) -> None:
    assert ipaddress.IPv4Address(value) in addresses_of(clear(_spelled(value, form, parts)))


@given(st.ip_addresses(v=6))
def test_an_ipv6_address_is_itself_in_short_and_in_full(address: ipaddress.IPv6Address) -> None:
    assert address in addresses_of(f"[{address}]")
    assert address in addresses_of(address.exploded)


@given(st.text(max_size=400))
def test_any_text_is_read_without_an_error(text: str) -> None:
    host = clear(text)
    assert all(inner(address) is not None for address in addresses_of(host))
    assert all(address.version == 4 for address in addresses_in(host))
