import HubCore
import Support
import Testing

/// The reference's output for the fixtures' model.
private struct Golden {
    struct Prompt: Sendable {
        var text: String
        var ids: [Int64]
        var nextIDs: [Int64]
        var nextText: String
    }
    var prompts: [Prompt]
    var logitsPrompt: Int
    var logits: [Double]

    init() throws {
        let golden = try #require(try JSON.parse(Fixtures.bytes("goldens/tiny-shakespeare.json")).object)
        prompts = try golden.objects("prompts").map { prompt in
            let next = try #require(prompt["greedy_32"]?.object)
            return Prompt(
                text: try #require(prompt["text"]?.string), ids: prompt.ints("ids"), nextIDs: next.ints("ids"),
                nextText: try #require(next["text"]?.string))
        }
        let logits = try #require(golden["logits"]?.object)
        logitsPrompt = Int(logits["prompt_index"]?.int ?? 0)
        self.logits = logits["values"]?.array?.compactMap(\.double) ?? []
    }
}

extension JSONObject {
    fileprivate func ints(_ key: String) -> [Int64] { self[key]?.array?.compactMap(\.int) ?? [] }
}

@Suite struct TryCommandTests {
    let stage: Stage
    private let golden: Golden
    let folder: String

    init() throws {
        stage = try Stage.withModel()
        golden = try Golden()
        folder = try Fixtures.path("tiny-shakespeare")
    }

    /// It was the last of twenty lines.
    @Test func theVerdictComesFirst() async throws {
        let result = try await stage.run("try", folder)
        #expect(result.status == 0 && result.error.isEmpty && result.lines.count == 3)
        #expect(
            result.lines[0].contains(#/^works: [\d.,]+ tokens/s, [\d.]+ MB of memory$/#), "\(result.lines[0])")
        #expect(result.lines[1] == "  model               LlamaForCausalLM, 1.1M parameters, BF16")
        #expect(result.lines[2].hasPrefix("  text                "))
        #expect(try await stage.run("try", folder, "-q").output == "pass\n")
    }

    @Test func theChecksAreThereForWhoAsks() async throws {
        let result = try await stage.run("try", folder, "-v")
        #expect(result.status == 0 && result.lines[0].hasPrefix("works: "))
        #expect(result.lines[1] == "tiny-shakespeare  \(folder)")
        #expect(
            result.lines[3] == "  shape               4 layers, 4 heads, 2 KV heads, vocabulary 1,024, context 512")
        #expect(result.lines.contains("  headers             pass  1,115,264 parameters in 2.2 MB"))
        #expect(result.lines.contains { $0.hasPrefix("  forward pass        pass  1,024 logits from ") })
        #expect(result.lines.allSatisfy { !$0.hasSuffix(" ") && !$0.hasPrefix("  verdict") })
    }

    /// The checks follow, for a verdict that is no pass asks for reasons.
    @Test func aWarningSaysWhatItIsAbout() async throws {
        let result = try await stage.run("try", Fixtures.path("micro/olmo3"))
        #expect(result.status == 0)
        #expect(result.lines[0] == "works, with warnings: the text has bytes that are no characters")
        #expect(
            result.lines.contains("  generation          warn  the text has bytes that are no characters"))
        #expect(result.lines.contains { $0.hasPrefix("  headers             pass  ") })
    }

    @Test func thePulledModelContinuesAsTheReferenceDoes() async throws {
        #expect(try await stage.run("pull", "org/tiny").status == 0)
        for prompt in golden.prompts {
            let document = try await stage.run(
                "try", "org/tiny", prompt.text, "--raw", "--greedy", "--exact", "--max-tokens", "32", "--json"
            ).document()
            document.expectKeys(
                """
                id path verdict architecture parameters dtype weights_bytes memory_bytes mode checks generation
                """)
            let generation = try #require(document["generation"]?.object)
            generation.expectKeys(
                """
                prompt_ids ids text finish_reason load_seconds ttft_seconds prompt_tokens_per_second \
                tokens_per_second seed peak_memory_bytes cached_tokens drafted_tokens accepted_tokens
                """)
            #expect(generation.ints("prompt_ids") == prompt.ids && generation.ints("ids") == prompt.nextIDs)
            #expect(generation["text"]?.string == prompt.nextText)
            #expect(generation["finish_reason"]?.string == "length")
            #expect(document["id"]?.string == "org/tiny" && document["verdict"]?.string == "pass")
            for check in document.objects("checks") { check.expectKeys("name status detail") }
        }
    }

