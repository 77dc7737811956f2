"""Functions and classes of Python's libraries, and what they do to files, hosts and processes.

Owns the table of dotted names. Must not know how a program is read. Sources: the reference of Python's standard library, and
the documentation of requests, httpx, pandas, polars, NumPy, Pillow, Matplotlib, PyTorch, joblib and openpyxl.
"""

from __future__ import annotations

import msgspec

from tallystick.model.intent import Operation


class Rule(msgspec.Struct, frozen=True):
    """What a call does to its arguments: the operation, and the place or the names of the argument."""

    operation: Operation
    place: int = 0
    names: tuple[str, ...] = ()
    is_deep: bool = False


_DONE_TO_ONE = """
delete   0 path name: os.remove os.unlink os.rmdir os.removedirs
delete/  0 path: shutil.rmtree send2trash.send2trash
create   0 path name: os.mkdir os.makedirs os.mkfifo os.mknod
metadata 0 path: os.chmod os.chown os.utime os.lchown os.chflags os.setxattr os.removexattr shutil.chown
metadata 1 dst: shutil.copymode shutil.copystat
edit     0 path: os.truncate
edit     0 database filename: sqlite3.connect shelve.open dbm.open duckdb.connect
read     0 filename files: linecache.getlines linecache.getline fileinput.input netrc.netrc
read     0 source file: xml.etree.ElementTree.parse xml.etree.ElementTree.iterparse xml.dom.minidom.parse lxml.etree.parse
read     0 filename: logging.config.fileConfig
append   0 filename: logging.FileHandler logging.handlers.RotatingFileHandler logging.handlers.TimedRotatingFileHandler
execute  0 path_name name: runpy.run_path execfile ctypes.CDLL ctypes.cdll.LoadLibrary
read     0 filepath_or_buffer path_or_buf io path: pandas.read_csv pandas.read_json pandas.read_excel pandas.read_parquet
read     0 filepath_or_buffer path io: pandas.read_table pandas.read_pickle pandas.read_feather
read     0 filepath_or_buffer path io: pandas.read_html pandas.read_xml
read     0 filepath_or_buffer path: pandas.read_fwf pandas.read_hdf pandas.read_orc pandas.read_sas pandas.read_stata
read     0 source: polars.read_csv polars.read_json polars.read_parquet polars.read_excel polars.read_ndjson polars.read_ipc
read     0 source: polars.scan_csv polars.scan_parquet polars.scan_ndjson
read     0 file fname filename: numpy.load numpy.loadtxt numpy.genfromtxt numpy.fromfile numpy.memmap cv2.imread
read     0 fp fname filename: PIL.Image.open matplotlib.pyplot.imread imageio.imread skimage.io.imread
read     0 file path: soundfile.read librosa.load
read     0 path: hermes_tools.read_file
write    0 path: hermes_tools.write_file
edit     0 path: hermes_tools.patch
read     0 f filename file_name: torch.load joblib.load scipy.io.loadmat scipy.io.wavfile.read
read     0 source fp: nbformat.read pyarrow.parquet.read_table
read     0 filename docx pptx stream: openpyxl.load_workbook docx.Document pptx.Presentation
read     0 stream: pypdf.PdfReader PyPDF2.PdfReader
read     0 path_or_fp filename: pdfplumber.open fitz.open geopandas.read_file configparser.ConfigParser().read
write    0 file fname filename: numpy.save numpy.savez numpy.savez_compressed numpy.savetxt
write    0 fname filename: cv2.imwrite matplotlib.pyplot.savefig
write    0 file file_name: imageio.imwrite soundfile.write scipy.io.savemat
write    1 filename f fp: joblib.dump torch.save nbformat.write
fetch    0 url: urllib.request.urlopen urllib2.urlopen requests.get requests.head requests.options httpx.get httpx.head
fetch    0 url: httpx.options urllib3.request feedparser.parse wget.download webbrowser.open webbrowser.open_new
send     0 url: requests.post requests.put requests.patch requests.delete httpx.post httpx.put httpx.patch httpx.delete
connect  1 url: requests.request httpx.request httpx.stream
connect  0 uri url: websockets.connect websocket.create_connection
connect  0 host: http.client.HTTPConnection http.client.HTTPSConnection ftplib.FTP ftplib.FTP_TLS
connect  0 host: smtplib.SMTP smtplib.SMTP_SSL
connect  0 host url uri: telnetlib.Telnet imaplib.IMAP4 imaplib.IMAP4_SSL poplib.POP3 xmlrpc.client.ServerProxy redis.Redis
connect  0 host dsn url uri: pymongo.MongoClient psycopg2.connect psycopg.connect pymysql.connect asyncpg.connect
connect  0 url: sqlalchemy.create_engine
"""
"""A line: the operation (`/`: with all below), the argument's place and names, and the calls that do it."""


