"""More of the page of `hub serve page` in a headless Chromium: filters, addresses, colours, what comes after a download."""

import json
import unittest

from peers import HUB, ODD
from test_page import BERT, CARD, GGUF, TINY, ChatTest, PageTest, answer

TRANSLATOR = "hub-demo/translator"


class Finding(PageTest):
    def test_the_filters_of_the_command(self):
        address = self.serve()
        for page in self.widths():
            page.open(address)
            page.click(".filters-more summary")
            self.check(page)
            page.type("input[name=library]", "no-such-library")
            page.until("location.search === '?library=no-such-library'"
                       " && document.querySelector('#results').innerText.includes('No model was found')")
            page.open(f"{address}/?format=gguf")
            self.assertTrue(page.run("document.querySelector('.filters-more').open"))
            self.assertEqual(page.run("document.querySelector('[name=format]').value"), "gguf")
            page.open(f"{address}/?q=tiny&n=1")
            self.assertEqual(page.text("#results h2"), "The first 1 model")

    def test_an_address_of_the_hub_leads_to_its_page(self):
        address = self.serve()
        for page in self.widths():
            page.open(f"{address}/{CARD}/tree/main")
            self.assertEqual(page.run("location.pathname"), f"/-/models/{CARD}")
            page.open(f"{address}/nonsense")
            self.assertEqual(page.text("h1"), "Not found")
            self.assertIn("Search for nonsense", page.text("main"))
            # That it is not there, which was meant.
            page.console.clear()

    def test_the_colours_are_chosen_and_kept(self):
        address = self.serve()
        for page in self.widths():
            page.open(address)
            page.run("(() => { const s = document.querySelector('#theme'); s.value = 'dark';"
                     " s.dispatchEvent(new Event('change')); })()")
            page.open(f"{address}/-/models/{CARD}")
            page.until("document.querySelector('.prose .code-string')")
            self.assertEqual(page.run("getComputedStyle(document.body).backgroundColor"), "rgb(20, 21, 23)")
            self.assertEqual(page.run("document.querySelector('#theme').value"), "dark")
            self.check(page)

    def test_the_requests_of_the_page_are_not_listed(self):
        address = self.serve()
        page = self.browser.page()
        answer(f"{address}/?q=from-a-page", Accept="text/html")
        answer(f"{address}/health?from=test")
        page.open(f"{address}/-/machine")
        self.assertIn("/health?from=test", page.text("#log"))
        self.assertNotIn("from-a-page", page.text("#log"))
        page.close()

    def test_code_in_colours(self):
        pieces = [
            ("swift", """let a = "b\\"c" // d\n'e'""", ["keyword let", """string "b\\"c\"""", "comment // d\n", "string 'e'"]),
            ("python", "def f(x=0x1F):\n  '''a\nb''' # no", ["keyword def", "number 0x1F", "string '''a\nb'''", "comment # no"]),
            ("bash", "echo ${#a} # b", ["keyword echo", "comment # b"]),
            ("sql", "SELECT 1.5e3 -- a", ["keyword SELECT", "number 1.5e3", "comment -- a"]),
            ("json", '{"a": true, "b": "http://c"}', ['string "a"', "keyword true", 'string "b"', 'string "http://c"']),
            ("rust", "fn f<'a>() /* b", ["keyword fn", "comment /* b"]),
            ("unheard-of", 'let "a"', []),
        ]
        page = self.browser.page()
        page.open(f"{self.serve()}/-/models/{CARD}")
        page.run("import([...document.scripts].find((s) => s.src.includes('markdown')).src.replace('markdown', 'highlight'))"
                 ".then((module) => window.code = module)")
        for language, text, found in pieces:
            with self.subTest(language):
                node = f"code.highlight({json.dumps(text)}, {json.dumps(language)})"
                self.assertEqual(page.run(f"{node}.textContent"), text)
                self.assertEqual(
                    page.run(f"[...{node}.children].map((one) => one.className.slice(5) + ' ' + one.textContent)"), found)
        # Whoever writes the code does not freeze the page.
        for language, text in [("rust", "'\\" * 20_000), ("python", '""' * 20_000), ("c", "/*" * 20_000), ("js", "`\\" * 20_000)]:
            self.assertEqual(page.run(f"code.highlight({json.dumps(text)}, '{language}').textContent.length"), len(text))
        page.close()


