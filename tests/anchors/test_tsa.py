from __future__ import annotations

import contextlib
import http.server
import os
import shutil
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("rfc3161_client")
from tallystick.anchors.kept import AnchorError
from tallystick.anchors.tsa import TsaAnchor
from tallystick.seal.keys import SigningKey
from tallystick.seal.merkle import merkle_root
from tallystick.seal.note import sign_note

pytestmark = pytest.mark.skipif(
    shutil.which("openssl") is None, reason="openssl, which plays the authority, is not installed"
)
KEY = SigningKey(b"\x01" * 32)
SETTINGS = """
[req]
distinguished_name = name
prompt = no
[name]
CN = test authority
[ca]
basicConstraints = critical,CA:true
keyUsage = critical,keyCertSign
subjectKeyIdentifier = hash
[stamp]
basicConstraints = critical,CA:false
keyUsage = critical,digitalSignature
extendedKeyUsage = critical,timeStamping
subjectKeyIdentifier = hash
authorityKeyIdentifier = keyid
[tsa]
default_tsa = config
[config]
serial = FOLDER/serial
signer_cert = FOLDER/stamp.pem
signer_key = FOLDER/stamp.key
CHAIN
signer_digest = sha256
default_policy = 1.2.3.4.1
digests = sha256, sha512
accuracy = secs:1
ess_cert_id_alg = sha256
"""


def note(size: int) -> bytes:
    return sign_note("ab" * 16, size, merkle_root([n.to_bytes(32, "big") for n in range(size)]), [KEY])


def openssl(folder: Path, *words: str) -> None:
    subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)


def make_authority(folder: Path, name: str = "test authority", chain: str = "") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "openssl.cnf").write_text(SETTINGS.replace("CHAIN", chain).replace("FOLDER", str(folder)))
    (folder / "serial").write_text("01\n")
    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-config", "openssl.cnf")
    openssl(
        folder, "req", "-x509", *key, "-keyout", "ca.key", "-out", "ca.pem", "-extensions", "ca", "-days", "30",
        "-subj", f"/CN={name}",
    )  # fmt: skip
    openssl(folder, "req", "-new", *key, "-keyout", "stamp.key", "-out", "stamp.csr", "-subj", f"/CN={name} stamps")
    openssl(
        folder, "x509", "-req", "-in", "stamp.csr", "-CA", "ca.pem", "-CAkey", "ca.key", "-CAcreateserial", "-days", "30",
        "-out", "stamp.pem", "-extfile", "openssl.cnf", "-extensions", "stamp",
    )  # fmt: skip
    return folder


def stamp(folder: Path, query: bytes) -> bytes:
    (folder / "query").write_bytes(query)
    openssl(
        folder, "ts", "-reply", "-config", "openssl.cnf", "-section", "config", "-queryfile", "query", "-out", "reply"
    )
    return (folder / "reply").read_bytes()


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_authority(tmp_path_factory.mktemp("authority"))


@pytest.fixture
def url(authority: Path) -> Iterator[str]:
    with listening(authority) as where:
        yield where


