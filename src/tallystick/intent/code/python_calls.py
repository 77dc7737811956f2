"""What a call in a Python text does.

Owns the way from a function's dotted name, or from a method of a path or file, to actions. Must not know statements.
"""

from __future__ import annotations

import msgspec

from tallystick.intent.actions import HOME, Found
from tallystick.intent.code import python_values as values
from tallystick.intent.code.python_names import (
    CALLS,
    COPIES,
    EXECS,
    GLOBS,
    INERT,
    KEPT,
    LISTS,
    MOVES,
    OF_SESSIONS,
    OPENERS,
    OUTPUTS,
    PROGRAMS,
    SESSIONS,
    SHELLS,
    TEMPORARY,
)
from tallystick.intent.code.python_values import UNKNOWN, Call, Kind, Value, spelled, text_given
from tallystick.model.intent import Operation
from tallystick.model.script import HOLE, STAR

_WRITES = {"write_text": True, "write_bytes": True}
_METHODS = {
    "read_text": Operation.READ,
    "read_bytes": Operation.READ,
    "unlink": Operation.DELETE,
    "rmdir": Operation.DELETE,
    "touch": Operation.CREATE,
    "mkdir": Operation.CREATE,
    "chmod": Operation.METADATA,
    "iterdir": Operation.LIST,
}
"""Methods of path objects that do one thing to the path. Nothing else has methods of these names, or hardly."""
_MOST_MAPPED = 50
_SAVING = ("PIL", "openpyxl", "docx", "pptx")
_ENDINGS = {"zip": ".zip", "tar": ".tar", "gztar": ".tar.gz", "bztar": ".tar.bz2", "xztar": ".tar.xz"}


class Open(msgspec.Struct):
    """A file that is open for writing: what is known to be written, and where in the program it was opened."""

    action: int
    depth: int
    pieces: list[str] | None


