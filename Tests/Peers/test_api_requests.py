"""`hub serve api`: requests in the form in which clients send them. Each is honoured, or refused with a reason."""

import json
import unittest

import openai

from test_api import CALLS, CHAT, TOOLS, USER, VECTORS, WEATHER, APITest, folder, plant
from peers import FIXTURES

STRICT = "demo/strict"  # whose template knows no system role, and wants user and assistant in turns
FORGETFUL = "demo/forgetful"  # whose template leaves the system's messages out
WHOLE = "demo/whole"  # whose template needs a text in every message, and arguments by name
SYSTEM = [{"role": "system", "content": "Be brief."}]

TEMPLATES = {
    STRICT: """{%- if messages[0].role == 'system' %}{{- raise_exception('no system role here') }}{%- endif %}
{%- for m in messages %}{%- if (m.role == 'user') != (loop.index0 % 2 == 0) %}{{- raise_exception('roles must alternate') }}
{%- endif %}{{- '<' + m.role + '>' + m.content }}{%- endfor %}{{- '<assistant>' }}""",
    FORGETFUL: """{%- for m in messages %}{%- if m.role != 'system' %}{{- '<' + m.role + '>' + m.content }}{%- endif %}{%- endfor %}
{{- '<assistant>' }}""",
    WHOLE: """{%- for m in messages %}{{- '<' + m.role + '>' + m.content.strip() }}{%- for c in m.tool_calls or [] %}
{{- '\\n<tool_call>\\n{"name": "' + c.function.name + '", "arguments": {' }}{%- for k, v in c.function.arguments.items() %}
{{- '"' + k + '": ' + (v | tojson) }}{%- endfor %}{{- '}}\\n</tool_call>' }}{%- endfor %}{%- endfor %}
{%- if tools %}{{- tools | tojson }}{%- endif %}{{- '<assistant>' }}""",
}


def history(arguments, **message):
    """A conversation in which a tool was called."""
    return USER + [
        {"role": "assistant", "content": None, "tool_calls": [
            {"id": "call_1", "type": "function", "function": {"name": "weather", "arguments": arguments}}]} | message,
        {"role": "tool", "tool_call_id": "call_1", "content": "The arguments are not JSON."}]


