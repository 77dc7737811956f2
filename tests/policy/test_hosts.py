"""What a URL or host is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.policy.hosts import KINDS, host_of
from tallystick.policy.settings import Settings
from tests.support.cases import each_case


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
