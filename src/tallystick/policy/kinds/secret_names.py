"""Names that mean a secret wherever they lie: keys, files of environment variables, and words like `credentials`.

Owns those names, and those that look so and are none: public keys, templates, source code, design tokens. Must not know
places: `secret_places` does. Paths are plain, see `homes`.
"""

from collections.abc import Mapping

from tallystick.catalog.agents import AGENTS, secrets
from tallystick.catalog.loading import Entry, load
from tallystick.model.pattern import pattern_of
from tallystick.policy.kinds.wildcards import has_wildcards, may_name


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


class _Facts(Entry, frozen=True):
    """Facts of catalog/kinds/secret_names.toml."""

    secret: frozenset[str]
    only_in_folder: Mapping[str, tuple[str, ...]]
    usual: frozenset[str]
    usual_beginnings: tuple[str, ...]
    perhaps: frozenset[str]
    public: tuple[str, ...]
    keystores: tuple[str, ...]
    states: tuple[str, ...]
    certificates: frozenset[str]
    hints: frozenset[str]
    grown_together: tuple[str, ...]
    folders_of_hints: tuple[str, ...]
    folders_of_programs: tuple[str, ...]
    no_hints: frozenset[str]
    data: frozenset[str]
    about_looks: frozenset[str]
    aside: frozenset[str]


_FACTS = load("kinds/secret_names", _Facts)


def _only_in_folder() -> Mapping[str, frozenset[str]]:
    """Names that mean a secret in folders of these names, those of agents among them."""
    found: dict[str, frozenset[str]] = {name: frozenset(folders) for name, folders in _FACTS.only_in_folder.items()}
    for path in secrets():
        folder, _, name = path.rpartition("/")
        last = folder.rpartition("/")[2]
        if last in _AGENTS_FOLDERS:
            found[name] = found.get(name, frozenset()) | {last}
    return found


_AGENTS_FOLDERS = frozenset(folder.rpartition("/")[2] for facts in AGENTS.values() for folder in facts.folders)
_ONLY_IN_FOLDER = _only_in_folder()
_KEY = pattern_of(r"id_(?:rsa|dsa|ecdsa|ed25519|ecdsa_sk|ed25519_sk|xmss)(?:[._-].*)?")
_ENV = pattern_of(
    r"\.env(?:rc)?(?:[.\-_].*)?|[\w.+@-]{1,80}\.env(?:\.(?:local|bak|old|backup|save|orig))?"
    r"|env\.(?:local|prod|production|staging|live)"
)
_ENV_SURE = pattern_of(r"(?:.*[._-])?(?:prod|production|live|staging|stage|secrets?|private)\.env")
_TEMPLATE = pattern_of(
    r"example|sample|template|tmpl|tpl|dist|defaults?|schema|skel|skeleton|stub|dummy|vault|types?|d\.ts"
)
_TRIED = pattern_of(r"test|tests|testing|ci|e2e|mock")
_WORD = pattern_of(r"[a-z0-9]+")
_PAIRS = (
    ("api", "key"),
    ("api", "keys"),
    ("access", "key"),
    ("private", "key"),
    ("service", "account"),
    ("auth", "key"),
    ("firebase", "adminsdk"),
)
_TOKENS = frozenset(("token", "tokens"))


def by_name(path: str, *, in_workspace: bool) -> str | None:
    """What a path is by its last part: `secret`, `credential`, `settings`, `work` for what surely is none, or None."""
    folder, _, name = path.rpartition("/")
    parts = folder.split("/")
    if name.endswith(_FACTS.public):
        return "work"
    if name in _FACTS.secret or _KEY.fullmatch(name) or "private_key" in name or ".ssh" in parts:
        return _unless_aside(name, parts, in_workspace)
    owners = _ONLY_IN_FOLDER.get(name)
    if owners is not None and parts[-1] in owners:
        return "secret"
    if "env" in name and _ENV.fullmatch(name):
        return _environment(name)
    if has_wildcards(name):
        return _pattern(name, parts)
    if name in _FACTS.usual or name.startswith(_FACTS.usual_beginnings) or name.endswith(".kubeconfig"):
        return "credential" if _FACTS.aside.isdisjoint(parts) else None
    if name in _FACTS.perhaps:
        return "settings" if _FACTS.aside.isdisjoint(parts) else None
    if "." in name and name.endswith((".pem", ".key", *_FACTS.keystores, *_FACTS.states)):
        return _key_file(name, parts, in_workspace)
    return _hint(name, parts)


