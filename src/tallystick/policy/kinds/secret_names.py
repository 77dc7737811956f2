"""Names that mean a secret wherever they lie: keys, files of environment variables, and words like `credentials`.

Owns those names, and those that look so and are none: public keys, templates, source code, design tokens. Must not know
places: `secret_places` does. Paths are plain, see `homes`.
"""

from __future__ import annotations

import re

from tallystick.policy.kinds.wildcards import has_wildcards, may_name


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_SECRET = _words(
    """
.netrc _netrc .pypirc .git-credentials .bash_history .zsh_history .sh_history .ksh_history .csh_history
.python_history .node_repl_history .psql_history .mysql_history .sqlite_history .rediscli_history .mongosh_history
.irb_history .pgpass .my.cnf .mylogin.cnf .vault-token .dev.vars .env.keys .htpasswd .dockercfg .s3cfg .authinfo
consolehost_history.txt login.keychain login.keychain-db logins.json key4.db key3.db signons.sqlite cookies.sqlite
wallet.dat .vault_pass .vault-pass .vault_password .vault_pass.txt ntds.dit .rhosts .credentials
"""
)
_ONLY_IN_FOLDER = {
    "credentials": (".aws", ".gem", ".cargo", ".gcloud", "gcloud"),
    "config": (".kube", ".oci"),
    "config.json": (".docker",),
    "hosts.yml": ("gh", "glab-cli"),
    "auth.json": (".codex", "opencode", ".composer", "containers"),
    "login data": ("default",),
    "web data": ("default",),
    "cookies": ("default", "network"),
}
_KEY = re.compile(r"id_(?:rsa|dsa|ecdsa|ed25519|ecdsa_sk|ed25519_sk|xmss)(?:[._-].*)?")
_ENV = re.compile(
    r"\.env(?:rc)?(?:[.\-_].*)?|[\w.+@-]{1,80}\.env(?:\.(?:local|bak|old|backup|save|orig))?"
    r"|env\.(?:local|prod|production|staging|live)"
)
_ENV_SURE = re.compile(r"(?:.*[._-])?(?:prod|production|live|staging|stage|secrets?|private)\.env")
_TEMPLATE = re.compile(
    r"example|sample|template|tmpl|tpl|dist|defaults?|schema|skel|skeleton|stub|dummy|vault|types?|d\.ts"
)
_USUAL = frozenset(("wp-config.php", "kubeconfig", "kubeconfig.yaml", "kubeconfig.yml", "wallet.json", "secring.gpg"))
_USUAL_BEGINNINGS = (".vault_pass", ".vault-pass", "vault_pass", "vault-pass")
_PERHAPS = frozenset((".npmrc", ".yarnrc.yml", "auth.json", "pip.conf", "nuget.config", "gradle.properties"))
_TRIED = re.compile(r"test|tests|testing|ci|e2e|mock")
_WORD = re.compile(r"[a-z0-9]+")
_PUBLIC = (".pub", ".pub.pem", ".gpg.key", ".crt", ".cer", ".csr", ".crl")
_KEYSTORES = (
    ".ppk",
    ".p12",
    ".pfx",
    ".jks",
    ".keystore",
    ".kdbx",
    ".kdb",
    ".keytab",
    ".p8",
    ".agekey",
    ".jceks",
    ".bcfks",
    ".pkcs12",
    ".ovpn",
)
_STATES = (".tfstate", ".tfstate.backup", ".tfvars", ".tfvars.json", ".keychain", ".keychain-db")
_CERTIFICATES = _words(
    """
ca rootca cacert cacerts cert certs certificate chain fullchain bundle root roots intermediate public pub trust truststore
csr dhparam dhparams dh
"""
)
_HINTS = _words(
    """
token tokens secret secrets credential credentials creds password passwords passwd passphrase
"""
)
_PAIRS = (
    ("api", "key"),
    ("api", "keys"),
    ("access", "key"),
    ("private", "key"),
    ("service", "account"),
    ("auth", "key"),
    ("firebase", "adminsdk"),
)
_GROWN_TOGETHER = ("serviceaccount", "apikey", "accesskey", "privatekey", "clientsecret", "authtoken", "accesstoken")
_FOLDERS_OF_HINTS = ("secrets", ".secrets", "credentials", ".credentials")
_FOLDERS_OF_PROGRAMS = ("bin", "sbin", "scripts", "libexec", "hooks", "cmd")
_NO_HINTS = _words(
    """
design theme color colors colour colours style styles css special added max syntax js map tokenizer encrypted sealed
external enc sops test tests mock fake fixture baseline policy schema rotation count counts usage limit limits lexer
parser stop stopword
"""
)
_DATA = _words(
    """
json yaml yml toml ini cfg conf config env properties txt csv tsv xml plist db sqlite sqlite3 bak old orig backup
save list dat data log gpg asc
"""
)
_TOKENS = frozenset(("token", "tokens"))
_ABOUT_LOOKS = _words("styles style theme themes design design-system css scss ui components assets public tokens")
_ASIDE = _words(
    """
test tests testing testdata fixture fixtures __fixtures__ spec specs __tests__ mock mocks __mocks__ example examples
sample samples doc docs templates template node_modules site-packages dist-packages vendor third_party e2e locales
locale i18n schemas schema migrations
"""
)


