"""W3C PROV of a session, as PROV-JSON: one document, on one line.

Owns which record each step and relation becomes:

    session                       entity, a prov:Collection of its prompts and of the versions that its calls made
    prompt                        entity, attributed to the user, used by its request
    version of a file, URL…       entity
    request, call, observed effect  activity
    the agent in this session, the model, the user   agents; a sub-agent acts on behalf of the agent that started it

    consumed_by, reached          used                    derived_from of artifacts   wasDerivedFrom, turned round
    produced, modified, made by   wasGeneratedBy          derived_from of requests    wasInformedBy, turned round
    deleted                       wasInvalidatedBy        caused                      wasInformedBy, turned round

PROV lets an entity be generated and invalidated once only: a further relation of that kind becomes wasInfluencedBy. That a
request did what its calls did is said once, of the call, which was informed by the request.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from datetime import UTC, datetime
from hashlib import sha256
from typing import TypeAlias

from msgspec.structs import replace

from tallystick.exports._latest import latest
from tallystick.exports.lineage import ArtifactVersion, Edge, Lineage, Node
from tallystick.model.recorded import Recorded
from tallystick.model.step import Json
from tallystick.seal.tagged import as_sealed

NAMESPACE = "urn:tallystick:"
_PREFIX = "tally"
_UNSAFE = re.compile(r"[^A-Za-z0-9._-]")
_LONGEST_NAME = 80
_LONGEST_TEXT = 65_536
_LAST_MS = 253_402_300_799_999  # the year 9999

Values: TypeAlias = dict[str, Json]


def qualified(name: str) -> dict[str, str]:
    """A value that is a name: `prov:Person`."""
    return {"$": name, "type": "prov:QUALIFIED_NAME"}


def time_of_ms(at_ms: int) -> str:
    """A time as PROV has it, from milliseconds since 1970."""
    moment = datetime.fromtimestamp(min(max(at_ms, 0), _LAST_MS) / 1000, UTC)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


class Document:
    """Records as they are added. A record of the same kind and name is added once."""

    def __init__(self) -> None:
        self._records: dict[str, dict[str, Values]] = {}
        self._count = 0

    def add(self, kind: str, name: str, values: Values) -> Values:
        """Add an entity, activity or agent; its values, which may still change."""
        return self._records.setdefault(kind, {}).setdefault(name, values)

    def add_named(self, kind: str, prefix: str, said: str, values: Values) -> str:
        """Add a record that bears a name of others, made fit for a name here; the name that it has."""
        safe = _UNSAFE.sub("_", said)[:_LONGEST_NAME]
        if safe == said:
            name = f"{prefix}-{safe}"
        else:
            name = f"{prefix}-{safe}-{sha256(said.encode()).hexdigest()[:8]}"
        self.add(kind, name, values)
        return name

    def has(self, kind: str, name: str) -> bool:
        """Whether there is such a record."""
        return name in self._records.get(kind, {})

    def values(self, kind: str, name: str) -> Values:
        """The values of a record that was added."""
        return self._records[kind][name]

    def relate(self, kind: str, ends: Mapping[str, str], values: Mapping[str, Json] | None = None) -> None:
        """Add a relation between records, by the roles of its ends."""
        self._count += 1
        named = {role: f"{_PREFIX}:{name}" for role, name in ends.items()}
        self._records.setdefault(kind, {})[f"_:r{self._count}"] = {**named, **(values or {})}

    def text(self) -> bytes:
        """The document as JSON on one line, with its LF."""
        records = {
            kind: {self._full(kind, name): _spelled(values) for name, values in found.items()}
            for kind, found in self._records.items()
        }
        document = {"prefix": {_PREFIX: NAMESPACE}, **records}
        return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "replace") + b"\n"

    def _full(self, kind: str, name: str) -> str:
        if kind in ("entity", "activity", "agent"):
            return f"{_PREFIX}:{name}"
        return name


def _spelled(values: Mapping[str, Json]) -> Values:
    return {key: _value(value) for key, value in values.items() if value is not None}


def _value(value: Json) -> Json:
    """A value with its type where JSON's own does not say it."""
    if isinstance(value, bool):
        return {"$": "true" if value else "false", "type": "xsd:boolean"}
    if isinstance(value, int):
        return {"$": str(value), "type": "xsd:int" if -(1 << 31) <= value < 1 << 31 else "xsd:long"}
    if isinstance(value, float):
        return {"$": repr(value), "type": "xsd:double"}
    if isinstance(value, dict) and value.get("type") == "prov:QUALIFIED_NAME":
        return value
    return (value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))[:_LONGEST_TEXT]


