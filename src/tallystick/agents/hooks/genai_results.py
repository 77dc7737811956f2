"""What a tool of Gemini CLI or Qwen Code gave back, as their hooks tell it.

Owns the members of `tool_response`: what the model is shown, what the person is shown, and the error. Must not know events.
"""

from __future__ import annotations

from tallystick.agents.kit.columns import known
from tallystick.agents.kit.outcomes import CODE_LINE, code_after, ended
from tallystick.agents.kit.reading import dict_of, list_of, text_of
from tallystick.model.step import Json

_SHELL = "run_shell_command"


def outcome(tool: str | None, response: Json) -> tuple[dict[str, Json], dict[str, Json]]:
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
    return ended(error is None, reported_code(tool, values["output"])), known(values)


def reported_code(tool: str | None, output: Json) -> int | None:
    """The exit code that the output of a shell call reports."""
    if tool != _SHELL:
        return None
    return code_after(output, CODE_LINE)


def _shown(content: Json) -> Json:
    """What the model is shown; the text alone if that is all."""
    blocks = [dict_of(block) for block in list_of(content)]
    if blocks and all(block.keys() == {"text"} for block in blocks):
        return "\n".join(str(block["text"]) for block in blocks)
    return content