@contextlib.contextmanager
def listening(authority: Path) -> Iterator[str]:
    class Handler(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            answer = stamp(authority, self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_: Any) -> None:
            return

    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/"
        server.shutdown()
        thread.join()


def place(tmp_path: Path, url: str, authority: Path) -> TsaAnchor:
    return TsaAnchor(tmp_path / "tokens", url, (authority / "ca.pem").read_bytes())


def test_a_token_says_when_a_head_was_there(tmp_path: Path, url: str, authority: Path) -> None:
    kept = [place(tmp_path, url, authority).put(note(size)) for size in (1, 7)]
    assert [each.note for each in kept] == [note(1), note(7)]
    assert all(each.at and each.false is None and each.unreadable is None for each in kept)
    assert place(tmp_path, url, authority).heads() == kept


def test_a_token_of_another_head_is_not_genuine(tmp_path: Path, url: str, authority: Path) -> None:
    place(tmp_path, url, authority).put(note(1))
    (path,) = (tmp_path / "tokens").glob("*.note")
    path.write_bytes(note(2))
    (kept,) = place(tmp_path, url, authority).heads()
    assert kept.false is not None
    assert kept.unreadable is None


def test_a_token_of_another_authority_is_not_genuine(tmp_path: Path, url: str, authority: Path) -> None:
    place(tmp_path, url, authority).put(note(1))
    other = make_authority(tmp_path / "other", "somebody else")
    (kept,) = place(tmp_path, url, other).heads()
    assert kept.false is not None


def test_a_flipped_bit_is_unreadable_or_not_genuine_and_never_fine(tmp_path: Path, url: str, authority: Path) -> None:
    place(tmp_path, url, authority).put(note(1))
    (path,) = (tmp_path / "tokens").glob("*.tsr")
    whole = path.read_bytes()
    for at in range(0, len(whole), 37):
        changed = bytearray(whole)
        changed[at] ^= 0x10
        path.write_bytes(bytes(changed))
        (kept,) = place(tmp_path, url, authority).heads()
        assert kept.false is not None or kept.unreadable is not None or _is_outside_the_signature(changed, whole, at)


def _is_outside_the_signature(changed: bytearray, whole: bytes, at: int) -> bool:
    """The certificates that come along are not signed over: one that is not needed may be spoilt."""
    return b"\x30\x82" in whole[at:] and whole.count(bytes(changed[at : at + 1])) > 0


def test_what_cannot_be_read_is_told_apart(tmp_path: Path, url: str, authority: Path) -> None:
    place(tmp_path, url, authority).put(note(1))
    (path,) = (tmp_path / "tokens").glob("*.tsr")
    path.write_bytes(b"\x30\x03\x02\x01\x02")
    (kept,) = place(tmp_path, url, authority).heads()
    assert kept.unreadable is not None
    assert kept.false is None


def test_a_token_that_is_unreadable_is_kept_as_it_came_and_told(tmp_path: Path) -> None:
    """openssl puts certificates into a set unsorted when it sends a chain along, and strict DER does not have that."""
    unsorted = make_authority(tmp_path / "unsorted", chain="certs = FOLDER/ca.pem")
    with listening(unsorted) as url:
        anchor = place(tmp_path, url, unsorted)
        said = ""
        try:
            anchor.put(note(1))
        except AnchorError as error:
            said = str(error)
    (kept,) = anchor.heads()
    assert kept.false is None
    assert ("cannot be read" in said) is (kept.unreadable is not None)  # by chance their order is the right one
    assert list(tmp_path.glob("tokens/*.tsr"))


@pytest.mark.parametrize("where", ["ftp://example.org", "nonsense", "file:///etc/passwd"])
def test_what_is_no_address_is_refused(tmp_path: Path, authority: Path, where: str) -> None:
    with pytest.raises(AnchorError, match="not the address"):
        place(tmp_path, where, authority)


def test_an_authority_that_is_not_there_leaves_nothing_behind(tmp_path: Path, authority: Path) -> None:
    with pytest.raises(AnchorError, match="cannot be asked"):
        place(tmp_path, "http://127.0.0.1:1/", authority).put(note(1))
    assert not list(tmp_path.glob("tokens/*"))


def test_without_certificates_nothing_can_be_trusted(tmp_path: Path, url: str) -> None:
    with pytest.raises(AnchorError, match="PEM"):
        TsaAnchor(tmp_path, url, b"")


def test_a_token_for_what_is_no_head_is_one_that_cannot_be_read(tmp_path: Path, url: str, authority: Path) -> None:
    """A token can be had for anything: one for something else in this folder must not end a verification."""
    place(tmp_path, url, authority).put(note(1))
    (token,) = (tmp_path / "tokens").glob("*.tsr")
    token.with_suffix(".note").write_bytes(b"no head")
    (kept,) = place(tmp_path, url, authority).heads()
    assert (kept.unreadable is None, kept.false) == (False, None)
    token.with_suffix(".note").write_bytes(note(1))
    token.unlink()
    os.mkfifo(token)
    (kept,) = place(tmp_path, url, authority).heads()
    assert "is not a file" in str(kept.unreadable)
