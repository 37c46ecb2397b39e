import HubCore
import Testing

@Suite struct ModelReferenceTests {
    struct Case: Sendable, CustomTestStringConvertible {
        var text: String
        var kind = RepositoryKind.model
        var id: String
        var revision: String?
        var files: String?
        init(_ text: String, _ id: String, _ revision: String? = nil, _ files: String? = nil) {
            (self.text, self.id, self.revision, self.files) = (text, id, revision, files)
        }
        init(
            _ text: String, _ kind: RepositoryKind, _ id: String, _ revision: String? = nil, _ files: String? = nil
        ) {
            self.init(text, id, revision, files)
            self.kind = kind
        }
        var testDescription: String { text }
    }

    @Test(arguments: [
        Case("org/name", "org/name"), Case("gpt2", "gpt2"), Case("gpt2@v1", "gpt2", "v1"),
        Case("org/name@refs/pr/1", "org/name", "refs/pr/1"), Case("org/name:*.json", "org/name", nil, "*.json"),
        Case("org/name@main:sub/a@b:c.txt", "org/name", "main", "sub/a@b:c.txt"),
        Case("datasets/org/d", .dataset, "org/d"), Case("datasets/squad", .dataset, "squad"),
        Case("spaces/org/s@main", .space, "org/s", "main"), Case("kernels/org/k", .kernel, "org/k"),
        Case("models/org/m", "org/m"), Case("models/m", "models/m"),
    ])
    func readsWhatIsTyped(_ expected: Case) throws { try check(expected) }

    /// The golden vectors are those of huggingface_hub 2.4.0.
    @Test(arguments: [
        Case("hf://models/org/m@refs/pr/1/a/b.txt", "org/m", "refs/pr/1", "a/b.txt"),
        Case("hf://org/m@a%2Fb/f", "org/m", "a/b", "f"), Case("hf://org/m", "org/m"),
        Case("hf://org/m/", "org/m"), Case("hf://org/m/x/y", "org/m", nil, "x/y"),
        Case("hf://datasets/org/d@refs/convert/parquet/f", .dataset, "org/d", "refs/convert/parquet", "f"),
        Case("hf://spaces/org/s@main", .space, "org/s", "main"),
        Case("hf://kernels/org/k/f", .kernel, "org/k", nil, "f"),
    ])
    func readsURIs(_ expected: Case) throws { try check(expected) }

    @Test(arguments: [
        Case("https://huggingface.co/org/m", "org/m"), Case("https://huggingface.co/org/m/", "org/m"),
        Case("https://huggingface.co/org/m?library=x#y", "org/m"),
        Case("https://huggingface.co/org/m/tree/main", "org/m", "main"),
        Case("https://huggingface.co/org/m/tree/main/sub", "org/m", "main", "sub/"),
        Case("https://huggingface.co/org/m/blob/main/x%20y.txt", "org/m", "main", "x y.txt"),
        Case("https://huggingface.co/org/m/resolve/refs%2Fpr%2F1/a/b?download=true", "org/m", "refs/pr/1", "a/b"),
        Case("https://huggingface.co/org/m/blob/refs/pr/1/a", "org/m", "refs/pr/1", "a"),
        Case("https://huggingface.co/org/m/raw/v1/a", "org/m", "v1", "a"),
        Case("https://huggingface.co/datasets/org/d/tree/main", .dataset, "org/d", "main"),
        Case("https://huggingface.co/spaces/org/s", .space, "org/s"),
        Case("https://HuggingFace.co/org/m", "org/m"), Case("https://huggingface.co:443/org/m", "org/m"),
        Case("hf.co/o/m:Q4_K_M", "o/m", nil, "Q4_K_M"), Case("https://hf.co/o/m:q8_0", "o/m", nil, "q8_0"),
        Case("hf.co/o/m?x=a:Q4_K_M", "o/m"),
        Case("huggingface.co/o/m@v1:sub/*?.gguf", "o/m", "v1", "sub/*?.gguf"),
        Case("https://huggingface.co/datasets/o/d:x", .dataset, "o/d", nil, "x"),
        Case("hf.co/o/m", "o/m"), Case("https://hf.co/o/m", "o/m"), Case("huggingface.co/o/m/tree/v1", "o/m", "v1"),
    ])
    func readsPagesOfTheHub(_ expected: Case) throws { try check(expected) }

    @Test func readsPagesOfAMirrorBelowAPath() throws {
        let mirror = try Endpoint("http://localhost:8080/hf")
        let reference = try ModelReference(parsing: "http://localhost:8080/hf/org/m/tree/v1", endpoint: mirror)
        #expect(reference.description == "org/m@v1")
        for other in [
            "http://localhost:8080/org/m", "http://localhost:8080/hfx/org/m", "https://huggingface.co/org/m",
        ] {
            #expect(throws: AIError.self) { try ModelReference(parsing: other, endpoint: mirror) }
        }
    }

    @Test func theShortNameOfTheHubIsNotAMirrors() throws {
        let mirror = try Endpoint("http://localhost:8080")
        for text in ["hf.co/o/m", "https://hf.co/o/m", "huggingface.co/o/m", "hf.co/o/m:Q4_K_M"] {
            let error = #expect(throws: AIError.self) { try ModelReference(parsing: text, endpoint: mirror) }
            // What was typed, not the address that it stands for.
            #expect(error?.message == "\"\(text)\" is on another Hub than http://localhost:8080")
            #expect(error?.specificAdvice == "name that Hub: --endpoint https://huggingface.co")
        }
    }

    @Test(arguments: [
        "", "org/", "/name", "a/b/c", "org/name@", "org/name:", "org/name@:x", "org/name@../x", "org/name@/etc",
        "hf://", "hf://gpt2", "hf://org/", "hf://datasets/d", "hf://org/m@%zz/f", "hf://org/m@%2E%2E%2Fx",
        "hf://org/m@", "https://huggingface.co/gpt2", "hf.co/gpt2:Q4_K_M", "hf.co/o/m:", "hf.co/a/b/c:Q4_K_M",
        "https://huggingface.co/", "https://huggingface.co",
        "https://example.com/org/m", "http://huggingface.co/org/m", "https://huggingface.co:8443/org/m",
        "https://huggingface.co.evil.example/org/m", "https://huggingface.co/org/m/settings",
        "https://huggingface.co/org/m/tree", "https://huggingface.co/org/m/blob/main/%zz", "https://",
        "https://huggingface.co/-x/m", "models--org--name", "org/name\n",
    ])
    func refusesAnythingElse(_ text: String) {
        let error = #expect(throws: AIError.self) { try ModelReference(parsing: text) }
        #expect(error?.code == .invalidInput)
    }

    @Test(arguments: ["org/name", "gpt2", "org/name@refs/pr/1:sub/*", "datasets/org/d@main", "spaces/s:x"])
    func readsBackAsItIsShown(_ text: String) throws {
        #expect(try ModelReference(parsing: text).description == text)
    }

    private func check(_ expected: Case) throws {
        let reference = try ModelReference(parsing: expected.text)
        #expect(reference.repository == Repository(expected.kind, try RepositoryID(expected.id)))
        #expect(reference.revision == expected.revision)
        #expect(reference.files == expected.files)
    }
}
