"""Programs that turn one document, picture or recording into another.

Owns which of their words are read and which written. Sources: ffmpeg(1), ImageMagick's command-line tools, pandoc(1),
wkhtmltopdf(1), soffice --help, ghostscript(1), poppler's and qpdf's manual pages.
"""

from __future__ import annotations

import re

from tallystick.catalog.programs import Program, names_of
from tallystick.intent.actions import Actions
from tallystick.intent.programs.arguments import Line, below, grammar, last_part, literal, renamed, taken
from tallystick.intent.programs.rules import Builder, Rule, Rules, grammar_of
from tallystick.model.intent import Operation
from tallystick.model.pattern import pattern_of
from tallystick.model.script import Command, Word

RULES = Rules()

_URL = pattern_of(r"\w+://")


def _ffmpeg(command: Command) -> Actions:
    """`ffmpeg [OPTION VALUE]… OUTPUT…`: a word that follows no option is an output. Options without a value are few."""
    words = command.arguments
    built = Builder()
    sources: list[int | None] = []
    outputs: list[Word] = []
    at = 0
    while at < min(len(words), 1000):
        text = words[at].text
        if text == "-i" and at + 1 < len(words):
            sources.append(_source(built, words[at + 1]))
            at += 2
        elif text.startswith("-") and text != "-":
            if text in _FFMPEG_FLAGS:
                at += 1
            else:
                at += 2
        else:
            outputs.append(words[at])
            at += 1
    if command.program == "ffprobe":
        built.show(*sources, *[_source(built, word) for word in outputs])
        return built.build()
    made = [
        built.add(Operation.SEND, word) if _URL.match(word.text) else built.write(word)
        for word in outputs
        if word.text != "pipe:1"
    ]
    built.flow(sources, made)
    if any(word.text in ("-", "pipe:1", "pipe:") for word in outputs):
        built.show(*sources)
    if built.reads_input:
        built.feed(*made)
    return built.build()


_FFMPEG_FLAGS = names_of("ffmpeg", "flags")


def _source(built: Builder, word: Word) -> int | None:
    if _URL.match(word.text):
        return built.add(Operation.FETCH, word)
    return built.read(renamed(word, "-") if word.text.startswith("pipe:") else word)


_MAGICK_FLAGS = names_of("convert", "flags")


def _magick(command: Command) -> Actions:
    """`convert INPUT… OPTION… OUTPUT`: the last word is written; a size and a colour are not files."""
    words = list(command.arguments[:1000])
    if (
        words
        and command.program == "magick"
        and words[0].text in ("convert", "identify", "mogrify", "compare", "composite")
    ):
        words = words[1:]
    edits = command.program == "mogrify" or (command.arguments[:1] and command.arguments[0].text == "mogrify")
    is_read = command.program == "identify" or (command.arguments[:1] and command.arguments[0].text == "identify")
    files: list[Word] = []
    at = 0
    while at < len(words):
        text = words[at].text
        if (text[:1] in ("-", "+") and len(text) > 1) or text in ("(", ")"):
            if text in _MAGICK_FLAGS or text[:1] == "+":
                at += 1
            else:
                at += 2
        else:
            files.append(words[at])
            at += 1
    built = Builder()
    if edits or is_read:
        for word in files:
            if edits:
                found = built.add(Operation.EDIT, word)
            else:
                found = built.read(word)
            built.show(None if edits else found)
        return built.build()
    texts = [(word, _TEXT_OF.match(word.text)) for word in files[:-1]]
    sources = [built.read(renamed(word, path[1])) for word, path in texts if path is not None]
    sources += [
        _source(built, _bare(word))
        for word in files[:-1]
        if not re.match(r"(?:xc|canvas|gradient|label|caption|plasma|pattern|null):", word.text)
    ]
    made = [built.write(_bare(word)) for word in files[-1:]] if len(files) > 1 or not sources else []
    built.flow(sources, made)
    if built.reads_input:
        built.feed(*made)
    if files and _bare(files[-1]).text == "-":
        built.show(*sources)
    return built.build()


_TEXT_OF = pattern_of(r"(?:(?:label|caption):@|text:)(.+)", re.DOTALL)
"""A picture is made of the text in a file: `label:@FILE`, `text:FILE`."""


def _bare(word: Word) -> Word:
    """A file without its format (`png:x`) and frame (`x.gif[0]`)."""
    text = re.sub(r"\[[\d,x+-]+\]$", "", literal(word).text)
    return renamed(word, re.sub(r"^[a-z0-9]{2,5}:(?!//)", "", text, flags=re.IGNORECASE))


_SOFFICE = grammar_of("soffice")


def _soffice(command: Command) -> Actions:
    """`soffice --convert-to FORMAT [--outdir FOLDER] FILE…`."""
    words = [renamed(word, f"-{word.text}") if re.match(r"-\w{2}", word.text) else word for word in command.arguments]
    line = taken(words, _SOFFICE)
    built = Builder()
    suffix = line.said("--convert-to").partition(":")[0]
    folder = line.value("--outdir")
    for word in line.operands:
        at = built.read(word)
        if suffix:
            name = last_part(word.text)
            made = below(folder, renamed(word, f"{name.rpartition('.')[0] or name}.{suffix}"))
            built.flow([at], [built.write(made, words=(word,))])
    return built.build()


_IN_OUT = grammar_of("wkhtmltopdf")


@RULES.of("in-out", _IN_OUT)
def _in_out(built: Builder, line: Line, command: Command) -> None:
    """`PROGRAM INPUT… OUTPUT`, or `-o OUTPUT` and only inputs."""
    output = line.value("-o")
    if output is not None:
        inputs = line.operands
    else:
        inputs = line.operands[:-1]
    if output is not None:
        target = output
    elif inputs:
        target = line.operands[-1]
    else:
        target = None
    sources = [_source(built, word) for word in inputs]
    if target is not None:
        built.flow(sources, [built.write(target)])
        if target.text == "-":
            built.show(*sources)


@RULES.of("tesseract", grammar("-l --psm --oem --dpi -c --tessdata-dir"))
def _tesseract(built: Builder, line: Line, command: Command) -> None:
    """`tesseract IMAGE NAME`: the text goes to NAME.txt."""
    at = None
    if line.operands:
        at = built.read(line.operands[0])
    for word in line.operands[1:2]:
        if word.text in ("-", "stdout"):
            built.show(at)
        else:
            built.flow([at], [built.write(renamed(word, f"{word.text}.txt"), words=(word,))])


def converter(entry: Program) -> Rule:
    """Programs that write beside their input, under another suffix, unless a second name is given."""
    rules = grammar(
        "-f -l -r -x -y -W -H -b -o -t -outfile -outdir -output-directory -interaction -jobname -enc -upw -opw",
        is_long=True,
    )

    def rule(command: Command) -> Actions:
        line = taken(command.arguments, rules)
        built = Builder()
        if not line.operands:
            return built.build()
        source = line.operands[0]
        at = _source(built, source)
        target = line.value("-o", "-outfile") or (line.operands[1] if len(line.operands) > 1 else None)
        if target is None:
            words = (source,)
        else:
            words = (target,)
        if target is None:
            folder, name = line.value("-outdir", "-output-directory"), source.text
            if folder is not None:
                name = last_part(name)
            target = below(folder, renamed(source, f"{name.rpartition('.')[0] or name}{entry.suffix}"))
        built.flow([at], [built.write(target, words=words)])
        if target.text == "-":
            built.show(at)
        else:
            built.show(None)
        return built.build()

    return rule


RULES |= {
    "ffmpeg": _ffmpeg,
    "magick": _magick,
    "soffice": _soffice,
}