def is_data(path: str) -> bool:
    """Whether a plain path is that of settings or data by its ending, or has none: not source code, not documentation."""
    stem, dot, ending = path.rpartition("/")[2].lstrip(".").rpartition(".")
    return not dot or not stem or ending in _FACTS.data


def is_aside(path: str) -> bool:
    """Whether a plain path lies among tests, examples, documentation or what others wrote."""
    return not _FACTS.aside.isdisjoint(path.split("/")[:-1])


def _unless_aside(name: str, parts: list[str], in_workspace: bool) -> str:
    """A key among a project's tests is made for them."""
    is_made = in_workspace and not _FACTS.aside.isdisjoint(parts) and name not in _FACTS.secret
    return "work" if is_made else "secret"


def _environment(name: str) -> str:
    """`.env` and its kin. What is called after an example holds none; what is made for tests perhaps."""
    if name == ".env" or name == ".env*":
        return "secret"
    words = set(_WORD.findall(name))
    if any(_TEMPLATE.fullmatch(word) for word in words):
        return "work"
    if any(_TRIED.fullmatch(word) for word in words) or name.startswith(".envrc"):
        return "credential"
    return "secret" if name.startswith(".env") or _ENV_SURE.fullmatch(name) else "credential"


def _key_file(name: str, parts: list[str], in_workspace: bool) -> str | None:
    """A file that holds keys by its ending. One among a project's tests is made for them."""
    words = set(_WORD.findall(name))
    if in_workspace and not _FACTS.aside.isdisjoint(parts):
        return "work"
    if (
        name.endswith(".pem")
        and not _FACTS.certificates.isdisjoint(word.rstrip("0123456789") for word in words)
        and not words & {"key", "private", "privkey", "rsa"}
    ):
        return "work"
    if "truststore" in words or "cacerts" in words or name == "debug.keystore":
        return "work"
    if name.endswith(".key") and (words & {"private", "master", "secret", "ca", "signing", "host"}):
        return "secret" if "master" in words or "private" in words else "credential"
    return "credential"


def _hint(name: str, parts: list[str]) -> str | None:
    """Words in a name that promise credentials; not in source code, documentation, or what other words explain."""
    stem, dot, ending = name.lstrip(".").rpartition(".")
    if dot and ending not in _FACTS.data:
        return None
    words = _WORD.findall(stem if dot else ending)
    if not _promises(words) and not (dot and parts[-1] in _FACTS.folders_of_hints):
        return None
    is_explained = not _FACTS.no_hints.isdisjoint(words) or any(_TEMPLATE.fullmatch(word) for word in words)
    is_about_looks = not _FACTS.about_looks.isdisjoint(parts) and _TOKENS.issuperset(_FACTS.hints.intersection(words))
    if is_explained or is_about_looks or not _FACTS.aside.isdisjoint(parts):
        return None
    # Without an ending it is a program, unless it is hidden or called just that: `get-token`, but `token` and `.db_password`.
    is_program = not dot and not name.startswith(".") and (len(words) > 1 or parts[-1] in _FACTS.folders_of_programs)
    return None if is_program else "credential"


def _promises(words: list[str]) -> bool:
    if not _FACTS.hints.isdisjoint(words) or any(word.startswith(_FACTS.grown_together) for word in words):
        return True
    return len(words) > 1 and any(one in words and other in words for one, other in _PAIRS)


def _pattern(name: str, parts: list[str]) -> str | None:
    """A pattern is what it most likely names: `id_*`, `.en?`, `*.pem`; `*` alone names nothing."""
    if any(
        may_name(name, secret)
        for secret in (*_FACTS.secret, ".env", ".env.local", ".env.production", "id_rsa", "id_ed25519")
    ):
        return "secret"
    if any(may_name(name, file) and parts[-1] in owners for file, owners in _ONLY_IN_FOLDER.items()):
        return "secret"
    if name.endswith(".env"):
        return "secret"
    if name.endswith((".pem", ".key", *_FACTS.keystores, *_FACTS.states)):
        return _key_file(name, parts, False)
    return _hint(name.replace("*", ""), parts) if "." in name else None
