"""Where a user's shell looks for completions, and the files of ours there.

Owns the three places and the mark that a file of ours begins with. Must not know what such a file says.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path

from tallystick.capture.settings_files import read_settings, remove_settings, write_settings
from tallystick.errors import SourceError

SHELLS = ("bash", "zsh", "fish")
MARK = "Completion of `tally`, made by `tally completion"


def completion_file(shell: str, user: Path, environment: Mapping[str, str]) -> Path:
    """The file that a shell reads when it completes `tally` for the first time.

    bash: the user's folder of bash-completion. fish: its own. zsh has none by default: a folder that .zshrc must name.
    """
    data = Path(environment.get("XDG_DATA_HOME") or user / ".local" / "share")
    config = Path(environment.get("XDG_CONFIG_HOME") or user / ".config")
    bash = Path(environment.get("BASH_COMPLETION_USER_DIR") or data / "bash-completion")
    return {
        "bash": bash / "completions" / "tally",
        "zsh": data / "zsh" / "site-functions" / "_tally",
        "fish": config / "fish" / "completions" / "tally.fish",
    }[shell]


def completion_files(user: Path, environment: Mapping[str, str]) -> Iterator[Path]:
    """The files of ours that are in place."""
    for shell in SHELLS:
        path = completion_file(shell, user, environment)
        if is_ours(read_settings(path)):
            yield path


def is_ours(content: bytes | None) -> bool:
    """Whether a file was made by us: its first lines say so."""
    return content is not None and MARK.encode() in content[:500]


def write_completion(path: Path, text: str) -> bool:
    """Put a completion in place; False if it is there as it is.

    Raises:
        SourceError: the file is someone else's, or cannot be written.
    """
    before = read_settings(path)
    if before is not None and not is_ours(before):
        raise SourceError(f"{path} is not a file of Tallystick", hint="move it away, then try again")
    if before == text.encode():
        return False
    write_settings(path, text.encode(), expected=before)
    return True


def remove_completion(path: Path) -> None:
    """Remove a completion of ours. Raises SourceError: it cannot be removed."""
    content = read_settings(path)
    if is_ours(content) and content is not None:
        remove_settings(path, expected=content)
