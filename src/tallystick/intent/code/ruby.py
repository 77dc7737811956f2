"""Ruby → what it does, read by its calls.

Owns Ruby's methods that touch files, hosts and processes. Must not know statements: `scanning` reads calls. Sources: the
documentation of Ruby's core (IO, File, Dir, Kernel) and of fileutils, open3, net/http and open-uri.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from tallystick.intent.code.found import HOME, Found
from tallystick.intent.code.indirect import plain_sends
from tallystick.intent.code.scanning import Call, Language, Scan, scan
from tallystick.intent.code.tables import apply, operation_of, table, writes
from tallystick.intent.code.tokens import Dialect, Token, unescaped
from tallystick.model.intent import Operation
from tallystick.model.script import HOLE

_PATTERN = re.compile(
    r"(?P<space>[^\S\n]+|#[^\n]*|=~\s*/(?:[^/\\\n]|\\.?)*+/?)"
    r"|(?P<line>\n)"
    r'|(?P<template_1>"(?:[^"\\]|\\.?)*+(?:"|\Z))'
    r"|(?P<string_1>'(?:[^'\\]|\\.?)*+(?:'|\Z))"
    r"|(?P<command_1>`(?:[^`\\]|\\.?)*+(?:`|\Z)|%x(?:\{[^{}]*+(?:\}|\Z)|\([^()]*+(?:\)|\Z)|\[[^\[\]]*+(?:\]|\Z)))"
    r"|(?P<template_2>%Q?(?:\{[^{}]*+(?:\}|\Z)|\([^()]*+(?:\)|\Z)))"
    r"|(?P<string_2>%q(?:\{[^{}]*+(?:\}|\Z)|\([^()]*+(?:\)|\Z)))"
    r"|(?P<name>[@$]{0,2}[A-Za-z_]\w*[?!]?)"
    r"|(?P<number>\d[\w.]*)"
    r"|(?P<sign>=>|::|&\.|\|\||&&|<<|\+=|=~|==|\S)",
    re.DOTALL,
)
_RULES = table("""
read 0: File.read IO.read File.readlines IO.readlines File.foreach IO.foreach File.binread IO.binread YAML.load_file
read 0: CSV.read CSV.foreach CSV.table JSON.load_file YAML.safe_load_file Psych.load_file Marshal.load_file
delete *: File.delete File.unlink FileUtils.rm FileUtils.rm_f FileUtils.remove FileUtils.rmdir Dir.rmdir Dir.delete Dir.unlink
delete/ 0: FileUtils.rm_rf FileUtils.rm_r FileUtils.remove_dir FileUtils.remove_entry FileUtils.rmtree FileUtils.safe_unlink
create 0: FileUtils.mkdir FileUtils.mkdir_p FileUtils.makedirs FileUtils.mkpath FileUtils.touch Dir.mkdir
link 0: FileUtils.ln_s FileUtils.ln_sf File.symlink FileUtils.symlink
copy 0: FileUtils.ln File.link
copy 0: FileUtils.cp FileUtils.copy FileUtils.copy_file FileUtils.install IO.copy_stream
copy/ 0: FileUtils.cp_r FileUtils.copy_entry
move 0: FileUtils.mv FileUtils.move File.rename
metadata 1: File.chmod FileUtils.chmod FileUtils.chmod_R
metadata 2: File.chown FileUtils.chown FileUtils.chown_R File.utime
list 0: Dir.entries Dir.children Dir.each_child Dir.foreach Dir.open Dir.new
edit 0: File.truncate
execute 0: load require_relative
shell 0: sh system exec spawn Open3.capture2 Open3.capture2e Open3.capture3 Open3.popen3 Process.spawn Kernel.system IO.popen
shell 0: Open3.popen2 Open3.popen2e Kernel.exec PTY.spawn
fetch 0: Net.HTTP.get Net.HTTP.get_response URI.open HTTParty.get Faraday.get RestClient.get
send 0: Net.HTTP.post Net.HTTP.post_form HTTParty.post Faraday.post RestClient.post
connect 0: TCPSocket.new TCPSocket.open Net.HTTP.start Net.HTTP.new Socket.tcp
listen 0: TCPServer.new
chdir 0: Dir.chdir FileUtils.cd FileUtils.chdir
signal 1: Process.kill
""")
_LIBRARIES = """
json yaml csv set time date fileutils pathname open3 net/http uri open-uri optparse tempfile tmpdir digest erb
securerandom stringio strscan benchmark bundler/setup logger pp socket openssl zlib shellwords ostruct forwardable
singleton timeout English etc io/console rexml/document nokogiri rubygems minitest/autorun bigdecimal base64 httparty
faraday rest-client psych find abbrev monitor matrix prime tsort
"""
_HOME_FOLDER = re.compile(r"""ENV(?:\[|\.fetch\()\s?(['"])HOME\1\s?[\])]""")
_INERT = frozenset(_LIBRARIES.split())


def read_ruby(text: str, found: Found) -> None:
    """Note what a program does, as far as its calls tell."""
    scan(plain_sends(_HOME_FOLDER.sub("Dir.home", text)), found, _LANGUAGE)


def _calls(scan: Scan, call: Call) -> None:
    found = scan.found
    rule = _RULES.get(call.name)
    if call.name in ("File.write", "IO.write", "File.binwrite", "IO.binwrite"):
        mode = call.at(2).says("mode")
        if mode is not None:
            found.file(operation_of(mode), scan.placed(call.text(0)))
        else:
            writes(scan, call.at(0), call.at(1))
    elif call.name in ("File.open", "File.new", "open", "CSV.open", "Kernel.open", "PStore.new"):
        _open(scan, call)
    elif call.name == "Dir.glob":
        found.file(Operation.LIST, scan.placed(call.text(0)), is_deep=True)
    elif call.name == "require":
        found.is_unknown |= (call.text(0) or HOLE) not in _INERT
    elif call.name in ("eval", "instance_eval", "class_eval") and call.args:
        found.runs("ruby", call.text(0))
    elif rule is not None and call.args:
        apply(scan, call, rule)


def _open(scan: Scan, call: Call) -> None:
    path = call.text(0)
    if path is not None and "://" in path[:12]:
        scan.found.network(Operation.FETCH, path)
    elif path is not None and path.startswith("|"):
        scan.found.runs("sh", path[1:])
    elif call.args:
        said = call.at(1)
        is_mode = len(call.args) > 1 and said.says("mode") is None
        mode = said.text if is_mode else said.says("mode") or "r"
        scan.found.file(operation_of(mode), scan.placed(path))


def _texts(scan: Scan, call: Call) -> str | None:
    parts = [HOLE if argument.text is None else argument.text for argument in call.args]
    if call.name in ("File.join", "Pathname.new", "Pathname"):
        return "/".join(part.rstrip("/") or "" for part in parts) if len(parts) > 1 else (parts[0] if parts else None)
    if call.name == "File.expand_path" and parts:
        known = HOME + parts[0][1:] if parts[0] == "~" or parts[0].startswith("~/") else parts[0]
        return known if len(parts) == 1 or known.startswith(("/", HOME)) else f"{parts[1]}/{known}"
    if call.name in ("Dir.home", "Dir.pwd", "Dir.getwd"):
        return HOME if call.name == "Dir.home" else "."
    return call.text(0) if call.name in ("URI", "URI.parse", "String") else None


def _names(program: list[Token]) -> Mapping[str, str]:
    """With `include FileUtils` its methods have no owner."""
    has = any(token.text == "include" and program[at + 1 : at + 2] and program[at + 1].text == "FileUtils"
              for at, token in enumerate(program))  # fmt: skip
    short = ("rm", "rm_f", "rm_r", "rm_rf", "cp", "cp_r", "mv", "mkdir_p", "mkdir", "touch", "ln_s", "chmod", "cd")
    return {name: f"FileUtils.{name}" for name in short} if has else {}


_LANGUAGE = Language(
    dialect=Dialect(
        pattern=_PATTERN,
        joins=frozenset("+"),
        variable=re.compile(r"#\{([^{}]{0,200})\}"),
        unescape=unescaped,
        has_bare_calls=True,
    ),
    calls=_calls,
    texts=_texts,
    names=_names,
    constants={"Dir.home": HOME, "Dir.pwd": ".", "__FILE__": HOLE, "__dir__": HOLE},
)
