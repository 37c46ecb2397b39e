import HubCore
import Support
import Testing

@testable import InferenceKit

@Suite struct ProviderTests {
    @Test func aFolderIsAProvider() async throws {
        let provider = LocalModel(
            folder: try Fixtures.path("tiny-shakespeare"), options: ModelOptions(context: 64))
        #expect(await provider.isAvailable && provider.isOnDevice)
        #expect(provider.displayName == "tiny-shakespeare")
        #expect(await provider.maxContextLength == 64)
        #expect(await provider.canHandle(contextSize: 64))
        #expect(await !provider.canHandle(contextSize: 65))
        async let first = provider.generate(prompt: "ROMEO:", config: .precise.maxTokens(5))
        async let second = provider.generate(prompt: "ROMEO:", config: .precise.maxTokens(5))
        #expect(try await first.ids == second.ids)
        await provider.cleanup()
        #expect(try await provider.stream(prompt: "ROMEO:", config: .precise.maxTokens(5)).collect() == first.text)
    }

    @Test func aFailureIsToldAndTriedAgain() async throws {
        let folder = try TemporaryFolder(linking: "tiny-shakespeare", except: ["tokenizer.json"])
        let provider = LocalModel(folder: folder.path)
        #expect(await !provider.isAvailable)
        #expect(try await thrown { try await provider.prepare() }.exitStatus == 7)
        try FileSystem.createSymlink(
            Fixtures.path("tiny-shakespeare/tokenizer.json"), at: folder("tokenizer.json"))
        try await provider.prepare()
        #expect(await provider.isAvailable)
    }
}

