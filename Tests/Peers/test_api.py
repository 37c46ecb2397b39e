"""`hub serve api` with the real clients of OpenAI, on the small models of the fixtures."""

import base64
import http.client
import json
import shutil
import socket
import sqlite3
import struct
import tempfile
import threading
import time
import unittest
from pathlib import Path

import openai

from peers import FIXTURES, HUB, Server, environment, homes, until

CHAT = "demo/shakespeare"
TOOLS = "demo/tools"
CALLS = "demo/calls"  # whose calls are whole answers, so that a grammar makes even this model write one
VECTORS = "demo/vectors"
RERANK = "demo/rerank"
GGUF = "demo/quants"
WEATHER = {"type": "function", "function": {
    "name": "weather", "description": "The weather of a city.",
    "parameters": {"type": "object", "properties": {"city": {"type": "string", "maxLength": 8}}, "required": ["city"]}}}
SCHEMA = {"type": "object", "properties": {"name": {"type": "string", "maxLength": 6}, "age": {"type": "integer",
          "minimum": 0, "maximum": 99}}, "required": ["name", "age"], "additionalProperties": False}
USER = [{"role": "user", "content": "To be, or not to be?"}]


def plant(cache: Path, model: str, files: dict) -> None:
    """A repository of the cache with one revision; a file is a path or bytes."""
    import hashlib
    place = cache / ("models--" + model.replace("/", "--"))
    commit = hashlib.sha1(model.encode()).hexdigest()
    for folder in ("blobs", "refs", f"snapshots/{commit}"):
        (place / folder).mkdir(parents=True)
    for name, content in files.items():
        content = content.read_bytes() if isinstance(content, Path) else content
        blob = hashlib.sha256(content).hexdigest()
        (place / "blobs" / blob).write_bytes(content)
        link = place / "snapshots" / commit / name
        link.parent.mkdir(parents=True, exist_ok=True)
        link.symlink_to("../" * (2 + name.count("/")) + "blobs/" + blob)
    (place / "refs" / "main").write_text(commit)


def folder(path: Path) -> dict:
    return {file.relative_to(path).as_posix(): file for file in path.rglob("*") if file.is_file()}


def plant_models(cache: Path) -> None:
    tiny = folder(FIXTURES / "tiny-shakespeare")
    plant(cache, CHAT, tiny)
    for model, template in ((TOOLS, "hermes"), (CALLS, "bare")):
        plant(cache, model, tiny | {"chat_template.jinja": FIXTURES / "chat-templates/calls" / f"{template}.jinja"})
    plant(cache, VECTORS, folder(FIXTURES / "micro" / "bert"))
    plant(cache, RERANK, folder(FIXTURES / "micro" / "bert-reranker"))
    plant(cache, GGUF, folder(FIXTURES / "tiny-shakespeare-gguf"))


def used(home: Path) -> list:
    """The repositories of which the catalog says that they were used."""
    database = sqlite3.connect(home / "state" / "catalog.sqlite3")
    try:
        return [folder for folder, in database.execute("SELECT folder FROM uses ORDER BY folder")]
    finally:
        database.close()


class API(Server):
    """`hub serve api` over a cache of its own."""

    def __init__(self, home: Path, *flags, **variables):
        self.home = home
        self.cache = home / "huggingface" / "hub"
        super().__init__([HUB, "serve", "api", *flags], environment() | homes(home) | variables)


class APITest(unittest.TestCase):
    flags = ()
    variables = {}

    @classmethod
    def setUpClass(cls):
        cls.home = Path(tempfile.mkdtemp(prefix="hub-peers-api."))
        cls.addClassCleanup(shutil.rmtree, cls.home, True)
        plant_models(cls.home / "huggingface" / "hub")
        cls.server = API(cls.home, *cls.flags, **cls.variables)
        cls.addClassCleanup(cls.server.stop)
        cls.client = openai.OpenAI(base_url=cls.server.address + "/v1", api_key="none", max_retries=0)

    def ask(self, path, body=None, method=None, headers=None):
        """Status, headers in lower case and body; JSON where it is some."""
        connection = http.client.HTTPConnection(self.server.address.removeprefix("http://"), timeout=120)
        self.addCleanup(connection.close)
        data = None if body is None else json.dumps(body)
        connection.request(method or ("GET" if body is None else "POST"), path, data,
                           ({"Content-Type": "application/json"} if data else {}) | (headers or {}))
        answer = connection.getresponse()
        content = answer.read()
        fields = {name.lower(): value for name, value in answer.getheaders()}
        if "json" in fields.get("content-type", "") and "ndjson" not in fields["content-type"]:
            content = json.loads(content)
        return answer.status, fields, content

    def metrics(self):
        _, _, text = self.ask("/metrics")
        return {line.rsplit(" ", 1)[0]: float(line.rsplit(" ", 1)[1])
                for line in text.decode().splitlines() if not line.startswith("#")}

    def send(self, path, body) -> socket.socket:
        """Sends a request and leaves the connection open."""
        host, port = self.server.address.removeprefix("http://").split(":")
        connection = socket.create_connection((host, int(port)), timeout=120)
        self.addCleanup(connection.close)
        data = json.dumps(body).encode()
        connection.sendall(f"POST {path} HTTP/1.1\r\nHost: {host}:{port}\r\nContent-Type: application/json\r\n"
                           f"Content-Length: {len(data)}\r\n\r\n".encode() + data)
        return connection


