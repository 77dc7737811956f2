"""What a URL or host is: the machine itself, a cloud's metadata service, a package registry."""

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.policy.network.hosts import (
    KINDS,
    METADATA_NAMES,
    PASTES,
    REGISTRIES,
    addresses_in,
    addresses_of,
    clear,
    host_of,
    inner,
    is_below,
    is_mapped,
)
from tallystick.policy.settings import Settings
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


def test_names_are_written_as_they_are_compared() -> None:
    for name in METADATA_NAMES | PASTES | REGISTRIES:
        assert name == name.lower().strip(".")


def test_no_host_is_in_two_lists() -> None:
    assert not METADATA_NAMES & PASTES
    assert not METADATA_NAMES & REGISTRIES
    assert not PASTES & REGISTRIES


def test_what_is_below_a_name_is_a_whole_label_below_it() -> None:
    names = frozenset({"example.org"})
    assert is_below("example.org", names)
    assert is_below("a.b.example.org", names)
    assert not is_below("notexample.org", names)
    assert not is_below("example.org.net", names)
    assert not is_below("", names)
    assert not is_below("org", frozenset())


@each_case("target, host, port, scheme, kinds")
def test_a_target_is_taken_apart(target: str, host: str, port: int, scheme: str, kinds: set[str]) -> None:
    found = host_of(target, Settings())
    assert (found.host, found.port, found.scheme, set(found.kinds)) == (host, port, scheme, kinds)


@each_case("target")
def test_a_metadata_service_is_known_in_every_spelling(target: str) -> None:
    assert "metadata" in host_of(target, Settings()).kinds


@pytest.mark.parametrize("spelled", ["example.org", "*.example.org", "https://example.org/", " Example.org "])
def test_a_listed_host_is_allowed_with_those_below_it(spelled: str) -> None:
    settings = Settings(hosts=(spelled,))
    assert "allowed" in host_of("https://example.org/x", settings).kinds
    assert "allowed" in host_of("https://a.b.example.org/x", settings).kinds
    assert "allowed" not in host_of("https://example.org.evil.net/x", settings).kinds
    assert "allowed" not in host_of("https://notexample.org/x", settings).kinds


def test_the_user_can_name_more_registries() -> None:
    settings = Settings(registries=("npm.corp.example",))
    assert "registry" in host_of("https://npm.corp.example/x", settings).kinds
    assert "registry" not in host_of("https://npm.corp.example/x", Settings()).kinds


def test_a_listed_host_is_still_a_metadata_service() -> None:
    found = host_of("http://169.254.169.254/", Settings(hosts=("169.254.169.254",)))
    assert {"allowed", "metadata"} <= found.kinds


@given(st.text(max_size=600))
def test_any_text_is_some_host_and_its_kinds_are_listed(text: str) -> None:
    found = host_of(text, Settings(hosts=(text,)))
    assert len(found.host) <= 600
    assert found.kinds <= KINDS.keys()
    assert 0 <= found.port <= 99_999
