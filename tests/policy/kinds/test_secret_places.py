"""Places of secrets."""

from tallystick.policy.kinds.secret_places import HOME_SECRETS, at_home, in_system
from tests.support.cases import each


@each(
    "rest, wanted",
    [
        (".ssh", "secret"),
        (".ssh/id_x", "secret"),
        (".ssh/known_hosts", "work"),
        (".ssh/config", "credential"),
        (".sshx", None),
        (".docker/config.json", "secret"),
        (".docker/cli-plugins/x", "work"),
        ("library/application support/google/chrome/default/cookies", "secret"),
        ("appdata/roaming/github cli/hosts.yml", "secret"),
        ("project/.ssh-notes", None),
    ],
)
def test_a_place_below_a_home_folder_tells(rest: str, wanted: str | None) -> None:
    assert at_home(rest) == wanted


@each(
    "path, wanted",
    [
        ("/etc/shadow", "secret"),
        ("/etc/shadowy", None),
        ("/etc/passwd", "credential"),
        ("/etc/ssh/ssh_host_rsa_key", "secret"),
        ("/etc/ssh/ssh_host_rsa_key.pub", None),
        ("/proc/self/environ", "environment"),
        ("/proc/environ", "environment"),
        ("/proc/cpuinfo", None),
        ("/usr/share/doc/x", None),
    ],
)
def test_a_place_in_the_system_tells(path: str, wanted: str | None) -> None:
    assert in_system(path) == wanted


def test_each_place_is_a_plain_path_that_ends_with_a_slash() -> None:
    assert all(place == place.lower().strip() and place.endswith("/") and place[0] != "/" for place in HOME_SECRETS)
    assert len(HOME_SECRETS) == len(set(HOME_SECRETS))
