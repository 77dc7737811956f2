"""Programs that read text and print text.

Owns filters, searches and comparisons, and the few of them that can write: `sort -o`, `sed -i`, `yq -i`, `uniq IN
OUT`. Sources: the manual pages of coreutils, grep, sed, gawk, diffutils, util-linux, ripgrep, jq, yq.
"""

from __future__ import annotations

import msgspec

from tallystick.intent.programs.arguments import MOST_WORDS, grammar, is_fed, taken
from tallystick.intent.programs.rules import Builder, Rule, each, program
from tallystick.intent.shell.actions import Actions, Code
from tallystick.model.intent import Operation
from tallystick.model.script import Command, Word

_PATTERN = "-e -f --regexp --file"
_GREP_TAKES = (
    "-m -A -B -C --max-count --after-context --before-context --context --include --exclude --exclude-dir --label -d "
    "-D --color --colour --binary-files --directories --devices --include-dir"
)
_RG_TAKES = (
    "-A -B -C -E -g -j -M -m -r -t -T -d --after-context --before-context --context --encoding --glob --iglob "
    "--threads --max-columns --max-count --replace --type --type-not --max-depth --max-filesize --sort --sortr "
    "--engine --colors --color --path-separator --type-add --pre-glob --context-separator --regex-size-limit "
    "--dfa-size-limit"
)
_RG_LISTS = ("--files", "--type-list", "-l", "--files-with-matches")


def _searches_tree(takes: str, *, lists: tuple[str, ...] = ()) -> Rule:
    """`rg`, `ag`, `ack`: without a path they read what they are fed, or else the working folder."""
    rules = grammar(f"{takes} {_PATTERN}")

    def rule(command: Command) -> Actions:
        line = taken(command.arguments, rules)
        built = Builder()
        is_list = line.has(*lists) if lists else False
        has_pattern = line.has(*_PATTERN.split()) or line.has("--files")
        paths = line.operands if has_pattern else line.operands[1:]
        built.show(*[built.read(word) for word in line.values("-f", "--file")])
        for path in paths:
            if path.text == "-":
                built.reads_input = True
            else:
                built.show(
                    built.add(Operation.LIST if is_list and line.has("--files") else Operation.READ, path, deep=True)
                )
        if not paths and is_fed(command):
            built.reads_input = True
        elif not paths:
            operation = Operation.LIST if line.has("--files", "--type-list") else Operation.READ
            built.show(built.add(operation, Word("."), words=command.words[:1], deep=True))
        return built.build()

    return rule


_GREP = grammar(f"{_GREP_TAKES} {_PATTERN}")


def _grep(command: Command) -> Actions:
    """`grep`: with `-r` and no path, the working folder."""
    line = taken(command.arguments, _GREP)
    built = Builder()
    deep = line.has("-r", "-R", "--recursive", "--dereference-recursive") or command.program == "rgrep"
    paths = line.operands if line.has(*_PATTERN.split()) else line.operands[1:]
    built.show(*[built.read(word) for word in line.values("-f", "--file")])
    built.show(*[built.read(word, deep=deep) for word in paths])
    if not paths and deep:
        built.show(built.add(Operation.READ, Word("."), words=command.words[:1], deep=True))
    built.reads_input = built.reads_input or not (paths or deep)
    return built.build()


_AWK = grammar("-F -v -f -i -l -e -E --field-separator --assign --file --include --load --source --exec")


def _awk(command: Command) -> Actions:
    """`awk`: the first operand is the program; `name=value` among the others is no file."""
    line = taken(command.arguments, _AWK)
    built = Builder()
    sources = line.values("-e", "--source")
    has_file = line.has("-f", "-E", "--file", "--exec")
    operands = line.operands if sources or has_file else line.operands[1:]
    sources += [] if sources or has_file else line.operands[:1]
    built.codes = [Code("awk", source) for source in sources]
    for script in line.values("-f", "-E", "--file", "--exec"):
        if script.text not in ("-", "/dev/stdin"):
            built.run(script)
        elif command.input is not None:
            built.codes.append(Code("awk", command.input))
    files = [word for word in operands if not word.text.partition("=")[0].isidentifier() or "=" not in word.text]
    in_place = any(value.text in ("inplace", "/usr/share/awk/inplace.awk") for value in line.values("-i", "--include"))
    for word in files:
        if in_place:
            built.add(Operation.EDIT, word, authored=True)
        else:
            built.show(built.read(word))
    built.reads_input = built.reads_input or not files
    return built.build()