class Requests(APITest):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        tiny = folder(FIXTURES / "tiny-shakespeare")
        for model, template in TEMPLATES.items():
            plant(cls.cache(), model, tiny | {"chat_template.jinja": template.encode()})

    @classmethod
    def cache(cls):
        return cls.home / "huggingface" / "hub"

    def prompt(self, model, messages, **fields):
        status, _, body = self.ask("/apply-template", {"model": model, "messages": messages} | fields)
        self.assertEqual(status, 200, body)
        return body["prompt"]

    def check(self, cases):
        """Cases: who sends it, the path, the body, and what must come: 200, or a word of the reason."""
        for name, path, body, expected in cases:
            with self.subTest(name):
                status, _, answer = self.ask(path, body)
                text = answer if isinstance(answer, str) else json.dumps(answer) if isinstance(answer, dict) else answer.decode()
                if expected == 200:
                    self.assertEqual(status, 200, text)
                    self.assertNotIn('"error"', text)
                else:
                    self.assertEqual(status, 400, text)
                    self.assertIn(expected, text)

    # Chats in OpenAI's protocol

    def test_chats(self):
        def chat(**fields):
            return {"model": CHAT, "messages": USER, "max_tokens": 3} | fields
        parts = [{"role": "user", "content": [{"type": "text", "text": "To be", "cache_control": {"type": "ephemeral"}},
                                              {"type": "text", "text": "or not"}]}]
        path = "/v1/chat/completions"
        self.check([
            # An editor's agent: no limit, everything in parts, the usage in a last event.
            ("Cline", path, {"model": CHAT, "messages": SYSTEM + parts, "temperature": 0, "stream": True, "stop": "e",
                             "stream_options": {"include_usage": True}}, 200),
            ("Roo Code", path, chat(messages=SYSTEM + parts, stream=True, max_tokens=None, max_completion_tokens=3,
                                    temperature=0, reasoning_effort=None, parallel_tool_calls=True), 200),
            ("Continue", path, chat(max_tokens=4096, stop=["e", "<|im_end|>", "<|im_start|>"], stream=True, top_p=1,
                                    frequency_penalty=0, presence_penalty=0), 200),
            ("Open WebUI", path, chat(messages=SYSTEM + USER, stream=True, seed=0, stop=[], logit_bias={},
                                      session_id="s", chat_id="c", id="i", background_tasks={}, features={},
                                      variables={}, metadata={}), 200),
            ("Open WebUI, a title", path, chat(stream=False, max_completion_tokens=3, metadata={"task": "title"}), 200),
            ("LM Studio's example", path, {"model": CHAT, "messages": SYSTEM + USER, "temperature": 0.7, "max_tokens": -1,
                                           "stop": "e", "stream": False}, 200),
            ("the default of a form", path, chat(temperature=1, top_p=1, n=1, frequency_penalty=0, presence_penalty=0,
                                                 stream=False, logprobs=False, top_logprobs=None, user=None, tools=None,
                                                 tool_choice=None, response_format={"type": "text"}, seed=None), 200),
            ("top_p 0", path, chat(top_p=0), 200),
            ("temperature 0 and top_k 0", path, chat(temperature=0, top_k=0, min_p=0, typical_p=1), 200),
            ("llama.cpp's own", path, chat(repeat_penalty=1.1, repeat_last_n=64, top_k=40, min_p=0.05, cache_prompt=True,
                                           samplers=["top_k"], timings_per_token=True), 200),
            ("a long limit", path, chat(max_tokens=2_147_483_647, stop=["e"]), 200),
            ("no answer", path, chat(max_tokens=0), 200),
            ("no answer, streamed", path, chat(max_tokens=0, stream=True), 200),
            ("OpenAI's newer fields", path, chat(store=False, service_tier="auto", prompt_cache_key="k", verbosity="low",
                                                 safety_identifier="u", modalities=["text"], prediction=None), 200),
            ("below every limit", path, chat(max_tokens=-3), "max_tokens"),
            ("too hot", path, chat(temperature=101), "'temperature' must be a number from 0 to 100"),
            ("too large a share", path, chat(top_p=1.5), "'top_p' must be a number from 0 to 1"),
            ("hardly a penalty", path, chat(repetition_penalty=1e-320, typical_p=0.9), "'repetition_penalty' must be"),
            ("the same by its other name", path, chat(repeat_penalty=0), "'repeat_penalty' must be"),
            ("a bias out of bounds", path, chat(logit_bias={"1": 1e300}), "logit_bias"),
            ("a picture by its address", path, chat(messages=[{"role": "user", "content": [
                {"type": "image_url", "image_url": {"url": "https://example.com/a.png"}}]}]), "picture"),
        ])

    def test_no_answer_has_no_text(self):
        answer = self.client.chat.completions.create(model=CHAT, messages=USER, max_tokens=0)
        self.assertEqual((answer.choices[0].message.content, answer.choices[0].finish_reason), ("", "length"))
        self.assertEqual(answer.usage.completion_tokens, 0)
        self.assertGreater(answer.usage.prompt_tokens, 0)

    def test_the_likeliest_token_by_every_name(self):
        def text(**fields):
            return self.client.chat.completions.create(
                model=CHAT, messages=USER, max_tokens=12, seed=5, extra_body=fields).choices[0].message.content
        self.assertEqual({text(top_p=0), text(top_k=1), text(min_p=1), text(typical_p=1, temperature=0)},
                         {text(temperature=0)})

    def test_the_penalty_looks_at_a_window(self):
        def text(**fields):
            body = {"model": CHAT, "prompt": "To be, or not to be", "max_tokens": 24, "temperature": 0, "repeat_penalty": 1.8}
            return self.ask("/v1/completions", body | fields)[2]["choices"][0]["text"]
        plain = text(repeat_penalty=1)
        self.assertEqual(text(repeat_last_n=0), plain)
        self.assertEqual(text(repeat_last_n=-1), text())
        self.assertEqual(len({plain, text(), text(repeat_last_n=4)}), 3)
        # Ollama's calls have one of 64 where they say nothing.
        options = {"temperature": 0, "repeat_penalty": 1.8, "num_predict": 24}
        def ollama(**more):
            return self.ask("/api/generate", {"model": CHAT, "prompt": "To be " * 60, "raw": True, "stream": False,
                                              "options": options | more})[2]["response"]
        self.assertEqual(ollama(), ollama(repeat_last_n=64))

    # Conversations

    def test_broken_arguments_of_earlier_calls(self):
        broken = '{"city": "Ro'
        for model in (CALLS, TOOLS, WHOLE):
            for arguments in (broken, "", "[1]", '{"city": "Rome"}', "[" * 40):
                with self.subTest(model=model, arguments=arguments[:20]):
                    answer = self.client.chat.completions.create(
                        model=model, messages=history(arguments), tools=[WEATHER], max_tokens=2)
                    self.assertLessEqual(answer.usage.completion_tokens, 2)
        # The model sees what it wrote.
        for model in (TOOLS, WHOLE):
            self.assertIn(json.dumps(broken), self.prompt(model, history(broken), tools=[WEATHER]))
        self.assertIn('{"city": "Rome"}', self.prompt(WHOLE, history('{"city": "Rome"}'), tools=[WEATHER]))
        status, _, body = self.ask("/v1/responses", {"model": TOOLS, "max_output_tokens": 2, "input": [
            {"role": "user", "content": "Rome?"}, {"type": "function_call", "call_id": "c", "name": "weather", "arguments": broken},
            {"type": "function_call_output", "call_id": "c", "output": "Not JSON."}]})
        self.assertEqual(status, 200, body)

    def test_roles_that_a_template_refuses(self):
        user = lambda text: {"role": "user", "content": text}
        assistant = lambda text: {"role": "assistant", "content": text}
        system = lambda text: {"role": "system", "content": text}
        for model in (STRICT, FORGETFUL):
            self.assertEqual(self.prompt(model, SYSTEM + [user("Hi")]), "<user>Be brief.\n\nHi<assistant>")
            self.assertEqual(self.prompt(model, SYSTEM), "<user>Be brief.<assistant>")
            self.assertEqual(
                self.prompt(model, [system("A."), system("B."), user("Hi"), assistant("Yes?"), system("C."), user("No")]),
                "<user>A.\n\nB.\n\nHi<assistant>Yes?<user>C.\n\nNo<assistant>")
        self.assertEqual(self.prompt(STRICT, [user("a"), user("b"), assistant("c"), assistant("d"), user("e")]),
                         "<user>a\n\nb<assistant>c\n\nd<user>e<assistant>")
        self.assertEqual(self.prompt(STRICT, SYSTEM + [user("a"), user("b")]), "<user>Be brief.\n\na\n\nb<assistant>")
        # What cannot be mended is told in the template's own words.
        status, _, body = self.ask("/v1/chat/completions", {"model": STRICT, "messages": [assistant("a"), user("b")]})
        self.assertEqual((status, "roles must alternate" in body["error"]["message"]), (400, True))
        for path, fields in (("/v1/chat/completions", {"max_tokens": 2}), ("/api/chat", {"options": {"num_predict": 2}, "stream": False}),
                             ("/v1/responses", {"max_output_tokens": 2})):
            key = "input" if path.endswith("responses") else "messages"
            status, _, body = self.ask(path, {"model": STRICT, key: SYSTEM + USER} | fields)
            self.assertEqual(status, 200, body)

    def test_null_is_an_empty_text(self):
        self.assertIn("<assistant>\n<tool_call>", self.prompt(WHOLE, history('{"city": "Rome"}'), tools=[WEATHER]))
        self.assertEqual(self.prompt(WHOLE, USER + [{"role": "assistant", "content": None}])[-22:], "<assistant><assistant>")

    # Limits

    def test_too_long_a_prompt_has_its_code(self):
        words = "This model's maximum context length is 512 tokens"
        long = [{"role": "user", "content": "to be " * 2000}]
        for path, body in (("/v1/chat/completions", {"messages": long}), ("/v1/completions", {"prompt": "to be " * 2000}),
                           ("/v1/responses", {"input": long})):
            for stream in (False, True):
                status, _, answer = self.ask(path, {"model": CHAT, "stream": stream} | body)
                self.assertEqual((status, answer["error"]["code"]), (400, "context_length_exceeded"), path)
                self.assertTrue(answer["error"]["message"].startswith(words), answer)
        status, _, answer = self.ask("/api/chat", {"model": CHAT, "messages": long, "stream": False})
        self.assertEqual((status, answer["error"].startswith(words)), (400, True), answer)
        status, _, answer = self.ask("/api/embed", {"model": VECTORS, "input": "to be " * 2000, "truncate": False})
        self.assertEqual((status, "maximum context length" in answer["error"]), (400, True), answer)

    def test_one_request_has_a_bound(self):
        deep = {"type": "object"}
        for _ in range(200):
            deep = {"type": "object", "properties": {"a": deep}}
        tool = {"type": "function", "function": {"name": "f", "parameters": deep}}
        self.check([
            ("prompts", "/v1/completions", {"model": CHAT, "prompt": ["a"] * 1025, "max_tokens": 1}, "1024"),
            ("prompts times n", "/v1/completions", {"model": CHAT, "prompt": ["a"] * 9, "n": 128, "max_tokens": 1}, "1024"),
            ("n", "/v1/chat/completions", {"model": CHAT, "messages": USER, "n": 129}, "'n'"),
            ("levels", "/v1/chat/completions", {"model": TOOLS, "messages": USER, "tools": [tool], "max_tokens": 1}, "levels deep"),
        ])

    # Ollama's protocol

    def test_ollama(self):
        manual = {"num_keep": 5, "seed": 42, "num_predict": 3, "top_k": 20, "top_p": 0.9, "min_p": 0.0, "typical_p": 0.7,
                  "repeat_last_n": 33, "temperature": 0.8, "repeat_penalty": 1.2, "presence_penalty": 1.5,
                  "frequency_penalty": 1.0, "penalize_newline": True, "stop": ["\n", "user:"], "numa": False, "num_ctx": 1024,
                  "num_batch": 2, "num_gpu": 1, "main_gpu": 0, "use_mmap": True, "num_thread": 8}
        chat = {"model": CHAT, "messages": USER, "stream": False}
        self.check([
            ("the example of Ollama's manual", "/api/generate", {"model": CHAT, "prompt": "Why?", "stream": False, "options": manual}, 200),
            ("Continue", "/api/chat", chat | {"keep_alive": 1800, "options": {
                "temperature": 0.01, "num_predict": 3, "stop": ["e"], "num_ctx": 32768, "num_thread": 4, "use_mmap": True}}, 200),
            ("Open WebUI", "/api/chat", chat | {"stream": True, "format": "", "keep_alive": "5m", "options": {
                "num_predict": 3, "mirostat": 0, "mirostat_eta": 0.1, "mirostat_tau": 5.0, "num_ctx": 2048, "tfs_z": 1,
                "repeat_last_n": 64, "repeat_penalty": 1.1}}, 200),
            ("LangChain", "/api/chat", chat | {"format": None, "think": None, "keep_alive": None, "tools": [], "options": {
                "mirostat": None, "num_predict": 3, "repeat_last_n": None, "seed": None, "stop": None, "top_k": None}}, 200),
            ("no limit", "/api/generate", {"model": CHAT, "prompt": "Why?", "stream": False, "options": {"num_predict": 0, "stop": ["e"]}}, 200),
            ("no limit at all", "/api/generate", {"model": CHAT, "prompt": "Why?", "stream": False, "options": {"num_predict": -2, "stop": ["e"]}}, 200),
            ("an earlier name", "/api/show", {"name": CHAT, "verbose": True}, 200),
            ("a penalty of nothing", "/api/chat", chat | {"options": {"repeat_penalty": 1e-300}}, "options.repeat_penalty"),
            ("mirostat", "/api/chat", chat | {"options": {"mirostat": 1}}, "mirostat"),
        ])

    def test_names_of_this_machine(self):
        for name, status in (("host.docker.internal:11434", 200), ("printer.local", 200), ("app.localhost:3000", 200),
                             ("internal", 421), ("evil.example", 421), ("local.example", 421)):
            got, _, body = self.ask("/api/tags", headers={"Host": name})
            self.assertEqual(got, status, name)
            if got == 421:
                self.assertIn("--allow-host", body["error"])