def _table() -> dict[str, Rule]:
    found: dict[str, Rule] = {}
    for line in filter(None, _DONE_TO_ONE.splitlines()):
        rule, _, calls = line.partition(":")
        operation, place, *names = rule.split()
        made = Rule(Operation(operation.rstrip("/")), int(place), tuple(names), operation.endswith("/"))
        found |= dict.fromkeys(calls.split(), made)
    return found


CALLS = _table()
"""Calls that do one thing to one argument."""

KEPT = {
    "netrc.netrc": ".netrc",
    "keyring.get_password": ".local/share/keyrings/login.keyring",
    "keyring.get_credential": ".local/share/keyrings/login.keyring",
    "boto3.Session().get_credentials": ".aws/credentials",
    "boto3.session.Session().get_credentials": ".aws/credentials",
}
"""Calls that read a file below the home folder without being told which."""

COPIES = frozenset(("shutil.copy", "shutil.copy2", "shutil.copyfile", "shutil.copytree", "os.link"))
MOVES = frozenset(("os.rename", "os.replace", "os.renames", "shutil.move"))
LISTS = frozenset(("os.listdir", "os.scandir", "os.walk", "os.fwalk"))
GLOBS = frozenset(("glob.glob", "glob.iglob"))
TEMPORARY = frozenset(("tempfile.mkdtemp", "tempfile.mktemp", "tempfile.mkstemp", "tempfile.NamedTemporaryFile",
                       "tempfile.TemporaryDirectory", "tempfile.TemporaryFile"))  # fmt: skip

OF_SESSIONS = {
    **dict.fromkeys(("get", "head", "options"), Operation.FETCH),
    **dict.fromkeys(("post", "put", "patch", "delete"), Operation.SEND),
    "ws_connect": Operation.CONNECT,
}
"""Methods of SESSIONS that take a URL."""

SESSIONS = frozenset(
    ("requests.Session()", "requests.session()", "httpx.Client()", "httpx.AsyncClient()", "aiohttp.ClientSession()")
)

SHELLS = frozenset(("os.system", "os.popen", "subprocess.getoutput", "subprocess.getstatusoutput", "commands.getoutput",
                    "asyncio.create_subprocess_shell", "asyncio.subprocess.create_subprocess_shell", "pexpect.run",
                    "pexpect.spawn", "hermes_tools.terminal"))  # fmt: skip
"""Calls whose first argument is a shell text."""

PROGRAMS = frozenset(("subprocess.run", "subprocess.call", "subprocess.check_call", "subprocess.check_output",
                      "subprocess.Popen", "pty.spawn"))  # fmt: skip
"""Calls whose first argument is a list of words, or a shell text."""

EXECS = {
    **dict.fromkeys(
        ("os.execv", "os.execvp", "os.execve", "os.execvpe", "os.posix_spawn", "os.posix_spawnp"), (0, True)
    ),
    **dict.fromkeys(("os.execl", "os.execlp", "os.execle", "os.execlpe"), (0, False)),
    **dict.fromkeys(("os.spawnv", "os.spawnvp", "os.spawnve", "os.spawnvpe"), (1, True)),
    **dict.fromkeys(("os.spawnl", "os.spawnlp", "os.spawnle", "os.spawnlpe"), (1, False)),
}
"""Calls that run a program: where its path stands, and whether its arguments are one list after that."""

