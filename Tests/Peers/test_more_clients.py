"""`hub serve api` with the clients that stand between programs and models: LangChain's, and LiteLLM if installed.

LiteLLM takes longer to install than all the other peers together, so it is not among them:
`.build/peers/bin/pip install litellm` lets its tests run.
"""

import asyncio
import functools
import json
import operator
import os
import unittest
import unittest.mock
from typing import List, Literal, Optional

import openai
import tiktoken
from langchain_core.messages import AIMessage, HumanMessage, SystemMessage, ToolMessage
from langchain_core.tools import tool
from langchain_ollama import ChatOllama, OllamaEmbeddings, OllamaLLM
from langchain_openai import ChatOpenAI, OpenAI, OpenAIEmbeddings
from pydantic import BaseModel, Field

from test_api import CALLS, CHAT, RERANK, SCHEMA, TOOLS, USER, VECTORS, WEATHER, APITest

os.environ["LITELLM_LOCAL_MODEL_COST_MAP"] = "True"  # it would ask another host for prices
try:
    import litellm
except ImportError:
    litellm = None

TEXT = USER[0]["content"]
SEAS = ["the sea", "a ship"]
# What makes the model of the fixtures end what its grammar begins.
ENDS = {"temperature": 0.7, "seed": 3}


class Person(BaseModel):
    """A person."""

    name: str = Field(max_length=6)
    age: int = Field(ge=0, le=99)


class Pet(BaseModel):
    kind: Literal["cat", "dog"]
    owner: Optional[Person] = None


class House(BaseModel):
    """What pydantic writes into a schema: references, choices, defaults."""

    number: int = Field(ge=1, le=9)
    pets: List[Pet] = Field(max_length=2)
    sold: bool = False


@tool
def weather(kind: Literal["now", "later"]) -> str:
    """The weather."""
    return "Rain."


def total(parts):
    """The chunks of a stream as one message."""
    return functools.reduce(operator.add, parts)


class LangChain:
    """What both of its clients do; the classes below make them."""

    def test_an_answer_whole_and_in_chunks_is_the_same(self):
        whole = self.model(CHAT).invoke(TEXT)
        chunks = list(self.model(CHAT).stream(TEXT))
        self.assertGreater(len(chunks), 2)
        self.assertEqual(total(chunks).content, whole.content)
        self.assertEqual(whole.usage_metadata["output_tokens"], 12)
        self.assertEqual(total(chunks).usage_metadata["total_tokens"], whole.usage_metadata["total_tokens"])
        self.assertEqual([answer.content for answer in self.model(CHAT).batch([TEXT, TEXT])], [whole.content] * 2)
        self.assertEqual(asyncio.run(self.model(CHAT).ainvoke(TEXT)).content, whole.content)

    def test_an_answer_is_an_object_of_its_class(self):
        for kind in (Person, House):
            with self.subTest(kind.__name__):
                # The class checks what is in it.
                self.assertIsInstance(self.model(CHAT, 400, **ENDS).with_structured_output(kind).invoke(TEXT), kind)
        *_, last = self.model(CHAT, 400, **ENDS).with_structured_output(Person).stream(TEXT)
        self.assertIsInstance(last, Person)
        answer = self.model(CHAT, 400, **ENDS).with_structured_output({"title": "person", **SCHEMA}).invoke(TEXT)
        self.assertEqual(list(answer), ["name", "age"])

    def test_a_conversation_with_calls_and_their_results(self):
        turns = [SystemMessage("Be short."), HumanMessage([{"type": "text", "text": "Rain?"}]),
                 AIMessage("", tool_calls=[{"name": "weather", "args": {"kind": "now"}, "id": "c1"}]),
                 ToolMessage("Rain.", tool_call_id="c1")]
        answer = self.model(TOOLS).bind_tools([weather]).invoke(turns)
        self.assertEqual(answer.usage_metadata["output_tokens"], 12)
        self.assertGreater(answer.usage_metadata["input_tokens"], 200)  # the tools are in it


