"""What a shell has built in, and small programs that touch no file.

Owns the names that mean nothing for files, network or processes by themselves. What `eval`, `trap` or `watch` run is
read in its place by the reader. Sources: bash(1), POSIX.
"""

from __future__ import annotations

from tallystick.intent.programs.arguments import grammar, renamed, taken
from tallystick.intent.programs.rules import Builder, Rule, each, program, silent
from tallystick.intent.shell.actions import Actions
from tallystick.model.intent import Operation
from tallystick.model.script import Command

_HISTORY = grammar("-d")


def _history(command: Command) -> Actions:
    """`history -c`, `-w FILE`, `-r FILE`."""
    line = taken(command.arguments, _HISTORY)
    built = Builder()
    if all(word.text.isdigit() for word in line.operands) and not line.has("-c", "-d", "-w", "-a", "-r", "-n"):
        built.show(built.add(Operation.READ, renamed(command.words[0], "history:"), words=command.words[:1]))
    for word in line.operands:
        if line.has("-w"):
            built.add(Operation.WRITE, word)
        elif line.has("-a"):
            built.add(Operation.APPEND, word)
        elif line.has("-r", "-n"):
            built.show(built.read(word))
    return built.build()


def _pastes(command: Command) -> Actions:
    """`pbpaste`: what the user has copied, from wherever."""
    built = Builder()
    built.show(built.add(Operation.READ, renamed(command.words[0], "clipboard:"), words=command.words[:1]))
    return built.build()


_CAPTURE = grammar("-R -l -t -T -D -g -o -f -q -d -w --file --delay")


def _captures(command: Command) -> Actions:
    """`screencapture FILE`: a picture of what the user sees."""
    line = taken(command.arguments, _CAPTURE)
    built = Builder()
    source = built.add(Operation.READ, renamed(command.words[0], "screen:"), words=command.words[:1])
    built.flow([source], [built.write(word) for word in [*line.operands[-1:], *line.values("-f", "--file")]])
    return built.build()


TABLE: dict[str, Rule] = {
    **each(
        ": true false test [ [[ echo printf cd pushd popd dirs pwd export unset set shopt shift local declare "
        "typeset readonly let getopts return exit break continue read mapfile readarray alias unalias hash type "
        "which whereis command builtin umask ulimit wait jobs fg bg disown trap eval times enable bind complete "
        "compgen compopt caller help suspend logout expr seq yes sleep usleep basename dirname factor nproc clear "
        "reset tput man info apropos whatis bash-completion setopt unsetopt autoload emulate zmodload print whence "
        "watch timeout time nohup nice ionice stdbuf setsid flock xargs exec sudo doas su runuser pkexec chroot "
        "unshare strace script env coproc parallel sg pv progress dialog whiptail zenity notify-send say beep "
        "fortune figlet cowsay lolcat banner tally busybox",
        silent,
    ),
    "history": _history,
    **each("pbpaste wl-paste", _pastes),
    **each("pbcopy wl-copy clip", program(is_filter=True)),
    **each("screencapture scrot grim gnome-screenshot maim", _captures),
    **each("xclip xsel", program(is_filter=True, takes="-selection -t -d -display", is_long=True, read="operands")),
}