@Suite struct SmokeTestTests {
    @Test func aSoundModelPasses() async throws {
        let test = try await SmokeTest.run(folder: Fixtures.path("tiny-shakespeare"))
        #expect(test.verdict == .pass && test.failure == nil)
        #expect(test.checks.allSatisfy { $0.status == .pass })
        #expect(
            test.checks.map(\.name) == [
                "headers", "supported", "memory and tensors", "tokenizer", "chat template", "forward pass",
                "generation", "repeatable", "batched",
            ])
        #expect(test.generation?.ids.count == 24)
        let speed = try #require(test.speed)
        let weights = try #require(speed.weightsBytesPerSecond)
        #expect(speed.tokensPerSecond > 0 && weights > speed.tokensPerSecond && speed.memoryBytesPerSecond > 0)
        #expect(speed.loadSeconds > 0 && speed.peakMemoryBytes > 0)
    }

    @Test(arguments: ["micro/bert", "micro/bert-mean-plain", "micro/qwen3-embedding"])
    func aModelThatEmbedsPasses(name: String) async throws {
        let test = try await SmokeTest.run(folder: Fixtures.path(name))
        #expect(test.verdict == .pass && test.failure == nil && test.generation == nil, "\(test.checks)")
        #expect(test.checks.map(\.name).suffix(2) == ["embeddings", "batched"])
        #expect(test.checks.contains { $0.detail.contains("32 numbers") })
        #expect((test.speed?.tokensPerSecond ?? 0) > 0 && test.speed?.weightsBytesPerSecond == nil)
    }

    /// A damaged embedding gives the same vector for every text.
    @Test func anEncoderThatKnowsNoTextFails() async throws {
        let folder = try TemporaryFolder(linking: "micro/bert", except: ["model.safetensors"])
        var bytes = try #require(try FileSystem.contents(Fixtures.path("micro/bert/model.safetensors")))
        let header = bytes.prefix(8).reversed().reduce(0) { $0 << 8 | Int($1) } + 8
        for at in header..<bytes.count { bytes[at] = 0 }
        try folder.write("model.safetensors", bytes)
        let test = try await SmokeTest.run(folder: folder.path)
        #expect(test.failure?.code == .generationFailed)
        #expect(test.checks.first { $0.status == .fail }?.name == "embeddings")
        #expect(test.checks.last?.status == .skip)
    }

    @Test func anOptionThatTheModelCannotHaveIsNoVerdict() async throws {
        let options = ModelOptions(context: 100_000)
        let folder = try Fixtures.path("tiny-shakespeare")
        #expect(
            try await thrown { try await SmokeTest.run(folder: folder, options: options) }.code == .invalidInput)
    }

    @Test func aModelThatWasNotTrainedIsAWarning() async throws {
        let folder = try TemporaryFolder(linking: "tiny-shakespeare", except: ["model.safetensors"])
        var bytes = try #require(try FileSystem.contents(Fixtures.path("tiny-shakespeare/model.safetensors")))
        let header = bytes.prefix(8).reversed().reduce(0) { $0 << 8 | Int($1) } + 8
        // Numbers of bfloat16 that are a little above and below 0, so that all logits are nearly the same.
        for at in stride(from: header, to: bytes.count - 1, by: 2) {
            (bytes[at], bytes[at + 1]) = (UInt8(truncatingIfNeeded: at &* 31), at % 3 == 0 ? 0x38 : 0xB8)
        }
        try folder.write("model.safetensors", bytes)
        let test = try await SmokeTest.run(folder: folder.path)
        #expect(test.verdict == .warn && test.failure == nil, "\(test.checks)")
        let check = try #require(test.checks.first { $0.name == "forward pass" })
        #expect(check.status == .warn && check.detail.contains("as if the model were not trained"))
    }

    /// It passed, whatever it said.
    @Test func aModelThatIsCertainOfEverythingIsAWarning() async throws {
        let folder = try TemporaryFolder(linking: "tiny-shakespeare", except: ["model.safetensors"])
        var bytes = try #require(try FileSystem.contents(Fixtures.path("tiny-shakespeare/model.safetensors")))
        let header = bytes.prefix(8).reversed().reduce(0) { $0 << 8 | Int($1) }
        let json = try #require(try JSON.parse(Array(bytes[8..<8 + header])).object)
        let place = (json["model.norm.weight"]?["data_offsets"]?.array ?? []).compactMap(\.int)
        try #require(place.count == 2)
        // The last norm in bfloat16, larger by 1024 = 2^10: 10 more in the exponent, which begins at bit 7.
        for at in stride(from: 8 + header + Int(place[0]), to: 8 + header + Int(place[1]), by: 2) {
            let larger = (Int(bytes[at]) | Int(bytes[at + 1]) << 8) + 10 << 7
            (bytes[at], bytes[at + 1]) = (UInt8(larger & 0xFF), UInt8(larger >> 8 & 0xFF))
        }
        try folder.write("model.safetensors", bytes)
        let test = try await SmokeTest.run(folder: folder.path)
        let check = try #require(test.checks.first { $0.name == "forward pass" })
        #expect(check.status == .warn && check.detail.contains("entropy 0.0 bits"), "\(check.detail)")
    }

    @Test func bytesThatAreNoCharactersAreAWarning() async throws {
        let test = try await SmokeTest.run(folder: Fixtures.path("micro/olmo3"))
        let check = try #require(test.checks.first { $0.name == "generation" })
        #expect(check.status == .warn && check.detail == "the text has bytes that are no characters")
        #expect(DecoderTest.isBroken("a\u{FFFD}bcd") && !DecoderTest.isBroken("abcd\u{FFFD}\u{FFFD}"))
    }

    @Test func repetitionIsSeenByItsPeriod() {
        #expect(DecoderTest.period(Array(repeating: 7, count: 24)) == 1)
        #expect(DecoderTest.period((0..<24).map { [5, 6, 9][$0 % 3] }) == 3)
        #expect(DecoderTest.period(Array(0..<24)) == nil)
        // Too short to say.
        #expect(DecoderTest.period([7, 7, 7]) == nil)
    }

    @Test func entropyIsInBits() {
        #expect(abs(DecoderTest.entropy([1, 1, 1, 1], largest: 1) - 2) < 1e-9)
        #expect(DecoderTest.entropy([100, 0, 0, 0], largest: 100) < 1e-9)
    }

    @Test func whatFailsIsNamedAndTheRestIsSkipped() async throws {
        let folder = try TemporaryFolder(linking: "tiny-shakespeare", except: ["config.json"])
        try folder.write("config.json", #"{"model_type": "xlstm", "architectures": ["xLSTMForCausalLM"]}"#)
        let test = try await SmokeTest.run(folder: folder.path)
        #expect(test.verdict == .fail && test.failure?.code == .unsupportedModel && test.generation == nil)
        #expect(test.checks.map(\.status) == [.pass, .fail, .skip, .skip, .skip, .skip, .skip, .skip])
        #expect(test.checks[1].detail.contains("architecture xlstm"))
    }

    @Test func damagedWeightsFailTheForwardPass() async throws {
        let folder = try TemporaryFolder(linking: "tiny-shakespeare", except: ["model.safetensors"])
        var bytes = try #require(try FileSystem.contents(Fixtures.path("tiny-shakespeare/model.safetensors")))
        // All bits set is not a number in bfloat16; half of the data holds weights of every layer.
        for at in bytes.count / 2..<bytes.count { bytes[at] = 0xFF }
        try folder.write("model.safetensors", bytes)
        let test = try await SmokeTest.run(folder: folder.path)
        #expect(test.failure?.code == .generationFailed)
        #expect(test.checks.first { $0.status == .fail }?.name == "forward pass")
    }

    @Test func nothingThereIsNoVerdict() async throws {
        #expect(try await thrown { try await SmokeTest.run(folder: "/no/such/folder") }.code == .fileNotFound)
    }
}

