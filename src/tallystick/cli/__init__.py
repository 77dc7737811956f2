"""The command line: parse, call one operation, render.

This module has the table of commands; each group of them has a module, loaded when it is called.
`main` is the console script.
"""

from __future__ import annotations

from tallystick.cli.command import Main

_COMMANDS = {
    "init": ("start:init", "Make a store."),
    "up": ("up:up", "Find the agents on this machine, connect to each, start the recorder."),
    "demo": ("demo:demo", "See it at work on recorded sessions, in a throw-away store."),
    "doctor": ("doctor:doctor", "Check everything that live capture needs"),
    "status": ("start:status", "What the store holds, and whether anything is pending."),
    "version": ("start:version", "The versions of the program and of the record format."),
    "config": ("config:config", "Show and change settings."),
    "completion": ("completion:completion", "Have the shell complete commands, ids, rules and settings."),
    "run": ("run:run", "Run a command and record it: its processes, its effects on files, its end."),
    "watch": ("watch:watch", "Record what happens to files, until Ctrl-C."),
    "import": ("import_:import_", "Take in the histories that agents keep on this machine."),
    "ingest": ("ingest:ingest", "Record events that a program writes as lines of JSON."),
    "otlp": ("otlp:otlp", "Receive logs and spans by OTLP/HTTP"),
    "acp": ("acp:acp", "Run an agent between its editor and itself, and record what they say."),
    "mcp": ("mcp:mcp", "Run an MCP server between its client and itself, and record what they say."),
    "session": ("sessions:session", "List sessions, show one, draw their tree, compare two."),
    "checkpoint": ("checkpoint:checkpoint", "Labelled marks at positions of sessions, and whether they hold."),
    "log": ("log:log", "Steps of all sessions, newest first."),
    "show": ("show:show", "Everything about one step."),
    "tui": ("tui:tui", "Look through sessions on the full screen, by keys."),
    "replay": ("replay:replay", "A session step by step, as it happened."),
    "search": ("search:search", "Find steps by the words in them."),
    "sql": ("sql:sql", "Ask the index in SQL."),
    "export": ("export:export", "Write a session in another format."),
    "why": ("why:why", "Why something is there"),
    "impact": ("why:impact", "What came of something"),
    "graph": ("graph:graph", "Draw the graph around something."),
    "taint": ("taint:taint", "Where something came from, down to what came from outside or from a secret."),
    "artifact": ("artifact:artifact", "The files, pages and resources that agents touched."),
    "cost": ("cost:cost", "What was spent, in tokens and money"),
    "coverage": (
        "coverage:coverage",
        "What the record lacks: calls without results, steps that one source alone told",
    ),
    "drift": ("drift:drift", "Which part of a configuration differs between two sessions, or since one session."),
    "policy": ("policy:policy", "What agents may do: the rules, why they speak, and trying others."),
    "alerts": ("alerts:alerts", "What the rules found, newest first"),
    "alert": ("alerts:alert", "One alert: what stands behind it, and what people say of it."),
    "verify-log": ("alerts:verify_log", "Check that no alert was changed, added, moved or deleted."),
    "verify": ("verify:verify", "Check that the record is whole, unchanged and signed."),
    "prove": ("prove:prove", "Prove that a step is in the record."),
    "install": ("install:install", "Have an agent call our hook"),
    "uninstall": ("install:uninstall", "Take our hook out of an agent's settings"),
    "agents": ("install:agents", "The agents on this machine"),
    "audit-config": ("audit_config:audit_config", "What the settings of the agents on this machine let them do"),
    "service": ("service:service", "The resident recorder, which answers the agents' hooks."),
    "hook": ("hook:hook", "Deliver the payload on stdin as an agent's hook does"),
    "signer": ("signer:signer", "A process of another user that holds the key"),
    "anchor": ("anchor:anchor", "Have heads of the store kept off this machine"),
    "erase": ("erase:erase", "Remove a value for good; the record still verifies."),
    "rebuild": ("rebuild:rebuild", "Make the index anew from the journals."),
}
_AREAS = {
    "Start": ("init", "up", "demo", "status", "doctor", "version", "config", "completion"),
    "Record": (
        "agents",
        "install",
        "uninstall",
        "import",
        "run",
        "watch",
        "service",
        "ingest",
        "otlp",
        "acp",
        "mcp",
        "hook",
    ),
    "Look": ("tui", "session", "checkpoint", "log", "show", "replay", "search", "sql", "export"),
    "Ask": ("why", "impact", "graph", "taint", "artifact", "coverage", "drift", "cost"),
    "Decide": ("policy", "alerts", "alert", "verify-log"),
    "Trust": ("audit-config", "verify", "prove", "signer", "anchor", "erase", "rebuild"),
}

main = Main(
    "tally",
    lazy={name: (f"tallystick.cli.{place}", does) for name, (place, does) in _COMMANDS.items()},
    areas=_AREAS,
    help="A sealed record of what AI agents did. Start with `tally demo`, or with `tally up`.",
)