class Models(APITest):
    def test_a_name_with_a_slash_is_retrieved(self):
        listed = {model.id for model in self.client.models.list()}
        self.assertLessEqual({CHAT, VECTORS, f"{GGUF}:Q4_0", f"{GGUF}:Q8_0"}, listed)
        for name in (CHAT, f"{GGUF}:Q8_0", f"{CHAT}:latest"):
            self.assertEqual(self.client.models.retrieve(name).object, "model")
        status, _, body = self.ask("/v1/models/demo/shakespeare")
        self.assertEqual((status, body["id"]), (200, CHAT))
        with self.assertRaises(openai.NotFoundError) as caught:
            self.client.models.retrieve("demo/nothing")
        self.assertEqual(caught.exception.code, "model_not_found")

    def test_an_empty_cache_is_an_empty_list(self):
        home = Path(tempfile.mkdtemp(prefix="hub-peers-api."))
        self.addCleanup(shutil.rmtree, home, True)
        server = API(home)
        self.addCleanup(server.stop)
        client = openai.OpenAI(base_url=server.address + "/v1", api_key="none")
        self.assertEqual(client.models.list().data, [])

    def test_an_answer_counts_as_use_and_a_list_does_not(self):
        with tempfile.TemporaryDirectory(prefix="hub-peers-api.") as home:
            home = Path(home)
            plant(home / "huggingface" / "hub", CHAT, folder(FIXTURES / "tiny-shakespeare"))
            plant(home / "huggingface" / "hub", VECTORS, folder(FIXTURES / "micro" / "bert"))
            server = API(home)
            try:
                client = openai.OpenAI(base_url=server.address + "/v1", api_key="none", max_retries=0)
                self.assertEqual({model.id for model in client.models.list()}, {CHAT, VECTORS})
                client.models.retrieve(VECTORS)
                self.assertEqual(used(home), [])
                client.chat.completions.create(model=CHAT, messages=USER, max_tokens=1)
                self.assertEqual(used(home), ["models--demo--shakespeare"])
                client.embeddings.create(model=VECTORS, input="a")
                self.assertEqual(used(home), ["models--demo--shakespeare", "models--demo--vectors"])
            finally:
                server.stop()

    def test_health_is_open_and_loads_nothing(self):
        self.assertEqual(self.ask("/health")[2], {"status": "ok"})