class Calls:
    """Calls as they are met, and the files that they open."""

    def __init__(self, found: Found) -> None:
        self.found = found
        self.folder: str | None = None
        self.open_files: list[Open] = []

    def at(self, folder: Value | None) -> str | None:
        """A folder that is given, or the working folder."""
        if folder is None:
            return self.placed(".")
        return self.placed(spelled(folder))

    def placed(self, path: str | None) -> str | None:
        """A path in the folder that the program went to."""
        if path is not None and path.startswith("~"):
            path = f"./{path}"  # Python itself does not take it for the home folder
        if path is None or self.folder is None:
            return path
        return values.joined([self.folder, path])

    # Functions --------------------------------------------------------------------------------------------------------

    def function(self, name: str, call: Call) -> Value:
        """A call of something of a module; what it gives."""
        name = name.removeprefix("__builtins__.").removeprefix("builtins.")
        made = text_given(name, call)
        if made is not None:
            return made
        if name in KEPT and (name not in CALLS or not call.args):
            self.found.file(Operation.READ, f"{HOME}/{KEPT[name]}")
            return UNKNOWN
        if name in CALLS:
            return self._table(name, call)
        for names, action in _GROUPS:
            if name in names:
                return action(self, name, call)
        special = _SPECIAL.get(name)
        if special is not None:
            return special(self, call)
        return self._member(name, call)

    def _table(self, name: str, call: Call) -> Value:
        rule = CALLS[name]
        given = call.at(rule.place, *rule.names)
        target = _address(given)
        if rule.operation in (Operation.FETCH, Operation.SEND, Operation.CONNECT):
            self.found.network(rule.operation, target)
        elif target is not None and "://" in target[:12] and rule.operation is Operation.READ:
            self.found.network(Operation.FETCH, target)
        elif target != ":memory:" and (given is None or given.kind is not Kind.FILE) and (given or rule.place == 0):
            self.found.file(rule.operation, self.placed(target), is_deep=rule.is_deep)
        return values.name(f"{name}()")

    def _copy(self, name: str, call: Call) -> Value:
        old, new = self.placed(call.path(0, "src")), self.placed(call.path(1, "dst"))
        self.found.copies(old, new, is_deep=name == "shutil.copytree")
        return UNKNOWN

    def link(self, call: Call) -> Value:
        """`os.symlink`: the link's name comes second."""
        self.found.links(call.path(0, "src"), self.placed(call.path(1, "dst")))
        return UNKNOWN

    def _move(self, name: str, call: Call) -> Value:
        self.found.moves(self.placed(call.path(0, "src", "old")), self.placed(call.path(1, "dst", "new")))
        return UNKNOWN

    def _list(self, name: str, call: Call) -> Value:
        given = call.at(0, "path", "top")
        folder = self.at(given)
        self.found.file(Operation.LIST, folder, is_deep=name in ("os.walk", "os.fwalk"))
        return UNKNOWN

    def _glob(self, name: str, call: Call) -> Value:
        known = spelled(call.at(0, "pathname"))
        if known is None:
            self.found.file(Operation.LIST, None)
            return UNKNOWN
        found = values.pattern("", known)
        self.found.file(Operation.LIST, self.placed(found), is_deep="**" in known)
        return values.each(values.text(found))

    def _open(self, name: str, call: Call) -> Value:
        given = call.at(0, "file", "filename", "name")
        if name == "os.fdopen" or (given is not None and given.kind is Kind.FILE):
            if given is not None and given.kind is Kind.FILE:
                return given
            return UNKNOWN
        mode = call.at(1, "mode")
        return self.opened(spelled(given), OPENERS[name] if mode is None else spelled(mode), call.depth)

    def opened(self, path: str | None, mode: str | None, depth: int) -> Value:
        """Open a file; a mode that is not known makes it unknown what is done."""
        operation = _operation(mode)
        path = self.placed(path)
        action = self.found.file(operation, path)
        if operation is Operation.WRITE and action >= 0 and path is not None:
            self.open_files.append(Open(action, depth, []))
            return Value(Kind.FILE, path, node=len(self.open_files) - 1)
        return Value(Kind.FILE, path or HOLE)

    def _shell(self, name: str, call: Call) -> Value:
        self.found.runs("sh", call.path(0, "cmd", "command"))
        return UNKNOWN

    def _program(self, name: str, call: Call) -> Value:
        given = call.at(0, "args")
        if given is not None and given.kind is Kind.ITEMS:
            self.found.runs_program([spelled(item) for item in given.items])
        else:
            self.found.runs("sh", spelled(given))
        return UNKNOWN

    def _exec(self, name: str, call: Call) -> Value:
        place, is_list = EXECS[name]
        path = call.path(place)
        if is_list:
            words = call.at(place + 1)
            if words is not None and words.kind is Kind.ITEMS:
                rest = [spelled(item) for item in words.items[1:]]
            else:
                rest = [None]
        else:
            rest = [spelled(item) for item in call.args[place + 2 :]]
        self.found.runs_program([path, *rest])
        return UNKNOWN

    def _temporary(self, name: str, call: Call) -> Value:
        self.found.file(Operation.CREATE, None)
        if "File" in name:
            return Value(Kind.FILE, HOLE)
        return values.text(HOLE)

    # What one function does -------------------------------------------------------------------------------------------

    def retrieve(self, call: Call) -> Value:
        """`urlretrieve(url, path)`."""
        self.found.network(Operation.FETCH, _address(call.at(0, "url")))
        if (given := call.at(1, "filename")) is not None:
            self.found.file(Operation.WRITE, self.placed(spelled(given)))
        return UNKNOWN

    def low_open(self, call: Call) -> Value:
        """`os.open(path, flags)`: the flags are names, or what they are made of."""
        flags = call.at(1, "flags")
        said = None
        if flags is not None and flags.kind is Kind.NAME:
            said = flags.text
        self.found.file(_of_flags(said), self.placed(call.path(0, "path")))
        return UNKNOWN

    def change_folder(self, call: Call) -> Value:
        """`os.chdir(path)`: relative paths after it are below that."""
        self.folder = self.placed(call.path(0, "path")) or HOLE
        return UNKNOWN

    def kill(self, call: Call) -> Value:
        """`os.kill(pid, signal)`."""
        self.found.process(Operation.SIGNAL, call.path(0, "pid"))
        return UNKNOWN

    def archive(self, call: Call) -> Value:
        """`make_archive(base, format, root)`."""
        base, form = call.path(0, "base_name"), call.path(1, "format")
        root = call.at(2, "root_dir")
        self.found.file(Operation.READ, self.at(root), is_deep=True)
        ending = {"zip": ".zip", "tar": ".tar", "gztar": ".tar.gz", "bztar": ".tar.bz2", "xztar": ".tar.xz"}.get(
            form or "", HOLE
        )
        self.found.file(Operation.WRITE, None if base is None else self.placed(base + ending))
        return UNKNOWN

    def unpack(self, call: Call) -> Value:
        """`unpack_archive(file, folder)`."""
        self.found.file(Operation.READ, self.placed(call.path(0, "filename")))
        given = call.at(1, "extract_dir")
        self.found.file(Operation.WRITE, self.at(given), is_deep=True)
        return UNKNOWN

    def runs_text(self, call: Call) -> Value:
        """`exec` and `eval`: of a text, of what a file holds, of something unknown."""
        given = call.at(0)
        if given is not None and given.kind is Kind.MEMBERS and "read" in given.members:
            self.found.file(Operation.EXECUTE, given.members["read"].text)
        else:
            self.found.runs("python", spelled(given))
        return UNKNOWN

    def printed(self, call: Call) -> Value:
        """`print(…, file=f)` writes into an open file."""
        target = call.named.get("file")
        if target is not None:
            pieces = [spelled(arg) for arg in call.args]
            if None in pieces or call.named.keys() - {"file", "end"}:
                known = None
            else:
                known = " ".join(map(str, pieces))
            end = call.named.get("end")
            if end is not None:
                last = spelled(end)
            else:
                last = "\n"
            self._into(target, None if known is None or last is None else known + last, call.depth)
        return UNKNOWN

    def imports(self, call: Call) -> Value:
        """A module by its name: one that is in no library is code that was not read."""
        module = call.path(0, "name")
        if module is None or module.split(".")[0] not in INERT:
            self.found.is_unknown = True
        if module is None:
            return UNKNOWN
        return values.name(module)

    def imports_outermost(self, call: Call) -> Value:
        """`__import__('a.b')` gives `a`, unless names are asked for from it."""
        module = self.imports(call)
        given = call.at(3, "fromlist")
        name = call.path(0, "name")
        if name is None or given is not None:
            return module
        return values.name(name.partition(".")[0])

    def member(self, call: Call) -> Value:
        """`getattr(os, 'system')`: what a module has under a name that is known."""
        owner, name = call.at(0), call.path(1)
        if owner is None or name is None:
            return UNKNOWN
        return values.member(owner, name)

    def members(self, call: Call) -> Value:
        """`vars(os)`: all that a module has."""
        owner = call.at(0)
        if owner is None:
            return UNKNOWN
        return values.member(owner, "__dict__")

    def maps(self, call: Call) -> Value:
        """`map(os.system, […])`: a call for each of what is known."""
        function, through = call.at(0), call.at(1)
        if function is not None and function.kind is Kind.NAME and through is not None and through.kind is Kind.ITEMS:
            for item in through.items[:_MOST_MAPPED]:
                self.function(function.text, Call([item], {}, call.depth))
        return UNKNOWN

    def log_file(self, call: Call) -> Value:
        """`logging.basicConfig(filename=…)`."""
        if "filename" in call.named:
            self.found.file(Operation.APPEND, self.placed(spelled(call.named["filename"])))
        return UNKNOWN

    def connects(self, call: Call) -> Value:
        """`socket.create_connection((host, port))`."""
        self.found.network(Operation.CONNECT, _address(call.at(0, "address")))
        return values.name("socket.socket()")

    # Methods ----------------------------------------------------------------------------------------------------------

    def _member(self, name: str, call: Call) -> Value:
        """A method of something of a module: of a session, a socket, an archive, a frame."""
        owner, _, method = name.rpartition(".")
        if owner in SESSIONS:
            if method in OF_SESSIONS:
                self.found.network(OF_SESSIONS[method], _address(call.at(0, "url")))
            elif method in ("request", "stream"):
                self.found.network(Operation.CONNECT, _address(call.at(1, "url")))
        elif owner == "socket.socket()" and method in ("connect", "connect_ex", "bind"):
            if method == "bind":
                operation = Operation.LISTEN
            else:
                operation = Operation.CONNECT
            self.found.network(operation, _address(call.at(0)))
        elif owner.endswith("()") and (method in OUTPUTS or (method == "save" and owner.split(".")[0] in _SAVING)):
            self.output(call)
        return values.name(f"{name}()")

    def output(self, call: Call) -> None:
        """A method that writes a frame or a figure into the file that it is given; without one it gives a text."""
        given = call.at(0, "path_or_buf", "path", "fname", "excel_writer", "buf", "file", "filename", "fp")
        if given is not None and given.kind is not Kind.FILE:
            self.found.file(Operation.WRITE, self.placed(spelled(given)))

    def of_path(self, path: Value, method: str, call: Call) -> Value:
        """A method of a path object."""
        made = values.path_made(path, method, call.args)
        if made is not None:
            return made
        known = self.placed(path.text)
        if method in _WRITES:
            self.found.writes(known, values.whole(call.path(0, "data")))
        elif method in _METHODS:
            self.found.file(_METHODS[method], known)
        elif method in ("rename", "replace", "move", "copy"):
            (self.found.copies if method == "copy" else self.found.moves)(known, self.placed(call.path(0, "target")))
        elif method in ("symlink_to", "hardlink_to"):
            self._linked(method, known, call)
        elif method == "open":
            mode = call.at(0, "mode")
            return self.opened(path.text, "r" if mode is None else spelled(mode), call.depth)
        elif method in ("glob", "rglob"):
            return self._path_glob(path, method, call)
        elif method == "walk":
            self.found.file(Operation.LIST, known, is_deep=True)
        if method in ("read_text", "read_bytes"):
            return _held(known)
        return values.each(values.path(values.joined([path.text, STAR]))) if method == "iterdir" else UNKNOWN

    def _linked(self, method: str, path: str | None, call: Call) -> None:
        if method == "symlink_to":
            self.found.links(call.path(0, "target"), path)
        else:
            self.found.copies(self.placed(call.path(0, "target")), path)

    def _path_glob(self, path: Value, method: str, call: Call) -> Value:
        spelling = call.path(0, "pattern")
        if spelling is None:
            self.found.file(Operation.LIST, self.placed(path.text), is_deep=True)
            return values.each(values.path(HOLE))
        found = values.pattern(path.text, spelling if method == "glob" else f"**/{spelling}")
        self.found.file(Operation.LIST, self.placed(found), is_deep=method == "rglob" or "**" in spelling)
        return values.each(values.path(found))

    def of_file(self, file: Value, method: str, call: Call) -> Value:
        """A method of an open file."""
        if method == "write":
            self._into(file, call.path(0), call.depth)
        elif method == "writelines":
            lines = call.at(0)
            if lines is not None and lines.kind is Kind.ITEMS:
                known = lines.items
            else:
                known = (UNKNOWN,)
            self._into(file, values.put_together([values.within(line) for line in known]), call.depth)
        elif method in ("extractall", "extract"):
            given = call.at(0 if method == "extractall" else 1, "path")
            self.found.file(Operation.WRITE, self.at(given), is_deep=True)
        elif method in ("add", "write_through") and file.node is not None:
            self.found.file(Operation.READ, self.placed(call.path(0, "name")), is_deep=True)
        elif method in ("read", "readlines", "readline"):
            return _held(file.text)
        elif method not in ("close", "flush", "fileno", "tell", "__enter__", "__exit__"):
            self._into(file, None, call.depth)
        return UNKNOWN

    def _into(self, file: Value, written: str | None, depth: int) -> None:
        """Something is written into an open file: its text is known if all that is written is, and surely once."""
        if not isinstance(file.node, int):
            return
        opened = self.open_files[file.node]
        if written is None or HOLE in written or opened.depth != depth:
            opened.pieces = None
        elif opened.pieces is not None:
            opened.pieces.append(written)

    def given_away(self, call: Call) -> None:
        """A file that is given to an unknown function: what that writes is not known."""
        for value in (*call.args, *call.named.values()):
            if value.kind is Kind.FILE and isinstance(value.node, int):
                self.open_files[value.node].pieces = None

    def finish(self) -> None:
        """At the end of the text: what the files hold that were written whole."""
        for opened in self.open_files:
            if opened.pieces:
                action = self.found.actions[opened.action]
                self.found.actions[opened.action] = msgspec.structs.replace(
                    action, content="".join(opened.pieces), is_authored=True
                )


