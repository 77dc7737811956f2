"""What paths are to the machine and to the project, on every system."""

from hypothesis import given
from hypothesis import strategies as st

from tallystick.policy.kinds.named import Named
from tallystick.policy.kinds.system import KINDS, kinds, whole
from tallystick.policy.settings import Settings
from tests.support.cases import cases, each

HOME, WORK = "/home/dev", "/home/dev/project"


def said(
    path: str, *, real: str | None = None, is_known: bool = True, home: str = HOME, workspace: str = WORK
) -> set[str]:
    named = Named(path=path, real=real or path, home=home, workspace=workspace, is_known=is_known)
    return set(kinds(named, Settings()))


PLACES = cases(__file__, "places", dict[str, str])


@each("kind, path", [(kind, path) for kind, paths in PLACES.items() for path in paths.split()])
def test_a_place_has_its_word(kind: str, path: str) -> None:
    assert kind in said(path)


MADE_AGAIN = """
node_modules node_modules/left/index.js dist build/x/y.txt target/debug/app src/shop/__pycache__/cart.pyc .next
coverage/index.html
.venv/bin/python app.egg-info main.o src/a.o lib.so Main.class debug.log .DS_Store x.tsbuildinfo package-lock.json Cargo.lock
go.sum cmake-build-debug/x bazel-out .terraform/providers .pytest_cache htmlcov bin/Debug/net8.0/a.dll obj/x
DerivedData Pods/x
.gradle docs/_build/html .coverage coverage.xml src/x.py~ notes.swp a.rej
"""


@each("name", MADE_AGAIN.split())
def test_what_is_made_again_is_build_output_in_the_workspace_alone(name: str) -> None:
    assert "build-output" in said(f"{WORK}/{name}")
    assert "build-output" not in said(f"/home/dev/Documents/{name}")


ORDINARY = """
/home/dev/project/src/main.py /home/dev/project/builder.py /home/dev/project/src/target.rs
/home/dev/project/docs/guide.md
/home/dev/project/distribution/x /home/dev/project/.env /home/dev/project/data.csv /home/dev/project/.gitignore
/home/dev/project/.github/workflows/ci.yml /home/dev/project/notes.bak /home/dev/project/.git/index.lock
/home/dev/project/.git/hooks/pre-commit /home/dev/project/.git/MERGE_HEAD /home/dev/project2/src
/home/dev/Documents/thesis.md
/tmp/x /tmp/x/* /var/folders/ab/x /var/tmp/x /w/x /homework /usrlocal relative/path
"""
GRAVE = PLACES.keys() - {"workspace-part", "cache", "agent-notes"} | {"build-output"}


@each("path", ORDINARY.split())
def test_an_ordinary_path_is_none_of_the_grave_ones(path: str) -> None:
    assert not said(path) & GRAVE


def test_where_a_link_leads_counts_as_well() -> None:
    assert "system" in said(f"{WORK}/out", real="/etc")
    assert "home" in said(f"{WORK}/out", real="/home/dev")


def test_a_path_whose_end_is_not_told_is_no_whole_folder() -> None:
    assert not said(WORK, is_known=False) & {"workspace-root", "home", "root"}
    assert "system" in said("/etc", is_known=False)


def test_names_do_not_depend_on_case() -> None:
    assert "build-output" in said(f"{WORK}/Node_Modules")
    assert "workspace-root" in said(WORK.upper())


@each(
    "path, folder",
    [("/a/*", "/a"), ("/a/**/*", "/a"), ("/*", "/"), ("/", "/"), ("/a/*.py", "/a/*.py"), ("/a/.*", "/a"),
    ("/a/b", "/a/b"), ("*", "*"),
     ("/a/.??*", "/a"), ("/a/{*,.*}", "/a"), ("/a/*.*", "/a")],
)  # fmt: skip
def test_a_pattern_for_everything_stands_for_its_folder(path: str, folder: str) -> None:
    assert whole(path) == folder


@given(st.text(max_size=60), st.text(max_size=20), st.booleans())
def test_every_word_is_listed_and_no_path_makes_it_fail(path: str, workspace: str, is_known: bool) -> None:
    assert said(path, workspace=workspace, is_known=is_known) <= KINDS.keys()
    assert said(f"/{path}", is_known=is_known) <= KINDS.keys()
