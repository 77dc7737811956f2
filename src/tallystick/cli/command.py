"""What all commands share: options, help with an example, lazy loading, and exit codes.

Owns the exit codes of DESIGN 3 that do not come from a verdict: 0, 1 could not run, 64 usage, 130 interrupted, 141
closed pipe. Must not know any command: `tallystick.cli` lists them.
"""

from __future__ import annotations

import contextlib
import gc
import os
import sys
from collections.abc import Callable, Mapping, Sequence
from functools import wraps
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from tallystick.cli.context import Run, error_envelope
from tallystick.cli.version import VERSION
from tallystick.display.text import lines
from tallystick.errors import TallystickError, UsageError

if TYPE_CHECKING:
    import msgspec

FAILED = 1
TAMPERED = 2
USAGE = 64
INTERRUPTED = 130
PIPE_CLOSED = 141


class Command(click.Command):
    """A command with the options that every command takes, and an example at the end of its help."""

    def __init__(self, *args: Any, example: str, **named: Any) -> None:
        named.setdefault("context_settings", {"help_option_names": ["-h", "--help"]})
        super().__init__(*args, **named)
        # Docstrings are raw where they keep lines unchanged, so that click's mark is two characters there.
        if self.help is not None:
            self.help = self.help.replace("\\b\n", "\b\n")
        else:
            self.help = None
        self.example = example
        self.params += [*_json_option(), *_global_options(hidden=True)]

    def format_epilog(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """The example, with its line breaks."""
        with formatter.section("Example"):
            formatter.write("".join(f"  {line}\n" for line in self.example.splitlines()))
        super().format_epilog(ctx, formatter)


def options_as(kind: type[msgspec.Struct], name: str = "options") -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Give a command the options that `kind` has as members in one value: its argument `name`."""

    def gather(command: Callable[..., Any]) -> Callable[..., Any]:
        @wraps(command)
        def call(*args: Any, **given: Any) -> Any:
            value = kind(**{member: given.pop(member) for member in kind.__struct_fields__})
            return command(*args, **given, **{name: value})

        return call

    return gather


def _remember(name: str) -> Callable[[click.Context, click.Parameter, Any], None]:
    """A callback that stores an option's value in the Run, wherever the option appeared."""

    def keep(context: click.Context, _: click.Parameter, value: Any) -> None:
        if value:
            setattr(context.ensure_object(Run), name, value)

    return keep


def _json_option() -> list[click.Parameter]:
    text = "Print the answer as one JSON document."
    return [click.Option(["--json"], is_flag=True, expose_value=False, callback=_remember("json"), help=text)]


def _global_options(*, hidden: bool) -> list[click.Parameter]:
    """The options of `tally` itself. They may also follow the command, where help does not list them again."""
    common: dict[str, Any] = {"expose_value": False, "hidden": hidden}
    folder = click.Path(path_type=Path, file_okay=False)
    where = "The store's folder.  [default: $TALLY_HOME, else ~/.tally]"
    return [
        click.Option(["--home"], type=folder, metavar="DIR", callback=_remember("folder"), help=where, **common),
        click.Option(
            ["--quiet", "-q"], is_flag=True, callback=_remember("quiet"), help="No warnings, no progress.", **common
        ),
        click.Option(
            ["--no-color"],
            is_flag=True,
            callback=_remember("no_color"),
            help="No colours; NO_COLOR does the same.",
            **common,
        ),
    ]


def _version_option() -> click.Parameter:
    """The conventional `--version`; `tally version` says more."""

    def tell(context: click.Context, _: click.Parameter, value: bool) -> None:
        if value and not context.resilient_parsing:
            click.echo(f"tallystick {VERSION}")
            context.exit()

    return click.Option(
        ["--version"], is_flag=True, is_eager=True, expose_value=False, callback=tell, help="The program's version."
    )


class Group(click.Group):
    """A group that loads each command when it is called: `tally version` does not import what `tally log` needs.

    Args:
        lazy: by name, where a command is (`module:attribute`) and its one-line summary for the list in the help.
        areas: the headings of that list, each with its commands; empty for one list.
    """

    def __init__(
        self,
        *args: Any,
        lazy: Mapping[str, tuple[str, str]],
        areas: Mapping[str, Sequence[str]] | None = None,
        **named: Any,
    ) -> None:
        named.setdefault("context_settings", {"help_option_names": ["-h", "--help"]})
        super().__init__(*args, **named)
        self.lazy = lazy
        if areas is not None:
            self.areas = areas
        else:
            self.areas = {"Commands": tuple(lazy)}

    def list_commands(self, ctx: click.Context) -> list[str]:
        """The names of all commands, in the order of the help."""
        return list(self.lazy)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """Load and return the command with that name; None if it does not exist."""
        if cmd_name not in self.lazy:
            return None
        module, _, attribute = self.lazy[cmd_name][0].partition(":")
        command = getattr(import_module(module), attribute)
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """The command that the first word names.

        Raises:
            click.UsageError: the command does not exist; the message has the nearest names.
        """
        if args and args[0] not in self.lazy and not args[0].startswith("-") and not ctx.resilient_parsing:
            from tallystick.model.did_you_mean import nearest

            raise click.UsageError(f"no command {args[0]!r}{nearest(args[0], self.lazy)}", ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List all commands with their summaries, without loading any."""
        widest = max(map(len, self.lazy))
        for heading, names in self.areas.items():
            with formatter.section(heading):
                rows = [(name.ljust(widest), self.lazy[name][1]) for name in names]
                # The summary is a prefix of the command's help and may end before the sentence does.
                formatter.write_dl([(name, does if does.endswith(".") else f"{does}.") for name, does in rows])


_OBJECTS = 20_000
"""After so many new objects garbage is looked for. Modules and tables stay: Python's 700 cost a command up to 20 ms."""


class Main(Group):
    """`tally` itself: it turns errors into messages and exit codes."""

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self.params += [*_global_options(hidden=False), _version_option()]

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        """Run the command that the words name, and end the process with its exit code."""
        if not standalone_mode:
            return super().main(args, prog_name, complete_var, False, **extra)
        words = list(sys.argv[1:] if args is None else args)
        gc.set_threshold(_OBJECTS)
        _open_closed_streams()
        for stream in (sys.stdout, sys.stderr):
            with contextlib.suppress(AttributeError, ValueError):
                stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
        # The name is fixed: completion and help say what people type, whatever the file is called.
        sys.exit(
            _exit_code_of(lambda: self.main(words, "tally", complete_var, False, **extra), as_json="--json" in words)
        )

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command, and flush its output.

        An exit code that a command chose is kept even if the reader closed the pipe.
        """
        try:
            result = super().invoke(ctx)
        except SystemExit as end:
            if not end.code:
                _flush()
            else:
                with contextlib.suppress(SystemExit, TallystickError):
                    _flush()
            raise
        except OSError as error:
            _flush()  # the error may be about the output
            if isinstance(error, BrokenPipeError):  # of an output that was too long to buffer
                raise SystemExit(PIPE_CLOSED) from None
            raise
        _flush()
        return result


def _open_closed_streams() -> None:
    """Open closed standard streams on the null device, so that no file opened later takes their place."""
    for name, mode in (("stdin", "r"), ("stdout", "w"), ("stderr", "w")):
        if getattr(sys, name) is None:
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115 they stay open


def _flush() -> None:
    """Flush the buffers. If that fails, discard them: the interpreter would retry at exit and print an error."""
    try:
        sys.stdout.flush()
    except OSError as error:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            raise SystemExit(PIPE_CLOSED) from None
        raise TallystickError(f"cannot write the output: {error.strerror}") from error


def _exit_code_of(run: Callable[[], Any], *, as_json: bool) -> int:
    """Run something and return its exit code; report errors on stderr, with --json on stdout too."""
    try:
        result = run()
        return result if isinstance(result, int) else 0
    except click.exceptions.NoArgsIsHelpError as error:
        click.echo(error.format_message(), err=True)
        return USAGE
    except click.UsageError as error:
        command = "tally"
        if error.ctx is not None:
            command = error.ctx.command_path
        return _fail(error.format_message().removesuffix("."), f"see `{command} --help`", USAGE, as_json)
    except click.ClickException as error:
        return _fail(error.format_message(), None, FAILED, as_json)
    except (click.Abort, KeyboardInterrupt):
        return _fail("interrupted", None, INTERRUPTED, as_json)
    except TallystickError as error:
        return _fail(str(error), error.hint, USAGE if isinstance(error, UsageError) else FAILED, as_json)
    except OSError as error:
        return _fail(_os_error_text(error), None, FAILED, as_json)
    except Exception as error:
        if os.environ.get("TALLY_DEBUG"):
            raise
        what = f"internal error: {type(error).__name__}: {error}"
        return _fail(what, "run it again with TALLY_DEBUG=1 for a traceback, and report it", FAILED, as_json)


def _os_error_text(error: OSError) -> str:
    if error.filename:
        return f"{error.filename}: {error.strerror}"
    return error.strerror or str(error)


def _fail(message: str, hint: str | None, code: int, as_json: bool) -> int:
    if as_json:
        with contextlib.suppress(OSError):
            click.echo(error_envelope({"message": message, "hint": hint, "exit_code": code}))
    told = lines(f"tally: {message}") + (lines(f"hint: {hint}") if hint else [])
    with contextlib.suppress(OSError):
        click.echo("\n".join(told), err=True)
    return code
