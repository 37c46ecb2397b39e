import HubCore
import HubServer
import Support
import Testing

@testable import HubCLI

/// Who answers `hub chat`, and what is refused before anything is sent.
@Suite struct ChatChoiceTests {
    // MARK: Who answers

    @Test func aModelOfThisMachineAnswersByItself() async throws {
        let stage = try RemoteStage()
        let folder = try Fixtures.path("tiny-shakespeare")
        let words = ["chat", folder, "To be", "--seed", "1", "--max-tokens", "8"]
        let result = try await stage.stage.run(words + ["--json", "--why"], with: stage.variables)
        #expect(result.status == 0)
        let document = try result.document()
        document.expectKeys(
            "model provider text finish_reason usage tool_calls ttft_seconds tokens_per_second conversation why")
        #expect(document["provider"]?.string == "local" && document["model"]?.string == "tiny-shakespeare")
        #expect(document["usage"]?["completion_tokens"]?.int == 8)
        let why = try #require(document["why"]?.object)
        why.expectKeys("provider rule candidates")
        #expect(why["provider"]?.string == "local")
        let text = try await stage.stage.run(words, with: stage.variables)
        #expect(text.output == (document["text"]?.string ?? "") + "\n")
        #expect(stage.server.requests.isEmpty)
    }

    @Test func aFileOfGGUFAnswers() async throws {
        let stage = try RemoteStage()
        let file = try Fixtures.path("tiny-shakespeare-gguf/model-q4_0.gguf")
        let result = try await stage.run("chat", file, "To be", "--max-tokens", "2", "--json")
        let document = try result.document()
        #expect(document["provider"]?.string == "local" && document["model"]?.string == "model-q4_0.gguf")
        #expect(document["finish_reason"]?.string == "length")
    }

    /// The end token is banned, and a state space takes a text of any length: the answer would last for minutes.
    @Test func theTimeIsABudgetHereToo() async throws {
        let stage = try RemoteStage()
        let result = try await stage.run(
            "chat", Fixtures.path("micro/mamba"), "Hi", "--timeout", "0.01", "--max-tokens", "1000000", "--context",
            "1000000", "--logit-bias", "1:-1000", "--speculate", "off", "--json")
        #expect(try result.status == 5 && result.errorCode() == "timed_out")
        #expect(try result.document()["text"]?.string?.isEmpty == false)
    }

