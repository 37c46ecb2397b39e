"""A headless Chromium, driven over its DevTools protocol through two pipes: nothing but Python is needed beside it.

https://chromedevtools.github.io/devtools-protocol/ ; --remote-debugging-pipe reads messages from descriptor 3 and writes
them to 4, each ended by a NUL.
"""

import base64
import json
import os
import shutil
import subprocess
import tempfile
import threading
import time
from collections import deque
from pathlib import Path

SECONDS = 60
NAMES = ("chromium", "chromium-browser", "google-chrome")


def program():
    """The browser on this machine; None without one."""
    return next((path for name in NAMES if (path := shutil.which(name))), None)


class Browser:
    """One process; each page is a tab with a context, and so cookies, of its own."""

    def __init__(self, *flags):
        self.home = tempfile.mkdtemp(prefix="hub-browser.")
        to_browser, self.writing = os.pipe()
        self.reading, from_browser = os.pipe()

        def descriptors():
            # Either end may have the number of the other's place.
            first, second = os.dup(to_browser), os.dup(from_browser)
            os.dup2(first, 3)
            os.dup2(second, 4)

        command = [program(), "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                   "--remote-debugging-pipe", "--no-first-run", "--disable-background-networking",
                   "--disable-component-update", "--disable-sync", "--no-default-browser-check",
                   f"--user-data-dir={self.home}", *flags, "about:blank"]
        self.process = subprocess.Popen(command, preexec_fn=descriptors, close_fds=False, stdin=subprocess.DEVNULL,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                        env=dict(os.environ, HOME=self.home))
        os.close(to_browser)
        os.close(from_browser)
        self.number = 0
        self.answers = {}
        self.pages = {}
        self.changed = threading.Condition()
        threading.Thread(target=self.read, daemon=True).start()

    def read(self):
        rest = b""
        while chunk := os.read(self.reading, 1 << 16):
            *messages, rest = (rest + chunk).split(b"\0")
            for message in map(json.loads, messages):
                with self.changed:
                    if "id" in message:
                        self.answers[message["id"]] = message
                    elif page := self.pages.get(message.get("sessionId")):
                        page.hear(message["method"], message.get("params", {}))
                    self.changed.notify_all()

    def call(self, method, session=None, **params):
        with self.changed:
            self.number += 1
            number = self.number
        message = {"id": number, "method": method, "params": params} | ({"sessionId": session} if session else {})
        os.write(self.writing, json.dumps(message).encode() + b"\0")
        with self.changed:
            if not self.changed.wait_for(lambda: number in self.answers, SECONDS):
                raise AssertionError(f"the browser does not answer {method}")
            answer = self.answers.pop(number)
        if "error" in answer:
            raise AssertionError(f"{method}: {answer['error']['message']}")
        return answer["result"]

    def page(self, width=1280, height=900, context=None, **media):
        """A tab. media: `dark`, `still` (reduced motion), `plain` (no scripts)."""
        context = context or self.call("Target.createBrowserContext")["browserContextId"]
        target = self.call("Target.createTarget", url="about:blank", browserContextId=context)["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = Page(self, session, target, context)
        with self.changed:
            self.pages[session] = page
        page.prepare(width, height, **media)
        return page

    def stop(self):
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.writing)
        shutil.rmtree(self.home, ignore_errors=True)