class Damage(APITest):
    """Models that cannot be read, beside others."""

    def test_they_are_not_listed_and_refused_by_name(self):
        cache = self.home / "huggingface" / "hub"
        tiny = folder(FIXTURES / "tiny-shakespeare")
        damage = {
            "bad/config": {"config.json": b"{"}, "bad/shape": {"config.json": b'{"model_type":"llama","hidden_size":"x"}'},
            "bad/weights": {"model.safetensors": b"\xff" * 100}, "bad/empty": {"model.safetensors": b""},
            "bad/tokens": {"tokenizer.json": b"[]"}, "bad/template": {"chat_template.jinja": b"{% if %}"},
        }
        for name, files in damage.items():
            plant(cache, name, tiny | files)
        plant(cache, "bad/gguf", {"model.gguf": b"GGUF" + b"\xff" * 60})
        listed = {model.id for model in self.client.models.list()}
        self.assertIn(CHAT, listed)
        self.assertFalse({"bad/config", "bad/weights", "bad/empty", "bad/gguf"} & listed)
        self.assertEqual(self.ask("/api/tags")[0], 200)
        for name in [*damage, "bad/gguf"]:
            for path, body in (("/api/show", {}), ("/v1/chat/completions", {"messages": USER}),
                               ("/api/generate", {"prompt": "x", "stream": False}), ("/tokenize", {"content": "x"})):
                with self.subTest(name=name, path=path):
                    status, _, answer = self.ask(path, {"model": name, "max_tokens": 1} | body)
                    self.assertIn(status, (200, 400, 404), answer)
                    self.assertNotIn(str(self.home), json.dumps(answer))
            status, _, answer = self.ask("/v1/chat/completions", {"model": name, "messages": USER, "stream": True})
            self.assertIn(status, (400, 404), answer)
        self.assertEqual(self.client.chat.completions.create(model=CHAT, messages=USER, max_tokens=2).usage.completion_tokens, 2)


if __name__ == "__main__":
    unittest.main()