OPENERS = {
    **dict.fromkeys(("open", "io.open", "codecs.open", "builtins.open", "aiofiles.open", "os.fdopen"), "r"),
    **dict.fromkeys(("gzip.open", "bz2.open", "lzma.open", "gzip.GzipFile", "bz2.BZ2File", "lzma.LZMAFile"), "r"),
    **dict.fromkeys(("zipfile.ZipFile", "tarfile.open", "tarfile.TarFile", "wave.open", "h5py.File"), "r"),
}
"""Calls that open a file, with the mode that they use where none is given."""

_OUTPUT_METHODS = """
to_csv to_json to_excel to_parquet to_pickle to_feather to_hdf to_html to_latex to_stata to_markdown to_xml to_orc to_file
write_csv write_json write_parquet write_excel write_ndjson write_ipc savefig write_image write_html
"""
OUTPUTS = frozenset(_OUTPUT_METHODS.split())
"""Methods that write a file, whatever they are methods of: frames and figures."""

_THIRD_PARTIES = """
numpy pandas polars requests httpx aiohttp yaml bs4 matplotlib seaborn PIL scipy sklearn torch tqdm rich click pytest
dotenv toml tomli tomlkit orjson msgspec pydantic attr attrs dateutil pytz tabulate lxml openpyxl docx pptx jinja2
markdown pygments regex chardet certifi urllib3 websockets websocket redis pymongo psycopg2 psycopg pymysql asyncpg
sqlalchemy networkx sympy cv2 imageio skimage plotly joblib h5py pyarrow duckdb feedparser aiofiles typing_extensions
colorama termcolor psutil packaging setuptools pypdf PyPDF2 pdfplumber fitz nbformat geopandas soundfile librosa
send2trash pexpect wget IPython tiktoken transformers datasets
"""
# The standard library by name, and not as this interpreter has it: another one must read a program alike.
_STANDARD = """
abc aifc annotationlib antigravity argparse array ast asynchat asyncio asyncore atexit audioop base64 bdb binascii
bisect builtins bz2 cProfile calendar cgi cgitb chunk cmath cmd code codecs codeop collections colorsys commands
compileall compression concurrent configparser contextlib contextvars copy copyreg crypt csv ctypes curses dataclasses
datetime dbm decimal difflib dis distutils doctest email encodings ensurepip enum errno faulthandler fcntl filecmp
fileinput fnmatch fractions ftplib functools gc genericpath getopt getpass gettext glob graphlib grp gzip hashlib heapq
hmac html http idlelib imaplib imghdr imp importlib inspect io ipaddress itertools json keyword lib2to3 linecache locale
logging lzma mailbox mailcap marshal math mimetypes mmap modulefinder msilib msvcrt multiprocessing netrc nis nntplib nt
ntpath nturl2path numbers opcode operator optparse os ossaudiodev pathlib pdb pickle pickletools pipes pkgutil platform
plistlib poplib posix posixpath pprint profile pstats pty pwd py_compile pyclbr pydoc pydoc_data pyexpat queue quopri
random re readline reprlib resource rlcompleter runpy sched secrets select selectors shelve shlex shutil signal site
smtpd smtplib sndhdr socket socketserver spwd sqlite3 sre_compile sre_constants sre_parse ssl stat statistics string
stringprep struct subprocess sunau symtable sys sysconfig syslog tabnanny tarfile telnetlib tempfile termios textwrap
this threading time timeit tkinter token tokenize tomllib trace traceback tracemalloc tty turtle turtledemo types typing
unicodedata unittest urllib urllib2 uu uuid venv warnings wave weakref webbrowser winreg winsound wsgiref xdrlib xml
xmlrpc zipapp zipfile zipimport zlib zoneinfo
"""
INERT = frozenset((*_THIRD_PARTIES.split(), *_STANDARD.split(), "__future__"))
"""Modules that do by themselves nothing to the world when they are imported. Any other is code that was not read."""

DYNAMIC = frozenset(("ctypes", "cffi", "pty", "code", "imp"))
"""Modules of INERT through which anything can be done."""
