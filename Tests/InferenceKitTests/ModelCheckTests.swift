import HubCore
import InferenceKit
import ModelFormats
import Support
import Synchronization
import Testing

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

@Suite struct ModelCheckTests {
    private static let full = ModelCheck.Options(isFull: true)

    @Test(arguments: [
        "tiny-shakespeare", "tiny-shakespeare-sharded", "tiny-shakespeare-mlx-4bit", "micro/llama",
        "tiny-shakespeare-gguf/model-f16.gguf", "tiny-shakespeare-gguf/model-q8_0.gguf",
        "tiny-shakespeare-gguf/model-q4_0.gguf", "formats/state.bin",
    ])
    func whatIsSoundPasses(name: String) async throws {
        let check = try await ModelCheck.run(Fixtures.path(name), options: Self.full)
        #expect(check.verdict == .pass, "\(check.findings)")
        #expect(check.findings.isEmpty)
        if name.hasPrefix("tiny") {
            #expect(check.checks.contains { $0.name == "tensors" && $0.detail.hasPrefix("38 needed") })
        }
    }

    /// The finding of a folder that is tiny-shakespeare but for what `change` does to it.
    private func finding(
        _ fixture: String = "tiny-shakespeare", except: Set<String> = [],
        _ change: (TemporaryFolder) throws -> Void
    ) async throws -> CheckFinding {
        let folder = try TemporaryFolder(linking: fixture, except: except)
        try change(folder)
        let check = try await ModelCheck.run(folder.path, options: Self.full)
        return try #require(check.findings.first)
    }

    private func config(_ changes: [String: JSON], _ folder: TemporaryFolder, file: String = "config.json") throws {
        var config = try #require(Fixtures.json("tiny-shakespeare/\(file)").object)
        for (key, value) in changes { config[key] = value }
        try folder.write(file, .object(config))
    }

    @Test func aTensorThatIsMissingIsNamedWithItsShape() async throws {
        let found = try await finding { try config(["num_hidden_layers": 5], $0) }
        #expect(found.status == .fail && found.tensor == "model.layers.4.input_layernorm.weight")
        #expect(found.expected == "[128]" && found.found == "nothing" && found.file == "model.safetensors")
    }

    @Test func aWrongShapeIsNamed() async throws {
        let found = try await finding { try config(["vocab_size": 1000, "intermediate_size": 512], $0) }
        #expect(found.status == .fail && found.tensor == "model.embed_tokens.weight")
        #expect(found.expected == "[1000, 128]" && found.found == "[1024, 128]")
        let packed = try await finding("tiny-shakespeare-mlx-4bit") { folder in
            var config = try #require(Fixtures.json("tiny-shakespeare-mlx-4bit/config.json").object)
            config["intermediate_size"] = 256
            try folder.write("config.json", .object(config))
        }
        #expect(packed.expected == "[256, 128]" && packed.found == "[512, 128]")
    }

    @Test func whatIsNotUsedIsSaidAndNotFailed() async throws {
        let folder = try TemporaryFolder(linking: "tiny-shakespeare")
        try config(["num_hidden_layers": 3], folder)
        let check = try await ModelCheck.run(folder.path)
        #expect(check.verdict == .pass && check.findings.count == 9)
        #expect(check.findings.allSatisfy { $0.status == .pass && $0.tensor?.contains("layers.3.") == true })
    }

    /// tiny-shakespeare's weights with some bytes of a tensor replaced.
    private func weights(_ tensor: String, _ change: (inout ArraySlice<UInt8>) -> Void) throws -> [UInt8] {
        var bytes = try #require(try FileSystem.contents(Fixtures.path("tiny-shakespeare/model.safetensors")))
        let header = try SafetensorsHeader(file: Fixtures.path("tiny-shakespeare/model.safetensors"))
        let range = try #require(header.tensors.first { $0.name == tensor }).byteRange
        change(&bytes[range])
        return bytes
    }

    @Test(
        arguments: [([0x80, 0x7F], "inf"), ([0xC0, 0x7F], "nan"), ([0x80, 0xFF], "-inf")] as [([UInt8], String)])
    func aNumberThatIsNoneIsFound(number: [UInt8], shown: String) async throws {
        let name = "model.layers.1.mlp.down_proj.weight"
        let bytes = try weights(name) { slice in
            slice[slice.startIndex + 14] = number[0]
            slice[slice.startIndex + 15] = number[1]
        }
        let found = try await finding { try $0.write("model.safetensors", bytes) }
        #expect(found.check == "values" && found.status == .fail && found.tensor == name && found.found == shown)
        #expect(found.detail.hasSuffix("at element 7"))
    }