def _held(path: str | None) -> Value:
    """What a file holds: unknown, but for `exec` it is told which file it was."""
    return Value(Kind.MEMBERS, members={"read": values.text(path or HOLE)})


def _address(value: Value | None) -> str | None:
    """A URL, or `host:port` of a pair; of a request object its URL."""
    if value is not None and value.kind is Kind.ITEMS and len(value.items) == 2:
        return ":".join(map(values.within, value.items))
    if value is not None and value.kind is Kind.MEMBERS and "url" in value.members:
        return spelled(value.members["url"])
    return spelled(value)


def _operation(mode: str | None) -> Operation:
    """What a mode of `open` means for the file."""
    if mode is None or HOLE in mode:
        return Operation.UNKNOWN
    first = mode.replace("b", "").replace("t", "").replace("U", "")[:1]
    if first in ("w", "x"):
        return Operation.WRITE
    if first == "a":
        return Operation.APPEND
    if "+" in mode:
        return Operation.EDIT
    return Operation.READ


def _of_flags(said: str | None) -> Operation:
    if said is None:
        return Operation.UNKNOWN
    if "O_APPEND" in said:
        return Operation.APPEND
    if "O_TRUNC" in said or ("O_WRONLY" in said and "O_CREAT" in said):
        return Operation.WRITE
    if "O_WRONLY" in said or "O_RDWR" in said:
        return Operation.EDIT
    return Operation.READ


_GROUPS = (
    (OPENERS.keys(), Calls._open),
    (COPIES, Calls._copy),
    (MOVES, Calls._move),
    (LISTS, Calls._list),
    (GLOBS, Calls._glob),
    (SHELLS, Calls._shell),
    (PROGRAMS, Calls._program),
    (EXECS.keys(), Calls._exec),
    (TEMPORARY, Calls._temporary),
)
_SPECIAL = {
    "urllib.request.urlretrieve": Calls.retrieve,
    "os.open": Calls.low_open,
    "os.symlink": Calls.link,
    "os.chdir": Calls.change_folder,
    "os.kill": Calls.kill,
    "os.killpg": Calls.kill,
    "shutil.make_archive": Calls.archive,
    "shutil.unpack_archive": Calls.unpack,
    "exec": Calls.runs_text,
    "eval": Calls.runs_text,
    "print": Calls.printed,
    "__import__": Calls.imports_outermost,
    "importlib.import_module": Calls.imports,
    "getattr": Calls.member,
    "vars": Calls.members,
    "map": Calls.maps,
    "logging.basicConfig": Calls.log_file,
    "socket.create_connection": Calls.connects,
}
