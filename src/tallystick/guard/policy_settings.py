"""What `config.toml` says of policy, as policy takes it.

Owns the way from keys of the table of settings to `policy.settings.Settings`, and what an agent's own variables change of it.
"""

from __future__ import annotations

from collections.abc import Mapping

from tallystick.journal.home import Home
from tallystick.policy.settings import Limits, OutsideWrites, Profile, Settings
from tallystick.workspace.settings import read_settings

_UNATTENDED = ("CI", "TALLY_NONINTERACTIVE")
"""Variables with which programs are told that no one is there."""


def read_policy_settings(home: Home, environment: Mapping[str, str] | None = None) -> Settings:
    """The settings in force.

    Args: environment: variables that may say that no one is there to be asked.

    Raises: FormatError: the file is not TOML, or a key has a value that it cannot have.
    """
    found = {item.setting.key.removeprefix("policy."): item.value for item in read_settings(home)[0]}

    def texts(key: str) -> tuple[str, ...]:
        value = found[key]
        if isinstance(value, tuple):
            return value
        return ()

    return Settings(
        profile=Profile(str(found["profile"])),
        write_outside_workspace=OutsideWrites(str(found["write_outside_workspace"])),
        is_interactive=_is_interactive(str(found["interactive"]), environment or {}),
        sensitive=texts("sensitive"),
        not_sensitive=texts("not_sensitive"),
        trusted=texts("trusted"),
        hosts=texts("hosts"),
        registries=texts("registries"),
        limits=Limits(**{name: int(str(found[f"limits.{name}"])) for name in Limits.__struct_fields__}),
    )


def _is_interactive(said: str, environment: Mapping[str, str]) -> bool:
    if said != "auto":
        return said == "yes"
    return not any(environment.get(name, "").lower() in ("1", "true", "yes") for name in _UNATTENDED)
