"""The page of `hub serve page` in a headless Chromium: every flow at the width of a desk and of a phone."""

import json
import shutil
import subprocess
import tempfile
import unittest
import urllib.error
import urllib.request
from pathlib import Path

import accessibility
import browser
from peers import FIXTURES, HUB, ODD, Hubsim, Sandbox, Server, contents, environment, homes, write_models

WIDTHS = [(1280, 900), (390, 844)]
TINY, GGUF = "hub-demo/tiny-shakespeare", "hub-demo/tiny-shakespeare-gguf"
CARD, BERT = "hub-demo/with-a-card", "hub-demo/vectors"
LONG = "hub-demo/long-line"
README = """---
license: apache-2.0
---
# A card

Some **bold** words, `code` and a [link](https://example.com/a). [Bad](javascript:window.hit=1)

<img src=x onerror="window.hit=1"> <script>window.hit=1</script>
![a picture](https://elsewhere.invalid/x.png)

| a | b |
| --- | --- |
| 1 | <b onclick="window.hit=1">2</b> |

- one
- two
  - three

```python
print("hello <b>")
```
"""


def answer(address, method="GET", body=None, **headers):
    """Status, headers and text of a plain request."""
    request = urllib.request.Request(address, data=body, method=method, headers=headers)
    try:
        with urllib.request.build_opener(urllib.request.ProxyHandler({})).open(request, timeout=60) as found:
            return found.status, found.headers, found.read().decode()
    except urllib.error.HTTPError as error:
        return error.code, error.headers, error.read().decode()


@unittest.skipUnless(browser.program(), "there is no Chromium (apt-get install chromium)")
class PageTest(unittest.TestCase):
    """A Hub, a cache with two of its models, a server with the page, and a browser."""

    # Further models of the Hub, by the fixture that each is.
    further = {}

    @classmethod
    def setUpClass(cls):
        cls.root = Path(tempfile.mkdtemp(prefix="hub-peers-models."))
        cls.addClassCleanup(shutil.rmtree, cls.root)
        write_models(cls.root)
        shutil.copytree(cls.root / TINY, cls.root / CARD)
        (cls.root / CARD / "README.md").write_text(README)
        shutil.copytree(FIXTURES / "micro" / "bert", cls.root / BERT)
        for name, fixture in cls.further.items():
            shutil.copytree(FIXTURES / "micro" / fixture, cls.root / name)
        shutil.copytree(cls.root / TINY, cls.root / LONG)
        (cls.root / LONG / "README.md").write_text("**[" * 60_000 + "a" * 100_000 + "\n\n" + "_a *b `c " * 25_000)
        cls.sim = Hubsim(cls.root)
        cls.addClassCleanup(cls.sim.stop)
        cls.browser = browser.Browser()
        cls.addClassCleanup(cls.browser.stop)

    def setUp(self):
        self.sim.forget()
        self.box = Sandbox(self.sim.address)
        self.addCleanup(self.box.remove)

    def serve(self, *words, **variables):
        server = Server([HUB, "serve", "page", *words], self.box.env | variables)
        self.addCleanup(server.stop)
        return server.address

    def widths(self, **media):
        """A tab of each width, checked at its end: nothing was asked of another host, and the console is empty."""
        for width, height in WIDTHS:
            page = self.browser.page(width, height, **media)
            self.addCleanup(page.close)
            yield page
            self.check(page)

    def download(self, page, selector="[data-download]"):
        page.click(selector)
        page.until("document.querySelector('#toasts').innerText.includes('Downloading')")

    def check(self, page):
        origin = page.run("location.origin")
        others = [one for one in page.requests if not one.startswith((origin + "/", "data:", "blob:"))]
        self.assertEqual(others, [])
        self.assertEqual([one for one in page.console if one[0] in ("error", "warning")], [])
        self.assertEqual(accessibility.faults(page), [])


