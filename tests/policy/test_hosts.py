"""What a URL or host is."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.policy.hosts import KINDS, host_of
from tallystick.policy.settings import Settings

HOSTS: tuple[tuple[str, str, int, str, set[str]], ...] = (
    ("https://Example.ORG:8443/x?y#z", "example.org", 8443, "https", set()),
    ("http://user:word@example.org/", "example.org", 0, "http", set()),
    ("git@github.com:owner/name.git", "github.com", 0, "", set()),
    ("ssh://git@example.org:22/x", "example.org", 22, "ssh", set()),
    ("git+https://example.org/x.git@main", "example.org", 0, "https", set()),
    ("example.org:22", "example.org", 22, "", set()),
    ("mailto:me@example.org", "example.org", 0, "mailto", set()),
    ("http://localhost:3000/x", "localhost", 3000, "http", {"local"}),
    ("http://app.localhost/", "app.localhost", 0, "http", {"local"}),
    ("127.0.0.1:8000", "127.0.0.1", 8000, "", {"local"}),
    ("http://0x7f000001/", "127.0.0.1", 0, "http", {"local"}),
    ("http://0/", "0.0.0.0", 0, "http", {"local"}),
    ("http://[::1]:80/", "::1", 80, "http", {"local"}),
    ("http://[::ffff:127.0.0.1]/", "127.0.0.1", 0, "http", {"local"}),
    ("host.docker.internal:5432", "host.docker.internal", 5432, "", {"local"}),
    ("10.0.0.4:22", "10.0.0.4", 22, "", {"private"}),
    ("http://192.168.1.1", "192.168.1.1", 0, "http", {"private"}),
    ("http://[fd12::1]/", "fd12::1", 0, "http", {"private"}),
    ("http://printer.local/", "printer.local", 0, "http", {"private"}),
    ("origin", "origin", 0, "", {"bare"}),
    ("s3://bucket/key", "bucket", 0, "s3", {"bare"}),
    ("pkg:npm/left-pad", "pkg:npm", 0, "pkg", {"registry"}),
    ("pkg:pypi", "pkg:pypi", 0, "pkg", {"registry"}),
    ("https://files.pythonhosted.org/x.whl", "files.pythonhosted.org", 0, "https", {"registry"}),
    ("websearch:how to", "websearch:how to", 0, "service", {"service"}),
    ("mcp://server/tool", "mcp://server/tool", 0, "service", {"service"}),
    ("https://0x0.st", "0x0.st", 0, "https", {"paste"}),
    ("https://abc.ngrok-free.app/x", "abc.ngrok-free.app", 0, "https", {"paste"}),
    ("http:///x", "", 0, "http", {"untold"}),
    ("", "", 0, "", {"untold"}),
    (":4444", "", 4444, "", {"untold"}),
    ("http://.example.org/", ".example.org", 0, "http", {"untold"}),
    ("http://169.254.1.1/", "169.254.1.1", 0, "http", {"link-local"}),
    ("http://169.254..254/", "169.254..254", 0, "http", {"link-local", "untold"}),
    ("http://metadata/x", "metadata", 0, "http", {"metadata-name", "bare"}),
    ("http://metadata.internal/x", "metadata.internal", 0, "http", {"metadata-name", "private"}),
    ("http://metadata.example.org/x", "metadata.example.org", 0, "http", set()),
    ("https://docs.example.org/169.254.169.254", "docs.example.org", 0, "https", set()),
    ("https://docs.example.org/?u=http://169.254.169.254/", "docs.example.org", 0, "https", set()),
)  # fmt: skip
METADATA = (
    "http://169.254.169.254/latest", "169.254.169.254", "169.254.169.254:80", "2852039166:80", "http:169.254.169.254",
    "https:///169.254.169.254/", "http://x@169.254.169.254/", "http://169.254.169.254\\@example.org/",
    "http://example.org\\@169.254.169.254/", "http://169.254.169.254#@example.org/", "http://[fe80::a9fe:a9fe%25eth0]/",
    "http://169.254.169.{253,254}/", "http://169.254.169.[250-254]/", "http://169.254.169.254.nip.io/",
    "http://metadata.google.internal./", "http://METADATA.GOOGLE.INTERNAL/", "http://100.100.100.200/",
    "http://168.63.129.16/", "http://169.254.170.2/v2", "http://[fd00:ec2::254]/", "fd00:ec2::254", "fd00:ec2::254:80",
    "http://instance-data/latest", "http://192.0.0.192/",
)  # fmt: skip


@pytest.mark.parametrize(("target", "host", "port", "scheme", "kinds"), HOSTS)
def test_a_target_is_taken_apart(target: str, host: str, port: int, scheme: str, kinds: set[str]) -> None:
    found = host_of(target, Settings())
    assert (found.host, found.port, found.scheme, set(found.kinds)) == (host, port, scheme, kinds)


@pytest.mark.parametrize("target", METADATA)
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
