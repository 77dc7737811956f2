"""The command line: parse, call one operation, render.

This module has the table of commands; each group of them has a module, loaded when it is called.
`main` is the console script.
"""

from __future__ import annotations

from tallystick.cli.frame import Main

_COMMANDS = {
    "init": ("start:init", "Make a store."),
    "demo": ("demo:demo", "See it at work on recorded sessions, in a throw-away store."),
    "status": ("start:status", "What the store holds, and whether anything is pending."),
    "version": ("start:version", "The versions of the program and of the record format."),
    "config": ("config:config", "Show and change settings."),
    "import": ("import_:import_", "Take in the histories that agents keep on this machine."),
    "session": ("sessions:session", "List sessions, show one, draw their tree."),
    "log": ("log:log", "Steps of all sessions, newest first."),
    "show": ("show:show", "Everything about one step."),
    "replay": ("replay:replay", "A session step by step, as it happened."),
    "search": ("search:search", "Find steps by the words in them."),
    "export": ("export:export", "Write a session in another format."),
    "verify": ("verify:verify", "Check that the record is whole, unchanged and signed."),
    "service": ("service:service", "The resident recorder, which answers the agents' hooks."),
    "erase": ("erase:erase", "Remove a value for good; the record still verifies."),
    "rebuild": ("rebuild:rebuild", "Make the index anew from the journals."),
}
_AREAS = {
    "Start": ("init", "demo", "status", "version", "config"),
    "Record": ("import", "service"),
    "Look": ("session", "log", "show", "replay", "search", "export"),
    "Trust": ("verify", "erase", "rebuild"),
}

main = Main(
    "tally",
    lazy={name: (f"tallystick.cli.{place}", does) for name, (place, does) in _COMMANDS.items()},
    areas=_AREAS,
    help="A sealed record of what AI agents did. Start with `tally demo`, or with `tally import`.",
)