_JQ = program(
    is_filter=True,
    skips=1,
    unless="-f --from-file --args --jsonargs",
    takes="--indent -L",
    read="operands -f --from-file --slurpfile --rawfile",
)


def _jq(command: Command) -> Actions:
    """`jq`: some options take a name and then a value or a file."""
    words: list[Word] = []
    at = 0
    given = command.words[:MOST_WORDS]
    while at < len(given):
        text = given[at].text
        if text in ("--arg", "--argjson"):
            at += 3
        elif text in ("--slurpfile", "--rawfile"):
            words += [given[at], *given[at + 2 : at + 3]]
            at += 3
        else:
            words.append(given[at])
            at += 1
    return _JQ(msgspec.structs.replace(command, words=tuple(words)) if len(words) < len(given) else command)


_TEE = grammar("--output-error")


def _tee(command: Command) -> Actions:
    """`tee`: its input goes to files and to its output."""
    line = taken(command.arguments, _TEE)
    built = Builder()
    operation = Operation.APPEND if line.has("-a", "--append") else Operation.WRITE
    built.feed(*[built.add(operation, word) for word in line.operands])
    built.reads_input = built.echoes = True
    return built.build()


_SPLIT = grammar(
    "-a -b -C -l -n -t -f --suffix-length --bytes --line-bytes --lines --number --additional-suffix --filter "
    "--separator --prefix --digits -k"
)


def _split(command: Command) -> Actions:
    """`split [FILE [PREFIX]]`, `csplit -f PREFIX FILE PATTERN…`: files whose names begin with the prefix."""
    line = taken(command.arguments, _SPLIT)
    built = Builder()
    if command.program.endswith("csplit"):
        prefix = line.value("-f", "--prefix") or Word("xx")
    else:
        prefix = line.operands[1] if len(line.operands) > 1 else Word("x")
    source = built.read(line.operands[0]) if line.operands else None
    built.reads_input = built.reads_input or not line.operands
    pieces = built.add(Operation.WRITE, Word(f"{prefix.text}\ue000", prefix.hidden), words=(prefix,))
    built.flow([source], [pieces])
    if built.reads_input:
        built.feed(pieces)
    built.codes += [Code("sh", word) for word in line.values("--filter")]
    return built.build()


_FILTER = program(is_filter=True, read="operands")
_DIGEST = program(is_filter=True, takes="-a --algorithm -l --length", read="operands")