class Disk(PageTest):
    def test_another_order_keeps_the_marks(self):
        for model in (TINY, ODD):
            self.box.hub("pull", model)
        self.box.hub("pin", ODD)
        address = self.serve()
        for page in self.widths():
            page.open(f"{address}/-/storage")
            self.assertRegex(page.text("#items"), r"(seconds|minutes?) ago")
            page.click(f"input[value^='revision {TINY}@']")
            page.click("#orders a:nth-child(2)")
            page.until("location.search === '?sort=size'"
                       " && document.querySelector('#marked-text').textContent.includes('1 marked, frees')")
            self.assertEqual(page.run("[...document.querySelectorAll('#items th a')].map((a) => a.textContent)"), [ODD, TINY])
            marks = "[...document.querySelectorAll('#items [name=item]')].map((box) => box.checked)"
            self.assertEqual(page.run(marks), [False, True])
            self.check(page)
            page.click("#unmark")
            page.click("#all")
            page.until("document.querySelector('#marked-text').textContent.includes('1 marked, frees')")
            # What is pinned stays.
            self.assertEqual(page.run(marks), [False, True])

    def test_the_page_of_a_model_deletes_it(self):
        address = self.serve()
        for page in self.widths():
            self.box.hub("pull", TINY)
            page.open(f"{address}/-/models/{TINY}")
            page.click("#head .danger")
            page.until("document.querySelector('#plan')?.open"
                       " && document.querySelector('#plan-rows').textContent.includes('freed')")
            self.assertIn(TINY, page.text("#plan-rows"))
            page.click("#plan-trash")
            page.until("document.querySelector('#undo')")
            self.assertEqual(self.box.hub("ls")["models"], [])


