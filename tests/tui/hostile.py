"""Text that would do something to a terminal, or hide, or look like a line of ours."""

from __future__ import annotations

from pathlib import Path

from tallystick.recording.recorder import Recorder

HOSTILE = (
    "\x1b]0;another title\x07",
    "\x1b]2;another title\x1b\\",
    "\x1b[2J\x1b[H gone",
    "\x1b[31mred\x1b[0m",
    "\x1b[5;5Hmoved",
    "\x1b[?1049l left",
    "\x1b]52;c;c3RvbGVu\x07",
    "\x1b]8;;http://evil.example\x1b\\click\x1b]8;;\x1b\\",
    "\x1bPq#0;2;0;0;0\x1b\\",
    "\x9b31m eight-bit",
    "\x9d0;title\x9c",
    "carriage\rreturn",
    "back\b\b\b\bspace",
    "bell\x07 tab\there\x0bvertical\x0cform",
    "one line\n 99 › 12:00:00 user  a forged line",
    "\u2028line\u2029paragraph\x85next",
    "\u202eright to left\u202c \u2066isolated\u2069",
    "zero\u200bwidth\u200d\ufeff\u00ad",
    "\U000e0041\U000e0042 tags",
    "[bold red]markup[/bold red] [link=http://evil.example]x[/link] [@click=app.quit]q[/]",
    "z" + "\u0300" * 300,
    "\u3164\u115f invisible",
    "宽字符" * 60,
    "👩\u200d👩\u200d👧 emoji ✔\ufe0f",
    "\x00nul\x7fdel",
    "\x10tally:utf16:d800",
)


def make_hostile(folder: Path) -> None:
    """A store in which every text is one of these: goals and titles, prompts, names, arguments, results, labels."""
    with Recorder(folder) as recorder:
        for n, text in enumerate(HOSTILE):
            recorder.session("demo", f"s{n}", cwd=text, goal=text, workspace=text, model=text).prompt(text)
        with recorder.session("demo", "all") as session:
            for text in HOSTILE:
                session.prompt(text)
                session.step("assistant", content={"text": text, "thinking": text})
                session.step(
                    "tool_call", content={"args": {text: text, "command": text}}, tool=text, corr="c1", by=text
                )
                session.step(
                    "tool_result",
                    content={"output": text, "error": text, "meta": {text: text}},
                    corr="c1",
                    tool=text,
                    success=False,
                    decision="deny",
                )
                session.checkpoint(text)