NAME = "prov-json"
WANTS_LINEAGE = True
LOSSES: tuple[str, ...] = (
    "steps that are no prompt, request, call or observed effect",
    "what was said and returned, but for prompts and the arguments of calls",
    "what was only intended: relations are what is confirmed",
    "tokens, cost and settings of models",
    "earlier states of revised steps, sightings and recoveries",
    "hashes and seals: the export cannot be verified, the journal can",
)

_ACTIVITIES = frozenset(("tool_call", "model_call", "file_effect", "process", "network"))
_OBSERVED = frozenset(("file_effect", "process", "network"))
_USED = frozenset(("consumed_by", "reached"))
_MADE = frozenset(("produced", "modified"))


def write(
    steps: Iterable[Recorded], *, session: str, with_content: bool, lineage: Lineage | None = None
) -> Iterator[bytes]:
    """The document of a session. Without content it has neither prompts, arguments, paths, digests nor evidence."""
    made = _Provenance(session, lineage or Lineage(), with_content=with_content)
    for step in latest(map(as_sealed, steps)):
        if "corroborates" not in step.meta:
            if with_content:
                made.take(step)
            else:
                made.take(replace(step, values={}))
    yield from made.finish()


class _Provenance:
    """Makes a document of steps, then of relations."""

    def __init__(self, session: str, lineage: Lineage, *, with_content: bool) -> None:
        self._document = Document()
        self._called = session
        self._lineage = lineage
        self._with_content = with_content
        self._sid = ""
        self._collection: Values = {}
        self._results: dict[str, tuple[str, str]] = {}
        """Activity and its number of each call that awaits its result, by the id of the call."""
        self._requests: dict[int, Values] = {}
        self._known: set[str] = set()
        self._versions = {version.id: version for version in lineage.artifacts}
        self._names: dict[int, str] = {}
        self._generated: set[int] = set()
        self._invalidated: set[int] = set()

    # Steps ----------------------------------------------------------------------------------------------------------

    def take(self, step: Recorded) -> None:
        """Take the next step."""
        if not self._sid:
            self._begin(step)
        self._collection |= {"tally:entries": step.n + 1, "tally:last_hash": step.hash}
        request = self._requests.get(_number(step, "request"))
        if request is not None:
            request["prov:endTime"] = _time(step) or request.get("prov:endTime")
        if step.type == "user" and "origin" not in step.meta:
            self._open_request(step)
        elif step.type in _ACTIVITIES:
            self._do(step)
        elif step.type == "tool_result":
            self._end(step)
        elif step.type == "subagent_end":
            self._delegate(step)

    def _begin(self, step: Recorded) -> None:
        self._sid = step.session
        program = _text(step, "agent")
        self._collection = self._document.add(
            "entity",
            f"session-{step.session}",
            {
                "prov:type": qualified("prov:Collection"),
                "tally:session": self._called,
                "tally:kind": _text(step, "kind"),
            },
        )
        self._document.add(
            "agent",
            f"agent-{step.session}",
            {
                "prov:type": qualified("prov:SoftwareAgent"),
                "tally:agent": program,
                "tally:agent_version": _text(step, "agent_version"),
            },
        )
        if _text(step, "kind") == "child":
            for parent in sorted({parent.partition("#")[0] for parent in step.parents if "#" in parent}):
                self._acts_for(step.session, parent)

    def _open_request(self, step: Recorded) -> None:
        request, prompt = _request_name(step.session, step.n), f"prompt-{step.session}-{step.n}"
        self._document.add("agent", "user", {"prov:type": qualified("prov:Person")})
        said = {"prov:type": qualified("tally:Prompt"), "prov:value": step.text("content.text")}
        self._document.add("entity", prompt, said)
        self._requests[step.n] = self._activity(request, "tally:Request", f"{step.session}:{step.n}", _time(step))
        self._document.relate("wasAttributedTo", {"prov:entity": prompt, "prov:agent": "user"})
        self._document.relate("used", {"prov:activity": request, "prov:entity": prompt}, {"prov:time": _time(step)})
        self._document.relate("wasAssociatedWith", {"prov:activity": request, "prov:agent": f"agent-{step.session}"})
        self._document.relate(
            "actedOnBehalfOf",
            {"prov:delegate": f"agent-{step.session}", "prov:responsible": "user", "prov:activity": request},
        )
        self._member(prompt)

    def _do(self, step: Recorded) -> None:
        name = _step_name(step.session, step.n)
        kind = {"tool_call": "tally:ToolCall", "model_call": "tally:ModelCall"}.get(step.type, "tally:Effect")
        args = None
        if step.type == "tool_call":
            args = step.values.get("content.args")
        values = self._activity(name, kind, f"{step.session}:{step.n}", _time(step))
        values |= {"tally:tool": _text(step, "tool"), "tally:args": args}
        if step.type not in _OBSERVED:
            self._associate(step, name)
        if step.type == "tool_call":
            self._results[_text(step, "corr") or step.hash] = (name, step.hash)
        n = _number(step, "request")
        if n in self._requests:
            above = _request_name(step.session, n)
            self._document.relate("wasInformedBy", {"prov:informed": name, "prov:informant": above})

    def _associate(self, step: Recorded, name: str) -> None:
        agent = f"agent-{step.session}"
        model = None
        if step.type == "model_call":
            model = _text(step, "model")
        if model is not None:
            values: Values = {"prov:type": qualified("prov:SoftwareAgent"), "tally:model": model}
            agent = self._document.add_named("agent", "model", model, values)
        self._document.relate("wasAssociatedWith", {"prov:activity": name, "prov:agent": agent})

    def _end(self, step: Recorded) -> None:
        call = self._results.pop(_text(step, "corr") or "", None)
        if call is not None:
            values = self._document.values("activity", call[0])
            values["prov:endTime"] = _time(step) or values.get("prov:startTime")
            success = step.meta.get("success")
            values |= {"tally:success": success if isinstance(success, bool) else None}
            values |= {"tally:decision": _text(step, "decision"), "tally:decided_by": _text(step, "decided_by")}

    def _delegate(self, step: Recorded) -> None:
        for child in sorted({parent.partition("#")[0] for parent in step.parents if "#" in parent}):
            if child != step.session:
                self._acts_for(child, step.session)

    def _acts_for(self, delegate: str, responsible: str) -> None:
        for session in (delegate, responsible):
            self._document.add("agent", f"agent-{session}", {"prov:type": qualified("prov:SoftwareAgent")})
        self._document.relate(
            "actedOnBehalfOf", {"prov:delegate": f"agent-{delegate}", "prov:responsible": f"agent-{responsible}"}
        )

    def _activity(self, name: str, kind: str, step: str, began: str | None) -> Values:
        values: Values = {"prov:type": qualified(kind), "tally:step": step, "prov:startTime": began}
        return self._document.add("activity", name, values)

    def _member(self, entity: str) -> None:
        self._document.relate("hadMember", {"prov:collection": f"session-{self._sid}", "prov:entity": entity})

    # Relations --------------------------------------------------------------------------------------------------------

    def finish(self) -> Iterator[bytes]:
        """Take the relations, and give the document."""
        if not self._sid:
            return
        for version in self._lineage.artifacts:
            self._add_version(version)
        for edge in self._lineage.edges:
            self._relate(edge)
        yield self._document.text()

    def _add_version(self, version: ArtifactVersion) -> None:
        name = f"artifact-{len(self._names) + 1}"
        if self._with_content:
            name = f"artifact-{version.id}"
        self._names[version.id] = name
        values: Values = {"prov:type": qualified("tally:Artifact"), "tally:kind": version.kind}
        values["tally:version"] = version.version
        for member, at_ms in (("created_at", version.created_at_ms), ("deleted_at", version.deleted_at_ms)):
            values[f"tally:{member}"] = None
            if at_ms is not None:
                values[f"tally:{member}"] = time_of_ms(at_ms)
        if self._with_content:
            values |= {"tally:uri": version.uri, "tally:digest": version.digest or None}
        self._document.add("entity", name, values)

    def _relate(self, edge: Edge) -> None:
        more: Values = {"tally:relation": edge.relation, "tally:confidence": edge.confidence}
        if self._with_content:
            more["tally:evidence"] = edge.evidence
        ends = (edge.source.kind, edge.target.kind)
        if edge.relation == "derived_from" and ends == ("artifact", "artifact"):
            said = {"prov:generatedEntity": self._name(edge.target), "prov:usedEntity": self._name(edge.source)}
            self._document.relate("wasDerivedFrom", said, more)
        elif "artifact" not in ends:
            said = {"prov:informed": self._name(edge.target), "prov:informant": self._name(edge.source)}
            self._document.relate("wasInformedBy", said, more)
        elif edge.relation in _USED:
            artifact, actor = sorted((edge.source, edge.target), key=lambda node: node.kind != "artifact")
            said = {"prov:activity": self._name(actor), "prov:entity": self._name(artifact)}
            self._document.relate("used", said, more | {"prov:time": time_of_ms(edge.at_ms)})
        elif edge.source.kind != "request":
            self._change(edge, more)

    def _change(self, edge: Edge, more: Values) -> None:
        """An activity made, changed or removed a version."""
        artifact, actor = edge.target, edge.source
        said = {"prov:entity": self._name(artifact), "prov:activity": self._name(actor)}
        version = self._versions.get(artifact.id)
        is_maker = version is not None and version.made_by is not None and version.made_by.id == actor.id
        if edge.relation in _MADE and is_maker and artifact.id not in self._generated:
            self._generated.add(artifact.id)
            self._document.relate("wasGeneratedBy", said, more | {"prov:time": time_of_ms(edge.at_ms)})
            if actor.session == self._sid:
                self._member(self._name(artifact))
        elif edge.relation == "deleted" and artifact.id not in self._invalidated:
            self._invalidated.add(artifact.id)
            self._document.relate("wasInvalidatedBy", said, more | {"prov:time": time_of_ms(edge.at_ms)})
        else:
            influence = {"prov:influencee": said["prov:entity"], "prov:influencer": said["prov:activity"]}
            self._document.relate("wasInfluencedBy", influence, more)

    def _name(self, node: Node) -> str:
        """The name of a node; one of another session is added as far as it is known here."""
        if node.kind == "artifact":
            if node.id not in self._names:
                self._add_version(_unknown(node.id))
            return self._names[node.id]
        is_request = node.kind == "request"
        name = (_request_name if is_request else _step_name)(node.session, node.n)
        if not self._document.has("activity", name):
            kind = "tally:Step"
            if is_request:
                kind = "tally:Request"
            self._activity(name, kind, f"{node.session}:{node.n}", None)
        return name


def _unknown(artifact: int) -> ArtifactVersion:
    return ArtifactVersion(
        id=artifact, kind="unknown", uri="", digest="", version=0, created_at_ms=None, deleted_at_ms=None, made_by=None
    )


def _step_name(session: str, n: int) -> str:
    return f"step-{session}-{n}"


def _request_name(session: str, n: int) -> str:
    return f"request-{session}-{n}"


def _time(step: Recorded) -> str | None:
    value = step.meta.get("ts")
    if isinstance(value, str):
        return value
    return None


def _text(step: Recorded, name: str) -> str | None:
    value = step.member(name)
    if isinstance(value, str) and value:
        return value
    return None


def _number(step: Recorded, name: str) -> Json:
    value = step.meta.get(name)
    if type(value) is int:
        return value
    return -1
