"""The pages as a searchable static site: `python tools/website.py FOLDER`.

Owns which page is behind which door (docs/doors.toml) and what Sphinx is told. The site works from its folder, without a
server and without a network, search included. A link that leads nowhere fails the build. Must not know what a page says.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Sequence
from pathlib import Path

import msgspec

ROOT = Path(__file__).resolve().parent.parent
OUTSIDE = ("CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md")
"""Pages of the site that are not below docs/."""
_LINK = re.compile(r"\]\(([^)#\s]+)(#[^)\s]*)?\)")
_LINKED = re.compile(r"\[((?:[^\[\]]|\[[^\[\]]*\])+)\]\(([^)#\s]+)(#[^)\s]*)?\)")
_COG = re.compile(r"<!-- \[\[\[.*?-->\n?", re.DOTALL)

CONFIGURATION = """\
project = "Tallystick"
author = "the Tallystick authors"
copyright = "the Tallystick authors, Apache License 2.0"
extensions = ["myst_parser"]
myst_heading_anchors = 4
html_theme = "furo"
html_title = "Tallystick"
html_copy_source = False
html_show_sourcelink = False
html_static_path = ["own"]
html_css_files = ["site.css"]
highlight_language = "none"
suppress_warnings = ["myst.header", "misc.highlighting_failure"]
"""
STYLE = """\
.content { width: 52em; }
article table.docutils { font-size: 0.9rem; }
article td code.literal { overflow-wrap: anywhere; }
"""


class Part(msgspec.Struct, frozen=True):
    """Pages that belong together, in reading order."""

    title: str
    pages: tuple[Path, ...]


class Door(msgspec.Struct, frozen=True):
    """One way into the pages."""

    name: str
    lead: str
    parts: tuple[Part, ...]


def doors(root: Path = ROOT) -> tuple[Door, ...]:
    """The doors with all their pages, as paths below the root. A page named by itself is not found by a later `*`."""
    with (root / "docs" / "doors.toml").open("rb") as file:
        found = tomllib.load(file)["doors"]
    named = {name for door in found for part in door["parts"] for name in part["pages"]}
    return tuple(
        Door(
            door["name"],
            door["lead"],
            tuple(Part(part["title"], tuple(_pages(root, part["pages"], named))) for part in door["parts"]),
        )
        for door in found
    )


def _pages(root: Path, patterns: Sequence[str], named: set[str]) -> Iterator[Path]:
    for pattern in patterns:
        if "*" not in pattern:
            yield Path(pattern) if pattern in OUTSIDE else Path("docs") / pattern
            continue
        for path in sorted((root / "docs").glob(pattern)):
            if path.relative_to(root / "docs").as_posix() not in named:
                yield path.relative_to(root)


def title_of(page: Path, root: Path = ROOT) -> str:
    """The heading of a page; of one on commands with a word that tells it from the page on the idea."""
    text = (root / page).read_text("utf-8")
    found = re.search(r"^# (.+)$", text, re.MULTILINE)
    title = found[1].strip().replace("`", "") if found else page.stem
    is_on_commands = page.parent.name == "commands" and page.name != "README.md"
    return f"Commands: {title}" if is_on_commands else title


def place(page: Path) -> str:
    """Where a page is in the site: README.md of a folder is its index."""
    name = page.relative_to("docs").as_posix() if page.is_relative_to("docs") else page.name
    return f"{name.removesuffix('README.md')}index.md" if name.endswith("/README.md") else name


def listing(root: Path = ROOT) -> str:
    """All doors with their pages, for docs/README.md. The pages beside a README of their folder are left to that."""
    return "\n".join(line for door in doors(root) for line in _listed(door, root))


def _listed(door: Door, root: Path) -> Iterator[str]:
    yield f"## {door.name}\n\n{door.lead}\n"
    for part in door.parts:
        indexes = {page.parent for page in part.pages if page.name == "README.md"} - {Path("docs/commands")}
        shown = [page for page in part.pages if page.parent not in indexes or page.name == "README.md"]
        yield f"- **{part.title}**: {', '.join(f'[{title_of(page, root)}]({_beside(page)})' for page in shown)}"
    yield ""


def _beside(page: Path) -> str:
    return page.relative_to("docs").as_posix() if page.is_relative_to("docs") else f"../{page.name}"


def prepared(page: Path, known: dict[Path, str], root: Path = ROOT) -> str:
    """A page as Sphinx gets it: without the code that made its parts, links between pages as the site has them.

    A link to a file that is no page of the site keeps its words and leads nowhere.
    """
    here = place(page)

    def changed(match: re.Match[str]) -> str:
        words, target, anchor = match[1], match[2], match[3] or ""
        if "://" in target:
            return match[0]
        path = _normal((root / page).parent / target, root)
        if path.suffix in (".svg", ".png"):
            return match[0]
        if (root / path).is_dir() and path / "README.md" in known:
            path = path / "README.md"
        if path not in known:
            return words if words.startswith("`") else f"*{words}*"
        up = "../" * here.count("/")
        return f"[{words}]({up}{known[path]}{anchor})"

    text = _COG.sub("", (root / page).read_text("utf-8"))
    return "".join(part if fenced else _LINKED.sub(changed, part) for fenced, part in _fenced(text))


def _normal(path: Path, root: Path) -> Path:
    resolved = path.resolve()
    return resolved.relative_to(root) if resolved.is_relative_to(root) else resolved


def _fenced(text: str) -> Iterator[tuple[bool, str]]:
    """The text in pieces, each with whether it is a block of code."""
    for number, piece in enumerate(re.split(r"(?m)^(```[^\n]*\n.*?^```[ \t]*$)", text, flags=re.DOTALL)):
        yield number % 2 == 1, piece


def source(folder: Path, root: Path = ROOT) -> None:
    """Lay out what Sphinx builds from."""
    every = doors(root)
    known = {page: place(page) for door in every for part in door.parts for page in part.pages}
    for page, name in known.items():
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(prepared(page, known, root), "utf-8")
    for picture in (root / "docs").glob("*.svg"):
        shutil.copy(picture, folder)
    (folder / "index.md").write_text(_index(every), "utf-8")
    for door in every:
        (folder / f"{_slug(door)}.md").write_text(_door(door), "utf-8")
    (folder / "conf.py").write_text(CONFIGURATION, "utf-8")
    (folder / "own").mkdir()
    (folder / "own" / "site.css").write_text(STYLE, "utf-8")


def _slug(door: Door) -> str:
    return f"door-{door.name.lower().replace(' ', '-')}"


def _index(every: Sequence[Door]) -> str:
    rows = "".join(f"| **[{door.name}]({_slug(door)}.md)** | {door.lead} |\n" for door in every)
    tree = "".join(f"{_slug(door)}\n" for door in every)
    return (
        "# Tallystick\n\nA sealed record of what AI agents did on your machine, and a guard before they do it.\n\n"
        f"| door | |\n|---|---|\n{rows}\nNew here: [a tour](tour.md). Every word: [glossary](glossary.md).\n\n"
        f"```{{toctree}}\n:hidden:\n\n{tree}```\n"
    )


def _door(door: Door) -> str:
    parts = "".join(
        f"```{{toctree}}\n:caption: {part.title}\n:maxdepth: 1\n\n"
        + "".join(f"{title_of(page)} <{place(page).removesuffix('.md')}>\n" for page in part.pages)
        + "```\n\n"
        for part in door.parts
    )
    return f"# {door.name}\n\n{door.lead}\n\n{parts}"


def main(words: Sequence[str]) -> int:
    """Build the site into a folder, in place of what is there; the exit code."""
    target = Path(words[0]).resolve()
    with tempfile.TemporaryDirectory(prefix="tallystick-site-") as name:
        source(Path(name) / "source")
        out = Path(name) / "out"
        command = [sys.executable, "-m", "sphinx", "--builder", "html", "--quiet", "--fail-on-warning", "--keep-going"]
        done = subprocess.run([*command, str(Path(name) / "source"), str(out)], check=False)
        if done.returncode != 0:
            return done.returncode
        shutil.rmtree(out / ".doctrees", ignore_errors=True)
        if target.exists():
            shutil.rmtree(target)
        shutil.copytree(out, target)
    sys.stdout.write(f"{len(list(target.rglob('*.html')))} pages in {target}: open index.html\n")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
