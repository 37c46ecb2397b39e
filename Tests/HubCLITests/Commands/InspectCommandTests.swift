import HubCore
import Support
import Testing

@Suite struct InspectCommandTests {
    /// A Llama of 80 layers in 30 shards, 723 tensors, as a model of 70B has; its matrices are small.
    private static func large(_ root: TemporaryFolder) throws {
        let repository = try ModelRepository("org/large", in: root)
        let config = """
            {"model_type":"llama","architectures":["LlamaForCausalLM"],"hidden_size":8,"num_hidden_layers":80,
            "num_attention_heads":2,"num_key_value_heads":1,"intermediate_size":16,"vocab_size":32768,
            "max_position_embeddings":8192,"tie_word_embeddings":false,"torch_dtype":"bfloat16"}
            """
        try repository.write("config.json", config)
        try repository.write(
            "tokenizer.json",
            #"{"added_tokens":[],"pre_tokenizer":{"type":"ByteLevel"},"model":{"type":"BPE","vocab":{}}}"#)
        try repository.write("tokenizer_config.json", #"{"chat_template":"{{ messages }}"}"#)
        try repository.write("README.md", "---\nlicense: mit\n---\n# Large\nA model for tests that is large.\n")
        var tensors: [(String, [Int])] = [
            ("model.embed_tokens.weight", [32768, 8]), ("lm_head.weight", [32768, 8]), ("model.norm.weight", [8]),
        ]
        for layer in 0..<80 {
            let p = "model.layers.\(layer)."
            tensors += [
                (p + "input_layernorm.weight", [8]), (p + "post_attention_layernorm.weight", [8]),
                (p + "self_attn.q_proj.weight", [8, 8]), (p + "self_attn.k_proj.weight", [4, 8]),
                (p + "self_attn.v_proj.weight", [4, 8]), (p + "self_attn.o_proj.weight", [8, 8]),
                (p + "mlp.gate_proj.weight", [16, 8]), (p + "mlp.up_proj.weight", [16, 8]),
                (p + "mlp.down_proj.weight", [8, 16]),
            ]
        }
        #expect(tensors.count == 723)
        var map: [(key: String, value: JSON)] = []
        for shard in 0..<30 {
            let digits = String(shard + 1)
            let name = "model-\(String(repeating: "0", count: 5 - digits.count))\(digits)-of-00030.safetensors"
            var entries: [(key: String, value: JSON)] = []
            var at: Int64 = 0
            for (tensor, shape) in tensors.enumerated().filter({ $0.offset * 30 / 723 == shard }).map(\.element) {
                let end = at + Int64(shape.reduce(2, *))
                entries.append(
                    (
                        tensor,
                        .object([
                            "dtype": "BF16", "shape": .array(shape.map { .int(Int64($0)) }),
                            "data_offsets": .array([.int(at), .int(end)]),
                        ])
                    ))
                map.append((tensor, .string(name)))
                at = end
            }
            let header = Array(JSON.object(JSONObject(entries)).text().utf8)
            let length = (0..<8).map { UInt8(truncatingIfNeeded: header.count >> (8 * $0)) }
            try repository.sparse(
                name, size: Int64(8 + header.count) + at, patches: [(offset: 0, bytes: length + header)])
        }
        try repository.write(
            "model.safetensors.index.json", JSON.object(["weight_map": .object(JSONObject(map))]).text())
    }

    @Test func headersOfThirtyShardsTakeFewRequestsAndLittleOfTheLine() async throws {
        let stage = try Stage(Self.large)
        let result = try await stage.run("info", "org/large", "--inspect", "--context", "4096", "--json")
        let inspection = try #require(try result.document()["inspection"]?.object)
        let layer = 8 + 8 + 64 + 32 + 32 + 64 + 3 * 128
        #expect(inspection["parameters"]?.int == Int64(2 * 32768 * 8 + 8 + 80 * layer))
        #expect(inspection["bits_per_weight"]?.double == 16 && inspection["layers"]?.int == 80)
        #expect(inspection["kv_bytes_per_token"]?.int == Int64(80 * 2 * 4 * 2))
        #expect(inspection["tokenizer"]?.string == "byte-level BPE" && inspection["chat_template"]?.bool == true)
        #expect(inspection["memory_context"]?.int == 4096 && inspection["fits"]?.bool == true)
        let alone = try await stage.run("info", "org/large", "--context", "4096")
        #expect(alone.status == 2 && alone.error.hasPrefix("hub: --context needs --inspect\n"))
        #expect(inspection["supported"]?.bool == true)
        #expect(inspection["parameters_by_part"]?.object?["head"]?.int == Int64(32768 * 8))
        // What the Hub is asked; it sends each LFS file's reader on to the CDN.
        let asked = stage.hub.requests.filter { $0.listener == .hub }
        #expect(
            asked.count <= 40,
            "\(asked.map { "\($0.line) \($0.range ?? "") \($0.status)" }.filter { !$0.contains("safetensors b") })")
        #expect(stage.hub.requests.reduce(0) { $0 + $1.bytesSent } < 5_000_000)
        #expect(stage.hub.requests.allSatisfy { $0.listener == .hub || $0.bytesSent <= 32 << 10 })
        #expect(!FileSystem.exists(stage.cache))
    }

    @Test func aGGUFFileIsReadByRanges() async throws {
        let stage = try Stage { root in
            let repository = try ModelRepository("org/gguf", in: root)
            for name in ["model-q4_0.gguf", "model-q8_0.gguf"] {
                try repository.write(name, Fixtures.bytes("tiny-shakespeare-gguf/\(name)"))
            }
        }
        // The larger of those that fit.
        let result = try await stage.run("info", "org/gguf", "--inspect")
        #expect(result.status == 0 && result.output.contains("  model       llama, 1.1M parameters, Q8_0\n"))
        #expect(result.output.contains("  file        model-q8_0.gguf\n"))
        let chosen = try await stage.run("info", "org/gguf:*q4_0*", "--inspect", "--json").document()
        let inspection = try #require(chosen["inspection"]?.object)
        #expect(inspection["quantization"]?.string == "Q4_0" && inspection["tokenizer"]?.string == "byte-level BPE")
        #expect(inspection["parameters"]?.int == 1_115_264 && inspection["chat_template"]?.bool == true)
    }

    @Test func ofSeveralGGUFFilesTheOneIsNamedThatTheFiguresAreOf() async throws {
        let stage = try Stage()
        let folder = try Fixtures.path("tiny-shakespeare-gguf")
        let page = try await stage.run("try", folder, "--inspect")
        #expect(page.output.contains("\n  file                model-q8_0.gguf\n"), "\(page.output)")
        #expect(!page.output.contains("obstacle"))
        let document = try await stage.run("try", folder, "--inspect", "--json").document()
        #expect(document["architecture"]?.string == "llama")
        let inspection = try #require(document["inspection"]?.object)
        #expect(inspection["file"]?.string == "model-q8_0.gguf" && inspection["architecture"]?.string == "llama")
        // A single one needs no name.
        let one = try await stage.run("try", folder + "/model-q4_0.gguf", "--inspect")
        #expect(one.status == 0 && !one.output.contains("  file "))
    }

    // MARK: Shards on the Hub

    private static func sharded(_ change: @escaping (ModelRepository) throws -> Void) throws -> Stage {
        try Stage { root in
            let repository = try ModelRepository("org/sharded", in: root)
            for name in [
                "config.json", "tokenizer.json", "model.safetensors.index.json", "model-00001-of-00002.safetensors",
                "model-00002-of-00002.safetensors",
            ] {
                try repository.write(name, Fixtures.bytes("tiny-shakespeare-sharded/\(name)"))
            }
            try change(repository)
        }
    }

    /// The figures were those of half a model, which "fits".
    @Test func aShardThatIsMissingOnTheHubIsExit7() async throws {
        let whole = try await Self.sharded { _ in }.run("info", "org/sharded", "--inspect")
        #expect(whole.status == 0 && whole.output.contains("1.1M parameters"), "\(whole.error)")
        let name = "model-00002-of-00002.safetensors"
        let stage = try Self.sharded { try FileSystem.remove(Path.join($0.path, name)) }
        let result = try await stage.run("info", "org/sharded", "--inspect")
        #expect(result.status == 7 && result.output.isEmpty)
        #expect(
            result.error.hasPrefix("hub: org/sharded: it does not have \(name), one of 2 shards\n"),
            "\(result.error)")
        #expect(stage.hub.requests.allSatisfy { !$0.line.contains("index.json") })
    }