class Reading(PageTest):
    def test_models_search_and_the_page_of_a_model(self):
        self.box.hub("pull", TINY)
        address = self.serve()
        for page in self.widths():
            page.open(address)
            self.assertIn("On this machine", page.text("main"))
            self.assertIn("tiny-shakespeare", page.text("main"))
            self.check(page)
            # The list follows what is typed, with no click.
            page.type("#q", "gguf")
            page.until("document.querySelector('#results').innerText.includes('tiny-shakespeare-gguf')")
            self.assertEqual(page.run("location.search"), "?q=gguf")
            self.assertNotIn("odd-names", page.text("#results"))
            self.check(page)
            page.click("#results .model a")
            page.until("location.pathname === '/-/models/hub-demo/tiny-shakespeare-gguf' && document.querySelector('h1')")
            self.assertIn("Weights", page.text("main"))
            self.assertIn("hub pull hub-demo/tiny-shakespeare-gguf", page.text("main"))
            self.check(page)
            page.click("#inspection a")
            page.until("document.querySelector('#inspection').innerText.includes('Vocabulary')")

    def test_a_pasted_address_opens_the_model(self):
        address = self.serve()
        for page in self.widths():
            page.open(address)
            page.type("#q", f"{self.sim.address}/{TINY}/tree/main")
            page.key("Enter", text="\r")
            page.until(f"location.pathname === '/-/models/{TINY}' && document.querySelector('h1')")

    def test_what_runs_and_fits_here_alone(self):
        self.box.hub("pull", TINY)
        address = self.serve()
        for page in self.widths():
            page.open(address)
            page.click("input[name=cached]")
            page.until("location.search === '?cached=1' && document.querySelectorAll('#results .model').length === 1")
            self.assertIn("tiny-shakespeare", page.text("#results"))

    def test_a_card_is_elements_and_harmless(self):
        address = self.serve()
        for page in self.widths():
            page.open(f"{address}/-/models/{CARD}")
            page.until("document.querySelector('.prose strong')")
            self.assertEqual(page.text(".prose strong"), "bold")
            self.assertEqual(page.run("document.querySelector('.prose .code code').textContent"),
                             'print("hello <b>")')
            self.assertEqual(page.run("document.querySelectorAll('.prose table td').length"), 2)
            self.assertEqual(page.run("[...document.querySelectorAll('.prose a')].map((a) => a.href)"),
                             ["https://example.com/a"])
            self.assertEqual(page.run("document.querySelectorAll('.prose img, .prose script').length"), 0)
            self.assertNotIn("license: apache", page.text(".prose"))
            self.assertIsNone(page.run("window.hit"))

    def test_without_scripts_reading_works(self):
        self.box.hub("pull", TINY)
        address = self.serve()
        for path, words in {
            "/": "tiny-shakespeare", "/?q=gguf": "tiny-shakespeare-gguf", f"/-/models/{CARD}": "Some **bold** words",
            "/-/storage": "free on the disk", "/-/downloads": "Nothing is downloading",
            "/-/machine?check=1": "Nothing is wrong",
        }.items():
            with self.subTest(path):
                page = self.browser.page(plain=True)
                page.open(address + path)
                self.assertIn(words, page.text("main"))
                buttons = "[...document.querySelectorAll('main button.live')].filter((b) => b.offsetWidth).length"
                self.assertEqual(page.run(buttons), 0)
                page.close()

    def test_the_machine(self):
        address = self.serve()
        for page in self.widths():
            page.open(f"{address}/-/machine")
            page.until("document.querySelector('#checks').innerText.includes('Nothing is wrong')")
            answer(f"{address}/health?from=test")
            page.until("document.querySelector('#log').textContent.includes('/health?from=test')")

    def test_dark_and_still(self):
        self.box.hub("pull", TINY)
        address = self.serve()
        for path in ["/", "/?q=tiny", f"/-/models/{CARD}", "/-/storage", "/-/downloads", "/-/machine"]:
            for page in self.widths(dark=True, still=True):
                page.open(address + path)
                light = "getComputedStyle(document.body).backgroundColor"
                self.assertEqual(page.run(light), "rgb(20, 21, 23)")

    def test_faults_of_accessibility_are_found(self):
        """The check itself: a page with one fault of each kind."""
        page = self.browser.page()
        page.open(self.serve())
        page.run("document.querySelector('main').insertAdjacentHTML('beforeend', `<h1>b</h1><button></button>"
                 "<input id=q><ul><p>x</p></ul><p class=wide>wide</p>`)")
        page.run("document.querySelector('.wide').style.cssText = 'color: #999; width: 3000px; background: #fff'")
        found = " ".join(accessibility.faults(page))
        for words in ["there are 2 h1", "the id q is there twice", "no name: <button", "no item of a list",
                      "wider than the window", "contrast 2.85"]:
            self.assertIn(words, found)
        page.close()


