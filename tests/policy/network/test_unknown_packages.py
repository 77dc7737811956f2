"""Programs that are fetched and run at once, and that no one here knows: packages, modules, images."""

import re
from importlib import resources
from pathlib import Path

import pytest

from tallystick.policy.network.unknown_packages import IMAGE_HOSTS, MODULES, PACKAGES, RISKS, SCOPES
from tests.policy.laid_out import Laid
from tests.support.cases import each_case


def test_each_name_has_the_form_of_its_kind() -> None:
    assert all(re.fullmatch(r"[a-z0-9][\w.-]*", name) for name in PACKAGES)
    assert all(re.fullmatch(r"@[a-z0-9][\w.-]*", name) for name in SCOPES)
    assert all("." in name.partition("/")[0] and "/" in name for name in MODULES)
    assert all("." in name and "/" not in name for name in IMAGE_HOSTS)


def test_no_scope_is_said_twice_as_a_package() -> None:
    assert PACKAGES.isdisjoint(SCOPES)


@pytest.fixture(scope="module")
def laid(tmp_path_factory: pytest.TempPathFactory) -> Laid:
    return Laid(tmp_path_factory.mktemp("machine"))


@each_case("command")
def test_what_nobody_knows_is_asked_about(laid: Laid, command: str) -> None:
    effect, rules = laid.said(command)
    assert effect == "ask", rules
    assert any(rule.startswith("remote.") for rule in rules)


@each_case("command")
def test_what_is_known_runs_in_silence(laid: Laid, command: str) -> None:
    assert laid.said(command)[0] == "allow"


@each_case("command")
def test_what_cannot_be_told_from_work_runs_in_silence(laid: Laid, command: str) -> None:
    """A limit that docs/policy-quality.md names."""
    assert laid.said(command)[0] == "allow"


def test_what_the_project_names_is_known(tmp_path: Path) -> None:
    laid = Laid(tmp_path)
    commands = (
        "npx -y shop-doctor",
        "npx -y installed-one",
        "go run example.net/shop/gen@latest",
        "docker run hub.example.net/shop:1",
    )
    assert [laid.said(command)[0] for command in commands] == ["ask"] * 4
    laid.write("project/package.json", '{"name": "shop", "devDependencies": {"shop-doctor": "^1"}}')
    laid.write("project/node_modules/.bin/installed-one", "x")
    laid.write("project/go.mod", "module shop\nrequire example.net/shop/gen v1.0.0\n")
    laid.write("project/compose.yaml", "services: {web: {image: hub.example.net/shop}}\n")
    assert [laid.said(command)[0] for command in commands] == ["allow"] * 4


def test_each_risk_is_asked_for_by_a_policy() -> None:
    text = (resources.files("tallystick.policy") / "shipped" / "remote.cedar").read_text("utf-8")
    assert {word for word in RISKS if f'"{word}"' not in text} == set()
