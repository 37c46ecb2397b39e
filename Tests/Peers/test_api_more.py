"""`hub serve api`: completions, vectors, scores, responses and tokens, with OpenAI's real client."""

import base64
import json
import struct
import unittest

import openai

from test_api import CALLS, CHAT, RERANK, SCHEMA, USER, VECTORS, WEATHER, APITest

FUNCTION = {"type": "function"} | WEATHER["function"]


class Completions(APITest):
    def complete(self, **fields):
        return self.client.completions.create(
            **({"model": CHAT, "prompt": "To be", "max_tokens": 8, "temperature": 0} | fields))

    def test_a_text_goes_on(self):
        whole = self.complete()
        self.assertEqual((whole.choices[0].finish_reason, whole.usage.completion_tokens), ("length", 8))
        events = list(self.complete(stream=True, stream_options={"include_usage": True}))
        self.assertEqual("".join(e.choices[0].text for e in events if e.choices), whole.choices[0].text)
        self.assertEqual(events[-1].usage.completion_tokens, 8)
        self.assertEqual(self.complete(echo=True).choices[0].text, "To be" + whole.choices[0].text)

    def test_several_prompts_and_choices(self):
        answer = self.complete(prompt=["To be", "My lord"], n=2, seed=1, temperature=1)
        self.assertEqual([choice.index for choice in answer.choices], [0, 1, 2, 3])
        self.assertEqual(answer.choices[0].text, self.complete(seed=1, temperature=1).choices[0].text)
        self.assertEqual(answer.usage.completion_tokens, 32)
        # More than run at once.
        self.assertEqual(len(self.complete(n=20, max_tokens=2).choices), 20)

    def test_log_probabilities(self):
        lists = self.complete(logprobs=2).choices[0].logprobs
        self.assertEqual({len(lists.tokens), len(lists.token_logprobs), len(lists.top_logprobs),
                          len(lists.text_offset)}, {8})

    def test_what_is_wrong_is_named(self):
        for fields, word in (({"prompt": [1, 2]}, "ids of tokens"), ({"suffix": "."}, "suffix"), ({"best_of": 3}, "best_of")):
            with self.subTest(fields), self.assertRaisesRegex(openai.BadRequestError, word):
                self.complete(**fields)


class Vectors(APITest):
    def test_base64_and_numbers_are_the_same_vector(self):
        # Its default is base64.
        [first, second] = self.client.embeddings.create(model=VECTORS, input=["the sea", "a ship"]).data
        plain = self.client.embeddings.create(model=VECTORS, input="the sea", encoding_format="float")
        for a, b in zip(first.embedding, plain.data[0].embedding, strict=True):
            self.assertAlmostEqual(a, b, places=6)
        self.assertGreater(plain.usage.prompt_tokens, 1)
        _, _, body = self.ask("/v1/embeddings", {"model": VECTORS, "input": "the sea", "encoding_format": "base64"})
        numbers = struct.unpack(f"<{len(first.embedding)}f", base64.b64decode(body["data"][0]["embedding"]))
        self.assertEqual(list(numbers), first.embedding)

    def test_ids_of_another_tokenizer_are_refused(self):
        for value in ([1, 2], [[1, 2]]):
            with self.assertRaisesRegex(openai.BadRequestError, "check_embedding_ctx_length"):
                self.client.embeddings.create(model=VECTORS, input=value)

    def test_texts_are_ranked(self):
        for model in (RERANK, VECTORS):
            status, _, body = self.ask("/v1/rerank", {"model": model, "query": "the sea", "documents": [
                "the sea", "a ship", {"text": "the king"}], "top_n": 2, "return_documents": True})
            self.assertEqual(status, 200, body)
            scores = [result["relevance_score"] for result in body["results"]]
            self.assertEqual((len(scores), scores), (2, sorted(scores, reverse=True)))
        self.assertEqual((body["results"][0]["index"], body["results"][0]["document"]), (0, {"text": "the sea"}))
        self.assertEqual(self.ask("/v1/rerank", {"model": CHAT, "query": "x", "documents": ["y"]})[0], 400)


