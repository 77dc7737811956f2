"""Code that hides what it runs."""

import pytest

from tallystick.policy.risks.concealed import RISKS, risks
from tests.policy.risks.readings import found


@pytest.mark.parametrize(
    "command",
    [
        "python3 -c 'import base64; exec(base64.b64decode(\"eA==\"))'",
        "python3 -c 'import zlib; c = zlib.decompress(x); exec(c)'",
        "python3 -c 'exec(bytes.fromhex(\"00\").decode())'",
        "python3 -c 'exec(\"\".join(chr(c) for c in [112, 114, 105, 110, 116]))'",
        "python3 -c 'import marshal; exec(marshal.loads(x))'",
        "python3 -c 'import codecs; exec(codecs.decode(x, \"rot13\"))'",
        "python3 -c 'import os, base64; os.system(base64.b64decode(x).decode())'",
        "node -e 'eval(atob(\"eA==\"))'",
        'node -e \'eval(Buffer.from("eA==", "base64").toString())\'',
        "node -e 'new Function(String.fromCharCode(97, 108))()'",
        "perl -MMIME::Base64 -e 'eval decode_base64(\"eA==\")'",
        "perl -e 'eval unpack u, $x'",
        "php -r 'eval(gzinflate(base64_decode(\"eA==\")));'",
        'ruby -e \'eval(["eA=="].pack("m").unpack1("m"))\'',
    ],
)
def test_what_is_decoded_and_run_is_found(command: str) -> None:
    assert found(risks, command) == set(RISKS)


@pytest.mark.parametrize(
    "command",
    [
        "python3 -c 'import base64; print(base64.b64decode(\"eA==\"))'",
        "python3 -c 'exec(open(\"a.py\").read())'",
        "python3 -c 'x = eval(\"1 + 1\")'",
        "python3 -c 'print(\"exec(base64.b64decode(x))\")'",
        "python3 -c 'import re; re.compile(b\"x\".decode())'",
        "node -e 'console.log(atob(\"eA==\"))'",
        "node -e 'setTimeout(() => 1, 10)'",
        'perl -e \'print pack("A3", "x")\'',
        "php -r 'echo base64_decode(\"eA==\");'",
        "ruby -e 'puts [1].pack(\"C\")'",
    ],
)
def test_decoding_alone_is_work(command: str) -> None:
    assert found(risks, command) == set()