class Storage(PageTest):
    def test_mark_review_trash_and_undo(self):
        address = self.serve()
        for page in self.widths():
            for model in (TINY, ODD):
                self.box.hub("pull", model)
            size = self.box.hub("ls", TINY)["models"][0]["freeable_bytes"]
            page.open(f"{address}/-/storage")
            self.assertEqual(page.run("document.querySelectorAll('.usage rect').length"), 2)
            self.check(page)
            page.click(f"input[value^='revision {TINY}@']")
            page.until("document.querySelector('#marked-text').textContent.includes('1 marked, frees 2.3 MB')")
            self.check(page)
            page.click("#review")
            page.until("document.querySelector('#plan').open")
            self.assertIn(TINY, page.text("#plan-rows"))
            plan = self.box.hub("rm", TINY, "--dry-run")
            self.assertEqual(plan["freed_bytes"], size)
            self.check(page)
            page.click("#plan-trash")
            page.until("document.querySelector('#undo')")
            self.assertEqual([one["id"] for one in self.box.hub("ls")["models"]], [ODD])
            self.assertEqual([one["id"] for one in self.box.hub("trash")["trash"]], [TINY])
            page.click("#undo")
            page.until("document.querySelector('#toasts').innerText.includes('Restored')")
            self.assertEqual(sorted(one["id"] for one in self.box.hub("ls")["models"]), sorted([TINY, ODD]))
            self.assertEqual(contents(self.box.hub("path", TINY)["path"]), contents(self.root / TINY))

    def test_delete_for_good_and_empty_the_trash(self):
        address = self.serve()
        for page in self.widths():
            for model in (TINY, ODD):
                self.box.hub("pull", model)
            self.box.run([HUB, "rm", ODD, "--trash", "--yes"])
            page.open(f"{address}/-/storage")
            page.click(f"input[value^='revision {TINY}@']")
            page.until("document.querySelector('#marked-text').textContent.includes('frees')")
            page.click("#review")
            page.until("document.querySelector('#plan').open")
            page.click("#plan-delete")
            page.until("document.querySelector('#toasts').innerText.includes('freed')")
            self.assertEqual(self.box.hub("ls")["models"], [])
            page.click("#empty")
            page.until("document.querySelector('#empty').innerText.includes('for good')")
            page.click("#empty")
            page.until("document.querySelector('#toasts').innerText.includes('The trash is empty')")
            self.assertEqual(self.box.hub("trash")["trash"], [])

    def test_pins_hold(self):
        self.box.hub("pull", TINY)
        address = self.serve()
        for page in self.widths():
            page.open(f"{address}/-/storage")
            page.click("[data-pin]")
            page.until("document.querySelector('[data-pin]')?.dataset.pinned === '1'")
            self.assertTrue(page.run("document.querySelector('#items [name=item]').disabled"))
            self.assertTrue(self.box.hub("ls")["models"][0]["pinned"])
            page.click("[data-pin]")
            page.until("document.querySelector('[data-pin]')?.dataset.pinned === '0'")
            self.assertFalse(self.box.hub("ls")["models"][0]["pinned"])

    def test_a_plan_that_has_changed_is_not_carried_out(self):
        for model in (TINY, ODD):
            self.box.hub("pull", model)
        address = self.serve()
        page = self.browser.page()
        page.open(f"{address}/-/storage")
        page.click(f"input[value^='revision {TINY}@']")
        page.until("document.querySelector('#marked-text').textContent.includes('frees')")
        page.click("#review")
        page.until("document.querySelector('#plan').open")
        self.box.run([HUB, "rm", TINY, "--yes"])
        page.click("#plan-delete")
        page.until("document.querySelector('#alerts').innerText.includes('the cache has changed')")
        self.assertEqual([one["id"] for one in self.box.hub("ls")["models"]], [ODD])
        page.close()