    @Test func anIndexThatDisagreesWithItsShardsOnTheHubIsExit7() async throws {
        let stage = try Self.sharded { repository in
            let name = "model.safetensors.index.json"
            var index = try #require(JSON.parse(Fixtures.bytes("tiny-shakespeare-sharded/\(name)")).object)
            var map = try #require(index["weight_map"]?.object)
            map["nowhere.weight"] = "model-00001-of-00002.safetensors"
            index["weight_map"] = .object(map)
            try repository.write(name, JSON.object(index).text())
        }
        let remote = try await stage.run("info", "org/sharded", "--inspect")
        let local = try await stage.run("try", stage.root("org/sharded"), "--inspect")
        for result in [remote, local] {
            #expect(result.status == 7, "\(result.output)")
            #expect(result.error.contains("the index has tensor \"nowhere.weight\" in model-00001-of-00002"))
        }
    }

    @Test func aBrokenHeaderIsExit7() async throws {
        let stage = try Stage { root in
            let repository = try ModelRepository("org/broken", in: root)
            try repository.write("config.json", #"{"model_type":"llama"}"#)
            try repository.write(
                "model.safetensors", [0, 0, 0, 0, 0, 0, 0, 0x80] + [UInt8](repeating: 0x7B, count: 100))
        }
        let result = try await stage.run("info", "org/broken", "--inspect")
        #expect(
            result.status == 7
                && result.error.contains(
                    "org/broken/model.safetensors: the header claims 9223372036854775808 bytes")
        )
    }