class Responses(APITest):
    def respond(self, **fields):
        return self.client.responses.create(
            **({"model": CHAT, "input": "To be?", "max_output_tokens": 12, "temperature": 0} | fields))

    def test_an_answer_whole_and_in_events_is_the_same(self):
        whole = self.respond()
        self.assertEqual((whole.status, whole.incomplete_details.reason), ("incomplete", "max_output_tokens"))
        self.assertEqual(whole.usage.output_tokens, 12)
        events = list(self.respond(stream=True))
        self.assertEqual([event.sequence_number for event in events], list(range(len(events))))
        types = [event.type for event in events]
        self.assertEqual(types[:4], ["response.created", "response.in_progress", "response.output_item.added",
                                     "response.content_part.added"])
        self.assertEqual(types[-4:], ["response.output_text.done", "response.content_part.done",
                                      "response.output_item.done", "response.incomplete"])
        text = "".join(event.delta for event in events if event.type == "response.output_text.delta")
        self.assertEqual(text, whole.output_text)
        self.assertEqual(events[-1].response.output_text, whole.output_text)
        # The same conversation in chat's words.
        chat = self.client.chat.completions.create(model=CHAT, messages=[{"role": "user", "content": "To be?"}],
                                                   max_tokens=12, temperature=0)
        self.assertEqual(chat.choices[0].message.content, whole.output_text)

    def test_a_function_is_called_and_its_result_goes_back(self):
        fields = {"model": CALLS, "tools": [FUNCTION], "max_output_tokens": 100, "extra_body": {"seed": 3}, "temperature": 0.7,
                  "tool_choice": {"type": "function", "name": "weather"}}
        [call] = [item for item in self.respond(**fields).output if item.type == "function_call"]
        self.assertEqual((call.name, list(json.loads(call.arguments))), ("weather", ["city"]))
        events = list(self.respond(stream=True, **fields))
        [done] = [event for event in events if event.type == "response.function_call_arguments.done"]
        self.assertEqual(done.arguments, call.arguments)
        self.assertEqual(events[-1].type, "response.completed")
        again = self.respond(model=CALLS, tools=[FUNCTION], input=[
            {"role": "user", "content": [{"type": "input_text", "text": "Rome?"}]},
            call.model_dump(exclude_none=True),
            {"type": "function_call_output", "call_id": call.call_id, "output": "Rain."}])
        self.assertGreater(again.usage.input_tokens, 20)

    def test_an_answer_follows_its_schema(self):
        form = {"format": {"type": "json_schema", "name": "person", "schema": SCHEMA, "strict": True}}
        answer = self.respond(text=form, temperature=1.5, extra_body={"seed": 2}, max_output_tokens=200)
        self.assertEqual((answer.status, list(json.loads(answer.output_text))), ("completed", ["name", "age"]))

    def test_what_would_have_to_be_stored_is_refused(self):
        for fields in ({"previous_response_id": "resp_1"}, {"store": True}, {"background": True},
                       {"truncation": "auto"}, {"tools": [{"type": "web_search"}]}, {"input": [{"type": "item_reference",
                                                                                               "id": "x"}]}):
            with self.subTest(fields), self.assertRaises(openai.BadRequestError):
                self.respond(**fields)
        with self.assertRaises(openai.NotFoundError):
            self.respond(model="demo/nothing", stream=True)


class Tokens(APITest):
    def test_tokens_there_and_back(self):
        text = "To be, or not to be \u00e9\U0001f642"
        _, _, body = self.ask("/tokenize", {"model": CHAT, "content": text, "with_pieces": True})
        pieces = b"".join(piece.encode() if isinstance(piece, str) else bytes(piece)
                          for piece in (token["piece"] for token in body["tokens"]))
        self.assertEqual(pieces.decode(), text)
        # A part of a character is bytes.
        self.assertTrue(any(isinstance(token["piece"], list) for token in body["tokens"]))
        ids = [token["id"] for token in body["tokens"]]
        # The only model that is open needs no name.
        self.assertEqual(self.ask("/tokenize", {"content": text})[2], {"tokens": ids})
        self.assertEqual(self.ask("/detokenize", {"tokens": ids})[2], {"content": text})
        _, _, body = self.ask("/apply-template", {"model": CHAT, "messages": USER})
        self.assertEqual(body["prompt"], "<|bos|><|user|>\nTo be, or not to be?<|eos|>\n<|assistant|>\n")


class Others(APITest):
    def test_what_no_model_does_is_501(self):
        for path in ("/v1/messages", "/v1/audio/transcriptions", "/v1/images/generations"):
            status, _, body = self.ask(path, {})
            self.assertEqual((status, body["error"]["type"]), (501, "not_supported_error"))
        self.assertEqual(self.ask("/api/push", {})[0], 501)

    def test_addresses_and_methods(self):
        status, _, body = self.ask("/v1/nothing")
        self.assertEqual((status, body["error"]["type"]), (404, "not_found_error"))
        status, headers, _ = self.ask("/v1/chat/completions")
        self.assertEqual((status, headers["allow"]), (405, "POST"))
        status, headers, _ = self.ask("/v1/models", method="OPTIONS", headers={"Origin": "tauri://localhost"})
        self.assertEqual((status, headers["access-control-allow-origin"]), (204, "tauri://localhost"))
        self.assertNotIn("access-control-allow-origin",
                         self.ask("/v1/models", method="OPTIONS", headers={"Origin": "http://evil.test"})[1])


if __name__ == "__main__":
    unittest.main()
