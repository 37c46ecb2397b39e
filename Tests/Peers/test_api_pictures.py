"""`hub serve api` with pictures, as the clients of OpenAI, vLLM, llama.cpp, Jina and litellm send them."""

import base64
import json
import struct
import unittest

from test_api import CHAT, VECTORS, APITest, folder, plant
from peers import FIXTURES

CLIP = "demo/clip"
VIT = "demo/vit"
BYTES = (FIXTURES / "pictures" / "444.jpg").read_bytes()
BASE64 = base64.b64encode(BYTES).decode()
URL = "data:image/jpeg;base64," + BASE64
PART = {"type": "image_url", "image_url": {"url": URL}}
FORMS = [
    {"input": [URL]}, {"input": {"image": URL}}, {"input": [{"image": BASE64}]},
    {"input": [BASE64], "modality": "image"}, {"input": [{"content": [PART]}]},
    {"input": [{"prompt_string": "<__media__>", "multimodal_data": [BASE64]}]},
    {"messages": [{"role": "user", "content": [PART]}]},
    {"messages": [{"role": "user", "content": [PART, {"type": "text", "text": " "}]}]},
]


class Pictures(APITest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        for model in (CLIP, VIT):
            plant(cls.home / "huggingface" / "hub", model, folder(FIXTURES / "micro" / model.removeprefix("demo/")))

    def vectors(self, model=CLIP, **fields):
        status, _, body = self.ask("/v1/embeddings", {"model": model} | fields)
        self.assertEqual(status, 200, body)
        return [entry["embedding"] for entry in body["data"]]

    def test_the_forms_of_every_server_are_one_picture(self):
        first, *others = [self.vectors(**form) for form in FORMS]
        self.assertEqual([len(one) for one in others], [1] * len(others))
        for form, other in zip(FORMS[1:], others):
            self.assertEqual(other, first, list(form))

    def test_openais_client_sends_pictures_as_texts(self):
        # It takes texts alone, so a picture is a data URL, or a body of its own.
        both = self.client.embeddings.create(model=CLIP, input=["a king", URL]).data
        self.assertEqual([len(one.embedding) for one in both], [len(self.vectors(input="a king")[0])] * 2)
        own = self.client.embeddings.create(model=CLIP, input=[], extra_body={"input": [{"image": URL}]}).data
        self.assertEqual(own[0].embedding, both[1].embedding)
        # vLLM's example for chat embeddings.
        raw = self.client.post("/embeddings", cast_to=object, body={
            "model": CLIP, "messages": [{"role": "user", "content": [PART]}], "encoding_format": "base64"})
        numbers = base64.b64decode(raw["data"][0]["embedding"])
        self.assertEqual(list(struct.unpack(f"<{len(numbers) // 4}f", numbers)), both[1].embedding)

    def test_llama_cpps_own_address(self):
        status, _, body = self.ask("/embedding", {"model": VIT, "content": [
            {"prompt_string": "<__media__>", "multimodal_data": [BASE64]}]})
        self.assertEqual(status, 200, body)
        [vector] = body[0]["embedding"]
        self.assertAlmostEqual(sum(value * value for value in vector), 1, places=5)
        status, _, body = self.ask("/embeddings", {"content": "a king", "model": VECTORS})
        self.assertEqual((status, body[0]["index"]), (200, 0))

    def test_a_ranking_of_texts_and_pictures(self):
        documents = [{"content": [PART]}, "a queen", {"text": "a ship"}, {"image": URL}]
        status, _, body = self.ask("/v1/rerank", {"model": CLIP, "query": "a king", "documents": documents, "top_n": 3})
        self.assertEqual(status, 200, body)
        scores = [one["relevance_score"] for one in body["results"]]
        self.assertEqual((len(scores), scores), (3, sorted(scores, reverse=True)))
        status, _, body = self.ask("/v1/rerank", {"model": VIT, "query": {"image": URL}, "documents": [{"image": URL}]})
        self.assertEqual(status, 200, body)
        self.assertAlmostEqual(body["results"][0]["relevance_score"], 1, places=5)

    def test_labels_of_texts_and_pictures(self):
        status, _, body = self.ask("/classify", {"model": VIT, "input": [{"image": URL}, URL]})
        self.assertEqual(status, 200, body)
        self.assertEqual([one["label"] for one in body["data"]], [body["data"][0]["label"]] * 2)
        self.assertAlmostEqual(sum(body["data"][0]["probs"]), 1)
        # Jina's classifier.
        status, _, body = self.ask("/v1/classify", {"model": CLIP, "input": [{"image": BASE64}], "labels": ["a king", "a ship"]})
        self.assertEqual(status, 200, body)
        [entry] = body["data"]
        self.assertEqual(entry["prediction"], max(entry["predictions"], key=lambda one: one["score"])["label"])
        self.assertEqual((entry["object"], entry["num_classes"]), ("classification", 2))

    def test_what_is_refused(self):
        def input_of(value, **fields):
            return {"model": CLIP, "input": value} | fields
        embeddings = "/v1/embeddings"
        for path, body, text in [
            (embeddings, input_of({"image": "https://example.com/a.png"}), "addresses are not fetched"),
            (embeddings, input_of({"image": "http://127.0.0.1:1/a.png"}), "addresses are not fetched"),
            (embeddings, input_of([{"content": [{"type": "image_url", "image_url": {"url": "file:///etc/passwd"}}]}]),
             "addresses are not fetched"),
            (embeddings, input_of({"image": base64.b64encode(b"GIF89a").decode()}), "cannot read"),
            (embeddings, input_of({"image": URL, "text": "a king"}), "one text or one picture"),
            (embeddings, input_of([[1, 2]]), "ids of tokens are not taken"),
            (embeddings, input_of([7.5]), "must be a text or a picture"),
            (embeddings, input_of([URL] * 1025), "more than 1024 pictures"),
            (embeddings, input_of(BASE64, modality="audio"), "'modality'"),
            (embeddings, input_of(URL) | {"model": VECTORS}, "reads no pictures"),
            (embeddings, input_of("a king") | {"model": VIT}, "reads pictures, and no text"),
            ("/v1/rerank", {"model": CHAT, "query": "a", "documents": [{"image": URL}]}, "does not turn texts into vectors"),
            ("/classify", input_of(URL), "it gives pictures no labels"),
            ("/classify", input_of(URL, labels=["a"], label_template="none"), "'label_template' has no {}"),
            ("/v1/chat/completions", {"model": VIT, "messages": [{"role": "user", "content": "Hi"}]}, "generates no text"),
            ("/api/embed", {"model": VIT, "input": "a"}, "reads pictures, and no text"),
        ]:
            with self.subTest(f"{path} {text}"):
                status, _, answer = self.ask(path, body)
                self.assertEqual(status, 400, answer)
                self.assertIn(text, json.dumps(answer, ensure_ascii=False))


if __name__ == "__main__":
    unittest.main()