class Afterwards(ChatTest):
    """What comes after a download, by what the model is for."""

    further = {TRANSLATOR: "marian"}

    def test_the_page_of_a_model_shows_its_download_and_what_is_next(self):
        address = self.serve("api")
        for page in self.widths():
            for model, words in [(TINY, "Chat"), (BERT, "Use it")]:
                self.sim.control("faults", [{"match": "model.safetensors|cdn", "kind": "trickle", "rate": 100_000,
                                             "times": -1}])
                page.open(f"{address}/-/models/{model}")
                self.download(page, "#head [data-download]")
                page.until("document.querySelector('.download .numbers')?.textContent.includes('left')")
                self.assertTrue(page.run("document.querySelector('#head [data-download]').hidden"))
                # In one line.
                self.assertLess(page.run("document.querySelector('.download .state').offsetHeight"), 30)
                self.check(page)
                self.sim.forget()
                page.until("document.querySelector('.download').dataset.state === 'done'")
                self.assertIn(words, page.text(".download .buttons"))
                page.until(f"document.querySelector('#head').innerText.includes({json.dumps(words)})")
                self.assertIn("all of it", page.text("#facts"))
                self.check(page)
                page.click("[data-verb=forget]")
                page.until("!document.querySelector('.download')")
                self.box.run([HUB, "rm", model, "--yes"])

    def test_a_model_of_vectors_has_commands_and_no_chat(self):
        self.box.hub("pull", BERT)
        address = self.serve("api")
        for page in self.widths():
            page.open(f"{address}/-/models/{BERT}")
            self.assertNotIn("Chat", page.text("#head"))
            self.assertIn(f"hub embed {BERT}", page.text("#use"))
            self.assertNotIn("hub chat", page.text("#use"))
            page.open(f"{address}/-/chat?model={BERT}")
            page.until("document.querySelector('.turns').innerText.includes('No model to chat with')")
            page.until("document.querySelector('#toasts').innerText.includes('is not among the models')")
            self.assertTrue(page.run("document.querySelector('#send').disabled"))

    def test_what_only_translates_is_not_offered(self):
        """The newest model is the one that a chat begins with, if one can chat with it."""
        for model in (TINY, TRANSLATOR):
            self.box.hub("pull", model)
        address = self.serve("api")
        for page in self.widths():
            self.open(page, address)
            self.assertEqual(page.run("[...document.querySelector('#model').options].map((one) => one.value)"), [TINY])
            page.open(f"{address}/-/chat?model={TRANSLATOR}")
            page.until("document.querySelector('#toasts').innerText.includes('is not among the models')")

    def test_the_usual_set_of_weights_is_chosen(self):
        self.box.hub("pull", GGUF)
        address = self.serve("api")
        for page in self.widths():
            page.open(f"{address}/-/models/{GGUF}")
            self.assertIn(f"{GGUF}:Q8_0", page.text("#use"))
            page.click("#head .primary")
            page.until(f"document.querySelector('#model')?.value === '{GGUF}:Q8_0'")
            # The composer stands at the bottom before the first message, too.
            bottom = page.run("innerHeight - document.querySelector('#composer').getBoundingClientRect().bottom")
            self.assertLess(bottom, 90)
            page.run("document.querySelector('#model').value = document.querySelector('#model').options[0].value")
            self.say_all(page, "First.")
            page.until("location.search.startsWith('?id=')")
            page.open(f"{address}/-/chat")
            # That of the last conversation.
            page.until(f"document.querySelector('#model').value === '{GGUF}:Q4_0'")
            [kept] = self.box.hub("chats")["conversations"]
            self.box.run([HUB, "chats", "rm", kept["id"], "--yes"])

    def say_all(self, page, text):
        page.run(self.FEED)
        self.ask(page, "Say it.")
        page.until("window.feed")
        self.say(page, content=text)
        page.run("say('[DONE]'); feed.close()")

    def test_a_lost_model_is_told(self):
        self.box.hub("pull", TINY)
        self.box.hub("pull", GGUF)
        address = self.serve("api")
        page = self.browser.page()
        page.open(f"{address}/-/chat?model={GGUF}:Q4_0")
        page.until(f"document.querySelector('#model').value === '{GGUF}:Q4_0'")
        self.say_all(page, "First.")
        page.until("location.search.startsWith('?id=')")
        self.box.run([HUB, "rm", GGUF, "--yes"])
        page.open(f"{address}/-/chat{page.run('location.search')}")
        page.until(f"document.querySelector('#toasts').innerText.includes('was with {GGUF}:Q4_0; now {TINY} answers')")
        page.close()

    def test_the_settings_are_those_of_the_command(self):
        self.box.hub("pull", TINY)
        address = self.serve("api")
        for page in self.widths():
            self.open(page, address)
            page.run("document.querySelector('.settings').open = true")
            self.check(page)
            holders = "['temperature', 'top_p', 'max_tokens', 'seed'].map((id) => document.getElementById(id).placeholder)"
            self.assertEqual(page.run(holders), ["0.7", "0.9", "until the context is full", "random"])
            page.run("(() => { const s = document.querySelector('#preset'); s.value = 'code';"
                     " s.dispatchEvent(new Event('change')); })()")
            self.assertEqual(page.run(holders), ["0.2", "0.95", "1024", "random"])
            page.run("document.querySelector('#schema').value = '{'")
            page.run("document.querySelector('.settings').open = false")
            page.run(self.FEED)
            page.run("window.feedFetch = fetch;"
                     " window.fetch = (a, o) => { if (o?.body) window.sent = o.body; return feedFetch(a, o); }; 1")
            self.ask(page, "A ship?")
            page.until("document.querySelector('#alerts').innerText.includes('is not JSON')")
            page.run("""document.querySelector('#schema').value = '{"type": "object"}'""")
            page.key("Enter", text="\r")
            page.until("window.feed")
            sent = json.loads(page.run("sent"))
            self.assertEqual((sent["temperature"], sent["top_p"], sent["max_tokens"]), (0.2, 0.95, 1024))
            self.assertEqual(sent["response_format"]["json_schema"]["schema"], {"type": "object"})
            self.say(page, content="{")
            page.run("""say('{"choices":[{"delta":{},"finish_reason":"length"}]}')""")
            page.run("""say('{"choices":[],"usage":{"completion_tokens":1024,"total_tokens":1100}}')""")
            page.run("say('[DONE]'); feed.close()")
            page.until("document.querySelector('.turn .note')?.innerText.includes('Cut at 1,024 tokens')")
            self.assertRegex(page.text(".turn.assistant .turn-actions"), r"1,024 tokens, [\d,.]+ tokens/s, first after \d")
            self.check(page)

    def test_a_full_context_is_told(self):
        self.box.hub("pull", TINY)
        address = self.serve("api")
        page = self.browser.page()
        self.open(page, address)
        page.run(self.FEED)
        self.ask(page, "Go on for ever")
        page.until("window.feed")
        self.say(page, content="and then ")
        page.run("""say('{"choices":[{"delta":{},"finish_reason":"length"}]}'); say('[DONE]'); feed.close()""")
        page.until("document.querySelector('.turn .note')?.innerText.includes('The context is full')")
        page.close()


if __name__ == "__main__":
    unittest.main()
