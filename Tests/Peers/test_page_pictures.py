"""The page's view of models that see, in a headless Chromium: labels, the order by a text, vectors, boxes, limits."""

import base64
import json
import unittest

from peers import FIXTURES
from test_api import folder, plant
from test_page import PageTest

CLIP, VIT = "demo/clip", "demo/vit"
PICTURES = [(name, base64.b64encode((FIXTURES / "pictures" / file).read_bytes()).decode())
            for name, file in [("one.jpg", "444.jpg"), ("two.png", "grey-1.png"), ("three.jpg", "420.jpg")]]


class Pictures(PageTest):
    def setUp(self):
        super().setUp()
        for model in (CLIP, VIT):
            plant(self.box.cache, model, folder(FIXTURES / "micro" / model.removeprefix("demo/")))

    def files(self, pictures, filler=0):
        """An expression: a DataTransfer with pictures, each with so many bytes behind its end."""
        made = ", ".join(f"[{json.dumps(name)}, {json.dumps(text)}]" for name, text in pictures)
        return (f"(() => {{ const data = new DataTransfer(); for (const [name, text] of [{made}]) {{"
                " const bytes = Uint8Array.from(atob(text), (one) => one.charCodeAt(0));"
                f" data.items.add(new File([bytes, new Uint8Array({filler})], name,"
                " {type: name.endsWith('png') ? 'image/png' : 'image/jpeg'})); } return data; })()")

    def choose(self, page, pictures=PICTURES, filler=0):
        before = page.run("document.querySelectorAll('#chosen li').length")
        page.run(f"(() => {{ const input = document.querySelector('#files'); input.files = {self.files(pictures, filler)}.files;"
                 " input.dispatchEvent(new Event('change')); })()")
        page.until(f"document.querySelectorAll('#chosen li').length === {before + len(pictures)}")

    def open(self, page, address, model):
        page.open(f"{address}/-/pictures?model={model}")
        page.until(f"document.querySelector('#model').value === '{model}' && document.querySelector('[name=way]:checked')")

    def look(self, page):
        page.until("!document.querySelector('#look').disabled")
        page.click("#look")
        page.until("document.querySelector('#state').textContent === 'Done.'")

    def test_labels_an_order_and_vectors(self):
        address = self.serve("api")
        for dark in (False, True):
            for page in self.widths(dark=dark):
                page.open(f"{address}/-/models/{CLIP}")
                page.click("a[href='/-/pictures?model=demo/clip']")
                page.until("document.querySelector('[name=way]:checked')?.value === 'tried'")
                self.assertEqual(page.text("#state"), "Choose a picture.")
                self.choose(page)
                self.assertEqual(page.text("#state"), "Write labels.")
                page.type("#labels", "a king, a ship")
                self.check(page)
                self.look(page)
                self.assertEqual(page.run("document.querySelectorAll('#results .seen').length"), 3)
                self.assertEqual(page.run("document.querySelectorAll('#results .seen:first-child .bars li').length"), 2)
                self.assertIn("a ship", page.text("#results"))
                self.check(page)
                page.click("[value=ranking]")
                page.type("#query", "a king")
                self.look(page)
                numbers = page.run("[...document.querySelectorAll('.ranked .number')].map((one) => Number(one.textContent))")
                self.assertEqual((len(numbers), numbers), (3, sorted(numbers, reverse=True)))
                self.check(page)
                # Another text asks for its own vector alone.
                page.requests.clear()
                page.type("#query", " and a queen")
                self.look(page)
                self.assertEqual(len([one for one in page.requests if one.endswith("/v1/embeddings")]), 1)
                page.click("[value=vectors]")
                self.look(page)
                self.assertIn("How alike they are", page.text("#results"))
                self.check(page)

    def test_the_labels_of_the_model_by_the_keyboard(self):
        address = self.serve("api")
        for page in self.widths():
            self.open(page, address, VIT)
            self.assertEqual(page.run("document.querySelector('#ways').hidden"), False)
            self.choose(page, PICTURES[:1])
            page.until("!document.querySelector('#look').disabled")
            page.run("document.querySelector('#look').focus()")
            page.key("Enter", text="\r")
            page.until("document.querySelector('#state').textContent === 'Done.'")
            self.assertEqual(page.run("document.querySelectorAll('.bars li').length"), 3)
            self.assertRegex(page.text(".bars"), r"(cat|dog|owl)\s+\d+\.\d %")
            page.run("document.querySelector('#chosen button').focus()")
            page.key("Enter", text="\r")
            page.until("!document.querySelector('#chosen li')")
            self.assertEqual(page.run("document.activeElement.id"), "files")

    def test_pictures_are_dropped_and_pasted(self):
        address = self.serve("api")
        for page in self.widths():
            self.open(page, address, VIT)
            for event, field in (("DragEvent('drop', {dataTransfer", "drop"), ("ClipboardEvent('paste', {clipboardData", "paste")):
                before = page.run("document.querySelectorAll('#chosen li').length")
                page.run(f"document.body.dispatchEvent(new {event}: {self.files(PICTURES[:1])}, bubbles: true, cancelable: true}}))")
                page.until(f"document.querySelectorAll('#chosen li').length === {before + 1}")
            page.run("(() => { const data = new DataTransfer(); data.items.add(new File(['a'], 'a.txt', {type: 'text/plain'}));"
                     " document.body.dispatchEvent(new DragEvent('drop', {dataTransfer: data, bubbles: true})); })()")
            page.until("document.querySelector('#alerts').innerText.includes('a.txt is not a picture')")

    def test_what_is_too_large_is_said_before_it_is_sent(self):
        address = self.serve("api")
        for page in self.widths():
            self.open(page, address, VIT)
            self.choose(page, PICTURES[:1], filler=9_000_000)
            self.assertIn("It has 9.0 MB; 8.0 MB are the most that is sent.", page.text("#chosen"))
            self.assertTrue(page.run("document.querySelector('#look').disabled"))
            self.check(page)
            page.requests.clear()
            page.click("#chosen li div button")
            self.look(page)
            self.assertEqual(len([one for one in page.requests if one.endswith("/v1/classify")]), 1)

    def test_boxes_are_drawn_over_the_picture(self):
        address = self.serve("api")
        found = {"data": [{"index": 0, "objects": [
            {"label": "cat", "score": 0.98, "box": [2, 2, 12, 12]}, {"label": "dog", "score": 0.6, "box": [5, 4, 20, 15]},
            {"label": "cat", "score": 0.5, "box": [1, 1, 9, 9]}]}]}
        for page in self.widths():
            self.open(page, address, VIT)
            page.run("window.realFetch = fetch; window.fetch = (address, options) => address !== '/v1/classify'"
                     " ? realFetch(address, options)"
                     f" : Promise.resolve(new Response({json.dumps(json.dumps(found))}, {{status: 200}})); 1")
            self.choose(page, PICTURES[:1])
            self.look(page)
            self.assertEqual(page.run("document.querySelector('canvas').getAttribute('aria-label')"), "one.jpg: 2 × cat, dog")
            self.assertEqual(page.run("document.querySelectorAll('.bars .swatch').length"), 3)
            self.check(page)

    def test_a_fault_of_the_server_is_shown(self):
        address = self.serve("api")
        for page in self.widths():
            self.open(page, address, VIT)
            self.choose(page, [("cut.jpg", PICTURES[0][1][:400])])
            self.assertIn("this browser cannot show it", page.text("#chosen"))
            page.until("!document.querySelector('#look').disabled")
            page.click("#look")
            page.until("document.querySelector('#alerts').innerText.includes('Cannot read input[0].image')")
            # The browser notes the status.
            page.console.clear()

    def test_without_models_of_pictures_it_says_where_they_are(self):
        for model in (CLIP, VIT):
            self.box.hub("rm", model, "--yes")
        address = self.serve("api")
        for page in self.widths():
            page.open(f"{address}/-/pictures")
            page.until("!document.querySelector('#none').hidden")
            self.assertIn("No model that reads pictures", page.text("#none"))
        page = self.browser.page(plain=True)
        page.open(f"{address}/-/pictures")
        self.assertIn("Pictures are sent by a script.", page.text("main"))
        page.close()


if __name__ == "__main__":
    unittest.main()