    // MARK: Models that say little of themselves

    /// A model on the Hub of a config.json and one small tensor.
    private static func small(_ config: String) -> (TemporaryFolder) throws -> Void {
        { root in
            let repository = try ModelRepository("org/small", in: root)
            try repository.write("config.json", config)
            try repository.write("model.safetensors", SafetensorsBytes.file([("x.weight", "BF16", [4, 4])]))
        }
    }

    /// Many repositories of GGUF files have one that says no more.
    @Test func aStubOfAConfigurationBesideAGGUFFileHidesNothing() async throws {
        let stage = try Stage { root in
            let repository = try ModelRepository("org/stub", in: root)
            try repository.write("config.json", #"{"model_type":"llama"}"#)
            try repository.write("model.gguf", Fixtures.bytes("tiny-shakespeare-gguf/model-q8_0.gguf"))
        }
        let shape = "4 layers, 4 heads, 2 KV heads, vocabulary 1,024, context 512"
        let remote = try await stage.run("info", "org/stub", "--inspect")
        #expect(remote.status == 0 && remote.output.contains(shape), "\(remote.output)")
        #expect(!remote.output.contains("obstacle"))
        let local = try await stage.run("try", stage.root("org/stub"), "--inspect")
        #expect(local.status == 0 && local.output.contains(shape), "\(local.output)")
        #expect(!local.output.contains("obstacle"))
    }

    @Test func aConfigurationWithoutAModelTypeIsAnObstacleAndHidesNothing() async throws {
        let stage = try Stage(Self.small(#"{"num_features":2048}"#))
        let result = try await stage.run("info", "org/small", "--inspect")
        #expect(result.status == 0 && result.output.contains("cannot be run yet: no model_type in config.json"))
        #expect(result.output.contains("  KV cache    unknown\n"))
        #expect(
            result.output.contains(" for the weights alone; the KV cache is unknown")
                && !result.output.contains("positions"))
        let document = try await stage.run("info", "org/small", "--inspect", "--json").document()
        let inspection = try #require(document["inspection"]?.object)
        for key in ["model_type", "kv_bytes_per_token", "memory_bytes", "memory_context", "fits"] {
            #expect(inspection[key] == nil, "\(key)")
        }
        #expect(try await stage.run("try", stage.root("org/small"), "--inspect").status == 0)
    }

    @Test func aValueOfTheWrongKindIsAnObstacleAndHidesNothing() async throws {
        let config =
            #"{"model_type":"llama","hidden_size":64,"num_attention_heads":4,"num_hidden_layers":2,"eos_token_id":-2,"rms_norm_eps":"x"}"#
        let stage = try Stage(Self.small(config))
        let remote = try await stage.run("info", "org/small", "--inspect")
        let local = try await stage.run("try", stage.root("org/small"), "--inspect")
        for result in [remote, local] {
            #expect(result.status == 0 && result.output.contains("2 layers, 4 heads"), "\(result.error)")
            #expect(result.output.contains("config.json: eos_token_id is not a token id or a list of them"))
            #expect(result.output.contains("config.json: rms_norm_eps is not a number"))
        }
        let run = try await stage.run("try", stage.root("org/small"), "--json")
        #expect(run.status == 7 && run.error.contains("rms_norm_eps is not a number"))
        #expect(try run.errorCode() == "malformed_model")
    }

    @Test func aModelWithoutATokenizerIsShownAllTheSame() async throws {
        let stage = try Stage()
        let folder = try TemporaryFolder("mute")
        for name in ["config.json", "model.safetensors"] {
            try folder.write(name, Fixtures.bytes("tiny-shakespeare/\(name)"))
        }
        let page = try await stage.run("try", folder.path, "--inspect")
        #expect(page.status == 0 && page.output.contains("LlamaForCausalLM, 1.1M parameters, BF16"))
        #expect(page.output.contains("cannot be run yet: no tokenizer.json or tokenizer.model"))
        let run = try await stage.run("try", folder.path, "--json")
        #expect(run.status == 7 && run.error.contains("cannot be run yet: no tokenizer.json or tokenizer.model\n"))
        #expect(try run.errorCode() == "unsupported_model")
        try folder.write("tokenizer.json", "{}")
        let broken = try await stage.run("try", folder.path, "--inspect")
        #expect(broken.status == 0 && broken.output.contains("tokenizer.json"), "\(broken.error)")
    }

    @Test func whatKeepsNothingOfATextIsNotToldPositions() async throws {
        let config =
            #"{"model_type":"bert","hidden_size":8,"num_attention_heads":2,"num_hidden_layers":1,"intermediate_size":16,"vocab_size":30,"max_position_embeddings":16,"type_vocab_size":2}"#
        let stage = try Stage(Self.small(config))
        let result = try await stage.run("info", "org/small", "--inspect")
        #expect(result.status == 0 && result.output.contains(" to run: fits in the "))
        #expect(!result.output.contains("-token context") && !result.output.contains("  KV cache "))
        let document = try await stage.run("info", "org/small", "--inspect", "--json").document()
        let inspection = try #require(document["inspection"]?.object)
        #expect(inspection["kv_bytes_per_token"]?.int == 0 && inspection["memory_context"] == nil)
        #expect(inspection["fits"]?.bool == true)
    }

    // MARK: hub try --check

    @Test func aPulledModelIsCheckedAndTheResultKept() async throws {
        let stage = try Stage.withModel()
        #expect(try await stage.run("pull", "org/tiny").status == 0)
        let first = try await stage.run("try", "org/tiny", "--check=full", "--json")
        #expect(first.status == 0)
        let document = try first.document()
        // What was found in a blob is kept once that is a tenth of a second old.
        while try await stage.run("try", "org/tiny", "--check=full").output.contains("checked earlier") == false {}
        document.expectKeys(
            "id path verdict architecture parameters dtype weights_bytes memory_bytes checks findings")
        #expect(document["verdict"]?.string == "pass")
        let values = { (document: JSONObject) in
            document.objects("checks").first { $0["name"]?.string == "values" }?["detail"]?.string
        }
        #expect(values(document) == "all values are finite")
        let second = try await stage.run("try", "org/tiny", "--check", "--json").document()
        #expect(values(second) == "samples of every tensor are finite (1 of 1 file checked earlier)")
        #expect(try await stage.run("try", "org/tiny", "--check", "-q").output == "pass\n")
    }

    @Test func aFailedCheckIsExit7AndNamesFileAndTensor() async throws {
        let stage = try Stage()
        let folder = try TemporaryFolder("broken")
        for name in ["config.json", "tokenizer.json", "tokenizer_config.json"] {
            try folder.write(name, Fixtures.bytes("tiny-shakespeare/\(name)"))
        }
        var weights = try Fixtures.bytes("tiny-shakespeare/model.safetensors")
        // The last number of the file is NaN.
        weights[weights.count - 2] = 0xC0
        weights[weights.count - 1] = 0x7F
        try folder.write("model.safetensors", weights)
        let result = try await stage.run("try", folder.path, "--check=full")
        #expect(result.status == 7 && result.lines[0] == "fails its check: values")
        #expect(
            result.output.contains("fail  tensor \"model.norm.weight\" has NaN at element") && result.error.isEmpty)
        let document = try await stage.run("try", folder.path, "--check=full", "--json")
        #expect(try document.errorCode() == "malformed_model")
        let finding = try #require(try document.document().objects("findings").first)
        finding.expectKeys("check status file tensor expected found detail")
        #expect(finding["file"]?.string == "model.safetensors" && finding["tensor"]?.string == "model.norm.weight")
        #expect(finding["expected"]?.string == "finite numbers" && finding["found"]?.string == "nan")
        let wrong = try await stage.run("try", folder.path, "--check=half")
        #expect(wrong.status == 2 && wrong.error.contains("--check[=full]"))
    }

    /// What is wrong everywhere is said five times, in JSON each time; the path stands above it all.
    @Test func aModelOfZerosIsOnePage() async throws {
        let stage = try Stage()
        let folder = try TemporaryFolder("zeros")
        try folder.write("config.json", Fixtures.bytes("tiny-shakespeare/config.json"))
        var weights = try Fixtures.bytes("tiny-shakespeare/model.safetensors")
        let start = 8 + Int(weights[0]) + Int(weights[1]) << 8
        for at in start..<weights.count { weights[at] = 0 }
        try folder.write("model.safetensors", weights)
        try folder.write("generation_config.json", Array("[".utf8))
        let page = try await stage.run("try", folder.path, "--check")
        let zeros = page.lines.filter { $0.contains("are 0.0") }
        #expect(zeros.count == 6 && Set(zeros).count == 6 && zeros[0].hasSuffix(" (and 28 more)"))
        #expect(page.lines.contains { $0.hasSuffix("  and 23 more, all of them with --json") })
        let findings = try await stage.run("try", folder.path, "--check", "--json").document().objects("findings")
        #expect(findings.count { $0["check"]?.string == "values" } == 29)
        #expect(page.output.split(separator: folder.path).count == 2)
        #expect(findings.allSatisfy { $0["detail"]?.string?.contains(folder.path) == false })
    }

    /// A modified blob counted as already checked.
    @Test func aBlobThatChangedAfterItsCheckIsLookedAtAgain() async throws {
        let stage = try Stage.withModel()
        #expect(try await stage.run("pull", "org/tiny").status == 0)
        while try await stage.run("try", "org/tiny", "--check").output.contains("checked earlier") == false {}
        let snapshot = try await stage.run("path", "org/tiny", "-q").lines[0]
        let blob = try #require(FileSystem.resolved(snapshot + "/model.safetensors"))
        let status = try #require(try FileSystem.status(blob))
        let file = try FileDescriptor(blob, [.write])
        let nan: [UInt8] = [0xC0, 0x7F]
        try nan.withUnsafeBytes { try file.write($0, at: status.size - 2) }
        try FileSystem.setTimes(blob, accessed: status.accessed, modified: status.modified)
        let again = try await stage.run("try", "org/tiny", "--check")
        #expect(again.status == 7 && again.output.contains("has NaN at element"), "\(again.output)")
    }

    @Test(arguments: [50, 80])
    func noLineOfTextIsWiderThanTheTerminal(columns: Int) async throws {
        let stage = try Stage()
        let folder = try TemporaryFolder("w")
        for name in ["config.json", "tokenizer.json"] {
            try folder.write(name, Fixtures.bytes("tiny-shakespeare/\(name)"))
        }
        try folder.write(
            "model.safetensors", Array(try Fixtures.bytes("tiny-shakespeare/model.safetensors").dropLast()))
        let process = try stage.start(
            "try", folder.path, "--check", "--color", "never", terminal: .init(columns: UInt16(columns), rows: 50))
        let result = try await process.wait()
        #expect(result.status == 7)
        let page = result.terminal.split(whereSeparator: \.isNewline).map(String.init)
        let lines = page.dropFirst().prefix { !$0.hasPrefix("hub: ") }
        #expect(lines.count > 10 && lines.allSatisfy { $0.count <= columns }, "\(page)")
        #expect(lines.contains { $0.hasPrefix(String(repeating: " ", count: 28)) && $0.count > 28 })
        // Complete in output for programs.
        let piped = try await stage.run("try", folder.path, "--check")
        #expect(piped.lines.contains { $0.hasSuffix("the file is truncated or damaged") })
    }
}
