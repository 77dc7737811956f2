"""How intents become acts: where a path lies, what a link is, and what is looked at only once."""

from collections.abc import Sequence

from tallystick.model.decision import Call
from tallystick.policy.calls.acts import acts_of, is_below
from tallystick.policy.calls.reader import read_call
from tallystick.policy.facts import Act, Action, FileFacts, Place
from tallystick.policy.settings import Settings
from tallystick.policy.world import Content, FileKind, FileState, Maker, Provenance, Tracking, Unread
from tests.policy.risks.readings import FOLDER, HOME, Bare
from tests.support.cases import each

TEMPORARY = f"{HOME}/tmp"


class Linked(Bare):
    """A machine on which `out` in the project leads to /etc, all other paths are there, and `made` is the session's."""

    def __init__(self) -> None:
        super().__init__({})
        self.asked: list[str] = []

    def real(self, path: str) -> str:
        inside = path == f"{FOLDER}/out" or path.startswith(f"{FOLDER}/out/")
        return "/etc" + path[len(f"{FOLDER}/out") :] if inside else path

    def state(self, path: str) -> FileState:
        return FileState(kind=FileKind.NOTHING if path.endswith("new") else FileKind.FILE)

    def keeps_commits(self, path: str) -> bool:
        return False

    def matches(self, pattern: str) -> Sequence[str]:
        return ()

    def blob(self, name: str) -> Content | Unread:
        return Unread.MISSING

    def provenance(self, path: str) -> Provenance:
        return Provenance(maker=Maker.SESSION, is_new=True) if path == f"{HOME}/made" else Provenance()

    def repository(self, path: str) -> str | None:
        return FOLDER

    def tracking(self, path: str) -> Tracking:
        self.asked.append(path)
        return Tracking(untracked=(path,))


def acts(command: str, world: Linked | None = None) -> list[Act]:
    call = Call(agent="claude-code", session="s", tool="Bash", args={"command": command}, cwd=FOLDER)
    machine = world or Linked()
    reading = read_call(call, machine, home=HOME, workspace=FOLDER)
    settings = Settings(trusted=("~/trusted", "/srv/site"))
    return list(acts_of(reading, machine, settings, (TEMPORARY,)))


def files(command: str, action: Action, world: Linked | None = None) -> list[FileFacts]:
    return [
        act.resource for act in acts(command, world) if act.action is action and isinstance(act.resource, FileFacts)
    ]


@each(
    "path, place",
    [
        ("a", Place.WORKSPACE),
        (".", Place.WORKSPACE),
        ("../project2/a", Place.HOME),
        ("~/trusted/a", Place.TRUSTED),
        ("/srv/site/a", Place.TRUSTED),
        ("/srv/a", Place.OUTSIDE),
        ("/tmp/a", Place.TEMPORARY),
        (f"{TEMPORARY}/a", Place.TEMPORARY),
        ("~/a", Place.HOME),
        ("/etc/a", Place.OUTSIDE),
        ("/tmp/../etc/a", Place.OUTSIDE),
        ('"$X/a"', Place.UNKNOWN),
        ('"$HOME/$X"', Place.HOME),
        ("out/a", Place.OUTSIDE),
    ],
)
def test_a_path_lies_where_it_leads_to(path: str, place: Place) -> None:
    assert [file.place for file in files(f"touch {path}", Action.WRITE)] == [place]


def test_a_link_that_is_removed_is_not_what_it_leads_to() -> None:
    assert files("rm out", Action.DELETE)[0].place is Place.WORKSPACE
    assert files("mv out b", Action.MOVE)[0].place is Place.WORKSPACE
    assert files("rm out/a", Action.DELETE)[0].place is Place.OUTSIDE
    assert files("ln -sfn b out", Action.WRITE)[0].place is Place.WORKSPACE


def test_links_that_the_call_makes_are_followed() -> None:
    assert files("ln -s ~/x d; rm d/a", Action.DELETE)[0].place is Place.HOME


def test_the_same_is_looked_at_once_for_each_program() -> None:
    assert len(files("rm a; rm a; rm a", Action.DELETE)) == 1
    assert [file.program for file in files("git rm a; rm a; git rm a", Action.DELETE)] == ["git", "rm"]


def test_the_program_at_work_is_known() -> None:
    assert [file.program for file in files("git status; rm a; git status; unlink b", Action.DELETE)] == ["rm", "unlink"]


def test_what_lies_in_a_folder_of_the_session_is_its_own() -> None:
    found = files("rm ~/made/deep/a ~/other/a", Action.DELETE)
    assert [file.maker for file in found] == [Maker.SESSION, Maker.UNKNOWN]


def test_what_the_call_made_before_is_its_own() -> None:
    assert files("touch new; rm new", Action.DELETE)[0].maker is Maker.REQUEST
    assert files("touch old; rm old", Action.DELETE)[0].maker is Maker.UNKNOWN


def test_version_control_is_not_asked_where_nothing_follows_from_it() -> None:
    world = Linked()
    files("rm ~/a; ls b; chmod -R u+w c; rm d", Action.DELETE, world)
    assert world.asked == [f"{FOLDER}/d"]


def test_what_others_made_is_lost() -> None:
    assert [file.loses_files for file in files("rm a", Action.DELETE)] == [True]
    assert [file.loses_files for file in files("rm new", Action.DELETE)] == [False]


def test_many_files_are_all_judged_but_not_all_looked_up() -> None:
    world = Linked()
    names = " ".join(f"f{n}" for n in range(900))
    found = files(f"rm {names}; rm -rf ~/x", Action.DELETE, world)
    assert len(found) == 901
    assert found[-1].place is Place.HOME
    assert len(world.asked) <= 400


@each(
    "path, folders, is_inside",
    [("/a", ("/a",), True), ("/a/b", ("/a",), True), ("/ab", ("/a",), False), ("/a", (), False), ("/x", ("/",), True),
     ("/a/b", ("/c", "/a/"), True)],
)  # fmt: skip
def test_a_path_is_below_a_folder_or_is_it(path: str, folders: tuple[str, ...], is_inside: bool) -> None:
    assert is_below(path, folders) is is_inside