TABLE: dict[str, Rule] = {
    **each("cat tac rev zless zmore bzcat xzcat zstdcat lz4cat zcat", _FILTER),
    "nl": program(is_filter=True, takes="-b -d -f -h -i -l -n -s -v -w", read="operands"),
    **each(
        "less more most pg",
        program(is_filter=True, takes="-b -h -j -k -p -P -t -T -x -y -z -D", read="operands", write="-o -O"),
    ),
    **each(
        "bat batcat",
        program(
            is_filter=True,
            read="operands",
            takes="-l -m -r -H --language --map-syntax --line-range --highlight-line --theme --style --color "
            "--paging --pager --wrap --decorations --tabs --file-name --terminal-width",
        ),
    ),
    **each(
        "head tail",
        program(
            is_filter=True,
            takes="-n -c -s --lines --bytes --pid --sleep-interval --max-unchanged-stats",
            read="operands",
        ),
    ),
    "wc": program(is_filter=True, read="operands --files0-from"),
    "sort": program(
        is_filter=True,
        read="operands --files0-from --random-source",
        write="-o --output",
        takes="-k -t -S -T --key --field-separator --buffer-size --temporary-directory --parallel --batch-size "
        "--compress-program --sort",
    ),
    "shuf": program(
        is_filter=True, takes="-i -n --input-range --head-count", read="operands --random-source", write="-o --output"
    ),
    **each(
        "uniq xxd ts unexpand expand",
        program(
            is_filter=True,
            takes="-f -s -w -c -l -g -o -t --skip-fields --skip-chars --check-chars --tabs",
            read="first",
            write="second",
        ),
    ),
    **each(
        "od hexdump hd xxh",
        program(
            is_filter=True,
            takes="-A -j -N -t -w? -S -e -n -s -L --address-radix --skip-bytes --read-bytes --format",
            read="operands -f",
        ),
    ),
    "strings": program(is_filter=True, takes="-n -t -e -T --bytes --radix --encoding --target", read="operands"),
    "cut": program(
        is_filter=True,
        takes="-b -c -d -f --bytes --characters --delimiter --fields --output-delimiter",
        read="operands",
    ),
    "paste": program(is_filter=True, takes="-d --delimiters", read="operands"),
    "join": program(is_filter=True, takes="-a -e -o -t -v -1 -2 -j", read="operands"),
    "comm": program(prints=True, takes="--output-delimiter", read="operands"),
    "tr": program(is_filter=True),
    **each(
        "column colrm col pr",
        program(
            is_filter=True,
            read="operands",
            takes="-c -s -o -N -H -R -T -J -d -h -l -w -O --output-width --separator --output-separator "
            "--table-columns",
        ),
    ),
    **each("fold fmt", program(is_filter=True, takes="-w -p -g --width --prefix --goal", read="operands")),
    **each(
        "iconv recode",
        program(
            is_filter=True,
            takes="-f -t --from-code --to-code",
            read="operands",
            write="-o --output",
        ),
    ),
    **each("dos2unix unix2dos", program(edit="operands")),
    **each(
        "tsort numfmt pv look cksum sum b2sum md5 xsv miller mlr csvcut csvlook csvgrep csvstat csvjson in2csv", _DIGEST
    ),
    **each("md5sum sha1sum sha224sum sha256sum sha384sum sha512sum shasum", _DIGEST),
    **each(
        "base64 base32 basenc uuencode uudecode",
        program(
            is_filter=True,
            takes="-w -b --wrap --break",
            read="operands -i --input",
            write="-o --output",
        ),
    ),
    **each("grep egrep fgrep ggrep zgrep zegrep rgrep bzgrep xzgrep pcregrep pcre2grep ugrep", _grep),
    **each("rg ripgrep", _searches_tree(_RG_TAKES, lists=_RG_LISTS)),
    **each(
        "ag ack pt",
        _searches_tree(
            "-A -B -C -G -m -p -g --ignore --ignore-dir --depth --max-count --file-search-regex --type --pager "
            "--workers",
        ),
    ),
    **each(
        "sed gsed",
        program(
            is_filter=True,
            skips=1,
            unless=f"{_PATTERN} --expression",
            in_place="-i --in-place",
            takes="-i? -l --line-length",
            language="sed",
            code="leading -e --expression",
            execute="-f --file",
            read="operands",
        ),
    ),
    **each("awk gawk mawk nawk", _awk),
    **each("jq gojq jaq", _jq),
    "yq": program(
        is_filter=True,
        skips=1,
        unless="--from-file",
        in_place="-i --inplace",
        takes="-o -p -I --output-format --input-format --indent",
        read="operands --from-file",
    ),
    **each(
        "diff sdiff colordiff delta",
        program(
            prints=True,
            deep="-r --recursive",
            write="-o --output",
            takes="-U -C -I -x -X -W -D -F -L --label --unified --context --ignore-matching-lines --exclude "
            "--width --color",
            read="operands --from-file --to-file",
        ),
    ),
    **each(
        "cmp diff3 bsdiff vimdiff wdiff", program(prints=True, takes="-i -n --ignore-initial --bytes", read="operands")
    ),
    "tee": _tee,
    "sponge": program(write="operands", is_filter=True),
    **each("split csplit", _split),
    **each(
        "xmllint tidy",
        program(
            is_filter=True,
            takes="--xpath --encode --pattern",
            read="operands --schema --dtdvalid --relaxng",
            write="--output -o",
        ),
    ),
    **each(
        "hexyl tldr glow mdcat fx jless visidata vd mustache j2 envsubst m4 bc dc",
        program(is_filter=True, takes="-n -s -D -I -d -o -w", read="operands"),
    ),
    **each(
        "cloc tokei scc",
        program(
            prints=True,
            deep="always",
            default=".",
            read="operands",
            takes="--exclude-dir --include-lang --exclude -e -t --type",
        ),
    ),
}