@Suite struct ModelContainerTests {
    @Test func theLeastRecentlyUsedGoes() async throws {
        let folders = try ["tiny-shakespeare", "micro/llama", "micro/qwen2"].map { try Fixtures.path($0) }
        var needs: [Int64] = []
        for folder in folders { needs.append(try await ModelInspection.inspect(folder: folder).memoryBytes()) }
        let container = try ModelContainer(memoryLimit: needs[0] + max(needs[1], needs[2]))
        let first = try await container.model(folders[0])
        _ = try await container.model(folders[1])
        #expect(await container.entries.map(\.folder) == [folders[1], folders[0]])
        // Used again, so that the other one goes.
        #expect(try await container.model(folders[0]) === first)
        _ = try await container.model(folders[2])
        #expect(await container.entries.map(\.folder) == [folders[2], folders[0]])
        #expect(await container.memoryBytes == needs[0] + needs[2])
        await container.unload(folders[0])
        #expect(await container.entries.count == 1)
        #expect(
            try await first.generate(prompt: "a", config: .precise.maxTokens(2)).collectWithMetadata().ids.count
                == 2)
    }

    @Test func whatDoesNotFitAloneIsRefused() async throws {
        let container = try ModelContainer(memoryLimit: 1000)
        let folder = try Fixtures.path("tiny-shakespeare")
        #expect(try await thrown { try await container.model(folder) }.code == .insufficientMemory)
        #expect(await container.entries.isEmpty)
    }

    @Test func modelsOpenedAtOnceKeepTheLimit() async throws {
        let folders = try ["tiny-shakespeare", "micro/llama", "micro/qwen2"].map { try Fixtures.path($0) }
        var needs: [Int64] = []
        for folder in folders { needs.append(try await ModelInspection.inspect(folder: folder).memoryBytes()) }
        let limit = try #require(needs.max())
        let container = try ModelContainer(memoryLimit: limit)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for folder in folders {
                group.addTask {
                    _ = try await container.model(folder)
                    #expect(await container.memoryBytes <= limit)
                }
            }
            try await group.waitForAll()
        }
        #expect(await container.memoryBytes <= limit)
        #expect(await !container.entries.isEmpty)
    }

    @Test func concurrentCallersGetTheSameModel() async throws {
        let container = try ModelContainer()
        let folder = try Fixtures.path("micro/llama")
        async let one = container.model(folder)
        async let other = container.model(folder)
        #expect(try await one === other)
    }
}

/// A provider that is written outside of the module.
@Suite struct OwnStreamTests {
    private func stream(failing: Bool = false) -> GenerationStream {
        GenerationStream {
            AsyncThrowingStream<GenerationChunk, any Error> { continuation in
                continuation.yield(GenerationChunk(text: "Hello", tokenId: 1))
                if failing { return continuation.finish(throwing: AIError(.connectionLost, "the line is cut")) }
                continuation.yield(GenerationChunk(text: " there", tokenId: 2))
                let result = GenerationResult(text: "Hello there", finishReason: .stop)
                continuation.yield(GenerationChunk(text: "", finishReason: .stop, result: result))
                continuation.finish()
            }
        }
    }

    @Test func itIsReadLikeAnyOther() async throws {
        #expect(try await stream().collect() == "Hello there")
        #expect(try await stream().text.reduce("", +) == "Hello there")
        var tokens = 0
        for try await chunk in stream() { tokens += chunk.tokenCount }
        #expect(tokens == 2)
    }

    @Test func itsErrorsCome() async throws {
        #expect(try await thrown { try await stream(failing: true).collect() }.code == .connectionLost)
    }

    @Test func leavingTheLoopCancelsTheSequence() async throws {
        let ended = Lock(false)
        let endless = GenerationStream {
            AsyncStream<GenerationChunk> { continuation in
                continuation.onTermination = { _ in ended.withLock { $0 = true } }
                continuation.yield(GenerationChunk(text: "a", tokenId: 1))
            }
        }
        for try await _ in endless { break }
        while !ended.withLock({ $0 }) { await Task.yield() }
    }
}
