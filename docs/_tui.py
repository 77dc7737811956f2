"""Makes the picture of docs/tui.md: the full screen on the samples, the same every time. `python docs/_tui.py`."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
sys.path[:0] = [str(ROOT), str(ROOT / "docs")]

from generate import anew, home, imported  # noqa: E402

from tallystick.journal.home import Home  # noqa: E402
from tallystick.tui.app import Browser  # noqa: E402


async def picture(store: Home) -> str:
    app = Browser(store, "341b8edc")
    async with app.run_test(size=(120, 36)) as pilot:
        for key in ("", "e"):
            if key:
                await pilot.press(key)
            await pilot.pause(0.2)
            while not app.is_settled():
                await pilot.pause(0.05)
        return app.export_screenshot(title="tally tui")


anew()
imported()
os.chdir(home())
svg = asyncio.run(picture(Home(Path(".tally"))))
svg = re.sub(r"@font-face \{.*?\}\s*", "", svg, flags=re.DOTALL)  # the fonts of whoever looks at it: nothing is fetched
(ROOT / "docs" / "tui.svg").write_text(re.sub(r"terminal-\d+", "terminal", svg) + "\n", "utf-8")
