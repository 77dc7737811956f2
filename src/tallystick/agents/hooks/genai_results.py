"""What a tool of Gemini CLI or Qwen Code gave back, as their hooks tell it.

Owns the members of `tool_response`: what the model is shown, what the person is shown, and the error. Must not know events.
"""

from __future__ import annotations

from tallystick.agents.kit.columns import known
from tallystick.agents.kit.reading import dict_of, list_of, text_of
from tallystick.model.step import Json


def outcome(response: Json) -> tuple[dict[str, Json], dict[str, Json]]:
    """Members of `meta`, and values by their short names, of a result. Whole copies of edited files are left out."""
    found = dict_of(response)
    if "llmContent" not in found:
        return {}, {"output": response}
    error = found.get("error")
    values = {
        "output": _shown(found["llmContent"]),
        "diff": text_of(dict_of(found.get("returnDisplay")).get("fileDiff")),
        "error": text_of(dict_of(error).get("message")) or error,
    }
    return {"success": error is None}, known(values)


def _shown(content: Json) -> Json:
    """What the model is shown; the text alone if that is all."""
    blocks = [dict_of(block) for block in list_of(content)]
    if blocks and all(block.keys() == {"text"} for block in blocks):
        return "\n".join(str(block["text"]) for block in blocks)
    return content