class Chat(APITest):
    def chat(self, **fields):
        return self.client.chat.completions.create(
            **({"model": CHAT, "messages": USER, "max_tokens": 12, "temperature": 0} | fields))

    def test_an_answer_whole_and_in_events_is_the_same(self):
        whole = self.chat()
        self.assertEqual(whole.choices[0].finish_reason, "length")
        self.assertEqual(whole.usage.completion_tokens, 12)
        self.assertEqual(whole.usage.total_tokens, whole.usage.prompt_tokens + 12)
        events = list(self.chat(stream=True, stream_options={"include_usage": True}))
        text = "".join(event.choices[0].delta.content or "" for event in events if event.choices)
        self.assertEqual(text, whole.choices[0].message.content)
        self.assertEqual(len({event.id for event in events}), 1)
        self.assertEqual(events[0].choices[0].delta.role, "assistant")
        self.assertEqual(events[-2].choices[0].finish_reason, "length")
        # The last one has the usage and no choice; the prompt was known by then.
        self.assertEqual((events[-1].choices, events[-1].usage.completion_tokens), ([], 12))
        self.assertGreater(events[-1].usage.prompt_tokens_details.cached_tokens, 0)
        plain = list(self.chat(stream=True))
        self.assertTrue(all(event.choices and event.usage is None for event in plain))

    def test_several_choices_with_seeds_are_repeatable(self):
        fields = {"n": 3, "temperature": 1.5, "seed": 7}
        texts = [choice.message.content for choice in self.chat(**fields).choices]
        self.assertEqual(len(set(texts)), 3)
        self.assertEqual([choice.message.content for choice in self.chat(**fields).choices], texts)
        streamed = ["", "", ""]
        for event in self.chat(stream=True, **fields):
            streamed[event.choices[0].index] += event.choices[0].delta.content or ""
        self.assertEqual(streamed, texts)

    def test_stop_ends_the_text_before_it(self):
        text = self.chat(max_tokens=40).choices[0].message.content
        stop = text[len(text) // 2:][:3]
        stopped = self.chat(max_tokens=40, stop=[stop]).choices[0]
        self.assertEqual((stopped.message.content, stopped.finish_reason), (text[:text.index(stop)], "stop"))

    def test_log_probabilities(self):
        whole = self.chat(logprobs=True, top_logprobs=3)
        entries = whole.choices[0].logprobs.content
        self.assertEqual(len(entries), 12)
        for entry in entries:
            self.assertEqual(entry.logprob, entry.top_logprobs[0].logprob)  # greedy
            self.assertEqual(len(entry.top_logprobs), 3)
        self.assertEqual(b"".join(bytes(entry.bytes) for entry in entries).decode(errors="replace"),
                         whole.choices[0].message.content)
        events = self.chat(logprobs=True, top_logprobs=0, stream=True)
        streamed = [entry.token for event in events if event.choices[0].logprobs
                    for entry in event.choices[0].logprobs.content]
        self.assertEqual(streamed, [entry.token for entry in entries])
        self.assertIsNone(self.chat().choices[0].logprobs)

    def test_an_answer_follows_its_schema(self):
        form = {"type": "json_schema", "json_schema": {"name": "person", "schema": SCHEMA, "strict": True}}
        for seed in range(4):
            answer = self.chat(response_format=form, temperature=2, seed=seed, max_tokens=200).choices[0]
            person = json.loads(answer.message.content)
            self.assertEqual(list(person), ["name", "age"])
            self.assertIn(person["age"], range(100))
            self.assertEqual(answer.finish_reason, "stop")
        bad = {"type": "json_schema", "json_schema": {"name": "x", "schema": {"type": "object", "not": {}}}}
        with self.assertRaisesRegex(openai.BadRequestError, "not"):
            self.chat(response_format=bad)

    def test_a_tool_is_called(self):
        fields = {"model": CALLS, "tools": [WEATHER], "max_tokens": 100, "seed": 3, "temperature": 0.7,
                  "tool_choice": {"type": "function", "function": {"name": "weather"}}}
        choice = self.chat(**fields).choices[0]
        self.assertEqual(choice.finish_reason, "tool_calls")
        [call] = choice.message.tool_calls
        self.assertEqual((call.function.name, list(json.loads(call.function.arguments))), ("weather", ["city"]))
        # Its helper accumulates the deltas and crashes on calls without an index.
        with self.client.chat.completions.stream(messages=USER, **{k: v for k, v in fields.items()}) as stream:
            final = stream.get_final_completion().choices[0].message.tool_calls
        self.assertEqual([(c.function.name, c.function.arguments) for c in final],
                         [(call.function.name, call.function.arguments)])
        # The result goes back.
        turns = USER + [choice.message.model_dump(exclude_none=True),
                        {"role": "tool", "tool_call_id": call.id, "content": "Rain."}]
        self.assertTrue(self.chat(model=CALLS, tools=[WEATHER], messages=turns).choices[0].message)

    def test_tools_without_a_template_that_knows_them_are_refused(self):
        with self.assertRaisesRegex(openai.BadRequestError, "knows no tools"):
            self.chat(tools=[WEATHER])

    def test_unknown_fields_are_ignored_and_known_ones_are_not_dropped(self):
        self.chat(extra_body={"frobnicate": 1, "user": "me"}, metadata={"a": "b"})
        for field, value in {"functions": [{"name": "f"}], "audio": {"voice": "a", "format": "wav"}, "store": True,
                             "web_search_options": {}, "reasoning_effort": "high"}.items():
            with self.subTest(field), self.assertRaises(openai.BadRequestError):
                self.chat(**{field: value})

    def test_what_is_wrong_is_named(self):
        cases = [({"temperature": "hot"}, "temperature"), ({"max_tokens": -3}, "max_tokens"), ({"n": 0}, "n"),
                 ({"messages": []}, "messages"), ({"logit_bias": {"x": 1}}, "logit_bias"),
                 ({"top_logprobs": 3}, "top_logprobs"), ({"messages": [{"role": "king", "content": ""}]},
                                                         "messages[0].role")]
        for fields, param in cases:
            with self.subTest(param):
                status, _, body = self.ask("/v1/chat/completions", {"model": CHAT, "messages": USER} | fields)
                self.assertEqual((status, body["error"]["param"], body["error"]["type"]),
                                 (400, param, "invalid_request_error"))
        with self.assertRaisesRegex(openai.BadRequestError, "This model's maximum context length is"):
            self.chat(messages=[{"role": "user", "content": "to be " * 2000}])
        with self.assertRaises(openai.NotFoundError):
            self.chat(model="demo/nothing", stream=True)
        with self.assertRaisesRegex(openai.BadRequestError, "generates no text"):
            self.chat(model=VECTORS)
        status, _, body = self.ask("/v1/chat/completions", method="POST")
        self.assertEqual((status, body["error"]["type"]), (400, "invalid_request_error"))

    def test_pictures_are_refused_by_a_model_that_does_not_see(self):
        picture = "data:image/png;base64," + base64.b64encode(b"\x89PNG").decode()
        for address in (picture, "http://127.0.0.1/x.png"):
            content = [{"type": "text", "text": "What is it?"}, {"type": "image_url", "image_url": {"url": address}}]
            with self.assertRaisesRegex(openai.BadRequestError, "picture"):
                self.chat(messages=[{"role": "user", "content": content}])

    def test_metrics_count_tokens(self):
        before = self.metrics()
        usage = self.chat().usage
        after = self.metrics()
        for name, count in (("hub_prompt_tokens_total", usage.prompt_tokens), ("hub_generated_tokens_total", 12),
                            ("hub_time_to_first_token_seconds_count", 1)):
            self.assertEqual(after[name] - before.get(name, 0), count)
        self.assertEqual((after["hub_requests_running"], after["hub_requests_queued"]), (0, 0))
        self.assertIn('hub_http_requests_total{route="chat",code="200"}', after)


# Minutes of work: one text at a time, each as long as the context.
LONG = {"model": CHAT, "messages": USER, "ignore_eos": True, "n": 128}


class Leaving(APITest):
    flags = ("--parallel", "1", "--queue", "1")

    def running(self):
        return self.metrics()["hub_requests_running"]

    def test_a_client_that_leaves_frees_its_slot(self):
        for stream in (True, False):
            with self.subTest(stream=stream):
                before = self.metrics()["hub_generated_tokens_total"]
                connection = self.send("/v1/chat/completions", LONG | {"stream": stream})
                until(lambda: self.running() == 1, "a request runs")
                if stream:
                    connection.recv(100)
                connection.close()
                until(lambda: self.running() == 0, "the place is free")
                # All of it would be some 60,000 tokens.
                self.assertLess(self.metrics()["hub_generated_tokens_total"] - before, 20_000)

    def test_a_full_queue_is_503(self):
        first = self.send("/v1/chat/completions", LONG | {"stream": True})
        until(lambda: self.running() == 1, "a request runs")
        second = self.send("/v1/chat/completions", LONG)
        until(lambda: self.metrics()["hub_requests_queued"] == 1, "a request waits")
        status, headers, body = self.ask("/v1/chat/completions", LONG)
        self.assertEqual((status, body["error"]["type"]), (503, "server_error"))
        self.assertGreater(int(headers["retry-after"]), 0)
        # One that waits and leaves makes room for another.
        second.close()
        until(lambda: self.metrics()["hub_requests_queued"] == 0, "nobody waits")
        first.close()
        until(lambda: self.running() == 0, "the place is free")


class Keys(APITest):
    variables = {"HUB_API_KEY": "sesame", "HUB_API_KEYS": "one, two"}

    def test_a_key_opens_in_every_spelling(self):
        for headers in ({}, {"Authorization": "Bearer wrong"}, {"api-key": "Sesame"}):
            status, fields, body = self.ask("/v1/models", headers=headers)
            self.assertEqual((status, body["error"]["type"], fields["www-authenticate"]),
                             (401, "authentication_error", "Bearer"))
        for headers in ({"Authorization": "Bearer sesame"}, {"api-key": "one"}, {"x-api-key": "two"}):
            self.assertEqual(self.ask("/v1/models", headers=headers)[0], 200)
        with self.assertRaises(openai.AuthenticationError):
            self.client.models.list()

    def test_health_needs_none(self):
        self.assertEqual(self.ask("/health")[0], 200)


class Origins(APITest):
    def test_another_page_is_refused_and_another_host(self):
        own = self.server.address
        cases = [({"Origin": "http://evil.test"}, 403), ({"Origin": "null"}, 403), ({"Origin": own}, 200),
                 ({"Sec-Fetch-Site": "cross-site"}, 403), ({"Origin": "tauri://localhost"}, 200),
                 ({"Host": "evil.test"}, 421)]
        for headers, expected in cases:
            with self.subTest(headers):
                self.assertEqual(self.ask("/v1/models", headers=headers)[0], expected)

    def test_a_dummy_key_is_no_fault(self):
        self.assertEqual(self.ask("/v1/models", headers={"Authorization": "Bearer anything"})[0], 200)


if __name__ == "__main__":
    unittest.main()
