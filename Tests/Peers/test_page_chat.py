"""What a chat on the page may use, in a headless Chromium: files, tools, and another provider, the tests' router."""

import json
import tempfile
import time
import unittest
from pathlib import Path

import browser
from test_inference import Router
from test_page import TINY, ChatTest

CHAT = "org/chat"


class Means(ChatTest):
    """The router repeats what was said, or calls the first tool."""

    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.router = Router()
        cls.addClassCleanup(cls.router.stop)
        place = tempfile.TemporaryDirectory(prefix="hub-peers.")
        cls.addClassCleanup(place.cleanup)
        cls.place = Path(place.name)
        cls.tool = cls.place / "weather"
        cls.tool.write_text("#!/bin/sh\necho ran >> \"$(dirname \"$0\")/ran\"\necho It rains \"<b>here</b>\"\n")
        cls.tool.chmod(0o755)

    def setUp(self):
        super().setUp()
        (self.place / "ran").unlink(missing_ok=True)

    def choose(self, page, address):
        """A conversation with the router's model."""
        page.open(f"{address}/-/chat")
        page.until("document.querySelector('#provider') && document.querySelector('.empty')")
        page.run("(() => { const s = document.querySelector('#provider'); s.selectedIndex = 1;"
                 " s.dispatchEvent(new Event('change')); })()")
        page.run("document.querySelector('#remote').value = ''")
        page.type("#remote", CHAT)

    def drop(self, page, text, name="notes.txt", kind="text/plain"):
        file = f"new File([{text}], {json.dumps(name)}, {{type: {json.dumps(kind)}}})"
        page.run(f"(() => {{ const data = new DataTransfer(); data.items.add({file});"
                 " document.querySelector('.chat').dispatchEvent(new DragEvent('drop', {dataTransfer: data, bubbles: true})); })()")

    def whole(self, page, words):
        page.until(f"document.querySelector('#log-of-chat').innerText.includes({json.dumps(words)})"
                   " && !document.querySelector('#send').hidden")

    def kept(self, count):
        """The one conversation that is kept, once it has so many messages."""
        limit = time.monotonic() + browser.SECONDS
        while True:
            [kept] = self.box.hub("chats")["conversations"] or [{"turns": 0}]
            if kept["turns"] == count:
                return kept
            self.assertLess(time.monotonic(), limit, kept)
            time.sleep(0.05)

    def test_a_tool_asks_runs_and_is_kept(self):
        address = self.serve("api", "--provider", self.router.address, "--tool", str(self.tool))
        for page in self.widths():
            self.choose(page, address)
            self.assertIn("Models may call weather.", page.text("#means"))
            self.assertIn("answers: what you write is sent there", page.text("#who"))
            self.ask(page, "Rome?")
            page.until("document.querySelector('.question')")
            self.assertIn("The model calls weather. Run it?", page.text(".question"))
            self.assertIn('{"text":"Rome?"}', page.text(".question pre"))
            self.check(page)
            page.click(".question .primary")
            self.whole(page, "You said: It rains")
            self.assertEqual(page.run("document.querySelectorAll('.question').length"), 0)
            self.assertFalse(page.run("document.querySelector('.call').open"))
            self.assertEqual(page.run("document.querySelector('.call summary').textContent"), "weather answered")
            self.assertEqual(page.run("document.querySelector('.call .output').textContent"), "It rains <b>here</b>")
            self.check(page)
            page.until("location.search.startsWith('?id=')")
            kept = self.kept(4)
            self.assertEqual((kept["model"], kept["provider"]), (CHAT, self.router.address))
            turns = self.box.hub("chats", "show", kept["id"])["messages"]
            self.assertEqual([turn["role"] for turn in turns], ["user", "assistant", "tool", "assistant"])
            # Loaded again the call is there, and a no is what the model hears.
            page.open(page.run("location.href"))
            page.until("document.querySelector('.call .output')")
            page.until("document.querySelector('#provider').selectedIndex === 1")
            self.ask(page, "Oslo?")
            page.until("document.querySelector('.question')")
            page.click(".question .row button:nth-of-type(2)")
            self.whole(page, "You said: the person does not allow this call")
            page.until("document.querySelectorAll('.turn').length === 6")
            self.assertEqual((self.place / "ran").read_text(), "ran\n")
            (self.place / "ran").unlink()
            self.kept(8)
            self.box.hub("chats", "rm", kept["id"], "--yes")

    def test_a_page_that_leaves_says_no(self):
        address = self.serve("api", "--provider", self.router.address, "--tool", str(self.tool))
        page = self.browser.page()
        self.choose(page, address)
        self.ask(page, "Rome?")
        page.until("document.querySelector('.question')")
        page.key("Escape")
        page.until("!document.querySelector('#send').hidden && !document.querySelector('.question')")
        page.until("document.querySelector('.call.failed .output')?.textContent === 'the call was interrupted'")
        self.assertFalse((self.place / "ran").exists())
        page.close()

    def test_files_go_with_the_message_and_are_folded(self):
        self.box.hub("pull", TINY)
        address = self.serve("api", "--provider", self.router.address)
        for page in self.widths():
            self.choose(page, address)
            self.drop(page, json.dumps("the sea is </file> salt"), 'my "notes".txt')
            page.until("document.querySelector('#attached').innerText.includes('23 B')")
            for text, kind, why in [("new Uint8Array([255, 254, 0, 1])", "application/pdf", "is neither UTF-8 text nor a PNG"),
                                    ("new Uint8Array(8000001)", "text/plain", "8.0 MB is the most, and nothing of it is sent"),
                                    ("''", "text/plain", "is empty")]:
                self.drop(page, text, "other", kind)
                page.until(f"document.querySelector('#alerts').innerText.includes({json.dumps(why)})")
            page.run("document.querySelector('#alerts').replaceChildren()")
            self.assertEqual(page.run("document.querySelectorAll('#attached .badge').length"), 1)
            self.ask(page, "What is it?")
            self.whole(page, "You said: the sea is")
            self.assertFalse(page.run("document.querySelector('.turn.user .file').open"))
            self.assertEqual(page.text(".turn.user .file summary"), 'my "notes".txt, 24 B')
            self.assertEqual(page.text(".turn.user .typed"), "What is it?")
            self.check(page)
            page.until("location.search.startsWith('?id=')")
            kept = self.kept(2)
            self.assertEqual(kept["title"], "What is it?")
            # Edited, the file stays.
            page.click(".turn.user .turn-actions button:nth-of-type(2)")
            self.assertEqual(page.run("document.querySelector('.turn.user textarea').value"), "What is it?")
            page.run("document.querySelector('.turn.user textarea').value = 'And why?'")
            page.click(".turn.user .primary")
            self.whole(page, "And why?")
            page.until("document.querySelector('#kept').textContent.includes('And why?')")
            [turn, _] = self.box.hub("chats", "show", kept["id"])["messages"]
            self.assertTrue(turn["content"].startswith('<file name="my &quot;notes&quot;.txt">\nthe sea is <\\/file> salt'))
            self.assertTrue(turn["content"].endswith("</file>\n\nAnd why?"))
            self.box.hub("chats", "rm", kept["id"], "--yes")

    def test_without_another_provider_nobody_is_offered(self):
        self.box.hub("pull", TINY)
        address = self.serve("api")
        page = self.browser.page()
        self.open(page, address)
        self.assertEqual(page.run("document.querySelectorAll('#provider, #remote, #means').length"), 0)
        page.close()


if __name__ == "__main__":
    unittest.main()
