"""Where a recorded agent file quotes its vendor: prompts, tool descriptions, reminders.

Owns the table of such places, one block for each agent. Must not know how they are blanked.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True)
class Vendor:
    """Places of one kind of record that hold a vendor's prose.

    `where` names members (dotted) and what they must match for the rule to apply; `paths` are dotted, with
    `*` for any one member or item and `**` for any number of them.
    """

    where: Mapping[str, str]
    paths: tuple[str, ...]


VENDORS: tuple[Vendor, ...] = (
    # Claude Code
    Vendor(
        where={"type": "attachment"},
        paths=(
            "rendered.*.content",
            "attachment.text",
            "attachment.addedLines",
            "attachment.systemPrompt",
            "attachment.tools.**.description",
            "attachment.context",
        ),
    ),
    Vendor(where={"type": "attachment", "attachment.type": "skill_listing"}, paths=("attachment.content",)),
    Vendor(where={"type": "api-request-shape"}, paths=("shape.system", "shape.tools.**.description")),
    Vendor(where={"type": "api-request-blob", "message.role": "system"}, paths=("message.content.**.text",)),
    # Codex
    Vendor(where={"type": "session_meta"}, paths=("payload.base_instructions.text",)),
    Vendor(where={"type": "response_item", "payload.role": "developer"}, paths=("payload.content.*.text",)),
    Vendor(
        where={"type": "response_item", "payload.type": "additional_tools"},
        paths=("payload.tools.**.description", "payload.tools.**.definition"),
    ),
    Vendor(where={"type": "world_state"}, paths=("payload.state.host_skills.body",)),
    # Gemini CLI: a refused call has the tool's description in the place of its own
    Vendor(
        where={"type": "gemini", "toolCalls.0.description": "^This tool "},
        paths=("toolCalls.0.description",),
    ),
    # Copilot CLI
    Vendor(where={"type": "system.message"}, paths=("data.content",)),
    # Cline
    Vendor(where={"system_prompt": "."}, paths=("system_prompt",)),
    # mini-swe-agent
    Vendor(
        where={"trajectory_format": "^mini-swe-agent"},
        paths=("info.config.agent.instance_template", "info.config.model"),
    ),
)

FRAMES = (
    "system-reminder",  # Claude Code
    "local-command-caveat",
    "skills_instructions",  # Codex
    "permissions instructions",
    "session_context",  # Gemini CLI
)
"""Tags that vendors put around their own words in a message; the tags stay."""

PASSAGES: tuple[re.Pattern[str], ...] = (
    *(re.compile(rf"(?<=<{frame}>).*?(?=</{frame}>)", re.DOTALL) for frame in FRAMES),
    re.compile(r"\[Subagent hand-back\].*?(?=The report follows:)", re.DOTALL),
    re.compile(r"If you need specific details from before compaction.*", re.DOTALL),
    re.compile(r"Another language model started to solve this problem.*?:(?=\n)"),
    re.compile(r"# Tools Overview\n.*", re.DOTALL),
    re.compile(r"\(internal ID.*?(?=output_file: )", re.DOTALL),
    re.compile(r"You can execute bash commands and edit files to implement.*", re.DOTALL),
)
"""A vendor's framing inside a string that also holds the user's or the model's own words."""
