"""`hub serve api` with Ollama's real client, on the small models of the fixtures."""

import json
import shutil
import tempfile
import threading
import unittest
from pathlib import Path

import ollama

from peers import HUB, ODD, Hubsim, homes, environment, until, write_models
from test_api import CHAT, GGUF, LONG, RERANK, SCHEMA, TOOLS, USER, VECTORS, WEATHER, API, APITest, plant, plant_models

FEW = {"num_predict": 12, "temperature": 0}


class OllamaTest(APITest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        cls.ollama = ollama.Client(host=cls.server.address)

    def lines(self, path, body):
        """The lines of a streamed answer as they came."""
        status, headers, content = self.ask(path, body)
        self.assertEqual(status, 200, content)
        self.assertEqual(headers["content-type"], "application/x-ndjson")
        return content.decode().removesuffix("\n").split("\n")

    def open(self):
        return [model.name for model in self.ollama.ps().models]


class Lists(OllamaTest):
    def test_the_probe_of_its_program(self):
        for method in ("HEAD", "GET"):
            status, _, body = self.ask("/", method=method)
            self.assertEqual((status, body), (200, b"Ollama is running" if method == "GET" else b""))
        self.assertRegex(self.ask("/api/version")[2]["version"], r"^\d+\.\d+\.\d+$")

    def test_models_are_listed_and_shown(self):
        models = {model.model: model for model in self.ollama.list().models}
        self.assertLessEqual({CHAT, VECTORS, f"{GGUF}:Q4_0"}, set(models))
        self.assertEqual(models[CHAT].details.family, "llama")
        self.assertEqual(models[f"{GGUF}:Q4_0"].details.quantization_level, "Q4_0")
        self.assertRegex(models[CHAT].digest, "^[0-9a-f]{64}$")
        self.assertEqual(self.ollama.show(CHAT).capabilities, ["completion"])
        self.assertEqual(self.ollama.show(TOOLS).capabilities, ["completion", "tools", "thinking"])
        self.assertEqual(self.ollama.show(VECTORS).capabilities, ["embedding"])
        shown = self.ollama.show(f"{CHAT}:latest")
        self.assertEqual(shown.modelinfo["general.architecture"], "llama")
        self.assertEqual(shown.modelinfo["llama.context_length"], 512)
        with self.assertRaises(ollama.ResponseError) as caught:
            self.ollama.show("demo/nothing")
        self.assertEqual((caught.exception.status_code, caught.exception.error), (404, "model 'demo/nothing' not found"))

    def test_probes_load_nothing(self):
        self.ollama.list()
        self.ollama.show(CHAT)
        self.ask("/health")
        self.ask("/v1/models")
        self.assertEqual(self.open(), [])

    def test_an_empty_list_is_a_list(self):
        home = Path(tempfile.mkdtemp(prefix="hub-peers-api."))
        self.addCleanup(shutil.rmtree, home, True)
        server = API(home)
        self.addCleanup(server.stop)
        client = ollama.Client(host=server.address)
        self.assertEqual((client.list().models, client.ps().models), ([], []))


class Text(OllamaTest):
    def test_a_chat_in_lines_and_whole(self):
        parts = list(self.ollama.chat(CHAT, USER, stream=True, options=FEW))
        self.assertEqual([part.done for part in parts[-2:]], [False, True])
        last = parts[-1]
        self.assertEqual((last.done_reason, last.eval_count), ("length", 12))
        self.assertGreater(last.total_duration, last.prompt_eval_duration)
        whole = self.ollama.chat(CHAT, USER, options=FEW)
        self.assertEqual(whole.message.content, "".join(part.message.content for part in parts))
        self.assertEqual(whole.prompt_eval_count, last.prompt_eval_count)

    def test_a_stream_is_the_default(self):
        lines = self.lines("/api/chat", {"model": CHAT, "messages": USER, "options": FEW})
        self.assertGreater(len(lines), 2)
        self.assertTrue(all(json.loads(line)["model"] == CHAT for line in lines))

    def test_a_prompt_through_the_template_and_raw(self):
        templated = self.ollama.generate(CHAT, "To be", options=FEW)
        raw = self.ollama.generate(CHAT, "To be", raw=True, options=FEW)
        self.assertNotEqual(templated.response, raw.response)
        self.assertGreater(templated.prompt_eval_count, raw.prompt_eval_count)
        self.assertEqual("".join(part.response for part in self.ollama.generate(CHAT, "To be", options=FEW, stream=True)),
                         templated.response)

    def test_an_answer_follows_its_schema(self):
        options = {"temperature": 2, "seed": 5, "num_predict": 200}
        answer = json.loads(self.ollama.chat(CHAT, USER, format=SCHEMA, options=options).message.content)
        self.assertEqual(list(answer), ["name", "age"])
        self.assertIsInstance(json.loads(self.ollama.generate(
            CHAT, "A person", format="json", options=options | {"num_predict": 400}).response), dict)

    def test_every_line_is_one_line_whatever_it_says(self):
        """What Python takes for the end of a line stands in the text."""
        text = "a\u2028b\u0085c\u2029d"
        schema = {"type": "object", "properties": {"x": {"const": text}}, "required": ["x"]}
        parts = list(self.ollama.chat(CHAT, USER, format=schema, stream=True, options={"num_predict": 300}))
        self.assertEqual(json.loads("".join(part.message.content for part in parts)), {"x": text})
        for line in self.lines("/api/chat", {"model": CHAT, "messages": USER, "format": schema}):
            self.assertEqual(len(line.splitlines()), 1)

    def test_log_probabilities(self):
        whole = self.ollama.chat(CHAT, USER, logprobs=True, top_logprobs=2, options=FEW)
        self.assertEqual(len(whole.logprobs), 12)
        self.assertEqual(len(whole.logprobs[0].top_logprobs), 2)

    def test_what_is_wrong_is_named(self):
        cases = [({"format": 3}, "format"), ({"think": "much"}, "think"), ({"think": True}, "reasoning"),
                 ({"options": {"num_ctx": 500_000, "temperature": []}}, "temperature"),
                 ({"options": {"mirostat": 2}}, "mirostat"), ({"keep_alive": "soon"}, "keep_alive"),
                 ({"tools": [WEATHER]}, "tools"), ({"template": "{{ .Prompt }}"}, "template"),
                 ({"messages": [{"role": "user", "content": "x", "images": ["iVBORw=="]}]}, "pictures")]
        for fields, word in cases:
            with self.subTest(fields):
                status, _, body = self.ask("/api/chat", {"model": CHAT, "messages": USER} | fields)
                self.assertEqual(status, 400)
                self.assertIn(word, body["error"])
        with self.assertRaises(ollama.ResponseError) as caught:
            list(self.ollama.chat("demo/nothing", USER, stream=True))
        self.assertEqual(caught.exception.status_code, 404)

    def test_calls_and_their_results_go_into_a_conversation(self):
        answer = self.ollama.chat(TOOLS, USER + [
            {"role": "assistant", "content": "", "tool_calls": [
                {"function": {"name": "weather", "arguments": {"city": "Rome"}}}]},
            {"role": "tool", "tool_name": "weather", "content": "Rain."}], tools=[WEATHER], options=FEW)
        self.assertEqual(answer.eval_count, 12)

    def test_a_client_that_leaves_frees_its_slot(self):
        options = {"num_predict": 100_000, "ignore_eos": True}
        before = self.metrics()["hub_generated_tokens_total"]
        connections = [self.send("/api/chat", {"model": CHAT, "messages": USER, "options": options})
                       for _ in range(12)]
        until(lambda: self.metrics()["hub_requests_queued"] > 0, "requests wait")
        for connection in connections:
            connection.close()
        until(lambda: self.metrics()["hub_requests_running"] == 0, "the places are free")
        self.assertLess(self.metrics()["hub_generated_tokens_total"] - before, 12 * 400)


class KeepAlive(OllamaTest):
    flags = ("--idle", "1d")

    def test_a_model_stays_as_long_as_is_said(self):
        self.assertEqual(self.ollama.chat(CHAT, []).done_reason, "load")
        self.assertEqual(self.open(), [CHAT])
        expires = {model.name: model.expires_at for model in self.ollama.ps().models}[CHAT]
        self.ollama.generate(CHAT, "", keep_alive="48h")
        later = {model.name: model.expires_at for model in self.ollama.ps().models}[CHAT]
        self.assertGreater(later, expires)
        self.ollama.generate(CHAT, "", keep_alive=-1)
        self.assertGreater(self.ollama.ps().models[0].expires_at.year, later.year + 50)
        self.assertEqual(self.ollama.chat(CHAT, [], keep_alive=0).done_reason, "unload")
        self.assertEqual(self.open(), [])
        # After an answer, too.
        self.ollama.chat(CHAT, USER, keep_alive=0, options=FEW)
        until(lambda: self.open() == [], "the model is closed")


class Idle(OllamaTest):
    flags = ("--idle", "1s")

    def test_a_model_that_nobody_uses_is_closed(self):
        self.ollama.chat(CHAT, USER, options=FEW)
        until(lambda: self.open() == [], "the model is closed")


class Vectors(OllamaTest):
    def test_vectors(self):
        both = self.ollama.embed(VECTORS, ["the sea", "a ship"])
        self.assertEqual(len(both.embeddings), 2)
        self.assertGreater(both.prompt_eval_count, 3)
        self.assertEqual(self.ollama.embed(VECTORS, "the sea").embeddings[0], both.embeddings[0])
        self.assertEqual(self.ollama.embeddings(VECTORS, "a ship").embedding, both.embeddings[1])
        with self.assertRaisesRegex(ollama.ResponseError, "maximum context length is 128 tokens, but text 0 has"):
            self.ollama.embed(VECTORS, "sea " * 3000, truncate=False)
        self.assertEqual(len(self.ollama.embed(VECTORS, "sea " * 3000).embeddings), 1)
        with self.assertRaisesRegex(ollama.ResponseError, "vectors"):
            self.ollama.embed(CHAT, "x")


class Storage(OllamaTest):
    """Pulling and deleting: with a key, from this server's Hub, and nothing that is pinned."""

    @classmethod
    def setUpClass(cls):
        cls.root = Path(tempfile.mkdtemp(prefix="hub-peers-models."))
        cls.addClassCleanup(shutil.rmtree, cls.root)
        cls.hub = Hubsim(write_models(cls.root))
        cls.addClassCleanup(cls.hub.stop)
        cls.variables = {"HUB_API_KEY": "sesame", "HF_ENDPOINT": cls.hub.address, "HF_HUB_DISABLE_XET": "1"}
        super().setUpClass()
        cls.ollama = ollama.Client(host=cls.server.address, headers={"Authorization": "Bearer sesame"})

    def test_a_model_is_pulled_used_and_deleted(self):
        name = "hub-demo/tiny-shakespeare"
        lines = [part for part in self.ollama.pull(name, stream=True)]
        self.assertEqual((lines[0].status, lines[-1].status), ("pulling manifest", "success"))
        last = [line for line in lines if line.digest][-1]
        self.assertEqual(last.completed, last.total)
        self.assertEqual(self.ollama.chat(name, USER, options=FEW).eval_count, 12)
        self.assertEqual(self.ollama.delete(name).status, "success")
        with self.assertRaises(ollama.ResponseError) as caught:
            self.ollama.delete(name)
        self.assertEqual(caught.exception.status_code, 404)
        self.assertNotIn(name, [model.model for model in self.ollama.list().models])

    def test_one_quantization_is_pulled_and_deleted_alone(self):
        name = "hub-demo/tiny-shakespeare-gguf"
        for quantization in ("Q4_0", "Q8_0"):
            self.assertEqual(self.ollama.pull(f"{name}:{quantization}").status, "success")
        self.assertEqual({m.model for m in self.ollama.list().models if name in m.model},
                         {f"{name}:Q4_0", f"{name}:Q8_0"})
        self.ollama.delete(f"{name}:Q4_0")
        self.assertEqual([m.model for m in self.ollama.list().models if name in m.model], [name])

    def test_another_host_is_not_asked(self):
        for name in ("http://127.0.0.1:1/org/model", "127.0.0.1:1/org/model", "evil.test/org/model:latest"):
            with self.subTest(name), self.assertRaises(ollama.ResponseError) as caught:
                self.ollama.pull(name)
            self.assertEqual(caught.exception.status_code, 404)

    def test_pins_are_spared(self):
        import subprocess
        env = environment() | homes(self.home) | self.variables
        subprocess.run([HUB, "pin", CHAT], env=env, check=True, capture_output=True)
        with self.assertRaises(ollama.ResponseError) as caught:
            self.ollama.delete(CHAT)
        self.assertEqual(caught.exception.status_code, 409)
        self.assertIn("pin", caught.exception.error)
        self.assertEqual(self.ollama.chat(CHAT, USER, options=FEW).eval_count, 12)


class WithoutKeys(OllamaTest):
    def test_what_changes_the_machine_is_refused(self):
        for path, method in (("/api/pull", "POST"), ("/api/delete", "DELETE")):
            status, _, body = self.ask(path, {"model": CHAT}, method=method)
            self.assertEqual(status, 403)
            self.assertIn("HUB_API_KEY", body["error"])
        self.assertIn(CHAT, [model.model for model in self.ollama.list().models])


class Limited(OllamaTest):
    flags = ("--models", CHAT, "--models", f"{GGUF}:Q4_0")

    def test_other_models_are_not_here(self):
        self.assertEqual({model.model for model in self.ollama.list().models}, {CHAT, f"{GGUF}:Q4_0"})
        for name in (TOOLS, f"{GGUF}:Q8_0"):
            with self.assertRaises(ollama.ResponseError) as caught:
                self.ollama.chat(name, USER)
            self.assertEqual(caught.exception.status_code, 404)


if __name__ == "__main__":
    unittest.main()