class LangChainOpenAI(LangChain, APITest):
    def model(self, name, tokens=12, **fields):
        return ChatOpenAI(model=name, base_url=self.server.address + "/v1", api_key="none", max_retries=0,
                          **({"max_tokens": tokens, "temperature": 0, "stream_usage": True} | fields))

    def test_a_tool_is_called(self):
        for choice in ("weather", "any"):
            model = self.model(CALLS, 200, **ENDS).bind_tools([weather], tool_choice=choice)
            with self.subTest(choice):
                [call] = model.invoke(TEXT).tool_calls
                self.assertEqual((call["name"], list(call["args"])), ("weather", ["kind"]))
                [streamed] = total(model.stream(TEXT)).tool_calls
                self.assertEqual(streamed["args"], call["args"])
        model = self.model(CALLS, 200, **ENDS).bind_tools([weather], tool_choice="any", strict=True,
                                                          parallel_tool_calls=False)
        self.assertEqual(model.invoke(TEXT).tool_calls[0]["name"], "weather")

    def test_an_object_by_a_call_and_by_responses(self):
        called = self.model(CALLS, 200, **ENDS).with_structured_output(Person, method="function_calling")
        self.assertIsInstance(called.invoke(TEXT), Person)
        # Responses have no seed.
        responses = self.model(CHAT, 400, temperature=0.7, use_responses_api=True)
        self.assertIsInstance(responses.with_structured_output(Person).invoke(TEXT), Person)

    def test_responses_are_what_chat_says(self):
        expected = self.model(CHAT).invoke(TEXT).content
        model = self.model(CHAT, use_responses_api=True)
        self.assertEqual(model.invoke(TEXT).text, expected)
        self.assertEqual("".join(chunk.text for chunk in model.stream(TEXT)), expected)

    def test_settings(self):
        model = self.model(CHAT, stop=["\n\n"], presence_penalty=0.5, frequency_penalty=0.5, top_p=0.5, seed=1,
                           logprobs=True, top_logprobs=2, extra_body={"top_k": 4}, metadata={"a": "b"})
        self.assertEqual(len(model.invoke(TEXT).response_metadata["logprobs"]["content"]), 12)
        self.assertEqual(len(self.model(CHAT, n=2, temperature=1).generate([[HumanMessage(TEXT)]]).generations[0]), 2)

    def test_a_text_goes_on(self):
        model = OpenAI(model=CHAT, base_url=self.server.address + "/v1", api_key="none", max_tokens=8, temperature=0)
        whole = model.invoke("To be")
        self.assertEqual("".join(model.stream("To be")), whole)
        self.assertEqual(model.batch(["To be", "My lord"])[0], whole)

    def test_errors_are_of_their_kind(self):
        with self.assertRaises(openai.NotFoundError):
            self.model("demo/nothing").invoke(TEXT)
        with self.assertRaisesRegex(openai.BadRequestError, "maximum context length"):
            self.model(CHAT).invoke("to be " * 2000)

    def vectors(self, **fields):
        return OpenAIEmbeddings(model=VECTORS, base_url=self.server.address + "/v1", api_key="none", max_retries=0,
                                **fields)

    def test_vectors(self):
        model = self.vectors(check_embedding_ctx_length=False)
        first, second = model.embed_documents(SEAS)
        self.assertNotEqual(first, second)
        for a, b in zip(first, model.embed_query(SEAS[0]), strict=True):
            self.assertAlmostEqual(a, b, places=6)

    def test_ids_of_another_tokenizer_are_refused(self):
        """Unless told otherwise, it sends the ids that OpenAI's tokenizer has for a text. That one would have to be
        fetched; one whose ids are bytes stands in for it."""
        ids = tiktoken.Encoding("bytes", pat_str=r"[\s\S]", mergeable_ranks={bytes([i]): i for i in range(256)},
                                special_tokens={})
        with unittest.mock.patch.multiple(tiktoken, get_encoding=lambda name: ids, encoding_for_model=lambda name: ids):
            with self.assertRaisesRegex(openai.BadRequestError, "check_embedding_ctx_length=False"):
                self.vectors().embed_documents(SEAS)


class LangChainOllama(LangChain, APITest):
    def model(self, name, tokens=12, **fields):
        return ChatOllama(model=name, base_url=self.server.address, validate_model_on_init=True,
                          **({"num_predict": tokens, "temperature": 0} | fields))

    def test_a_tool_may_be_called(self):
        # It has no choice of tools to send.
        answer = self.model(TOOLS).bind_tools([weather]).invoke(TEXT)
        self.assertGreater(answer.usage_metadata["input_tokens"], 200)

    def test_reasoning(self):
        answer = self.model(TOOLS, reasoning=True).invoke(TEXT)
        self.assertEqual(answer.usage_metadata["output_tokens"], 12)

    def test_settings(self):
        model = self.model(CHAT, num_ctx=256, top_k=5, top_p=0.5, repeat_penalty=1.1, repeat_last_n=32, mirostat=0,
                           stop=["\n\n"], keep_alive="5m", num_gpu=0, num_thread=2, tfs_z=1.0, seed=1)
        self.assertTrue(model.invoke(TEXT).response_metadata["done"])

    def test_a_text_goes_on(self):
        model = OllamaLLM(model=CHAT, base_url=self.server.address, num_predict=8, temperature=0)
        self.assertEqual("".join(model.stream("To be")), model.invoke("To be"))

    def test_vectors(self):
        model = OllamaEmbeddings(model=VECTORS, base_url=self.server.address)
        first, second = model.embed_documents(SEAS)
        self.assertEqual(model.embed_query(SEAS[0]), first)
        self.assertEqual(model.embed_query(SEAS[1]), second)


