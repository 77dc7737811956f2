"""The command line: parse, call one operation, render.

This module has the table of commands. Each group of them has a module, which is loaded when it is called. `main` is the
console script.
"""

from __future__ import annotations

from tallystick.cli.command import Main

_COMMANDS = {
    "init": ("start.store:init", "Create a store."),
    "up": ("start.up:up", "Find the agents on this machine, connect to each, start the recorder."),
    "demo": ("start.demo:demo", "Show the commands on recorded sessions, in a temporary store."),
    "doctor": ("start.doctor:doctor", "Check everything that live capture needs"),
    "status": ("start.store:status", "Show what the store holds and what is pending."),
    "version": ("start.store:version", "Show the versions of the program and of the record format."),
    "config": ("start.config:config", "Show and change settings."),
    "completion": (
        "start.completion:completion",
        "Print the completion script of a shell, or install it for this user.",
    ),
    "run": ("record.run:run", "Run a command and record its processes, file changes and exit."),
    "watch": ("record.watch:watch", "Record file changes until Ctrl-C."),
    "import": ("record.import_:import_", "Import the histories that agents keep on this machine."),
    "ingest": ("record.ingest:ingest", "Record events that a program writes as lines of JSON."),
    "otlp": ("record.otlp:otlp", "Receive logs and spans by OTLP/HTTP"),
    "acp": ("record.acp:acp", "Run an agent behind its editor and record the messages between them."),
    "mcp": ("record.mcp:mcp", "Run an MCP server behind its client and record the messages between them."),
    "session": ("look.sessions:session", "List sessions, show one, draw their tree, compare two."),
    "checkpoint": (
        "look.checkpoint:checkpoint",
        "Create, list and verify checkpoints: labelled marks at positions of sessions.",
    ),
    "log": ("look.log:log", "What agents did, of all sessions, the newest last."),
    "show": ("look.show:show", "Show everything about one step."),
    "tui": ("look.tui:tui", "Browse sessions full-screen."),
    "open": ("look.open:open_", "Look at records from elsewhere"),
    "replay": ("look.replay:replay", "Replay a session step by step."),
    "search": ("look.search:search", "Find steps by the words in them."),
    "sql": ("look.sql:sql", "Query the index in SQL."),
    "export": ("look.export:export", "Export a session in another format."),
    "why": ("ask.why:why", "Which prompt and calls produced a file, URL or step."),
    "impact": ("ask.why:impact", "What was later made from a file, URL or step"),
    "graph": ("ask.graph:graph", "Draw the provenance graph around a file, URL, step or session."),
    "taint": ("ask.taint:taint", "Trace content back to its untrusted and secret sources."),
    "artifact": ("ask.artifact:artifact", "List the files, pages and resources that agents used."),
    "cost": ("ask.cost:cost", "Show what was spent, in tokens and money"),
    "coverage": (
        "ask.coverage:coverage",
        "Whether anything is missing in the record, and what",
    ),
    "drift": (
        "ask.drift:drift",
        "Show which parts of a configuration differ between two sessions, or since one session.",
    ),
    "policy": ("decide.policy:policy", "Show the policy rules, why each rule fired, and test other rules."),
    "alerts": ("decide.alerts:alerts", "Denied, questioned and flagged calls, newest first"),
    "alert": ("decide.alerts:alert", "One alert: its evidence and its reviews."),
    "verify-log": ("decide.alerts:verify_log", "Check that no alert was changed, added, moved or deleted."),
    "verify": ("trust.verify:verify", "Check that the record is intact, complete and signed."),
    "prove": ("trust.prove:prove", "Prove that a step is in the record."),
    "install": ("record.install:install", "Connect an agent: add Tallystick's hook to its settings."),
    "uninstall": ("record.install:uninstall", "Disconnect an agent: remove the hook."),
    "agents": ("record.install:agents", "List the agents on this machine"),
    "audit-config": ("trust.audit_config:audit_config", "Audit what the settings of the agents on this machine allow"),
    "service": ("record.service:service", "The resident recorder, which answers the agents' hooks."),
    "hook": ("record.hook:hook", "Deliver the payload on stdin as an agent's hook does"),
    "signer": ("trust.signer:signer", "Set up a signer: a process of another user that holds the key"),
    "anchor": ("trust.anchor:anchor", "Publish signed log heads to another machine."),
    "erase": ("trust.erase:erase", "Erase a value permanently; the record still verifies."),
    "secrets": ("trust.secrets:secrets", "Secrets that are in the record already."),
    "new": ("extend.new:new", "Draft what Tallystick can be extended by."),
    "rebuild": ("trust.rebuild:rebuild", "Rebuild the index from the journals."),
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
    "Look": ("tui", "session", "checkpoint", "log", "show", "replay", "search", "open", "sql", "export"),
    "Ask": ("why", "impact", "graph", "taint", "artifact", "coverage", "drift", "cost"),
    "Decide": ("policy", "alerts", "alert", "verify-log"),
    "Trust": ("audit-config", "verify", "prove", "signer", "anchor", "erase", "secrets", "rebuild"),
    "Extend": ("new",),
}

main = Main(
    "tally",
    lazy={name: (f"tallystick.cli.{place}", does) for name, (place, does) in _COMMANDS.items()},
    areas=_AREAS,
    help="A sealed record of what AI agents did. Start with `tally demo`, or with `tally up`.",
)
