import HubCore
import HubTokenizers
import InferenceKit
import Libc
import ModelFormats
import Support
import Synchronization
import Testing

@Suite struct ModelCheckTests {
    private static let full = ModelCheck.Options(isFull: true)

    @Test(arguments: [
        "tiny-shakespeare", "tiny-shakespeare-sharded", "tiny-shakespeare-mlx-4bit", "micro/llama",
        "tiny-shakespeare-gguf/model-f16.gguf", "tiny-shakespeare-gguf/model-q8_0.gguf",
        "tiny-shakespeare-gguf/model-q4_0.gguf",
        "micro/packed-fp8", "micro/packed-awq", "micro/packed-gptq", "micro/packed-gptq-order",
        "micro/packed-gptq-v2", "micro/packed-gptq-8bit", "micro/packed-gptq-3bit", "micro/packed-nvfp4",
        "micro/packed-nvfp4-compressed", "micro/packed-nvfp4-experts", "micro/packed-int4",
        "micro/packed-int4-channel", "micro/packed-int4-order", "micro/packed-int8", "micro/packed-nf4",
        "micro/packed-nf4-nested", "micro/packed-llm-int8", "micro/packed-hqq", "micro/packed-hqq-3bit",
        "micro/packed-hqq-axis0", "micro-llama-quant-gguf/model-iq2_xxs.gguf",
        "micro-llama-quant-gguf/model-nvfp4.gguf",
    ])
    func whatIsSoundPasses(name: String) async throws {
        let check = try await ModelCheck.run(Fixtures.path(name), options: Self.full)
        #expect(check.verdict == .pass, "\(check.findings)")
        #expect(check.findings.isEmpty)
        if name.hasPrefix("tiny") {
            #expect(check.checks.contains { $0.name == "tensors" && $0.detail.hasPrefix("38 needed") })
        }
    }

