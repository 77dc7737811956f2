"""A machine on which agents work: a home folder, a project, a store, and a Decider that judges calls before they are made."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256
from pathlib import Path

from msgspec.structs import replace

from tallystick.guard.decide import Decider
from tallystick.guard.grounds import AgentMachine
from tallystick.ingest.watch_steps import effect_step
from tallystick.journal.home import Home
from tallystick.live.alerts import decided_step
from tallystick.model.decision import Call, Decision, Effect
from tallystick.model.effect import EffectKind, FileEffect
from tallystick.model.step import Json, Opening, Ref, SessionKind, Source, Step
from tallystick.recording.record import as_said
from tallystick.recording.session_writer import SessionWriter
from tallystick.recording.store import init_store
from tallystick.workspace.index_live import index_sessions

AGENT = "claude-code"


class Work:
    """Sessions of agents on one machine. Use it as a context manager."""

    def __init__(self, folder: Path, home: Home | None = None) -> None:
        """Work in a folder; `home` is the store, if it is not one of its own."""
        self.user = folder / "dev"
        self.project = self.user / "project"
        self.project.mkdir(parents=True)
        self.home = home or Home(self.user / ".tally")
        init_store(self.home)
        self.session_writer = SessionWriter(self.home)
        self.decider = self._new()
        self.is_indexed = True
        """Whether the index is brought up to date after each call, as happens when nobody waits for it."""
        self._begun: dict[tuple[str, str], Opening] = {}
        self._calls = 0

    def __enter__(self) -> Work:
        return self

    def __exit__(self, *_: object) -> None:
        self.session_writer.close()

    def _new(self) -> Decider:
        # A checkout lies where the tests run: the program's own files are not what is tested here.
        return Decider(
            self.home,
            AgentMachine(self.user, environment={"HOME": str(self.user)}, package=self.user / "site-packages"),
        )

    def restart(self) -> None:
        """Go on with a new Decider, as a recorder does that begins anew."""
        self.decider = self._new()

    def write(self, path: str, text: str) -> Path:
        """Put a file on the machine without an agent; relative to the project."""
        place = self.project / path
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_text(text, "utf-8")
        return place

    # Sessions -------------------------------------------------------------------------------------------------------

    def begin(self, session: str, *, agent: str = AGENT, parent: str | None = None, prompt: str = "Go on.") -> None:
        """Begin a session with a prompt; as a sub-agent of `parent` if one is named."""
        if (agent, session) in self._begun:
            return
        opening = Opening(
            session=session,
            agent=agent,
            source=Source.HOOK,
            kind=SessionKind.ROOT if parent is None else SessionKind.CHILD,
            parent=Ref(session=parent) if parent is not None else None,
            values=as_said({"personal.cwd": str(self.project)}),
        )
        self._begun[(agent, session)] = opening
        self.session_writer.open(opening)
        self.prompt(session, prompt, agent=agent, is_task=parent is not None)

    def prompt(self, session: str, text: str = "Go on.", *, agent: str = AGENT, is_task: bool = False) -> None:
        """What the user, or a parent, says."""
        meta = {"origin": "parent"} if is_task else {}
        step = self._step(session, "user", f"prompt-{self._calls}-{text[:20]}", meta, {"content.text": text})
        self.session_writer.add(agent, replace(step, opens_request=not is_task))

    # Calls ----------------------------------------------------------------------------------------------------------

    def ask(
        self, tool: str, args: Json, *, session: str = "now", agent: str = AGENT, call_id: str | None = None
    ) -> Decision:
        """What is decided on a call now. It is not made."""
        call = Call(agent=agent, session=session, tool=tool, args=args, cwd=str(self.project), call_id=call_id)
        return self.decider.decide(call)

    def run(self, command: str, *, session: str = "now", agent: str = AGENT) -> Decision:
        """What is decided on a command now. It is not run."""
        return self.ask("Bash", {"command": command}, session=session, agent=agent)

    def call(
        self,
        tool: str,
        args: Json,
        *,
        session: str = "now",
        agent: str = AGENT,
        result: str | None = "done",
        success: bool = True,
        leaves: Mapping[str, str] | None = None,
        is_judged: bool = True,
    ) -> Decision:
        """A call is judged and made, unless it is denied; what is asked about is made: the user said yes.

        Args:
            result: what it gave; None: nothing is told of it yet.
            leaves: what it left in the project.
            is_judged: False: it was made where no Decider was asked, or another one.
        """
        self.begin(session, agent=agent)
        decision = self.ask(tool, args, session=session, agent=agent) if is_judged else Decision()
        self._calls += 1
        corr = f"call-{self._calls}"
        meta: dict[str, Json] = {"tool": tool, "corr": corr}
        step = self._step(session, "tool_call", corr, meta, {"content.args": args})
        taken = self.session_writer.add(agent, step)
        if decision.effect is not Effect.ALLOW or decision.grants:
            self.session_writer.add(agent, decided_step(step, decision))
        if decision.effect is not Effect.DENY:
            for path, text in (leaves or {}).items():
                self.write(path, text)
            if result is not None:
                told = {**meta, "success": success}
                self.session_writer.add(
                    agent, self._step(session, "tool_result", corr, told, {"content.output": result})
                )
        self.session_writer.seal()
        if self.is_indexed:
            index_sessions(self.home, [taken.session])
        return decision

    def wrote(self, path: str, text: str, *, session: str = "now", agent: str = AGENT) -> Decision:
        """A session writes a file of the project, whole."""
        args = {"file_path": str(self.project / path), "content": text}
        return self.call("Write", args, session=session, agent=agent, leaves={path: text})

    def watched(self, path: str, *, session: str = "now", agent: str = AGENT) -> str:
        """A watcher has seen the last change of a file; its digest now."""
        place = self.project / path
        digest = f"sha256:{sha256(place.read_bytes()).hexdigest()}"
        at_ms = place.stat().st_mtime_ns // 1_000_000
        effect = FileEffect(kind=EffectKind.MODIFY, path=str(place), at_ms=at_ms, digest=digest)
        taken = self.session_writer.add(agent, replace(effect_step(effect), session=session))
        self.session_writer.seal()
        index_sessions(self.home, [taken.session])
        return digest

    def _step(self, session: str, kind: str, name: str, meta: Mapping[str, Json], values: Mapping[str, Json]) -> Step:
        return Step(
            session=session,
            type=kind,
            source=Source.HOOK,
            source_id=f"{name}/{kind}",
            meta=as_said(meta),
            values=as_said(values),
        )
