from __future__ import annotations

from tallystick.intent.programs.git_call import GitCall
from tallystick.model.script import Word
from tests.intent.programs.acting import command


def test_the_options_of_git_and_of_its_subcommand_are_told_apart() -> None:
    call = GitCall(command("git -C a -C b -c x=y checkout -b z --track w -- p"))
    assert (call.verb, call.folder, call.settings) == ("checkout", Word("a/b"), [Word("x=y")])
    assert call.line.value("-b") == Word("z")
    assert call.paths() == [Word("a/b/p")]
    assert call.has_dashes()


def test_letters_mean_what_they_mean_to_the_subcommand() -> None:
    assert GitCall(command("git clean -fdx d")).line.operands == [Word("d")]
    assert GitCall(command("git push -u up main")).line.operands == [Word("up"), Word("main")]
    assert GitCall(command("git rebase -x t m")).line.operands == [Word("m")]


def test_git_alone_has_no_subcommand() -> None:
    call = GitCall(command("git"))
    assert (call.verb, call.arguments, call.paths()) == ("", [], [])
