import HubCore
import InferenceKit
import Support
import Testing

@Suite struct ProviderTests {
    @Test func aFolderIsAProvider() async throws {
        let provider = LocalTextGenerator(
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
        let provider = LocalTextGenerator(folder: folder.path)
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
        #expect(test.checks.allSatisfy { $0.status == .pass } && test.checks.count == 6)
        #expect(test.generation?.ids.count == 16)
    }

    @Test func whatFailsIsNamedAndTheRestIsSkipped() async throws {
        let test = try await SmokeTest.run(folder: Fixtures.path("tiny-shakespeare-mlx-4bit"))
        #expect(test.verdict == .fail && test.failure?.code == .unsupportedModel && test.generation == nil)
        #expect(test.checks.map(\.status) == [.pass, .fail, .skip, .skip, .skip, .skip])
        #expect(test.checks[1].detail.contains("MLX 4-bit"))
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