    @Test func aFolderContinuesAlikeAndQuietPrintsTheTextAlone() async throws {
        let prompt = golden.prompts[0]
        let words = ["--raw", "--greedy", "--exact", "--max-tokens", "32"]
        let quiet = try await RunningProcess.run(
            BuiltProduct.path(), ["try", folder, prompt.text, "-q"] + words, environment: stage.environment)
        #expect(quiet.status == 0 && quiet.error.isEmpty && quiet.output == prompt.nextText + "\n")
        let human = try await RunningProcess.run(
            BuiltProduct.path(), ["try", folder, prompt.text] + words, environment: stage.environment)
        #expect(human.output.hasPrefix("\(prompt.text)\n\(prompt.nextText)\n\n  speed               32 tokens, "))
        #expect(!human.output.contains("verdict"))
        #expect(human.error.isEmpty)
        #expect(stage.hub.requests.isEmpty)
    }

    @Test func logitsAreThoseOfTheReference() async throws {
        let document = try await stage.run(
            "try", folder, golden.prompts[golden.logitsPrompt].text, "--raw", "--logits", "--exact", "--max-tokens",
            "1", "--json"
        ).document()
        let logits = document["logits"]?.array?.compactMap(\.double) ?? []
        #expect(logits.count == 1024 && golden.logits.count == 1024)
        #expect(zip(logits, golden.logits).allSatisfy { abs($0 - $1) < 1e-3 })
    }

    /// They were left out without a word.
    @Test func logitsNeedAPrompt() async throws {
        let result = try await stage.run("try", folder, "--logits")
        #expect(result.status == 2 && result.error.hasPrefix("hub: --logits needs a PROMPT\n"))
    }

    @Test func tokensOfATextInEachForm() async throws {
        let human = try await stage.run("try", folder, "--tokenize", "Hello", "--tokenize", "a", "--tokenize", "")
        #expect(human.status == 0 && human.output == "3 tokens: 44 414 83\n1 token: 69\n0 tokens\n")
        #expect(try await stage.run("try", folder, "--tokenize", "Hello", "-q").output == "44 414 83\n")
        let document = try await stage.run("try", folder, "--tokenize", "Hello", "--json").document()
        document.expectKeys("id path tokenized")
        let entry = try #require(document.objects("tokenized").first)
        entry.expectKeys("text ids ids_with_special decoded decoded_skip_special")
        #expect(entry.ints("ids") == [44, 414, 83] && entry.ints("ids_with_special") == [0, 44, 414, 83])
        #expect(entry["decoded"]?.string == "Hello" && entry["decoded_skip_special"]?.string == "Hello")
    }

    @Test func aTerminalShowsEachPieceBesideItsID() async throws {
        let result = try await stage.run(
            "tokenize", folder, "Hello", "--color", "never", terminal: .init(.output, columns: 80))
        let lines = result.terminal.split(separator: "\r\n").map { settled(String($0)) }
        #expect(lines.map { $0.trimmed } == ["3 tokens", "ID  PIECE", "44  \"H\"", "414  \"ell\"", "83  \"o\""])
    }

    @Test func tokensNeedNoWeights() async throws {
        let bare = try TemporaryFolder("bare")
        for name in ["tokenizer.json", "tokenizer_config.json"] {
            try bare.write(name, Fixtures.bytes("tiny-shakespeare/\(name)"))
        }
        #expect(try await stage.run("try", bare.path, "--tokenize", "Hello", "-q").output == "44 414 83\n")
    }