    /// Loaders read past it, and it is not the file that was written.
    @Test func bytesAfterTheLastTensorAreFound() async throws {
        let folder = try TemporaryFolder()
        for name in ["model-f16.gguf", "model-q4_0.gguf"] {
            let bytes = try #require(try FileSystem.contents(Fixtures.path("tiny-shakespeare-gguf/\(name)")))
            try folder.write(name, bytes + [0, 0])
            let check = try await ModelCheck.run(folder(name))
            #expect(check.verdict == .warn && check.findings.count == 1, "\(check.findings)")
            let found = try #require(check.findings.first)
            #expect(found.check == "headers" && found.file == name)
            #expect(found.expected == "\(bytes.count)" && found.found == "\(bytes.count + 2)")
            #expect(found.detail == "\(name) has 2 bytes after its last tensor")
        }
        // In a folder each file is held against its own header.
        #expect(
            try await ModelCheck.run(folder.path).findings.count { $0.detail.hasSuffix("after its last tensor") }
                == 2)
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
        #expect(found.status == .fail && found.tensor == "model.layers.4.self_attn.q_proj.weight")
        #expect(found.expected == "[128, 128]" && found.found == "nothing" && found.file == "model.safetensors")
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
            try await ModelCheck.run(folder("model.gguf"), options: Self.full).findings.first)
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

    /// Transformers would give it the id behind the last one, which the embedding has not.
    @Test(
        arguments: [("eos_token", .fail), ("bos_token", .fail), ("pad_token", .warn)]
            as [(String, CheckResult.Status)])
    func aSpecialTokenThatIsNoneIsFound(key: String, status: CheckResult.Status) async throws {
        let found = try await finding {
            try config([key: "<|nowhere|>"], $0, file: "tokenizer_config.json")
        }
        #expect(found.status == status && found.found == "<|nowhere|>" && found.file == "tokenizer_config.json")
    }

    /// A template that breaks would be met by the first person who talks to the model.
    @Test(
        arguments: [
            ("{{ messages[0].content", CheckResult.Status.fail, "line 1"),
            ("{% for m in messages %}{{ m.content + 1 }}{% endfor %}", .fail, "can only concatenate"),
            ("{{ raise_exception('only pictures') }}", .warn, "refuses the conversation: only pictures"),
            ("{{ bos_token }}", .warn, "leaves out the user's message"),
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
                check.checks.contains {
                    $0.name == "tokenizer" && $0.detail.hasPrefix("byte-level BPE, 1024 tokens")
                },
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
            try FileSystem.createSymlink(Fixtures.path("formats/state.bin"), at: folder("pytorch_model.bin"))
        }
        #expect(plain.status == .pass && plain.detail.contains("the safetensors beside it"))
    }

    @Test func picklesInFoldersAreLookedAtAndWhatCannotBeReadToItsEndFails() async throws {
        let inner = try await finding { folder in
            try FileSystem.createDirectories(folder("2_Dense/inner"))
            try FileSystem.createSymlink("..", at: folder("2_Dense/circle"))
            try folder.write("2_Dense/inner/pytorch_model.bin", Array("N0cposix\nsystem\n)R.".utf8))
        }
        #expect(inner.check == "pickles" && inner.status == .fail && inner.found == "posix.system")
        #expect(inner.file == "2_Dense/inner/pytorch_model.bin")
        let cut = try await finding { try $0.write("training_args.bin", [0x80, 2, 0x58, 255, 255, 0, 0, 0x61]) }
        #expect(cut.status == .fail && cut.file == "training_args.bin")
        #expect(
            cut.detail
                == "training_args.bin: its pickle ends in the middle; it may not be harmless")
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
        case "pipe": #expect(mkfifo(folder(name), 0o600) == 0)
        case "folder": try FileSystem.createDirectories(folder(name))
        case "circle": try FileSystem.createSymlink(name, at: folder(name))
        default: try FileSystem.createSymlink("/nowhere/at/all", at: folder(name))
        }
        let check = try await ModelCheck.run(folder.path, options: Self.full)
        #expect(check.verdict == .fail && check.findings.first?.file == name, "\(check.findings)")
        guard kind == "pipe" else { return }
        let alone = try await ModelCheck.run(folder(name), options: Self.full)
        #expect(alone.findings.first?.detail == "\(name): not a file")
    }

    @Test func anIndexThatLiesIsFound() async throws {
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
        #expect(gap.status == .fail && gap.tensor == "model.norm.weight" && gap.expected == shard)
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

    /// A cache with one model whose final norm has an infinity, and a memory that holds whatever is kept.
    private struct Remembering {
        let root: TemporaryFolder
        let snapshot: String
        let blob: String
        let kept = Kept()
        var options = ModelCheckTests.full

        final class Kept: Sendable {
            struct Result: Sendable {
                var isWhole: Bool
                var findings: JSON
            }
            let results = Lock<[CheckedBlob: Result]>([:])
        }

        init(_ bytes: [UInt8]) throws {
            root = try TemporaryFolder()
            let folder = root("models--org--x")
            (snapshot, blob) = (folder + "/snapshots/1", "\(folder)/blobs/\(String(repeating: "ab", count: 32))")
            for folder in [Path.parent(blob), snapshot] { try FileSystem.createDirectories(folder) }
            try FileSystem.replace(blob, with: bytes)
            try FileSystem.createSymlink(blob, at: snapshot + "/model.safetensors")
            try FileSystem.createSymlink(
                Fixtures.path("tiny-shakespeare/config.json"), at: snapshot + "/config.json")
            let kept = kept
            options.memory = CheckMemory(
                cache: root.path,
                recall: { blob, _, isWhole in
                    guard let known = kept.results.withLock({ $0[blob] }), known.isWhole || !isWhole else {
                        return nil
                    }
                    return known.findings
                },
                keep: { blob, _, isWhole, found in
                    kept.results.withLock { $0[blob] = Kept.Result(isWhole: isWhole, findings: found) }
                })
        }

        /// Checks until the blob is old enough for what was found in it to be kept.
        func checkUntilKept() async throws -> ModelCheck {
            while true {
                let check = try await ModelCheck.run(snapshot, options: options)
                if kept.results.withLock({ !$0.isEmpty }) { return check }
            }
        }
    }

    @Test func resultsOfABlobAreKeptAndFoundAgain() async throws {
        let cache = try Remembering(try weights("model.norm.weight") { $0[$0.startIndex + 1] = 0x7F })
        let first = try await cache.checkUntilKept()
        #expect(cache.kept.results.withLock { $0.keys.map(\.sha256) } == [Path.name(cache.blob)])
        #expect(first.verdict == .fail)
        let second = try await ModelCheck.run(cache.snapshot, options: cache.options)
        #expect(second.findings == first.findings && second.verdict == .fail)
        // A sampled result is not valid for a full check.
        cache.kept.results.withLock { results in
            for key in results.keys { results[key] = .init(isWhole: false, findings: .array([])) }
        }
        #expect(try await ModelCheck.run(cache.snapshot, options: cache.options).findings == first.findings)
    }

    /// It passed as looked at before.
    @Test func aBlobThatChangedIsLookedAtAgain() async throws {
        let cache = try Remembering(try weights("model.norm.weight") { _ in })
        #expect(try await cache.checkUntilKept().verdict != .fail)
        let status = try #require(try FileSystem.status(cache.blob))
        // In place, as long as before, and its time set back.
        let bytes = try weights("model.norm.weight") { $0[$0.startIndex + 1] = 0x7F }
        let file = try FileDescriptor(cache.blob, [.write])
        let result = bytes.withUnsafeBytes { buffer in
            Result { () throws(AIError) in try file.write(buffer, at: 0) }
        }
        try result.get()
        try FileSystem.setTimes(cache.blob, accessed: status.accessed, modified: status.modified)
        #expect(try #require(try FileSystem.status(cache.blob)).inode == status.inode)
        #expect(try await ModelCheck.run(cache.snapshot, options: cache.options).verdict == .fail)
    }

    /// Anybody may call a file of his own by a digest.
    @Test func whatLiesOutsideTheCacheIsNeitherKeptNorFound() async throws {
        var cache = try Remembering(try weights("model.norm.weight") { _ in })
        let asked = Atomic(0)
        let other = try TemporaryFolder()
        cache.options.memory = CheckMemory(
            cache: other.path,
            recall: { _, _, _ in
                asked.add(1, ordering: .relaxed)
                return JSON.array([])
            }, keep: { _, _, _, _ in asked.add(1, ordering: .relaxed) })
        let check = try await ModelCheck.run(cache.snapshot, options: cache.options)
        #expect(check.checks.contains { $0.name == "values" && $0.detail == "all values are finite" })
        #expect(asked.load(ordering: .relaxed) == 0)
    }
}