class Downloads(PageTest):
    """The Hub sends slowly, so that a download is under way for as long as a test needs."""

    def test_download_pause_reload_resume_and_done(self):
        address = self.serve()
        for page in self.widths():
            self.sim.forget()
            self.sim.control("faults", [{"match": "weights.bin|cdn", "kind": "trickle", "rate": 400_000, "times": -1}])
            page.open(f"{address}/-/models/{ODD}")
            self.download(page)
            page.open(f"{address}/-/downloads")
            page.until("/ of 3.1 MB, .*B\\/s, .* left/.test(document.querySelector('.numbers')?.textContent)")
            self.check(page)
            page.click("[data-verb=pause]")
            page.until("document.querySelector('.download').dataset.state === 'paused'")
            page.open(f"{address}/-/downloads")
            page.until("document.querySelector('.download')?.dataset.state === 'paused'")
            self.check(page)
            page.click(".download summary")
            page.until("document.querySelector('.files').innerText.includes('weights.bin')")
            self.sim.control("reset", {})
            page.click("[data-verb=resume]")
            page.until("document.querySelector('.download').dataset.state === 'done'")
            self.assertEqual(contents(self.box.hub("path", ODD)["path"]), contents(self.root / ODD))
            self.check(page)
            page.click("[data-verb=forget]")
            page.until("!document.querySelector('.download')")
            self.box.run([HUB, "rm", ODD, "--yes"])

    def test_cancel_keeps_the_bytes_and_continue_takes_them(self):
        address = self.serve()
        for page in self.widths():
            self.sim.forget()
            self.sim.control("faults", [{"match": "weights.bin|cdn", "kind": "trickle", "rate": 400_000, "times": -1}])
            page.open(f"{address}/-/models/{ODD}")
            self.download(page)
            page.open(f"{address}/-/downloads")
            page.until("document.querySelector('.numbers')?.textContent.includes('left')")
            page.click("[data-verb=cancel]")
            page.until("document.querySelector('.download').dataset.state === 'cancelled'")
            self.check(page)
            self.sim.control("reset", {})
            page.click("[data-verb=retry]")
            page.until("document.querySelector('.download').dataset.state === 'done'")
            self.assertEqual(contents(self.box.hub("path", ODD)["path"]), contents(self.root / ODD))
            page.click("[data-verb=forget]")
            page.until("!document.querySelector('.download')")
            self.box.run([HUB, "rm", ODD, "--yes"])

    def test_a_failure_says_why(self):
        address = self.serve()
        for page in self.widths():
            self.sim.forget()
            self.sim.control("faults", [{"match": "weights.bin|cdn", "kind": "status", "status": 403, "times": -1,
                                         "body": "no"}])
            page.open(f"{address}/-/models/{ODD}")
            self.download(page)
            page.open(f"{address}/-/downloads")
            page.until("document.querySelector('.download')?.dataset.state === 'failed'")
            self.assertIn("refuses access", page.text(".download .error"))
            page.click("[data-verb=forget]")
            page.until("!document.querySelector('.download')")

    def test_one_set_of_weights(self):
        address = self.serve()
        page = self.browser.page()
        page.open(f"{address}/-/models/{GGUF}")
        count = page.run("document.querySelectorAll('td [data-download]').length")
        self.assertGreater(count, 1)
        chosen = page.run("(({quant}) => quant)(document.querySelector('td [data-download]').dataset)")
        self.download(page, "td [data-download]")
        page.open(f"{address}/-/downloads")
        page.until("document.querySelector('.download')?.dataset.state === 'done'")
        self.assertIn(chosen, page.text(".download"))
        info = self.box.hub("info", GGUF)
        cached = {file["path"] for file in info["files"] if file["cached"]}
        whole = [v["quantization"] for v in info["variants"] if cached.issuperset(v["files"])]
        self.assertEqual(whole, [chosen])
        page.close()


class ChatTest(PageTest):
    """Over models of the same server, one of which has a chat template."""

    # An answer that the test writes itself, piece by piece.
    FEED = """
        window.realFetch = fetch;
        window.fetch = (address, options) => address !== "/-/chat/turn" ? realFetch(address, options)
          : Promise.resolve(new Response(new ReadableStream({ start(feed) {
              window.feed = feed;
              options.signal.addEventListener("abort", () => {
                window.aborted = true;
                feed.error(new DOMException("stopped", "AbortError"));
              });
            } })));
        window.say = (text) => feed.enqueue(new TextEncoder().encode(`data: ${text}\\n\\n`)); 1"""

    def say(self, page, **delta):
        page.run(f"say({json.dumps(json.dumps({'choices': [{'delta': delta}]}))})")

    def ask(self, page, text):
        page.type("#words", text)
        page.key("Enter", text="\r")

    def open(self, page, address):
        page.open(f"{address}/-/chat")
        page.until(f"document.querySelector('#model').value === '{TINY}'")