class Page:
    """A tab: what it asked for, what its console said."""

    def __init__(self, browser, session, target, context):
        self.browser, self.session, self.target, self.context = browser, session, target, context
        self.requests = deque()
        self.console = deque()
        self.loaded = set()

    def hear(self, method, params):
        if method == "Network.requestWillBeSent":
            self.requests.append(params["request"]["url"])
        elif method == "Log.entryAdded":
            entry = params["entry"]
            self.console.append((entry["level"], entry["source"], entry["text"], entry.get("url", "")))
        elif method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            text = details.get("exception", {}).get("description", details["text"])
            self.console.append(("error", "exception", text, ""))
        elif method == "Runtime.consoleAPICalled":
            self.console.append((params["type"], "console", " ".join(str(a.get("value")) for a in params["args"]), ""))
        elif method == "Page.lifecycleEvent" and params["name"] == "load":
            self.loaded.add(params["loaderId"])

    def call(self, method, **params):
        return self.browser.call(method, self.session, **params)

    def prepare(self, width, height, dark=False, still=False, plain=False):
        self.width = width
        for domain in ("Page", "Network", "Runtime", "Log"):
            self.call(f"{domain}.enable")
        self.call("Page.setLifecycleEventsEnabled", enabled=True)
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1,
                  mobile=False)
        features = [("prefers-color-scheme", "dark" if dark else "light"),
                    ("prefers-reduced-motion", "reduce" if still else "no-preference")]
        self.call("Emulation.setEmulatedMedia", features=[{"name": n, "value": v} for n, v in features])
        if plain:
            self.call("Emulation.setScriptExecutionDisabled", value=True)

    def open(self, address):
        answer = self.call("Page.navigate", url=address)
        if "errorText" in answer:
            raise AssertionError(f"{address}: {answer['errorText']}")
        # The page before it may still say that it has loaded.
        with self.browser.changed:
            if not self.browser.changed.wait_for(lambda: answer["loaderId"] in self.loaded, SECONDS):
                raise AssertionError(f"{address} does not load")
        return self

    def run(self, expression):
        """The value of an expression, awaited."""
        answer = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            details = answer["exceptionDetails"]
            raise AssertionError(details.get("exception", {}).get("description", details["text"]))
        return answer["result"].get("value")

    def until(self, expression, seconds=SECONDS):
        """Waits until an expression is true; a page that is just being left is asked again."""
        limit = time.monotonic() + seconds
        while True:
            try:
                if value := self.run(f"!!({expression})"):
                    return value
            except AssertionError as error:
                if not any(words in str(error) for words in ("context", "of null", "navigated")):
                    raise
            if time.monotonic() > limit:
                text = self.run("document.body?.innerText ?? ''")[:2000]
                raise AssertionError(f"never true at {self.width} pixels: {expression}\n{text}\n{list(self.console)}")
            time.sleep(0.03)

    def text(self, selector="body"):
        """What can be read there, once the page is whole."""
        self.until("document.readyState === 'complete'")
        return self.run(f"document.querySelector({json.dumps(selector)})?.innerText ?? ''")

    def point(self, selector):
        """The middle of an element, scrolled into view."""
        self.until(f"!!document.querySelector({json.dumps(selector)})")
        return self.run(
            f"(() => {{ const n = document.querySelector({json.dumps(selector)}); n.scrollIntoView({{block: 'center'}});"
            " const r = n.getBoundingClientRect(); return [r.x + r.width / 2, r.y + r.height / 2, r.width]; })()")

    def click(self, selector):
        """A click as a hand makes it: what lies on top of the element gets it."""
        x, y, width = self.point(selector)
        if not width:
            raise AssertionError(f"{selector} cannot be seen")
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=x, y=y, button="left", clickCount=1)

    def type(self, selector, text):
        self.run(f"document.querySelector({json.dumps(selector)}).focus()")
        self.call("Input.insertText", text=text)

    def key(self, key, code=None, modifiers=0, text=None):
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=code or key, modifiers=modifiers,
                      windowsVirtualKeyCode={"Enter": 13, "Escape": 27, "Tab": 9}.get(key, ord(key[0].upper())),
                      **({"text": text} if text and kind == "keyDown" else {}))

    def shot(self, path):
        """A picture of the whole page."""
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        clip = {"x": 0, "y": 0, "width": size["width"], "height": min(size["height"], 5000), "scale": 1}
        data = self.call("Page.captureScreenshot", captureBeyondViewport=True, clip=clip)["data"]
        Path(path).write_bytes(base64.b64decode(data))

    def close(self):
        self.browser.call("Target.closeTarget", targetId=self.target)