    @Test func autoAsksAProviderForWhatIsNotHereOnceAPersonHasAgreed() async throws {
        let stage = try RemoteStage()
        #expect(try await stage.answer(["chat", RemoteStage.chat, "Hi"], "now and later? [y/N] ", "y").status == 0)
        func terminal(_ words: String...) async throws -> String {
            let result = try await stage.stage.run(
                ["chat", RemoteStage.chat, "Hi"] + words, with: stage.variables, terminal: .init(columns: 300))
            #expect(result.status == 0)
            return result.terminal
        }
        let why = try await terminal("--why")
        #expect(why.contains("You said: Hi 🙂"))
        #expect(
            try await terminal().contains("hub: the model is not in the cache; Hugging Face's providers answer"))
        #expect(why.contains("hub: hf answers: the model is not in the cache"))
        #expect(why.contains("hub: local cannot answer: its files are not on this machine"))
        let document = try await terminal("--why", "--json")
        let start = try #require(document.firstIndex(of: "{"))
        let json = try JSON.parse(String(document[start...]))
        let candidates = json["why"]?.object?.objects("candidates") ?? []
        #expect(candidates.map { $0["provider"]?.string } == ["local", "hf"])
        #expect(candidates.map { $0["accepted"]?.bool } == [false, true])
        #expect(candidates.allSatisfy { !$0.strings("reasons").isEmpty })
    }

    @Test func autoTakesTheCachedModel() async throws {
        let stage = try RemoteStage()
        let names = ["config.json", "generation_config.json", "tokenizer.json", "tokenizer_config.json"]
        let snapshot = try stage.stage.plant(
            "models--org--chat", commit: commit("1"),
            files: Dictionary(
                uniqueKeysWithValues: try names.map {
                    ($0, String(decoding: try Fixtures.bytes("tiny-shakespeare/\($0)"), as: UTF8.self))
                }))
        try FileSystem.replace(
            Path.join(snapshot, "model.safetensors"), with: Fixtures.bytes("tiny-shakespeare/model.safetensors"))
        let document = try await stage.run(
            "chat", RemoteStage.chat, "Hi", "--json", "--max-tokens", "2", "--why"
        ).document()
        #expect(document["provider"]?.string == "local" && document["model"]?.string == RemoteStage.chat)
        #expect(document["why"]?["rule"]?.string == "the model is cached and fits")
        #expect(stage.server.requests.isEmpty)
        // A suffix is not the name of a provider where the model is here, unless a provider is asked for.
        let suffix = try await stage.run("chat", "\(RemoteStage.chat):together", "Hi")
        #expect(suffix.status == 2 && suffix.error.contains("is cached, and has no file or quantization together"))
        #expect(stage.server.requests.isEmpty)
        let remote = try await stage.run(
            "chat", "\(RemoteStage.chat):together", "Hi", "--provider", "hf", "--json"
        ).document()
        #expect(remote["provider"]?.string == "hf:together")
    }

    /// A Hub with a model that runs here.
    private func hubWithAModel() throws -> Stage {
        try Stage { root in
            let folder = root("org/talker")
            try FileSystem.createDirectories(folder)
            for name in try FileSystem.entries(Fixtures.path("tiny-shakespeare")) ?? [] {
                try FileSystem.replace(Path.join(folder, name), with: Fixtures.bytes("tiny-shakespeare/\(name)"))
            }
        }
    }

    /// One line to a conversation: what is not here is fetched after its size and one question.
    @Test func aModelIsFetchedAfterAYes() async throws {
        let stage = try hubWithAModel()
        let words = "exec env HUB_THREADS=1 \"$hub\" chat org/talker Hi --max-tokens 2"
        let no = try stage.shell(words, terminal: .init(columns: 200))
        try await no.wait(forText: "Fetch it? [y/N] ")
        no.write("n\n")
        let refused = try await no.wait()
        #expect(refused.status == 2 && refused.terminal.contains("org/talker is not downloaded yet: 2.3 MB"))
        let yes = try stage.shell(words, terminal: .init(columns: 200))
        try await yes.wait(forText: "Fetch it? [y/N] ")
        yes.write("y\n")
        let answered = try await yes.wait()
        #expect(answered.status == 0 && answered.terminal.contains("the answer was cut at --max-tokens, 2"))
        let listed = try await stage.run("chat")
        #expect(listed.status == 2 && listed.error.contains("models here that talk, the last used first:\n"))
        #expect(listed.error.contains("hub chat org/talker\n"))
    }

    @Test func aScriptFetchesWithYes() async throws {
        let stage = try hubWithAModel()
        let refused = try await stage.run("chat", "org/talker", "Hi")
        #expect(
            refused.status == 2 && refused.error.contains("--yes fetches it to this machine"), "\(refused.error)")
        let result = try await stage.run("chat", "org/talker", "Hi", "--yes", "--max-tokens", "2", "--json")
        let document = try result.document()
        #expect(result.status == 0 && document["provider"]?.string == "local")
    }

    @Test func withoutATokenTheReasonIsSaid() async throws {
        let stage = try RemoteStage()
        let result = try await stage.run(
            "chat", RemoteStage.chat, "Hi", with: ["HF_TOKEN": ""], terminal: .init(columns: 300))
        #expect(
            result.status == 4 && result.terminal.contains("there is no token for the Hub's providers"),
            "\(result.terminal)")
        let script = try await stage.run("chat", RemoteStage.chat, "Hi", with: ["HF_TOKEN": ""])
        #expect(script.status == 2 && script.output.isEmpty)
        #expect(stage.calls.isEmpty)
    }

    // MARK: What is refused

    @Test(arguments: [
        (["--min-p", "0.1"], "min-p"), (["--top-k", "5"], "top-k"),
        (["--repeat-penalty", "1.2"], "repetition penalty"),
        (["--logit-bias", "1:2"], "logit bias"),
        (["--threads", "2"], "--threads is about computing on this machine"),
        (["--exact"], "--exact is about"), (["--kv", "f16"], "--kv is about"),
        (["--context", "100"], "--context is"),
        (["--speculate", "on"], "--speculate is"), (["--file", "a.gguf"], "--file is"), (["--logprobs", "9"], "5"),
    ])
    func aFlagThatTheProviderCannotHonorIsRefused(_ flags: [String], _ message: String) async throws {
        let stage = try RemoteStage()
        let result = try await stage.stage.run(
            ["chat", RemoteStage.chat, "Hi", "--provider", "hf"] + flags, with: stage.variables)
        #expect(result.status == 2 && result.error.contains(message), "\(result.error)")
        #expect(stage.calls.isEmpty)
    }

    @Test func flagsAreSentByTheirNames() async throws {
        let stage = try RemoteStage()
        _ = try await stage.run(
            "chat", RemoteStage.chat, "Hi", "--provider", "hf", "--temperature", "0.5", "--top-p", "0.8", "--seed",
            "7",
            "--stop", "END", "--presence-penalty", "0.5", "--frequency-penalty", "0.25", "--max-tokens", "9")
        let sent = try #require(stage.calls.last).json
        #expect(sent["temperature"]?.double == 0.5 && sent["top_p"]?.double == 0.8 && sent["seed"]?.int == 7)
        #expect(sent["stop"]?.array?.first?.string == "END" && sent["max_tokens"]?.int == 9)
        #expect(sent["presence_penalty"]?.double == 0.5 && sent["frequency_penalty"]?.double == 0.25)
    }

    @Test(arguments: [
        (["groq"], "did you mean hf:groq?"), (["hg"], "did you mean hf?"), (["hf:"], "write it like hf:groq"),
        (["localhost:8080"], "begins with http:// or https://"), (["hf:a/b"], "write it like hf:groq"),
        (["http://user:secret@host"], "with a name or a password"),
    ])
    func anUnknownProviderIsNamed(_ words: [String], _ advice: String) async throws {
        let stage = try RemoteStage()
        let result = try await stage.run("chat", RemoteStage.chat, "Hi", "--provider", words[0])
        #expect(result.status == 2 && result.error.contains(advice), "\(result.error)")
        #expect(!result.error.contains("secret"))
    }

    @Test func namesThatCannotBeRemote() async throws {
        let stage = try RemoteStage()
        let folder = try await stage.run("chat", "./model", "Hi", "--provider", "hf")
        #expect(folder.status == 2 && folder.error.contains("is on this machine"))
        let revision = try await stage.run("chat", "org/chat@dev", "Hi", "--provider", "hf")
        #expect(revision.status == 2 && revision.error.contains("names a revision"))
        let missing = try await stage.run("chat")
        #expect(missing.status == 2 && missing.error.contains("missing MODEL"))
        let empty = try await stage.run("chat", RemoteStage.chat, " ", "--provider", "hf")
        #expect(empty.status == 2 && empty.error.contains("the PROMPT is empty"))
        let key = try await stage.run(
            "chat", "m", "Hi", "--provider", stage.server.address, with: ["HUB_PROVIDER_KEY": RemoteStage.token])
        #expect(key.status == 2 && !key.error.contains(RemoteStage.token))
        #expect(stage.server.requests.isEmpty)
    }

    // MARK: Files

    @Test func filesAreSentAfterAYesAlone() async throws {
        let stage = try RemoteStage()
        let place = try TemporaryFolder("attached")
        let notes = try place.write("notes.txt", Array("The sea is blue.".utf8))
        let picture = try place.write("p.png", HonestRouter.png)
        let words = ["chat", RemoteStage.chat, "What?", "--provider", "hf", "--attach", notes, "--attach", picture]
        let unasked = try await stage.stage.run(words + ["--json"], with: stage.variables)
        #expect(try unasked.status == 2 && unasked.errorCode() == "confirmation_required")
        let refused = try await stage.answer(words, "to hf? [y/N] ", "n")
        #expect(refused.status == 2 && refused.terminal.contains("nothing was sent"))
        #expect(stage.calls.isEmpty)
        #expect(try await stage.stage.run(words + ["--yes"], with: stage.variables).status == 0)
        let parts = try #require(stage.calls.last?.json["messages"]?.array?.last?["content"]?.array)
        #expect(parts[0]["text"]?.string == "<file name=\"notes.txt\">\nThe sea is blue.\n</file>\n\nWhat?")
        #expect(parts[1]["image_url"]?["url"]?.string == "data:image/png;base64,\(Base64.text(HonestRouter.png))")
    }

    @Test func filesThatCannotBeAttached() async throws {
        let stage = try RemoteStage()
        let place = try TemporaryFolder("attached")
        let binary = try place.write("x.bin", [0, 1, 2, 255])
        let picture = try place.write("p.png", HonestRouter.png)
        for (words, status, message) in [
            (["--attach", binary], Int32(2), "neither UTF-8 text nor"),
            (["--attach", place.path], 2, "is a folder"),
            (["--attach", place("none.txt")], 3, "does not exist"),
        ] {
            let result = try await stage.stage.run(
                ["chat", RemoteStage.chat, "Hi", "--provider", "hf", "--yes"] + words, with: stage.variables)
            #expect(result.status == status && result.error.contains(message))
        }
        let local = try await stage.run("chat", Fixtures.path("tiny-shakespeare"), "Hi", "--attach", picture)
        #expect(local.status == 2 && local.error.contains("models on this machine read text only"))
        #expect(stage.calls.isEmpty)
    }

    // MARK: Models that do not talk

    @Test func modelsThatDoNotTalkSaySo() async throws {
        let stage = try RemoteStage()
        let encoder = try await stage.run("chat", Fixtures.path("micro/bert"), "Hi")
        #expect(encoder.status == 7 && encoder.error.contains("turns texts into vectors; it does not answer"))
        let bare = try TemporaryFolder("bare")
        for name in ["config.json", "tokenizer.json", "model.safetensors"] {
            try bare.write(name, Fixtures.bytes("tiny-shakespeare/\(name)"))
        }
        let plain = try await stage.run("chat", bare.path, "Hi")
        #expect(plain.status == 2 && plain.error.contains("has no chat template"))
        #expect(plain.error.contains("hub try"))
    }
}
