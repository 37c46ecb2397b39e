"""Every view of the page, held against axe-core at both widths, light and dark."""

import unittest

import accessibility
from peers import HUB, ODD
from test_inference import Router
from test_page import CARD, GGUF, TINY, WIDTHS, ChatTest

CLIP, TRANSLATOR = "hub-demo/pictures", "hub-demo/translator"
SCRIPT = accessibility.axe_script()


@unittest.skipUnless(SCRIPT, "there is no axe-core (Tests/Peers/requirements-axe.txt)")
class Axe(ChatTest):
    """axe-core must find nothing, and no view may be wider than its window or cut a word."""

    # What is cut: a text that runs out of its box, or out of the window.
    CUT = """[...document.querySelectorAll("body *")].filter((node) => {
      const style = getComputedStyle(node), box = node.getBoundingClientRect();
      // What scrolls by itself, and what is only heard.
      if (!box.width || node.closest(".hidden, .skip, .history ul, pre, thead, .prose table")) return false;
      return box.right > innerWidth + 1 || (["hidden", "clip"].includes(style.overflowX) && !node.matches("input, progress, svg")
        && node.scrollWidth > node.clientWidth + 1);
    }).map((node) => node.outerHTML.slice(0, 120))"""

    further = {CLIP: "clip", TRANSLATOR: "marian"}

    def tabs(self):
        """A tab of each width in each theme; its console is not looked at, for some views are refusals."""
        for width, height in WIDTHS:
            for dark in (False, True):
                page = self.browser.page(width, height, dark=dark)
                yield page
                page.close()

    def hold(self, page, view):
        page.until("document.readyState === 'complete'")
        with self.subTest(view=view, width=page.width):
            self.assertEqual(accessibility.axe_faults(page), [])
            self.assertEqual(accessibility.faults(page), [])
            self.assertEqual(page.run(self.CUT), [])

    def test_every_view(self):
        for model in (TINY, GGUF, CLIP, TRANSLATOR, ODD):
            self.box.hub("pull", model)
        self.box.hub("pin", CLIP)
        self.box.run([HUB, "rm", ODD, "--trash", "--yes"])
        address = self.serve("api")
        views = ["/", "/?q=tiny", "/?q=no-such-model&license=mit", "/?format=gguf", f"/-/models/{CARD}", f"/-/models/{GGUF}?inspect=1",
                 f"/-/models/{CLIP}", f"/-/models/{TRANSLATOR}", "/-/storage", "/-/downloads", "/-/chat", "/-/pictures", "/-/machine?check=1",
                 "/nonsense", "/-/nonsense", "/org/none-such"]
        for page in self.tabs():
            for view in views:
                page.open(address + view)
                self.hold(page, view)

    def test_what_a_click_shows(self):
        self.box.hub("pull", TINY)
        address = self.serve("api")
        for page in self.tabs():
            page.open(f"{address}/-/storage")
            page.click("#items [name=item]")
            page.until("document.querySelector('#marked-text').textContent.includes('frees')")
            self.hold(page, "marked")
            page.click("#review")
            page.until("document.querySelector('#plan').open")
            self.hold(page, "plan")
            page.open(f"{address}/-/models/{TINY}")
            # The headers are read, the facts follow, and the focus stays where it was.
            page.click("#inspection a")
            page.until("document.querySelector('#inspection').innerText.includes('Vocabulary')")
            page.until("document.activeElement.id === 'inspection'")
            self.hold(page, "inspected")

    def test_a_download(self):
        address = self.serve()
        for page in self.tabs():
            self.sim.control("faults", [{"match": "weights.bin|cdn", "kind": "trickle", "rate": 40_000, "times": -1}])
            page.open(f"{address}/-/models/{ODD}")
            self.download(page)
            page.until("document.querySelector('.download .numbers')?.textContent.includes('left')")
            self.hold(page, "a model under way")
            page.open(f"{address}/-/downloads")
            page.until("document.querySelector('.numbers')?.textContent.includes('left')")
            page.click(".download summary")
            page.until("document.querySelector('.files').innerText.includes('weights.bin')")
            self.hold(page, "downloads")
            self.sim.forget()
            page.until("document.querySelector('.download').dataset.state === 'done'")
            self.hold(page, "done")
            page.click("[data-verb=forget]")
            page.until("!document.querySelector('.download')")
            self.box.run([HUB, "rm", ODD, "--yes"])

    def test_a_conversation(self):
        self.box.hub("pull", TINY)
        router = Router()
        self.addCleanup(router.stop)
        address = self.serve("api", "--provider", router.address)
        for page in self.tabs():
            page.open(f"{address}/-/chat")
            page.until(f"document.querySelector('#model').value === '{TINY}'")
            self.hold(page, "chat")
            page.click(".settings summary")
            self.hold(page, "settings")
            # They lie over the conversation: Escape and a click beside them close them.
            page.key("Escape")
            self.assertFalse(page.run("document.querySelector('.settings').open"))
            self.assertEqual(page.run("document.activeElement.nodeName"), "SUMMARY")
            page.run(self.FEED)
            self.ask(page, "Show it.")
            page.until("window.feed")
            self.say(page, reasoning_content="let me think")
            self.say(page, content="# A\n\n#### B\n\n```python\nprint('a line that is longer than a phone is wide, so it scrolls')\n```\n")
            page.run("say('[DONE]'); feed.close()")
            page.until("!document.querySelector('#send').hidden && document.querySelector('.turn.assistant .code')")
            # Nothing lies over the code.
            self.assertGreaterEqual(page.run("document.querySelector('.code pre').getBoundingClientRect().top"
                                             " - document.querySelector('.code .copy').getBoundingClientRect().bottom"), 0)
            self.hold(page, "an answer")
            page.until("location.search.startsWith('?id=')")
            [kept] = self.box.hub("chats")["conversations"]
            self.box.run([HUB, "chats", "rm", kept["id"], "--yes"])

    def test_faults_are_found(self):
        """The check itself."""
        page = self.browser.page()
        page.open(self.serve())
        page.run("document.querySelector('main').insertAdjacentHTML('beforeend', `<h6>deep</h6><table><thead><tr><th></th></tr></thead></table>`)")
        found = " ".join(accessibility.axe_faults(page))
        for rule in ["heading-order", "empty-table-header"]:
            self.assertIn(rule, found)
        page.close()


if __name__ == "__main__":
    unittest.main()
