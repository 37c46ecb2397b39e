import HubCore
import Testing

@testable import ModelFormats

/// What the word after a reference's colon means.
@Suite struct NamedFilesTests {
    private static let paths = [
        "README.md", "config.json", "m-Q4_K_M.gguf", "m-Q8_0-00001-of-00002.gguf", "m-Q8_0-00002-of-00002.gguf",
        "m-UD-IQ2_XXS.gguf", "mmproj-F16.gguf", "Q5_K_M", "sub/x.json",
    ]
    private static let repository = try! Repository(.model, RepositoryID("org/m"))

    private func named(_ word: String, _ paths: [String] = Self.paths) throws -> NamedFiles {
        try NamedFiles(word, amongPaths: paths, of: Self.repository)
    }

    @Test(arguments: [
        ("Q4_K_M", ["m-Q4_K_M.gguf"]), ("q4_k_m", ["m-Q4_K_M.gguf"]), ("q4-k-m", ["m-Q4_K_M.gguf"]),
        ("Q8_0", ["m-Q8_0-00001-of-00002.gguf", "m-Q8_0-00002-of-00002.gguf"]),
        ("ud-iq2_xxs", ["m-UD-IQ2_XXS.gguf"]), ("IQ2_XXS", ["m-UD-IQ2_XXS.gguf"]),
        // The path of a file comes first, then the quantization, then the glob.
        ("Q5_K_M", ["Q5_K_M"]), ("config.json", ["config.json"]), ("sub/", ["sub/x.json"]),
        ("*Q4_K_M*", ["m-Q4_K_M.gguf"]), ("m-Q4*", ["m-Q4_K_M.gguf"]), ("groq", []),
    ])
    func aPathThenAQuantizationThenAGlob(_ word: String, _ expected: [String]) throws {
        let named = try named(word)
        #expect(Self.paths.filter(named.matches) == expected)
    }

    @Test func whatGoesWithAQuantizationIsNeeded() throws {
        let needed = Self.paths.filter(try named("q4_k_m").needs)
        #expect(needed == ["README.md", "config.json", "m-Q4_K_M.gguf", "mmproj-F16.gguf", "Q5_K_M", "sub/x.json"])
        #expect(Self.paths.filter(try named("q4_k_m").filter.matches) == needed)
    }

    @Test(arguments: ["Q6_K", "q3_k_s", "BF16", "Q4", "4bit", "UD-Q4_K_XL", "MXFP4"])
    func aQuantizationThatIsNotThereIsAnError(_ word: String) throws {
        #expect(NamedFiles.isQuantization(word))
        let error = #expect(throws: AIError.self) { try named(word) }
        #expect(error?.code == .nothingMatches)
        #expect(error?.recoverySuggestion?.contains("Q8_0") == true)
    }

    @Test(arguments: [
        "groq", "together", "fastest", "qwen", "Q", "Q9_0", "model.gguf", "Q4_K_M.gguf", "*Q4*", "a/Q4_0", "main",
    ])
    func anythingElseIsNone(_ word: String) { #expect(!NamedFiles.isQuantization(word)) }

    @Test func ofSeveralModelsItIsAnError() throws {
        let error = #expect(throws: AIError.self) { try named("Q4_0", ["a-Q4_0.gguf", "b-Q4_0.gguf"]) }
        #expect(error?.code == .invalidInput)
    }

    /// Weights of other formats have quantizations too, and datasets have none.
    @Test func otherFormatsAndKinds() throws {
        #expect(
            Self.paths.filter(try named("Q4_K_M", ["model.safetensors", "config.json"] + Self.paths).matches).count
                == 1)
        let dataset = try Repository(.dataset, RepositoryID("org/d"))
        let glob = try NamedFiles("Q4_K_M", amongPaths: Self.paths, of: dataset)
        #expect(!Self.paths.contains(where: glob.matches))
    }
}
