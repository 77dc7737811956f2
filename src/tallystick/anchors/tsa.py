"""A time-stamping authority as an anchor (RFC 3161): a token says that a head was there at a time, signed by the authority.

Owns asking for tokens, keeping them as they came, and what each is worth. The authority keeps nothing: the tokens lie in a
folder of the store, and what it is trusted by is given. Must not know the ledger.
"""

from __future__ import annotations

import stat
import urllib.error
import urllib.request
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from tallystick.anchors.kept import AnchorError, Guarded, Kept
from tallystick.errors import FormatError
from tallystick.journal.durable import replace_file
from tallystick.journal.home import FOLDER_MODE
from tallystick.seal.note import parse_note

if TYPE_CHECKING:
    from rfc3161_client import TimeStampResponse

_SECONDS = 30
_MOST_ANSWER = 256 << 10
_QUERY = "application/timestamp-query"


class TsaAnchor:
    """One authority, and the tokens that it gave."""

    def __init__(self, folder: Path, url: str, authorities: bytes) -> None:
        """Ask at `url`, and keep tokens in `folder`.

        Args:
            authorities: certificates in PEM that the authority is trusted by, roots and those between.

        Raises:
            AnchorError: the URL is none, the certificates are none, or the library for tokens is not installed.
        """
        if urlsplit(url).scheme not in ("http", "https"):
            raise AnchorError(
                f"{url[:120]!r} is not the address of a time-stamping authority", hint="http:// or https://"
            )
        try:
            import rfc3161_client  # noqa: F401
            from cryptography.x509 import load_pem_x509_certificates

            self._certificates = load_pem_x509_certificates(authorities)
        except ImportError as error:
            raise AnchorError("time stamps need a library", hint="pip install 'tallystick[tsa]'") from error
        except ValueError as error:
            raise AnchorError(
                "no certificates in PEM are given",
                hint="give --ca FILE, the certificates that the authority is trusted by",
            ) from error
        self.url = url
        self._folder = folder

    def put(self, note: bytes) -> Kept:
        """Have a token made for a head, and keep both.

        Raises:
            AnchorError: the authority cannot be reached, refuses, or gives a token that does not verify.
        """
        from rfc3161_client import HashAlgorithm, TimestampRequestBuilder

        request = TimestampRequestBuilder().data(note).hash_algorithm(HashAlgorithm.SHA256).build()
        data = self._post(request.as_bytes())
        size = parse_note(note).size
        self._folder.mkdir(parents=True, exist_ok=True, mode=FOLDER_MODE)
        number = sum(1 for _ in self._folder.glob("*.tsr"))
        beginning = self._folder / f"{number:06}-{size}"
        replace_file(beginning.with_suffix(".note"), [note])
        replace_file(beginning.with_suffix(".tsr"), [data])  # as it came: what cannot be read now may be read later
        kept = self._kept(beginning.with_suffix(".tsr"))
        if kept.unreadable is not None:
            raise AnchorError(
                f"{self.url} gave a token that cannot be read: {kept.unreadable}",
                hint=f"it is kept as it came in {self._folder}",
            )
        if kept.false is not None:
            raise AnchorError(f"{self.url} gave a token that is not genuine: {kept.false}")
        return kept

    def _post(self, data: bytes) -> bytes:
        request = urllib.request.Request(self.url, data, {"Content-Type": _QUERY})
        try:
            with urllib.request.urlopen(request, timeout=_SECONDS) as answer:
                found: bytes = answer.read(_MOST_ANSWER + 1)
        except (OSError, urllib.error.URLError, ValueError) as error:
            raise AnchorError(f"{self.url} cannot be asked for a time stamp: {error}") from error
        if len(found) > _MOST_ANSWER:
            raise AnchorError(f"{self.url} gave more than {_MOST_ANSWER} bytes")
        return found

    def heads(self) -> list[Kept]:
        """The heads that there are tokens for, oldest first; what is unreadable is distinguished from what is not genuine."""
        return [self._kept(path) for path in sorted(self._folder.glob("*.tsr"))]

    def _kept(self, path: Path) -> Kept:
        from rfc3161_client import decode_timestamp_response

        name = f"token {path.stem}"
        try:
            note = _bytes(path.with_suffix(".note"))
            parse_note(note)
            response = decode_timestamp_response(_bytes(path))
        except OSError as error:
            return Kept(note=b"", receipt=name, unreadable=f"{error.strerror}")
        except (ValueError, FormatError) as error:  # a token can be had for anything, also for what is no head
            return Kept(note=b"", receipt=name, unreadable=str(error)[:200])
        if response.status not in (0, 1):
            said = ", ".join(response.status_string)[:200]
            return Kept(note=b"", receipt=name, unreadable=f"the authority refused: {said}")
        try:
            at, serial = response.tst_info.gen_time, response.tst_info.serial_number
        except ValueError as error:
            return Kept(note=b"", receipt=name, unreadable=str(error)[:200])
        false = self._why_false(response, note)
        return Kept(
            note=note,
            receipt=f"{name}, serial {serial:x}",
            at=f"{at:%Y-%m-%dT%H:%M:%S.%f}Z",
            digest=sha256(response.as_bytes()).hexdigest(),
            false=false,
        )

    def _why_false(self, response: TimeStampResponse, note: bytes) -> str | None:
        from rfc3161_client import VerificationError, VerifierBuilder

        builder = VerifierBuilder()
        for certificate in self._certificates:
            is_root = certificate.issuer == certificate.subject
            if is_root:
                builder = builder.add_root_certificate(certificate)
            else:
                builder = builder.add_intermediate_certificate(certificate)
        try:
            builder.build().verify_message(response, note)
        except (VerificationError, ValueError) as error:
            return str(error)[:200] or "it does not verify"
        return None

    def guarded(self) -> Guarded:
        """No one can make another token for a time that has passed; the tokens themselves lie on this machine."""
        return Guarded(
            keeps=True,
            says="a token cannot be made for an earlier time; tokens lie here and can be deleted, which the ledger shows",
        )


def _bytes(path: Path) -> bytes:
    """What a file holds, if it is one and no larger than a token: anyone who owns the folder decides what stands there."""
    found = path.stat()
    if not stat.S_ISREG(found.st_mode) or found.st_size > _MOST_ANSWER:
        raise ValueError("it is not a file, or is larger than a token can be")
    return path.read_bytes()
