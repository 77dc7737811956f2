import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[3]
PROGRAM = """
from tools.same import frozen
frozen.freeze()
import os, secrets, time, uuid
from datetime import UTC, datetime
frozen.restart("a")
one = os.urandom(32).hex(), secrets.token_hex(16), str(uuid.uuid4())
other = os.urandom(32).hex()
frozen.restart("a")
os.urandom(5)
assert one == (os.urandom(32).hex(), secrets.token_hex(16), str(uuid.uuid4()))
assert os.urandom(32).hex() == other != one[0]
assert datetime.now(UTC).timestamp() == time.time() == time.time_ns() / 1e9
assert isinstance(datetime.fromisoformat("2026-11-22T12:00:00+00:00"), datetime)
print(*one, datetime.now(UTC))
"""


def test_clock_and_random_bytes_are_the_same_in_each_process() -> None:
    runs = [
        subprocess.run([sys.executable, "-c", PROGRAM], cwd=ROOT, capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    ]
    assert runs[0] == runs[1]
