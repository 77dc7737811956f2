"""Editors, and programs that open a file for a person.

Owns that an editor may change the files that it is given. Sources: vim(1), nano(1), emacs(1), ed(1), code --help,
xdg-open(1).
"""

from __future__ import annotations

from tallystick.model.intent import Operation
from tallystick.model.script import Command
from tallystick.shell.actions import Actions, Code
from tallystick.shell.programs.arguments import grammar, is_fed, taken
from tallystick.shell.programs.rules import Builder, Rule, each, program

_VIM = grammar("-c -S -u -i -s -w -W -T -t -q --cmd -p -G")


def _edits(command: Command) -> Actions:
    """`vim`, `ex`, `ed`: the commands of `-c` or of the input work on the files."""
    line = taken([word for word in command.arguments if word.text[:1] != "+"], _VIM)
    built = Builder()
    is_read = line.has("-R", "--version", "--help") or command.program in ("view", "less", "rview")
    for word in line.operands:
        if word.text != "-":
            built.add(Operation.READ if is_read else Operation.EDIT, word)
    for word in line.values("-S", "-s"):
        built.run(word)
    for word in line.values("-w", "-W"):
        built.write(word)
    language = "ed" if command.program in ("ed", "red") else "vim"
    built.codes = [Code(language, word) for word in line.values("-c", "--cmd")]
    if command.input is not None:
        built.codes.append(Code(language, command.input))
    elif is_fed(command):
        built.is_unknown = True
    return built.build()


_EMACS = grammar("-l -f -e --load --funcall --eval --execute -d --display --script -Q? -q?")


def _emacs(command: Command) -> Actions:
    line = taken([word for word in command.arguments if word.text[:1] != "+"], _EMACS)
    built = Builder()
    for word in line.values("-l", "--load", "--script"):
        built.run(word)
    built.codes = [Code("elisp", word) for word in line.values("--eval", "-e", "--execute")]
    for word in line.operands:
        built.add(Operation.EDIT, word)
    return built.build()


_GUI = program(takes="--goto? -g? --line --column -l -c", edit="operands", deep="always")

TABLE: dict[str, Rule] = {
    **each("vim vi nvim gvim view rview ex ed red vimx rvim", _edits),
    **each("nano pico micro joe mcedit kak helix hx jed ne", program(edit="operands", takes="-T -r -s -o -Y -C -c")),
    **each("emacs emacsclient", _emacs),
    **each("code cursor codium subl atom zed gedit kate mate bbedit idea pycharm windsurf", _GUI),
    **each("sudoedit", program(edit="operands")),
    **each("open xdg-open gnome-open gio start wslview", program(takes="-a -b", read="operands", is_long=False)),
    **each("tmux screen zellij byobu dtach", program(stops=True)),
}
