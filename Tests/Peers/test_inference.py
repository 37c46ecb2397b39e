"""The clients of OpenAI and of Hugging Face against the tests' inference router: that it is one, and not only what hub
takes for one."""

import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from peers import HUB, Server, environment

STAND_IN = Path(HUB).with_name("RouterStandIn")
TOKEN = "hf_PeersOfTheRouter0123456789abcdefgh"
TOOL = {"type": "function", "function": {"name": "weather", "parameters": {"type": "object"}}}


class Router(Server):
    """`RouterStandIn`, which ends with its standard input."""

    def __init__(self):
        read, self.write = os.pipe()
        try:
            super().__init__([str(STAND_IN)], environment(), stdin=read)
        finally:
            os.close(read)

    def stop(self):
        os.close(self.write)
        super().stop()


def run(program, address, home):
    """Runs a program with `address` defined; its clients must read nothing of this machine's own."""
    settings = {"HF_ENDPOINT": address, "HF_TOKEN": TOKEN, "HF_HOME": home, "HOME": home,
                "HF_HUB_DISABLE_TELEMETRY": "1", "HF_HUB_DISABLE_UPDATE_CHECK": "1"}
    done = subprocess.run([sys.executable, "-c", f"address = {address!r}\n{program}"], env=environment() | settings,
                          capture_output=True, text=True, timeout=120, stdin=subprocess.DEVNULL)
    if done.returncode != 0:
        raise AssertionError(done.stderr)


class InferenceClients(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.router = Router()
        cls.addClassCleanup(cls.router.stop)
        home = tempfile.TemporaryDirectory(prefix="hub-peers.")
        cls.addClassCleanup(home.cleanup)
        cls.home = home.name

    def check(self, program):
        run(program, self.router.address, self.home)

    OPENAI = f"import openai\nclient = openai.OpenAI(base_url=address + '/v1', api_key={TOKEN!r}, max_retries=0)\n"
    def test_openai_reads_a_conversation(self):
        self.check(self.OPENAI + """
answer = client.chat.completions.create(model='org/chat', messages=[{'role': 'user', 'content': 'Hi'}])
assert answer.choices[0].message.content == 'You said: Hi 🙂', answer
assert answer.choices[0].finish_reason == 'stop' and answer.usage.total_tokens == 10
""")

    def test_openai_reads_a_stream(self):
        self.check(self.OPENAI + """
stream = client.chat.completions.create(model='org/chat', messages=[{'role': 'user', 'content': 'Hi'}], stream=True,
                                        stream_options={'include_usage': True})
chunks = list(stream)
text = ''.join(c.choices[0].delta.content or '' for c in chunks if c.choices)
assert text == 'You said: Hi 🙂', text
assert chunks[-1].usage.total_tokens == 10 and not chunks[-1].choices
""")

    def test_openai_reads_a_tool_call(self):
        self.check(self.OPENAI + f"""
for stream in (False, True):
    answer = client.chat.completions.create(model='org/chat', messages=[{{'role': 'user', 'content': 'Rain?'}}],
                                            tools=[{TOOL!r}], stream=stream)
    if stream:
        calls = [c.choices[0].delta.tool_calls for c in answer if c.choices and c.choices[0].delta.tool_calls][0]
    else:
        calls = answer.choices[0].message.tool_calls
    assert (calls[0].id, calls[0].function.name) == ('call_1', 'weather'), calls
    assert calls[0].function.arguments == '{{"text":"Rain?"}}', calls
""")

    def test_openai_reads_vectors_in_base64(self):
        # Its client asks for base64 and decodes it.
        self.check(self.OPENAI + """
data = client.embeddings.create(model='m', input=['a', 'bcd']).data
assert [d.embedding for d in data] == [[1.0, 97.0, 0.5], [3.0, 98.0, 0.5]], data
""")

    def test_openai_lists_models_and_sees_refusals(self):
        self.check(self.OPENAI + """
assert [m.id for m in client.models.list()] == ['org/chat']
try:
    client.chat.completions.create(model='org/chat', messages=None)
    raise SystemExit('not refused')
except openai.UnprocessableEntityError as error:
    assert 'messages are missing' in str(error), error
""")

    def test_openai_reads_a_transcription_and_a_picture(self):
        self.check(self.OPENAI + """
assert client.audio.transcriptions.create(model='m', file=('a.flac', b'fLaC')).text == 'heard'
assert client.images.generate(model='m', prompt='a fox').data[0].b64_json.startswith('iVBOR')
""")

    def test_hugging_face_reads_a_conversation(self):
        self.check("""
from huggingface_hub import InferenceClient
client = InferenceClient(base_url=address)
answer = client.chat_completion([{'role': 'user', 'content': 'Hi'}])
assert answer.choices[0].message.content == 'You said: Hi 🙂', answer
parts = [c.choices[0].delta.content for c in client.chat_completion([{'role': 'user', 'content': 'Hi'}], stream=True)]
assert ''.join(p or '' for p in parts) == 'You said: Hi 🙂', parts
""")

    def test_hugging_face_finds_the_provider_by_the_mapping(self):
        self.check("""
from huggingface_hub import HfApi, InferenceClient, constants
entries = HfApi().model_info('org/embed', expand=['inferenceProviderMapping']).inference_provider_mapping
assert [(e.provider, e.provider_id) for e in entries] == [('hf-inference', 'org/embed'), ('together', 'T/org/embed')]
constants.INFERENCE_PROXY_TEMPLATE = address + '/{provider}'
answer = InferenceClient(provider='together').chat_completion([{'role': 'user', 'content': 'Hi'}], model='org/chat')
assert answer.model == 'T/org/chat', answer
""")

    def test_hugging_face_uses_the_hubs_own_routes(self):
        self.check("""
# The address is taken when the client is imported.
from huggingface_hub import constants
constants.INFERENCE_PROXY_TEMPLATE = address + '/{provider}'
from huggingface_hub import InferenceClient
client = InferenceClient(provider='hf-inference')
assert client.automatic_speech_recognition(b'fLaC', model='org/listen').text == '4 bytes'
""")


if __name__ == "__main__":
    unittest.main()
