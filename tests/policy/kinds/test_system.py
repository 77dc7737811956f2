"""What paths are to the machine and to the project, on every system."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tallystick.policy.kinds.named import Named
from tallystick.policy.kinds.system import KINDS, kinds, whole
from tallystick.policy.settings import Settings

HOME, WORK = "/home/dev", "/home/dev/project"


def said(
    path: str, *, real: str | None = None, is_known: bool = True, home: str = HOME, workspace: str = WORK
) -> set[str]:
    named = Named(path=path, real=real or path, home=home, workspace=workspace, is_known=is_known)
    return set(kinds(named, Settings()))


PLACES = {
    "root": "/ /* /** C:\\ c:/ /mnt/c /Volumes /Volumes/Data /media/dev/stick",
    "home": "/home/dev /home /home/* /Users /Users/dev /root /home/dev/* /home/dev/.* C:\\Users\\eve /mnt/c/Users/dev "
    "/home/dev/.[!.]* /home/dev/{*,.*}",
    "personal": "/home/dev/Documents /Users/dev/Library /home/dev/.config /home/dev/.ssh C:\\Users\\dev\\Desktop",
    "system": "/usr /usr/* /etc/passwd /bin /var/lib/x /boot/vmlinuz /System/Library /Library/LaunchDaemons "
    "/private/etc/hosts "
    "C:\\Windows\\System32 /mnt/c/Windows",
    "workspace-root": "/home/dev/project /home/dev/project/* /home/dev /home / /home/dev/project/**/* "
    "/home/dev/project/.*",
    "workspace-part": "/home/dev/project/src /home/dev/project/README.md /home/dev/project/src/*",
    "repository": "/home/dev/project/.git /home/dev/project/.git/objects /home/dev/project/.git/refs/heads/main "
    "/x/.git /x/.hg",
    "inner-repository": "/home/dev/project/lib/.git /home/dev/project/a/b/.svn /home/dev/project/lib/.git/objects",
    "cache": "/home/dev/.cache/pip /Users/dev/Library/Caches/x /home/dev/.npm/_cacache /home/dev/.Trash/x",
    "temporary-root": "/tmp /tmp/* /var/tmp /private/tmp /dev/shm",
    "discard": "/dev/null /dev/stderr /dev/tty /proc/self/fd/2 NUL",
    "agent-notes": "/home/dev/.claude/plans/a.md /home/dev/.claude/todos/x.json",
}


@pytest.mark.parametrize(("kind", "path"), [(kind, path) for kind, paths in PLACES.items() for path in paths.split()])
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


@pytest.mark.parametrize("name", MADE_AGAIN.split())
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


@pytest.mark.parametrize("path", ORDINARY.split())
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


@pytest.mark.parametrize(
    ("path", "folder"),
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
