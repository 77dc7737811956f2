"""`python -m tallystick.service STORE`: the recorder as hooks start it."""

import sys

from tallystick.service.start import run

if __name__ == "__main__":
    sys.exit(run(sys.argv[1]))