    @Test func blocksWithAScaleThatIsNoneAreFound() async throws {
        let folder = try TemporaryFolder()
        var bytes = try #require(try FileSystem.contents(Fixtures.path("tiny-shakespeare-gguf/model-q4_0.gguf")))
        let header = try GGUFFile(Fixtures.path("tiny-shakespeare-gguf/model-q4_0.gguf")).header
        let tensor = try #require(header.tensors.first { $0.type.name == "Q4_0" })
        bytes[tensor.byteRange.lowerBound + 18 * 3 + 1] = 0x7E
        try folder.write("model.gguf", bytes)
        let found = try #require(
            try await ModelCheck.run(folder.file("model.gguf"), options: Self.full).findings.first)
        #expect(found.tensor == tensor.name && found.detail.hasSuffix("at element 96"))
    }

    @Test func aTensorOfOneValueIsWarnedOf() async throws {
        let name = "model.layers.0.self_attn.q_proj.weight"
        let bytes = try weights(name) { slice in for index in slice.indices { slice[index] = 0 } }
        let found = try await finding { try $0.write("model.safetensors", bytes) }
        #expect(found.status == .warn && found.tensor == name && found.found == "0.0")
    }

    /// Gemma 3 of 1B and finetunes of Llama 2 have one that no text has.
    @Test func anAddedTokenBeyondTheEmbeddingIsWarnedOf() async throws {
        let found = try await finding { folder in
            var json = try #require(Fixtures.json("tiny-shakespeare/tokenizer.json").object)
            var added = json["added_tokens"]?.array ?? []
            added.append(
                .object([
                    "id": 1024, "content": "<new>", "special": true, "single_word": false, "lstrip": false,
                    "rstrip": false, "normalized": false,
                ]))
            json["added_tokens"] = .array(added)
            try folder.write("tokenizer.json", .object(json))
        }
        #expect(found.check == "tokenizer" && found.status == .warn && found.found == "1024")
    }

    @Test func tokensOfTheVocabularyBeyondTheEmbeddingFail() async throws {
        let folder = try TemporaryFolder(linking: "tiny-shakespeare")
        try config(["vocab_size": 1000], folder)
        let check = try await ModelCheck.run(folder.path)
        let found = try #require(check.findings.first { $0.check == "tokenizer" })
        #expect(found.status == .fail && found.found == "1023" && found.expected == "ids below 1000")
    }

    @Test func aSpecialTokenThatIsNoneIsWarnedOf() async throws {
        let found = try await finding {
            try config(["eos_token": "<|nowhere|>"], $0, file: "tokenizer_config.json")
        }
        #expect(found.status == .warn && found.found == "<|nowhere|>" && found.file == "tokenizer_config.json")
    }

    /// A template that breaks would be met by the first person who talks to the model.
    @Test(
        arguments: [
            ("{{ messages[0].content", CheckResult.Status.fail, "line 1"),
            ("{% for m in messages %}{{ m.content + 1 }}{% endfor %}", .fail, "can only concatenate"),
            ("{{ raise_exception('only pictures') }}", .warn, "refuses the conversation: only pictures"),
            ("{{ bos_token }}", .warn, "leaves out what the person says"),
            ("{% include 'x' %}", .warn, "cannot use 'include'"),
        ] as [(String, CheckResult.Status, String)])
    func aTemplateThatDoesNotRenderIsFound(source: String, status: CheckResult.Status, detail: String) async throws
    {
        let found = try await finding {
            try config(["chat_template": .string(source)], $0, file: "tokenizer_config.json")
        }
        #expect(found.check == "template" && found.status == status && found.file == "tokenizer_config.json")
        #expect(found.detail.contains(detail), "\(found.detail)")
    }

    @Test func templatesThatTakePartsOnlyRender() async throws {
        let folder = try TemporaryFolder(linking: "tiny-shakespeare")
        try folder.write(
            "chat_template.jinja",
            Array("{% for m in messages %}{{ m.content[0].text }}{% endfor %}".utf8))
        let check = try await ModelCheck.run(folder.path)
        #expect(check.findings.isEmpty)
        #expect(check.checks.contains { $0.name == "template" && $0.status == .pass && $0.detail == "renders" })
    }

    @Test func theVocabularyInAGGUFFileIsReadAndItsTokensAreThoseOfTheModel() async throws {
        let reference = try Tokenizer(folder: Fixtures.path("tiny-shakespeare"))
        let text = "To be, or not to be: that is the question\n1234 naïve \u{1F600}"
        for name in ["tiny-shakespeare-gguf", "tiny-shakespeare-gguf/model-q8_0.gguf"] {
            let tokenizer = try Tokenizer(folder: Fixtures.path(name))
            let ids = try tokenizer.encode(text, addSpecialTokens: false)
            #expect(try ids == reference.encode(text, addSpecialTokens: false) && tokenizer.decode(ids) == text)
            let check = try await ModelCheck.run(Fixtures.path(name))
            #expect(
                check.checks.contains { $0.name == "tokenizer" && $0.detail == "byte-level BPE, 1024 tokens" },
                "\(check.checks)")
        }
    }

    @Test(
        arguments: [
            ("eos_token_id", 5000, CheckResult.Status.fail), ("temperature", -1, .warn), ("top_p", 2, .warn),
            ("repetition_penalty", 0, .warn), ("top_k", "many", .warn), ("do_sample", "x", .warn),
            ("num_beams", 0, .warn), ("bos_token_id", .double(1.5), .warn), ("pad_token_id", "a", .warn),
        ] as [(String, JSON, CheckResult.Status)])
    func whatGenerationCannotTakeIsFound(key: String, value: JSON, status: CheckResult.Status) async throws {
        let found = try await finding { try config([key: value], $0, file: "generation_config.json") }
        #expect(found.check == "generation config" && found.status == status && found.detail.contains(key))
        #expect(found.file == "generation_config.json")
    }

    @Test func aGenerationConfigThatIsNoObjectFails() async throws {
        let found = try await finding { try $0.write("generation_config.json", .array([1])) }
        #expect(found.status == .fail && found.detail == "generation_config.json: it is not an object")
    }

    @Test func codeOfItsOwnIsNamed() async throws {
        let found = try await finding {
            try config(["auto_map": .object(["AutoModel": "modeling_x.Net"])], $0)
        }
        #expect(found.check == "custom code" && found.status == .warn && found.found == "modeling_x.Net")
    }

    @Test func aPickleThatRunsSomethingFailsAndOneBesideSafetensorsIsPointedOut() async throws {
        let evil = try await finding { folder in
            try folder.write("pytorch_model.bin", [0x80, 2] + Array("cposix\nsystem\n(X\u{4}\0\0\0truetR.".utf8))
        }
        #expect(evil.check == "pickles" && evil.status == .fail && evil.found == "posix.system")
        #expect(evil.file == "pytorch_model.bin")
        let plain = try await finding { folder in
            try FileSystem.createSymlink(Fixtures.path("formats/state.bin"), at: folder.file("pytorch_model.bin"))
        }
        #expect(plain.status == .pass && plain.detail.contains("beside safetensors"))
    }

    @Test func picklesInFoldersAreLookedAtAndWhatCannotBeReadToItsEndFails() async throws {
        let inner = try await finding { folder in
            try FileSystem.createDirectories(folder.file("2_Dense/inner"))
            try FileSystem.createSymlink("..", at: folder.file("2_Dense/circle"))
            try folder.write("2_Dense/inner/pytorch_model.bin", Array("N0cposix\nsystem\n)R.".utf8))
        }
        #expect(inner.check == "pickles" && inner.status == .fail && inner.found == "posix.system")
        #expect(inner.file == "2_Dense/inner/pytorch_model.bin")
        let cut = try await finding { try $0.write("training_args.bin", [0x80, 2, 0x58, 255, 255, 0, 0, 0x61]) }
        #expect(cut.status == .fail && cut.file == "training_args.bin")
        #expect(
            cut.detail
                == "training_args.bin: its pickle ends in the middle, so that it cannot be said to be harmless")
        let other = try await finding { try $0.write("vocab.bin", Array("no pickle at all".utf8)) }
        #expect(other.status == .warn && other.detail == "vocab.bin: it is neither a ZIP archive nor a pickle")
    }

    /// What only has a file's name is a finding, and nothing waits for it.
    @Test(
        arguments: ["pytorch_model.bin", "model.gguf", "model.safetensors"],
        ["pipe", "folder", "circle", "nowhere"])
    func whatIsNoFileIsFound(name: String, kind: String) async throws {
        let folder = try TemporaryFolder()
        switch kind {
        case "pipe": #expect(mkfifo(folder.file(name), 0o600) == 0)
        case "folder": try FileSystem.createDirectories(folder.file(name))
        case "circle": try FileSystem.createSymlink(name, at: folder.file(name))
        default: try FileSystem.createSymlink("/nowhere/at/all", at: folder.file(name))
        }
        let check = try await ModelCheck.run(folder.path, options: Self.full)
        #expect(check.verdict == .fail && check.findings.first?.file == name, "\(check.findings)")
        guard kind == "pipe" else { return }
        let alone = try await ModelCheck.run(folder.file(name), options: Self.full)
        #expect(alone.findings.first?.detail == "\(name): it is no file")
    }

    @Test func anIndexThatLiesIsWarnedOf() async throws {
        let name = SafetensorsFolder.indexName
        var index = try #require(Fixtures.json("tiny-shakespeare-sharded/\(name)").object)
        index["metadata"] = .object(["total_size": 17])
        let size = try await finding("tiny-shakespeare-sharded") { try $0.write(name, .object(index)) }
        #expect(size.check == "headers" && size.status == .warn && size.file == name)
        #expect(size.found == "17" && size.expected == "2230528")
        index["metadata"] = nil
        var map = try #require(index["weight_map"]?.object)
        let shard = try #require(map["model.norm.weight"]?.string)
        map["model.norm.weight"] = nil
        index["weight_map"] = .object(map)
        let gap = try await finding("tiny-shakespeare-sharded") { try $0.write(name, .object(index)) }
        #expect(gap.status == .warn && gap.tensor == "model.norm.weight" && gap.expected == shard)
        #expect(gap.detail == "\(name) does not list tensor \"model.norm.weight\", which \(shard) holds")
    }

    @Test func aBrokenHeaderAndAShardThatIsMissingAreFindings() async throws {
        let bytes = try #require(try FileSystem.contents(Fixtures.path("tiny-shakespeare/model.safetensors")))
        let cut = try await finding { try $0.write("model.safetensors", Array(bytes.dropLast())) }
        #expect(cut.check == "headers" && cut.status == .fail && cut.file == "model.safetensors")
        let shard = try await finding(
            "tiny-shakespeare-sharded", except: ["model-00002-of-00002.safetensors"]
        ) { _ in }
        #expect(shard.check == "headers" && shard.file == "model-00002-of-00002.safetensors")
    }

    @Test func resultsAreKeptByDigestAndFoundAgain() async throws {
        let root = try TemporaryFolder()
        let digest = String(repeating: "ab", count: 32)
        for folder in ["blobs", "snapshots"] { try FileSystem.createDirectories(root.file(folder)) }
        let name = "model.norm.weight"
        let bytes = try weights(name) { $0[$0.startIndex + 1] = 0x7F }
        try root.write("blobs/\(digest)", bytes)
        try FileSystem.createSymlink("../blobs/\(digest)", at: root.file("snapshots/model.safetensors"))
        try FileSystem.createSymlink(
            Fixtures.path("tiny-shakespeare/config.json"), at: root.file("snapshots/config.json"))
        let kept = Mutex<[String: (isWhole: Bool, findings: JSON)]>([:])
        var options = Self.full
        options.memory = CheckMemory(
            recall: { digest, _, isWhole in
                kept.withLock { $0[digest].flatMap { $0.isWhole || !isWhole ? $0.findings : nil } }
            }, keep: { digest, _, isWhole, findings in kept.withLock { $0[digest] = (isWhole, findings) } })
        let first = try await ModelCheck.run(root.file("snapshots"), options: options)
        #expect(kept.withLock { $0.keys.sorted() } == [digest])
        // The bytes are whole now; what was kept of the digest stands.
        try root.write("blobs/\(digest)", try weights(name) { _ in })
        let second = try await ModelCheck.run(root.file("snapshots"), options: options)
        #expect(second.findings == first.findings && second.verdict == .fail)
        kept.withLock { $0[digest]?.isWhole = false }
        #expect(try await ModelCheck.run(root.file("snapshots"), options: options).verdict != .fail)
    }
}
