"""What a person said in the result of a call: an answer to a question, yes to a plan, what to do instead.

Owns making a request of it: a `user` step after the result, so that what follows is known to follow from it. Which tools are
answered by a person, and how a refusal quotes one, is in the agent's entry in the catalogue. Must not know how any agent
writes a result.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import msgspec

from tallystick.agents.kit.reading import dict_of, list_of
from tallystick.catalog.agents import AGENTS
from tallystick.model.request import ASKS, RequestKind
from tallystick.model.step import Json, Ref, Step

_NOTHING: Mapping[str, Json] = {}

ORIGIN = "answer"
"""`meta.origin` of such a step: no one typed it as a prompt."""


class Answer(msgspec.Struct, frozen=True):
    """What a person said in the result of a call, and which kind of request that is."""

    kind: RequestKind
    text: str

    @property
    def meta(self) -> dict[str, Json]:
        """The members of its step."""
        return {"origin": ORIGIN, ASKS: self.kind}


def said_in(agent: str, meta: Mapping[str, Json], values: Mapping[str, Json]) -> Answer | None:
    """What a person said in a result, if it makes the agent go on in another way than before."""
    if agent not in AGENTS:
        return None
    spelling = AGENTS[agent].spelling
    text = _shown(values.get("content.output"))
    if meta.get("success") is False:
        for lead in spelling.words.get("said_when_refusing", ()):
            _, _, said = text.partition(lead)
            if said.strip() and meta.get("decided_by") == "user":
                return Answer(RequestKind.ANSWER, said.strip())
        return None
    kind = spelling.names.get("answers", {}).get(str(meta.get("tool")))
    if kind is None:
        return None
    said = _answers(dict_of(values.get("content.result"))) or text
    return Answer(RequestKind(kind), said) if said else None


def with_answer(agent: str, result: Step, whole: Mapping[str, Json] = _NOTHING) -> Iterator[Step]:
    """The result of a call, and what a person said in it. `whole`: values of which the step has only a part."""
    yield result
    yield from answer_in(agent, result, whole)


def answer_in(agent: str, result: Step, whole: Mapping[str, Json] = _NOTHING) -> Iterator[Step]:
    """What a person said in the result of a call; nothing where no person did."""
    said = said_in(agent, result.meta, {**result.values, **whole})
    if result.type != "tool_result" or said is None:
        return
    corr = result.meta.get("corr")
    yield Step(
        session=result.session,
        type="user",
        source=result.source,
        source_id=f"{corr}/answer" if corr else None,
        ts=result.ts,
        meta=said.meta,
        values={"content.text": said.text},
        after=(Ref(result.source_id),) if result.source_id else (),
        opens_request=True,
    )


def _answers(result: dict[str, Json]) -> str:
    """Each question with what was answered."""
    return "\n".join(f"{question} {text}" for question, text in dict_of(result.get("answers")).items())


def _shown(output: Json) -> str:
    if isinstance(output, str):
        return output
    texts = (dict_of(block).get("text") for block in list_of(output))
    return "\n".join(text for text in texts if isinstance(text, str))