@unittest.skipIf(litellm is None, "litellm is not installed")
class LiteLLM(APITest):
    # The providers under which its users name a server of their own.
    OPENAI = ("openai/", "hosted_vllm/", "lm_studio/", "llamafile/")
    OLLAMA = ("ollama_chat/", "ollama/")

    def fields(self, provider, name, **fields):
        address = self.server.address + ("" if provider in self.OLLAMA else "/v1")
        return {"model": provider + name, "api_base": address, "api_key": "none"} | fields

    def chat(self, provider, name=CHAT, **fields):
        return litellm.completion(**self.fields(
            provider, name, **({"messages": USER, "max_tokens": 12, "temperature": 0} | fields)))

    def test_an_answer_whole_and_in_chunks_is_the_same(self):
        for provider in self.OPENAI + self.OLLAMA:
            with self.subTest(provider):
                whole = self.chat(provider)
                self.assertEqual(whole.usage.completion_tokens, 12)
                chunks = list(self.chat(provider, stream=True, stream_options={"include_usage": True}))
                self.assertEqual("".join(c.choices[0].delta.content or "" for c in chunks if c.choices),
                                 whole.choices[0].message.content)
                self.assertEqual(chunks[-1].usage.total_tokens, whole.usage.total_tokens)
                awaited = asyncio.run(litellm.acompletion(**self.fields(
                    provider, CHAT, messages=USER, max_tokens=12, temperature=0)))
                self.assertEqual(awaited.choices[0].message.content, whole.choices[0].message.content)

    def test_an_answer_follows_its_schema(self):
        form = {"type": "json_schema", "json_schema": {"name": "person", "schema": SCHEMA, "strict": True}}
        for provider in self.OPENAI + self.OLLAMA:
            with self.subTest(provider):
                answer = self.chat(provider, response_format=form, **(ENDS | {"max_tokens": 200}))
                self.assertEqual(list(json.loads(answer.choices[0].message.content)), ["name", "age"])
                answer = self.chat(provider, response_format=House, **(ENDS | {"max_tokens": 400}))
                House.model_validate_json(answer.choices[0].message.content)
                free = self.chat(provider, response_format={"type": "json_object"}, **(ENDS | {"max_tokens": 400}))
                self.assertIsInstance(json.loads(free.choices[0].message.content), dict)

    def test_a_tool_is_called_and_its_result_goes_back(self):
        choice = {"type": "function", "function": {"name": "weather"}}
        for provider in self.OPENAI:
            with self.subTest(provider):
                fields = {"name": CALLS, "tools": [WEATHER], "tool_choice": choice} | ENDS | {"max_tokens": 200}
                message = self.chat(provider, **fields).choices[0].message
                [call] = message.tool_calls
                self.assertEqual((call.function.name, list(json.loads(call.function.arguments))), ("weather", ["city"]))
                streamed = litellm.stream_chunk_builder(list(self.chat(provider, stream=True, **fields)))
                self.assertEqual(streamed.choices[0].message.tool_calls[0].function.arguments, call.function.arguments)
                turns = USER + [message.model_dump(exclude_none=True),
                                {"role": "tool", "tool_call_id": call.id, "name": "weather", "content": "Rain."}]
                again = self.chat(provider, TOOLS, messages=turns, tools=[WEATHER])
                self.assertEqual(again.usage.completion_tokens, 12)
        turns = USER + [{"role": "assistant", "content": None, "tool_calls": [{
            "id": "c1", "type": "function", "function": {"name": "weather", "arguments": '{"city":"Rome"}'}}]},
            {"role": "tool", "tool_call_id": "c1", "name": "weather", "content": "Rain."}]
        answer = self.chat("ollama_chat/", TOOLS, messages=turns, tools=[WEATHER])
        self.assertGreater(answer.usage.prompt_tokens, 200)

    def test_vectors_scores_and_texts(self):
        for provider in self.OPENAI + ("ollama/",):
            with self.subTest(provider):
                found = litellm.embedding(**self.fields(provider, VECTORS, input=SEAS)).data
                self.assertEqual(len({len(vector["embedding"]) for vector in found}), 1)
                self.assertNotEqual(found[0]["embedding"], found[1]["embedding"])
        ranked = litellm.rerank(**self.fields("hosted_vllm/", RERANK, query=SEAS[0], documents=SEAS)).results
        self.assertEqual(len(ranked), 2)
        text = litellm.text_completion(**self.fields("text-completion-openai/", CHAT, prompt="To be", max_tokens=8))
        self.assertTrue(text.choices[0].text)
        answer = litellm.responses(**self.fields("openai/", CHAT, input=TEXT, max_output_tokens=16))
        self.assertEqual(answer.usage.output_tokens, 16)

    def test_errors_are_of_their_kind(self):
        for provider in self.OPENAI + self.OLLAMA:
            with self.subTest(provider):
                with self.assertRaises(litellm.NotFoundError):
                    self.chat(provider, "demo/nothing")
                with self.assertRaisesRegex(litellm.BadRequestError, "maximum context length"):
                    self.chat(provider, messages=[{"role": "user", "content": "to be " * 2000}])


if __name__ == "__main__":
    unittest.main()
