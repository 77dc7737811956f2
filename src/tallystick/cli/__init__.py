"""The command line: parse, call one operation, render.

This module has the table of commands; each group of them has a module, loaded when it is called.
`main` is the console script.
"""

from __future__ import annotations

from tallystick.cli.command import Main

_COMMANDS = {
    "init": ("start.store:init", "Make a store."),
    "up": ("start.up:up", "Find the agents on this machine, connect to each, start the recorder."),
    "demo": ("start.demo:demo", "See it at work on recorded sessions, in a throw-away store."),
    "doctor": ("start.doctor:doctor", "Check everything that live capture needs"),
    "status": ("start.store:status", "What the store holds, and whether anything is pending."),
    "version": ("start.store:version", "The versions of the program and of the record format."),
    "config": ("start.config:config", "Show and change settings."),
    "completion": (
        "start.completion:completion",
        "Print the completion script of a shell, or install it for this user.",
    ),
    "run": ("record.run:run", "Run a command and record it: its processes, its effects on files, its end."),
    "watch": ("record.watch:watch", "Record what happens to files, until Ctrl-C."),
    "import": ("record.import_:import_", "Take in the histories that agents keep on this machine."),
    "ingest": ("record.ingest:ingest", "Record events that a program writes as lines of JSON."),
    "otlp": ("record.otlp:otlp", "Receive logs and spans by OTLP/HTTP"),
    "acp": ("record.acp:acp", "Run an agent between its editor and itself, and record what they say."),
    "mcp": ("record.mcp:mcp", "Run an MCP server between its client and itself, and record what they say."),
    "session": ("look.sessions:session", "List sessions, show one, draw their tree, compare two."),
    "checkpoint": ("look.checkpoint:checkpoint", "Labelled marks at positions of sessions, and whether they hold."),
    "log": ("look.log:log", "Steps of all sessions, newest first."),
    "show": ("look.show:show", "Everything about one step."),
    "tui": ("look.tui:tui", "Look through sessions on the full screen, by keys."),
    "replay": ("look.replay:replay", "A session step by step, as it happened."),
    "search": ("look.search:search", "Find steps by the words in them."),
    "sql": ("look.sql:sql", "Ask the index in SQL."),
    "export": ("look.export:export", "Write a session in another format."),
    "why": ("ask.why:why", "Why something is there"),
    "impact": ("ask.why:impact", "What came of something"),
    "graph": ("ask.graph:graph", "Draw the graph around something."),
    "taint": ("ask.taint:taint", "Where something came from, down to what came from outside or from a secret."),
    "artifact": ("ask.artifact:artifact", "The files, pages and resources that agents touched."),
    "cost": ("ask.cost:cost", "What was spent, in tokens and money"),
    "coverage": (
        "ask.coverage:coverage",
        "What the record lacks: calls without results, steps that one source alone told",
    ),
    "drift": ("ask.drift:drift", "Which part of a configuration differs between two sessions, or since one session."),
    "policy": ("decide.policy:policy", "What agents may do: the rules, why they speak, and trying others."),
    "alerts": ("decide.alerts:alerts", "What the rules found, newest first"),
    "alert": ("decide.alerts:alert", "One alert: what stands behind it, and what people say of it."),
    "verify-log": ("decide.alerts:verify_log", "Check that no alert was changed, added, moved or deleted."),
    "verify": ("trust.verify:verify", "Check that the record is whole, unchanged and signed."),
    "prove": ("trust.prove:prove", "Prove that a step is in the record."),
    "install": ("record.install:install", "Have an agent call our hook"),
    "uninstall": ("record.install:uninstall", "Take our hook out of an agent's settings"),
    "agents": ("record.install:agents", "The agents on this machine"),
    "audit-config": ("trust.audit_config:audit_config", "What the settings of the agents on this machine let them do"),
    "service": ("record.service:service", "The resident recorder, which answers the agents' hooks."),
    "hook": ("record.hook:hook", "Deliver the payload on stdin as an agent's hook does"),
    "signer": ("trust.signer:signer", "A process of another user that holds the key"),
    "anchor": ("trust.anchor:anchor", "Have heads of the store kept off this machine"),
    "erase": ("trust.erase:erase", "Remove a value for good; the record still verifies."),
    "new": ("extend.new:new", "Draft what Tallystick can be extended by."),
    "rebuild": ("trust.rebuild:rebuild", "Make the index anew from the journals."),
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
    "Extend": ("new",),
}

main = Main(
    "tally",
    lazy={name: (f"tallystick.cli.{place}", does) for name, (place, does) in _COMMANDS.items()},
    areas=_AREAS,
    help="A sealed record of what AI agents did. Start with `tally demo`, or with `tally up`.",
)