class Chat(ChatTest):
    def test_answer_kept_found_again_edited_and_deleted(self):
        self.box.hub("pull", TINY)
        address = self.serve("api")
        for page in self.widths():
            self.open(page, address)
            self.check(page)
            page.run("document.querySelector('.settings').open = true")
            page.type("#max_tokens", "12")
            page.run("document.querySelector('#max_tokens').dispatchEvent(new Event('change'))")
            page.run("document.querySelector('.settings').open = false")
            self.ask(page, "Where is the kraken?")
            page.until("/tokens\\/s/.test(document.querySelector('.turn.assistant .turn-actions')?.innerText)")
            page.until("document.querySelector('#gauge').innerText.includes('tokens of context')")
            page.until("location.search.startsWith('?id=')")
            self.check(page)
            [kept] = self.box.hub("chats")["conversations"]
            self.assertEqual((kept["title"], kept["model"]), ("Where is the kraken?", TINY))
            # Again, and otherwise; it stays one conversation.
            page.click(".turn.assistant .turn-actions button:nth-of-type(2)")
            page.run("document.querySelector('#model').focus()")
            page.until("document.querySelectorAll('.turn').length === 2 && !document.querySelector('#send').hidden")
            self.assertEqual(page.run("document.activeElement.id"), "model")
            page.click(".turn.user .turn-actions button:nth-of-type(2)")
            page.run("document.querySelector('.turn.user textarea').value = ''")
            page.type(".turn.user textarea", "Where is the whale?")
            page.click(".turn.user .primary")
            page.until("document.querySelector('#kept').textContent.includes('Where is the whale?')")
            page.until("!document.querySelector('#send').hidden")
            [kept] = self.box.hub("chats")["conversations"]
            self.assertEqual((kept["title"], kept["turns"]), ("Where is the whale?", 2))
            # Loaded again it is there, and the search finds it.
            page.open(f"{address}/-/chat?id={kept['id']}")
            page.until("document.querySelectorAll('.turn').length === 2")
            page.run("document.querySelector('#history').open = true")
            page.type("#find", "nothing-of-it")
            page.until("document.querySelectorAll('#kept li').length === 0")
            page.run("document.querySelector('#find').value = ''")
            page.type("#find", "whale")
            page.until("document.querySelectorAll('#kept li').length === 1")
            page.click("#kept li button")
            page.click("#kept li button")
            page.until("document.querySelectorAll('#kept li').length === 0")
            self.assertEqual(self.box.hub("chats")["conversations"], [])

    def test_trap_25_stop_ends_the_answer(self):
        self.box.hub("pull", TINY)
        address = self.serve("api")
        for page in self.widths():
            self.open(page, address)
            page.run(self.FEED)
            self.ask(page, "Go on for ever")
            page.until("window.feed")
            self.say(page, content="and then ")
            page.until("document.querySelector('.turn.assistant .text').innerText.includes('and then')")
            self.assertEqual(page.run("document.querySelector('#log-of-chat').ariaBusy"), "true")
            self.check(page)
            page.key("Escape")
            page.until("window.aborted && !document.querySelector('#send').hidden")
            # What was written stays, and is kept.
            page.until("document.querySelector('#kept').textContent.includes('Go on for ever')")

    def test_trap_25_an_answer_is_elements_and_harmless(self):
        self.box.hub("pull", TINY)
        address = self.serve("api")
        for page in self.widths():
            self.open(page, address)
            page.run(self.FEED)
            self.ask(page, "Show it <img src=x onerror='window.hit=1'>")
            page.until("window.feed")
            self.say(page, reasoning_content="let me <b>think</b>")
            self.say(page, content="**bold** <img src=x onerror='window.hit=1'> [no](javascript:window.hit=1)\n\n")
            self.say(page, content="```python\nprint('<b>')\n```\n")
            page.run("say('[DONE]'); feed.close()")
            page.until("!document.querySelector('#send').hidden && document.querySelector('.turn.assistant .code')")
            self.assertEqual(page.text(".turn.assistant strong"), "bold")
            self.assertEqual(page.run("document.querySelectorAll('.turn img, .turn a').length"), 0)
            self.assertEqual(page.run("document.querySelector('.turn .code code').textContent"), "print('<b>')")
            self.assertFalse(page.run("document.querySelector('.reasoning').open"))
            self.assertEqual(page.run("document.querySelector('.thought').textContent"), "let me <b>think</b>")
            self.assertIsNone(page.run("window.hit"))
            self.check(page)

    def test_an_answer_that_fails_or_is_cut_says_so(self):
        self.box.hub("pull", TINY)
        address = self.serve("api")
        page = self.browser.page()
        self.open(page, address)
        page.run(self.FEED)
        self.ask(page, "Fail")
        page.until("window.feed")
        page.run("""say('{"error":{"message":"the engine has died"}}')""")
        page.until("document.querySelector('.turn [role=alert]')?.innerText === 'The engine has died'")
        self.ask(page, "Cut")
        page.until("document.querySelectorAll('.turn.user').length === 2")
        self.say(page, content="half an ans")
        page.run("feed.close()")
        page.until("document.querySelector('#log-of-chat').innerText.includes('The answer was cut off')")
        page.close()

    def test_an_attached_text_is_sent(self):
        self.box.hub("pull", TINY)
        address = self.serve("api")
        page = self.browser.page()
        self.open(page, address)
        page.run("""(() => { const data = new DataTransfer(); data.items.add(new File(["the sea is salt"], "notes.txt", {type: "text/plain"}));
            document.querySelector('.chat').dispatchEvent(new DragEvent('drop', {dataTransfer: data, bubbles: true})); })()""")
        page.until("document.querySelector('#attached').innerText.includes('notes.txt')")
        self.check(page)
        page.run(self.FEED)
        page.run("window.feedFetch = fetch; window.fetch = (a, o) => { if (o?.body) window.sent = o.body; return feedFetch(a, o); }; 1")
        self.ask(page, "What does it say?")
        page.until("window.feed")
        self.assertIn("the sea is salt", json.loads(page.run("sent"))["messages"][0]["content"])
        page.close()

    def test_a_key_of_the_api_is_not_needed_beside_the_session(self):
        self.box.hub("pull", TINY)
        address = self.serve("api", HUB_API_KEY="a-key-of-this-test")
        self.assertEqual(answer(f"{address}/v1/models")[0], 401)
        page = self.browser.page()
        self.open(page, address)
        page.close()

    def test_all_is_mirror_api_and_page(self):
        server = Server([HUB, "serve", "all"], self.box.env)
        self.addCleanup(server.stop)
        page = self.browser.page()
        page.open(server.address)
        self.assertEqual(page.text("nav").split(), ["Models", "Downloads", "Storage", "Chat", "Pictures", "Machine"])
        page.close()
        self.assertEqual(answer(server.address)[2], "Ollama is running")
        self.assertEqual(answer(f"{server.address}/api/models/{TINY}")[0], 200)


