import HubCore
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite struct ModelIdentifierTests {
    @Test(
        arguments: [
            (.huggingFace("org/name"), "huggingface:org/name"),
            (.huggingFace("org/name", revision: "refs/pr/1"), "huggingface:org/name@refs/pr/1"),
            (.mlx("mlx-community/x", revision: "main"), "mlx:mlx-community/x@main"),
            (.huggingFace("gpt2"), "huggingface:gpt2"),
            (.local("/a b/c:d@e"), "local:/a b/c:d@e"), (.local("./x.gguf"), "local:./x.gguf"),
        ] as [(ModelIdentifier, String)])
    func isEncodedAsOneStringAndDecodedBack(_ identifier: ModelIdentifier, _ text: String) throws {
        #expect(identifier.description == text)
        #expect(try ModelIdentifier(parsing: text) == identifier)
        let data = try JSONEncoder().encode([identifier])
        #expect(try JSONDecoder().decode([String].self, from: data) == [text])
        #expect(try JSONDecoder().decode([ModelIdentifier].self, from: data) == [identifier])
    }

    @Test func withoutAProviderTheHubIsMeant() throws {
        #expect(try ModelIdentifier(parsing: "org/name@v1") == .huggingFace("org/name", revision: "v1"))
    }

    @Test(arguments: [
        "", "nowhere:org/name", "huggingface:", "huggingface:a/b/c", "mlx:org/name@", "huggingface:org/name:file",
        "datasets/org/name", "mlx:spaces/org/name", "hf://org/name/file",
    ])
    func whatNamesNoWholeModelIsRefused(_ text: String) {
        let error = #expect(throws: AIError.self) { try ModelIdentifier(parsing: text) }
        #expect(error?.code == .invalidInput)
    }

    @Test func aFolderOfThisMachineIsNoRepositoryOfTheHub() throws {
        #expect(try ModelIdentifier.mlx("org/name").hubRepository() == Repository(.model, RepositoryID("org/name")))
        #expect(throws: AIError.self) { try ModelIdentifier.local("/org/name").hubRepository() }
        #expect(throws: AIError.self) { try ModelIdentifier.huggingFace("a/b/c").hubRepository() }
    }

    @Test func theDisplayNameIsTheLastPart() {
        #expect(ModelIdentifier.huggingFace("org/name").displayName == "name")
        #expect(ModelIdentifier.huggingFace("gpt2").displayName == "gpt2")
        #expect(ModelIdentifier.local("/models/x.gguf").displayName == "x.gguf")
    }
}

@Suite struct ModelInfoTests {
    @Test func everyFieldSurvivesEncoding() throws {
        let info = ModelInfo(
            identifier: .mlx("org/name", revision: "main"), name: "Name", description: "What it is", size: .medium,
            diskSize: ByteCount(5), contextWindow: 4096, capabilities: [.embeddings, .reasoning],
            isRecommended: true,
            parameters: 7, quantization: "4bit")
        #expect(try JSONDecoder().decode(ModelInfo.self, from: JSONEncoder().encode(info)) == info)
        let bare = ModelInfo(identifier: .local("/x"), name: "x")
        #expect(try JSONDecoder().decode(ModelInfo.self, from: JSONEncoder().encode(bare)) == bare)
    }

    @Test(
        arguments: [
            (0, .small), (4_000_000_000, .small), (4_000_000_001, .medium), (16_000_000_000, .medium),
            (16_000_000_001, .large), (64_000_000_000, .large), (64_000_000_001, .xlarge), (.max, .xlarge),
        ] as [(Int64, ModelSize)])
    func sizeClassesEndWhereTheySay(_ bytes: Int64, _ size: ModelSize) {
        #expect(ModelSize(memory: ByteCount(bytes)) == size)
    }

    @Test(
        arguments: [
            ("text-generation", .textGeneration), ("feature-extraction", .embeddings),
            ("automatic-speech-recognition", .transcription), ("image-text-to-text", .multimodal),
            ("text-to-image", .imageGeneration), ("fill-mask", nil), ("", nil),
        ] as [(String, ModelCapability?)])
    func aTaskOfTheHubStandsForACapability(_ task: String, _ capability: ModelCapability?) {
        #expect(ModelCapability(task: task) == capability)
    }
}
