#!/usr/bin/env python3
"""The first view of the page in a new browser profile: page_view.py ADDRESS prints the seconds until it is interactive, from the
start of the navigation, and the bytes that came over the line."""

import json
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "Tests" / "Peers"))
import browser  # noqa: E402

chromium = browser.Browser()
try:
    # The browser's own start is not the page's.
    chromium.page().close()
    page = chromium.page()
    page.open(sys.argv[1])
    times = page.run("performance.getEntriesByType('navigation')[0].toJSON()")
    loaded = page.run("performance.getEntries().reduce((sum, one) => sum + (one.transferSize ?? 0), 0)")
    # Modules have run when this event fires, so every control works then.
    print(json.dumps({"seconds": times["domContentLoadedEventEnd"] / 1000, "bytes": loaded}))
finally:
    chromium.stop()