    @Test func textsOfAFileAndOfAGGUFVocabulary() async throws {
        let place = try TemporaryFolder("texts")
        try place.write("texts.json", Array(#"["Hello", ""]"#.utf8))
        let list = place("texts.json")
        #expect(try await stage.run("try", folder, "--tokenize-file", list, "-q").output == "44 414 83\n\n")
        let gguf = try Fixtures.path("tiny-shakespeare-gguf/model-q4_0.gguf")
        #expect(try await stage.run("try", gguf, "--tokenize", "Hello", "-q").output == "44 414 83\n")
        try place.write("texts.json", Array("{}".utf8))
        let wrong = try await stage.run("try", folder, "--tokenize-file", list)
        #expect(wrong.status == 2 && wrong.error.contains("is not a JSON list of strings"))
        #expect(try await stage.run("try", folder, "--tokenize-file", "./nope.json").status == 3)
    }

    // MARK: Chat templates

    @Test func aConversationIsRenderedAsTheReferenceDoes() async throws {
        let golden = try JSON.parse(Fixtures.bytes("goldens/chat-tiny-shakespeare.json"))
        let place = try TemporaryFolder("chat")
        var document: JSONObject = ["messages": golden["messages"]]
        func rendered(_ arguments: String...) async throws -> String? {
            try place.write("chat.json", Array(JSON.object(document).text().utf8))
            return try await stage.run(["try", folder, "--render", place("chat.json"), "--json"] + arguments)
                .document()["rendered"]?.string
        }
        #expect(try await rendered() == golden["rendered"]?.string)
        document["add_generation_prompt"] = true
        #expect(try await rendered() == golden["rendered_with_generation_prompt"]?.string)
        let text = try #require(golden["rendered_with_generation_prompt"]?.string)
        let tokens = try await stage.run("try", folder, "--tokenize", text, "--json").document()
        #expect(tokens.objects("tokenized").first?.ints("ids") == golden.object?.ints("ids_with_generation_prompt"))
        // Another template, with a variable of its own.
        document["mood"] = "merry"
        try place.write("own.jinja", Array("{{ mood }}{{ bos_token }}{{ messages | length }}".utf8))
        #expect(try await rendered("--template", place("own.jinja")) == "merry<|bos|>3")
    }

    @Test func aPromptIsWhatThePersonSays() async throws {
        func ids(_ arguments: String...) async throws -> [Int64] {
            try await stage.run(["try", folder, "Who goes?", "--max-tokens", "1", "--json"] + arguments).document()[
                "generation"]?
                .object?.ints("prompt_ids") ?? []
        }
        func tokens(_ text: String) async throws -> [Int64] {
            try await stage.run("try", folder, "--tokenize", text, "--json").document().objects("tokenized")[0]
                .ints("ids")
        }
        #expect(try await ids() == tokens("<|bos|><|user|>\nWho goes?<|eos|>\n<|assistant|>\n"))
        #expect(
            try await ids("--system", "Be brief.", "--chat")
                == tokens("<|bos|>Be brief.\n\n<|user|>\nWho goes?<|eos|>\n<|assistant|>\n"))
        #expect(try await ids("--raw") == tokens("<|bos|>Who goes?"))
    }

    @Test func whatNeedsATemplateIsSaidWhereThereIsNone() async throws {
        let bare = try TemporaryFolder("bare")
        for name in ["config.json", "tokenizer.json", "model.safetensors"] {
            try bare.write(name, Fixtures.bytes("tiny-shakespeare/\(name)"))
        }
        let chat = try await stage.run("try", bare.path, "x", "--chat", "--max-tokens", "1")
        #expect(chat.status == 2 && chat.error.contains("has no chat template"))
        #expect(try await stage.run("try", bare.path, "x", "--max-tokens", "1", "-q").status == 0)
        #expect(try await stage.run("try", folder, "--system", "x").status == 2)
        #expect(try await stage.run("try", folder, "x", "--raw", "--system", "y").status == 2)
        #expect(try await stage.run("try", folder, "--template", "./x.jinja").status == 2)
    }

    @Test func aSeedMakesItRepeatable() async throws {
        func text(_ seed: String) async throws -> String {
            try await stage.run("try", folder, "ROMEO:", "--raw", "--seed", seed, "--max-tokens", "24", "-q").output
        }
        let first = try await text("7")
        #expect(try await text("7") == first)
        let others = [try await text("8"), try await text("9")]
        #expect(others.contains { $0 != first })
        let document = try await stage.run(
            "try", folder, "ROMEO:", "--raw", "--seed", "18446744073709551615", "--max-tokens", "1", "--json"
        ).document()
        // More than a JSON number is sure to keep.
        #expect(document["generation"]?.object?["seed"]?.string == "18446744073709551615")
    }

    @Test func textEndsBeforeAStop() async throws {
        let prompt = golden.prompts[0]
        let stop = String(prompt.nextText.dropFirst(10).prefix(4))
        let end = try #require(prompt.nextText.range(of: stop))
        let result = try await stage.run(
            "try", folder, prompt.text, "--raw", "--greedy", "--exact", "--max-tokens", "32", "--stop", stop,
            "--json")
        let generation = try #require(try result.document()["generation"]?.object)
        #expect(generation["text"]?.string == String(prompt.nextText[..<end.lowerBound]))
        #expect(generation["finish_reason"]?.string == "stop_sequence")
    }

    /// "1 tokens, then 0 tokens/s" said that it was slow.
    @Test func aSingleTokenHasNoPace() async throws {
        let result = try await stage.run("try", folder, "x", "--raw", "--greedy", "--max-tokens", "1")
        let speed = try #require(result.lines.last)
        #expect(speed.hasPrefix("  speed               1 token, stopped at --max-tokens, first after "))
        #expect(!speed.contains("then"))
    }

    @Test func inspectSaysWhatTheHeadersSay() async throws {
        let result = try await stage.run("try", folder, "--inspect")
        #expect(result.status == 0 && result.lines.count == 8)
        let document = try await stage.run("try", folder, "--inspect", "--json").document()
        document.expectKeys(
            "id path architecture parameters dtype weights_bytes memory_bytes inspection")
        let inspection = try #require(document["inspection"]?.object)
        inspection.expectKeys(
            """
            file architecture model_type formats parameters active_parameters parameters_by_part dtypes quantization \
            bits_per_weight weights_bytes context_length layers heads kv_heads vocabulary kv_bytes_per_token \
            memory_bytes memory_context memory_total_bytes fits tokenizer chat_template license supported obstacles
            """)
        #expect(inspection["supported"]?.bool == true && inspection["parameters"]?.int == 1_115_264)
    }

    @Test func whatCannotRunYetIsNamedAndNothingElseIsSaid() async throws {
        let place = try TemporaryFolder(linking: "tiny-shakespeare", except: ["config.json"])
        try place.write("config.json", #"{"model_type": "xlstm", "architectures": ["xLSTMForCausalLM"]}"#)
        let result = try await stage.run("try", place.path)
        #expect(result.status == 7 && result.output.isEmpty)
        #expect(result.error.contains("cannot be run yet: architecture xlstm"))
        let document = try await stage.run("try", place.path, "--json")
        #expect(try document.errorCode() == "unsupported_model")
        #expect(try document.document()["verdict"]?.string == "fail")
        // Prompted too: never a wrong answer.
        let notes = ["", "hub: --embed is hub embed now\n", "hub: --perplexity is hub eval now\n"]
        let uses = [["ROMEO:", "-q"], ["--embed", "x"], ["--perplexity", try Fixtures.path("heldout.txt")]]
        for (words, note) in zip(uses, notes) {
            let used = try await stage.run(["try", place.path] + words)
            #expect(used.status == 7 && used.output.isEmpty && used.error == note + result.error, "\(words)")
        }
    }
}

extension String {
    fileprivate func range(of part: String) -> Range<Index>? {
        indices.first { self[$0...].hasPrefix(part) }.map { $0..<index($0, offsetBy: part.count) }
    }
}
