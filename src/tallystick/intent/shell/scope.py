"""What is known at one place of a text: variables and folders.

Owns Scope, what `cd` and its like do to it, and what is left of it after branches of which one ran. Must not know the
grammar or what a path means.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

import msgspec

from tallystick.model.paths import placed
from tallystick.model.pattern import pattern_of
from tallystick.model.script import HOLE, Word

CHANGES_FOLDER = frozenset({"cd", "chdir", "pushd", "popd"})
_MOST_FOLDERS = 16
_MOST_HIDDEN = 4096
_LISTED = pattern_of(r'"?\$(?:\{(?:(\w{1,64})\[[@*]\]|[@*])\}|[@*])"?', re.ASCII)


class Place(msgspec.Struct):
    """Where a shell is."""

    folders: list[str]
    """Where it may be: a `cd` may fail, so none is forgotten. The last is the one that is meant."""
    current: str | None = None
    """The folder that is meant; None where the text does not tell it."""
    previous: str | None = None
    stack: list[str | None] = []
    """What `pushd` put by."""

    def copy(self) -> Place:
        """The same for a subshell."""
        return Place(list(self.folders), self.current, self.previous, list(self.stack))


class Scope(msgspec.Struct):
    """What is known where a command stands."""

    variables: dict[str, Word]
    place: Place

    @property
    def folders(self) -> list[str]:
        """The folders that a command may run in."""
        return self.place.folders

    def copy(self) -> Scope:
        """The same for a subshell, which changes nothing outside."""
        return Scope(dict(self.variables), self.place.copy())

    def listed(self, text: str) -> list[Word] | None:
        """The words that `"$@"` or `"${NAME[@]}"` stands for; None for another word, or if they are not known."""
        found = _LISTED.fullmatch(text)
        if found is None:
            return None
        if found[1] is None:
            count = self.variables.get("#")
            names = None
            if count is not None:
                names = [str(n + 1) for n in range(int(count.text))]
        else:
            names = []
            while f"{found[1]}[{len(names)}]" in self.variables:
                names.append(f"{found[1]}[{len(names)}]")
        if names:
            return [self.variables[name] for name in names]
        return None

    def number(self, words: Sequence[Word], *, first: int) -> None:
        """Make words the parameters `$0`, `$1`… of this scope."""
        for n, word in enumerate(words, first):
            self.variables[str(n)] = word
        rest = words[1 - first :]
        said = " ".join(f"{word.text} {word.hidden}" for word in rest)[:_MOST_HIDDEN]
        if len(rest) == 1:
            every = rest[0]
        else:
            every = Word(HOLE, said, sources(rest))
        self.variables["@"] = self.variables["*"] = every
        self.variables["#"] = Word(str(len(rest)))


def change_folder(name: str, arguments: Sequence[Word], scope: Scope) -> None:
    """What `cd`, `pushd` or `popd` does."""
    place = scope.place
    target = next((word for word in arguments if word.text == "-" or not word.text.startswith(("-", "+"))), None)
    if name == "popd":
        _go(scope, place.stack.pop() if place.stack else None)
        return
    if name == "pushd":
        place.stack = [*place.stack, place.current][-_MOST_FOLDERS:]
    if target is None:
        home = scope.variables.get("HOME")  # on another machine it is unknown
        _go(scope, home.text if home is not None else None)
    elif target.text == "-":
        _go(scope, place.previous)
    elif not target.is_known:
        _lose(scope)
    else:
        _enter(scope, target.plain)


def _go(scope: Scope, path: str | None) -> None:
    if path is None:
        _lose(scope)
    else:
        _enter(scope, path)


def _enter(scope: Scope, path: str) -> None:
    place = scope.place
    new = [placed(path, folder) for folder in place.folders] or [placed(path, None)]
    told = [folder for folder in dict.fromkeys(new) if folder.startswith("/")]
    before = [folder for folder in place.folders[1:] if folder not in told]
    if place.folders:
        place.folders[1:] = [*before, *told][-_MOST_FOLDERS:]
    else:
        place.folders += told[:1]
    meant = placed(path, place.current)
    _stand(scope, meant if meant.startswith("/") else None)


def _lose(scope: Scope) -> None:
    _stand(scope, None)


def _stand(scope: Scope, path: str | None) -> None:
    place = scope.place
    scope.variables["OLDPWD"] = scope.variables.get("PWD", Word(HOLE))
    place.previous, place.current = place.current, path
    known = " ".join(place.folders)
    if path is not None:
        scope.variables["PWD"] = Word(path)
    else:
        scope.variables["PWD"] = Word(HOLE, known)


def failed(scope: Scope, folder: str | None) -> Scope:
    """The same in another folder, None for one that is unknown: what changed the folder has failed, or may have."""
    own = scope.copy()
    own.place.current = folder
    if folder is not None:
        own.variables["PWD"] = Word(folder)
    else:
        own.variables["PWD"] = Word(HOLE, " ".join(scope.folders))
    return own


def may_have_run(scope: Scope, end: Scope, folder: str | None) -> None:
    """What is left of a scope after something that may have run from a folder, and would have ended in `end`."""
    for name, value in end.variables.items():
        if name not in ("PWD", "OLDPWD", "_") and scope.variables.get(name) is not value:
            known = scope.variables.get(name)
            if known == value:
                scope.variables[name] = value
            else:
                scope.variables[name] = untold([each for each in (known, value) if each is not None])
    if end.place.current != folder:
        scope.place.folders[:] = dict.fromkeys([*scope.place.folders, *end.place.folders])
        _lose(scope)


def merge(scope: Scope, ends: Sequence[Scope]) -> None:
    """Make of a scope what is known after one of several branches ran, each of which ended in one of `ends`."""
    names = dict.fromkeys(name for end in ends for name in end.variables)
    for name in names:
        values = [end.variables.get(name) for end in ends]
        if all(value == values[0] for value in values[1:]):
            if values[0] is not None:
                scope.variables[name] = values[0]
            continue
        scope.variables[name] = untold([value for value in values if value is not None])
    places = [end.place for end in ends]
    folders = list(dict.fromkeys(folder for place in places for folder in place.folders))
    same = all(place.current == places[0].current for place in places[1:])
    previous = None
    if all(place.previous == places[0].previous for place in places[1:]):
        previous = places[0].previous
    current = None
    if same:
        current = places[0].current
    scope.place = Place([*folders[:1], *folders[1:][-_MOST_FOLDERS:]], current, previous, places[0].stack)


def untold(values: Sequence[Word]) -> Word:
    """A word that is one of several, or made of them."""
    said = " ".join(dict.fromkeys(text for value in values for text in (value.text, value.hidden) if text))
    return Word(HOLE, said[:_MOST_HIDDEN], sources(values))


def sources(words: Sequence[Word]) -> tuple[int, ...]:
    """The commands whose output is in any of the words."""
    if not any(word.commands for word in words):
        return ()
    return tuple(dict.fromkeys(number for word in words for number in word.commands))