def by_name(path: str, *, in_workspace: bool) -> str | None:
    """What a path is by its last part: `secret`, `credential`, `settings`, `work` for what surely is none, or None."""
    folder, _, name = path.rpartition("/")
    parts = folder.split("/")
    if name.endswith(_PUBLIC):
        return "work"
    if name in _SECRET or _KEY.fullmatch(name) or "private_key" in name or ".ssh" in parts:
        return _unless_aside(name, parts, in_workspace)
    owners = _ONLY_IN_FOLDER.get(name)
    if owners is not None and parts[-1] in owners:
        return "secret"
    if "env" in name and _ENV.fullmatch(name):
        return _environment(name)
    if has_wildcards(name):
        return _pattern(name, parts)
    if name in _USUAL or name.startswith(_USUAL_BEGINNINGS) or name.endswith(".kubeconfig"):
        return "credential" if _ASIDE.isdisjoint(parts) else None
    if name in _PERHAPS:
        return "settings" if _ASIDE.isdisjoint(parts) else None
    if "." in name and name.endswith((".pem", ".key", *_KEYSTORES, *_STATES)):
        return _key_file(name, parts, in_workspace)
    return _hint(name, parts)


def is_data(path: str) -> bool:
    """Whether a plain path is that of settings or data by its ending, or has none: not source code, not documentation."""
    stem, dot, ending = path.rpartition("/")[2].lstrip(".").rpartition(".")
    return not dot or not stem or ending in _DATA


def is_aside(path: str) -> bool:
    """Whether a plain path lies among tests, examples, documentation or what others wrote."""
    return not _ASIDE.isdisjoint(path.split("/")[:-1])


def _unless_aside(name: str, parts: list[str], in_workspace: bool) -> str:
    """A key among a project's tests is made for them."""
    is_made = in_workspace and not _ASIDE.isdisjoint(parts) and name not in _SECRET
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
    if in_workspace and not _ASIDE.isdisjoint(parts):
        return "work"
    if (
        name.endswith(".pem")
        and not _CERTIFICATES.isdisjoint(word.rstrip("0123456789") for word in words)
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
    if dot and ending not in _DATA:
        return None
    words = _WORD.findall(stem if dot else ending)
    if not _promises(words) and not (dot and parts[-1] in _FOLDERS_OF_HINTS):
        return None
    is_explained = not _NO_HINTS.isdisjoint(words) or any(_TEMPLATE.fullmatch(word) for word in words)
    is_about_looks = not _ABOUT_LOOKS.isdisjoint(parts) and _TOKENS.issuperset(_HINTS.intersection(words))
    if is_explained or is_about_looks or not _ASIDE.isdisjoint(parts):
        return None
    # Without an ending it is a program, unless it is hidden or called just that: `get-token`, but `token` and `.db_password`.
    is_program = not dot and not name.startswith(".") and (len(words) > 1 or parts[-1] in _FOLDERS_OF_PROGRAMS)
    return None if is_program else "credential"


def _promises(words: list[str]) -> bool:
    if not _HINTS.isdisjoint(words) or any(word.startswith(_GROWN_TOGETHER) for word in words):
        return True
    return len(words) > 1 and any(one in words and other in words for one, other in _PAIRS)


def _pattern(name: str, parts: list[str]) -> str | None:
    """A pattern is what it most likely names: `id_*`, `.en?`, `*.pem`; `*` alone names nothing."""
    if any(
        may_name(name, secret) for secret in (*_SECRET, ".env", ".env.local", ".env.production", "id_rsa", "id_ed25519")
    ):
        return "secret"
    if any(may_name(name, file) and parts[-1] in owners for file, owners in _ONLY_IN_FOLDER.items()):
        return "secret"
    if name.endswith(".env"):
        return "secret"
    if name.endswith((".pem", ".key", *_KEYSTORES, *_STATES)):
        return _key_file(name, parts, False)
    return _hint(name.replace("*", ""), parts) if "." in name else None
