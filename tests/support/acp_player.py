"""An agent that says what a recorded one said: `acp_player.py TRAFFIC HEARD`.

It writes the recorded agent's lines, waits for the editor's where they stood, and keeps what it reads in the file HEARD.
`--stop N` kills it after N of its lines.
"""

import json
import os
import signal
import sys
from pathlib import Path

traffic, heard, *options = sys.argv[1:]
stop = int(options[options.index("--stop") + 1]) if "--stop" in options else -1
said = 0
with Path(heard).open("wb") as log:
    for text in Path(traffic).read_text("utf-8").splitlines():
        item = json.loads(text)
        if item["from"] == "editor":
            log.write(sys.stdin.buffer.readline())
            log.flush()
            continue
        sys.stdout.buffer.write(json.dumps(item["line"], ensure_ascii=False).encode() + b"\n")
        sys.stdout.buffer.flush()
        said += 1
        if said == stop:
            os.kill(os.getpid(), signal.SIGKILL)
    log.write(sys.stdin.buffer.read())