class Security(PageTest):
    """Traps 24 and 25 of the facts about serving."""

    def test_trap_24_another_host_name_is_refused(self):
        address = self.serve()
        port = address.rsplit(":", 1)[1]
        rebound = browser.Browser("--host-resolver-rules=MAP evil.test 127.0.0.1")
        self.addCleanup(rebound.stop)
        page = rebound.page()
        page.open(f"http://evil.test:{port}/")
        self.assertIn("does not serve that Host", page.text())
        page.close()

    def test_trap_24_a_foreign_page_changes_nothing(self):
        self.box.hub("pull", TINY)
        address = self.serve()
        # A page of another origin, which the browser has: the Hub's own.
        page = self.browser.page()
        page.open(address)
        page.open(f"{self.sim.address}/api/models")
        for path, body in [("/-/downloads", {"model": ODD}), ("/-/storage/empty", {}),
                           ("/-/storage/pin", {"model": TINY, "pinned": True})]:
            page.run(f"fetch({json.dumps(address + path)}, {{method: 'POST', mode: 'no-cors', credentials: 'include',"
                     f" headers: {{'Content-Type': 'text/plain'}}, body: {json.dumps(json.dumps(body))}}})"
                     ".then(() => 1, () => 0)")
        page.run(f"fetch({json.dumps(address)} + '/-/session', {{mode: 'no-cors', credentials: 'include'}}).then(() => 1, () => 0)")
        state = json.loads(answer(f"{address}/-/downloads/state")[2])
        self.assertEqual(state["downloads"], [])
        self.assertFalse(self.box.hub("ls")["models"][0]["pinned"])
        page.close()

    def test_a_change_needs_cookie_token_and_origin(self):
        address = self.serve()
        _, headers, _ = answer(address, Accept="text/html")
        cookie = headers["Set-Cookie"]
        self.assertIn("HttpOnly; SameSite=Strict", cookie)
        cookie = cookie.split(";")[0]
        token = json.loads(answer(f"{address}/-/session", Cookie=cookie)[2])["token"]
        body = json.dumps({"model": ODD}).encode()
        path = f"{address}/-/downloads"
        good = {"Cookie": cookie, "X-Hub-Session": token, "Origin": address}
        for wrong in [{"Cookie": ""}, {"X-Hub-Session": "x"}, {"Origin": "http://evil.test"},
                      {"Cookie": cookie[:-1] + ("0" if cookie[-1] != "0" else "1")}]:
            with self.subTest(wrong):
                self.assertEqual(answer(path, "POST", body, **(good | wrong))[0], 403)
        self.assertEqual(answer(path, "POST", body, **good)[0], 200)

    def test_trap_24_the_page_works_under_an_address_of_the_network(self):
        """Plain http on another name than the loopback's: no Sec-Fetch, no clipboard, no crypto.subtle."""
        env = self.box.env | {"HUB_SERVE_TOKEN": "a-token-of-this-test"}
        server = Server([HUB, "serve", "page", "--allow-host", "lan.test"], env)
        self.addCleanup(server.stop)
        port = server.address.rsplit(":", 1)[1]
        lan = browser.Browser("--host-resolver-rules=MAP lan.test 127.0.0.1")
        self.addCleanup(lan.stop)
        page = lan.page()
        page.open(f"http://lan.test:{port}/-/models/{ODD}")
        self.assertFalse(page.run("isSecureContext"))
        page.click(".copy")
        page.until("document.querySelector('.copy').textContent === 'Copied'")
        self.download(page)
        page.open(f"http://lan.test:{port}/-/downloads")
        page.until("document.querySelector('.download')?.dataset.state === 'done'")
        self.check(page)
        page.close()

    def test_where_others_reach_it_the_token_is_asked_for(self):
        env = environment() | homes(self.box.home) | {"HF_ENDPOINT": self.sim.address}
        command = [HUB, "serve", "page", "--host", "0.0.0.0"]
        refused = subprocess.run(command, env=env, capture_output=True, text=True, timeout=60)
        self.assertEqual(refused.returncode, 2)
        self.assertIn("the page has no token", refused.stderr)
        process = subprocess.Popen(command, env=env | {"HUB_SERVE_TOKEN": "sesame-of-a-test"}, text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.terminate)
        port = process.stdout.readline().strip().rsplit(":", 1)[1]
        address = f"http://127.0.0.1:{port}"
        self.assertEqual(answer(f"{address}/-/downloads/state")[0], 401)
        for page in self.widths():
            page.open(address + "/-/storage")
            page.console.clear()
            self.assertIn("Sign in", page.text("main"))
            page.type("#token", "not-it")
            page.key("Enter", text="\r")
            page.until("document.querySelector('main').innerText.includes('not its token')")
            page.console.clear()
            page.type("#token", "sesame-of-a-test")
            page.key("Enter", text="\r")
            page.until("location.pathname === '/' && document.querySelector('#q')")
            page.open(address + "/-/storage")
            self.assertIn("Storage", page.text("h1"))
            # The refusals, which were meant.
            page.console.clear()

    def test_the_headers_of_every_answer(self):
        address = self.serve()
        for path in ["/", "/-/storage", "/-/downloads/state", "/-/nothing"]:
            with self.subTest(path):
                _, headers, text = answer(address + path, Accept="text/html")
                self.assertIn("default-src 'none'", headers["Content-Security-Policy"])
                self.assertNotIn("unsafe", headers["Content-Security-Policy"])
                self.assertEqual(headers["X-Content-Type-Options"], "nosniff")
                self.assertNotIn("style=", text)
                self.assertNotIn("<script>", text)

    def test_trap_25_seven_tabs_and_a_change_still_goes_through(self):
        self.box.hub("pull", TINY)
        address = self.serve()
        context = self.browser.call("Target.createBrowserContext")["browserContextId"]
        pages = [self.browser.page(context=context) for _ in range(7)]
        for page in pages:
            page.open(f"{address}/-/downloads")
        last = self.browser.page(context=context)
        last.open(f"{address}/-/models/{ODD}")
        self.download(last)
        for page in pages[:2] + pages[-1:]:
            page.run("document.dispatchEvent(new Event('visibilitychange'))")
        last.open(f"{address}/-/downloads")
        last.until("document.querySelector('.download')?.dataset.state === 'done'")
        for page in [*pages, last]:
            page.close()

    def test_what_a_model_writes_does_not_freeze_the_page(self):
        """Texts that make an expression try each part of a line with every other; each was minutes before."""
        many = 20_000
        texts = {
            "# a" + " " * many + "x": "h2", "# a " + "#" * many + "x": "h2", "```" + " " * 3 * many + "`": "p",
            "```" + "a" * 3 * many + "`": "p", "`" * many + "x": "div.code", "- " * many + "x": "ul", "*" * many + " a": "p",
            "**a " * 2400: "p", "_a " * 3000: "p", "~~a " * 2400: "p", "[" * 9900: "p", "[a](" * 2400: "p",
            "![" * 4900: "p", "[![" * 3300: "p", "<img " * many: "p", "<br" + " " * many + "x": "p",
            "<a" + " x" * many: "p", "<!--" * many + "-->\n\na": "p", "a" + " " * many + "b": "p", "\\*" * 4900: "p",
            "".join("`" * (i % 60 + 1) + "a " for i in range(300)): "p", "[a](b " * 1600: "p",
            "|a" * 5000 + "|\n" + "|-" * 5000 + "|": "table", "a|b\n" + " " * many + "-" + " " * many + "x": "p",
            "a|b\n-" + "|" * many + "-": "p", "1. " + " " * 3 * many + "x": "ol", "- [ ] " + " " * many + "x": "ul",
            " " * 3 * many + "x": "div.code", ">" * many + "a": "blockquote", "> " * many: "blockquote",
            "- a\u2028" + " " * many + "b\u2028": "ul", "\n".join(" " * (2 * i) + "- a" for i in range(300)): "ul",
        }
        page = self.browser.page()
        page.open(f"{self.serve()}/-/models/{CARD}")
        page.run("import([...document.scripts].find(s => s.src.includes('markdown')).src).then(m => window.md = m)")
        for text, tag in texts.items():
            with self.subTest(text=text[:20], tag=tag):
                found = page.run(
                    f"(() => {{ const div = document.createElement('div'); div.append(md.render({json.dumps(text)}));"
                    f" return div.querySelectorAll({json.dumps(tag)}).length; }})()")
                self.assertGreaterEqual(found, 1)
        page.close()

    def test_what_markdown_becomes(self):
        pieces = {
            "# A #": "<h2>A</h2>", "## C#\n": "<h3>C</h3>", "#### A\n# B": "<h3>A</h3><h2>B</h2>", "#no": "<p>#no</p>", "a  \nb": "<p>a\nb</p>",
            "a\\\nb": "<p>a<br>b</p>", "* * *": "<hr>", "**a** _b_ `c`": "<p><strong>a</strong> <em>b</em> <code>c</code></p>",
            "``a`b``": "<p><code>a`b</code></p>", "- [x] a": '<ul><li class="task"><input type="checkbox" disabled="" checked="" aria-label="done"> a</li></ul>',
            "a|b\n:-|-:\n1|2\\|": '<table tabindex="0"><thead><tr><th scope="col">a</th><th scope="col">b</th></tr></thead>'
                                  "<tbody><tr><td>1</td><td>2|</td></tr></tbody></table>",
            "[a](https://b.c/d)": '<p><a href="https://b.c/d" rel="noopener noreferrer nofollow" target="_blank">a</a></p>',
        }
        page = self.browser.page()
        page.open(f"{self.serve()}/-/models/{CARD}")
        page.run("import([...document.scripts].find(s => s.src.includes('markdown')).src).then(m => window.md = m)")
        for text, markup in pieces.items():
            with self.subTest(text):
                self.assertEqual(page.run(
                    f"(() => {{ const div = document.createElement('div'); div.append(md.render({json.dumps(text)}));"
                    " return div.innerHTML; })()"), markup)
        page.close()

    def test_trap_25_a_line_of_a_megabyte_is_harmless(self):
        address = self.serve()
        page = self.browser.page()
        page.open(f"{address}/-/models/hub-demo/long-line")
        page.until("document.querySelector('.prose p')", 20)
        self.assertLess(page.run("performance.getEntriesByType('navigation')[0].loadEventEnd"), 10_000)
        page.close()


if __name__ == "__main__":
    unittest.main()
