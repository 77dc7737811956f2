"""What is widely used."""

import re

from tallystick.policy.widely_used import IMAGE_HOSTS, MODULES, PACKAGES, SCOPES


def test_each_name_has_the_form_of_its_kind() -> None:
    assert all(re.fullmatch(r"[a-z0-9][\w.-]*", name) for name in PACKAGES)
    assert all(re.fullmatch(r"@[a-z0-9][\w.-]*", name) for name in SCOPES)
    assert all("." in name.partition("/")[0] and "/" in name for name in MODULES)
    assert all("." in name and "/" not in name for name in IMAGE_HOSTS)


def test_no_scope_is_said_twice_as_a_package() -> None:
    assert PACKAGES.isdisjoint(SCOPES)
