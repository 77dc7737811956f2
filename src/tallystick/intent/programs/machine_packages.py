"""Package managers of a whole machine.

Owns apt, dnf, apk, pacman, brew and their like: a change is an elevation whose target is the program's name. Sources:
their manual pages.
"""

from __future__ import annotations

from tallystick.intent.programs.arguments import grammar, names, taken
from tallystick.intent.programs.packages import LOCAL, manager, package_of
from tallystick.intent.programs.rules import Builder, Rule, each
from tallystick.intent.shell.actions import Actions
from tallystick.model.intent import Operation
from tallystick.model.script import Command, Word

_APT_TAKES = (
    "-o -c -t -q? --option --config-file --target-release --root --installroot --setopt -y? --repo --enablerepo "
    "--disablerepo --virtual"
)


def _system(kind: str, installs: str, removes: str, fetches: str = "") -> Rule:
    return manager(
        kind, takes=_APT_TAKES, installs=installs, removes=removes, sends="", fetches=fetches, is_system=True
    )


_CHANGES = names("-S -U -R -i -e -F -r -P --install --remove --purge --erase --upgrade --configure")
_ASKS = {"rpm": frozenset({"-q", "-V", "--query"}), "pacman": frozenset({"-Q", "-F"})}


def _lettered(command: Command) -> Actions:
    """`pacman -S`, `rpm -i`, `dpkg -i`: what is done stands in a letter."""
    line = taken(command.arguments, grammar("--root --dbpath --config --prefix"))
    built = Builder()
    name = command.program
    letters = {option for option, _ in line.options}
    kind = {"pacman": "alpm", "rpm": "rpm"}.get(name, "deb")
    changes = letters & _CHANGES
    asks = _ASKS.get(name, frozenset())
    if name == "pacman" and "-S" in letters:
        asks = asks | {"-s", "-l", "-i"}
    if not changes or letters & asks:
        if kind == "rpm" and "-p" in letters:
            built.show(*[built.read(word) for word in line.operands])
        return built.build()
    is_removal = bool(changes & {"-R", "-e", "-r", "-P", "--remove", "--purge", "--erase"})
    for word in () if is_removal else line.operands:
        is_file = bool(LOCAL.fullmatch(word.text)) or name == "dpkg"
        built.add(
            Operation.READ if is_file else Operation.FETCH, word if is_file else package_of(kind, word), words=(word,)
        )
    built.add(Operation.ELEVATE, Word(name), words=command.words[:1])
    return built.build()


TABLE: dict[str, Rule] = {
    **each(
        "apt apt-get aptitude nala",
        _system(
            "deb",
            "install upgrade update dist-upgrade full-upgrade reinstall build-dep",
            "remove purge autoremove autoclean clean",
            "download source",
        ),
    ),
    **each(
        "dnf yum microdnf zypper tdnf",
        _system(
            "rpm",
            "install in upgrade update up localinstall groupinstall reinstall refresh",
            "remove rm erase autoremove",
            "download",
        ),
    ),
    "apk": _system("apk", "add update upgrade fix", "del"),
    **each("snap flatpak", _system("snap", "install refresh update", "remove uninstall", "download")),
    **each(
        "port nix-env nix guix winget choco scoop", _system("other", "install upgrade sync update", "uninstall remove")
    ),
    **each("pacman rpm dpkg yay paru", _lettered),
    **each(
        "brew",
        manager(
            "brew",
            takes="--appdir",
            installs="install upgrade reinstall tap update",
            fetches="search info",
            is_system=True,
        ),
    ),
}
