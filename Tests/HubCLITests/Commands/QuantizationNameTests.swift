import HubCore
import Support
import Testing

@testable import HubCLI

/// `org/name:Q4_K_M`, as llama.cpp and ollama write it, in every command.
@Suite struct QuantizationNameTests {
    let stage: Stage
    let router: InferenceStandIn

    init() throws {
        stage = try Stage { root in
            let model = try ModelRepository("org/gguf", in: root)
            for name in ["q4_0", "q8_0"] {
                try model.write(
                    "tiny-\(name.uppercased()).gguf", Fixtures.bytes("tiny-shakespeare-gguf/model-\(name).gguf"))
            }
            try model.write("README.md", Array("# Tiny\n".utf8))
            for (revision, name) in [(nil, "q4_0"), ("other", "q8_0")] {
                try ModelRepository("org/two", in: root, revision: revision).write(
                    "two-\(name.uppercased()).gguf", Fixtures.bytes("tiny-shakespeare-gguf/model-\(name).gguf"))
            }
            let odd = try ModelRepository("org/odd", in: root)
            try odd.write("odd-Q4_0.gguf", Fixtures.bytes("tiny-shakespeare-gguf/model-q4_0.gguf"))
            try odd.write("Q4_0", Array("a file of that name\n".utf8))
        }
        router = try InferenceStandIn { HonestRouter().answer($0) }
    }

    /// Where a token is, and a router that would take anything.
    private var variables: [String: String] {
        ["HUB_INFERENCE_ENDPOINT": router.address, "HF_TOKEN": RemoteStage.token]
    }

    private func run(_ words: String...) async throws -> ProcessResult {
        try await stage.run(words, with: variables)
    }

    /// The documents of a command, which must succeed.
    private func document(_ words: String...) async throws -> JSONObject {
        let result = try await stage.run(words + ["--json"], with: variables)
        try #require(result.status == 0, "\(words): \(result.output)\(result.error)")
        return try result.document()
    }

    private func names(_ files: [JSONObject]) -> [String] { files.compactMap { $0["path"]?.string }.sorted() }

    private static let four = ["README.md", "tiny-Q4_0.gguf"]

    // MARK: Fetching

    @Test(arguments: ["Q4_0", "q4_0", "q4-0"])
    func onlyThatOneIsFetched(_ word: String) async throws {
        let estimate = try await document("pull", "org/gguf:\(word)", "--estimate")
        #expect(names(estimate.objects("models")[0].objects("files")) == Self.four)
        let info = try await document("info", "org/gguf:\(word)")
        #expect(names(info.objects("files")) == Self.four)
        #expect(info.objects("variants").map { $0["name"]?.string } == ["Q4_0"])
        #expect(info["runs"]?["file"]?.string == "tiny-Q4_0.gguf")
        let pulled = try await document("pull", "org/gguf:\(word)")
        #expect(names(pulled.objects("models")[0].objects("files")) == Self.four)
        // It is remembered as what --quant chooses.
        let again = try await run("pull", "org/gguf")
        #expect(again.status == 0 && again.error.contains("using your earlier selection: Q4_0"))
        #expect(try await document("ls", "org/gguf:\(word)").objects("models").count == 1)
        #expect(try await run("ls", "org/gguf:Q8_0").status == 3)
    }

    /// A file that is named beside it is one more, and no condition for its weights.
    @Test func aFileBesideItIsOneMore() async throws {
        let pulled = try await document("pull", "org/gguf:Q4_0", "tiny-Q8_0.gguf")
        #expect(names(pulled.objects("models")[0].objects("files")) == Self.four + ["tiny-Q8_0.gguf"])
    }

    /// Of several revisions those are verified that have it.
    @Test func aRevisionWithoutItIsPassedOver() async throws {
        _ = try await document("pull", "org/two:Q4_0")
        _ = try await document("pull", "org/two@other:Q8_0")
        let verified = try await document("verify", "--full", "org/two:Q4_0")
        #expect(verified.objects("models").map { $0["checked"]?.int } == [1])
        #expect(try await run("verify", "org/two:Q5_K_M").status == 3)
    }

    @Test func whatIsNotThereIsSaidWithWhatIs() async throws {
        for words in [
            ["pull"], ["info"], ["lock"], ["pull", "--estimate"], ["chat", "Hi", "-m"], ["try", "--yes"],
        ] {
            let result = try await stage.run(words + ["org/gguf:Q5_K_M"], with: variables)
            #expect(result.status == 3, "\(words): \(result.error)")
            #expect(result.error.contains("org/gguf has no GGUF weights called Q5_K_M"), "\(result.error)")
            #expect(result.error.contains("Q4_0") && result.error.contains("Q8_0"))
        }
        // Another is no quantization, and no provider unless somebody says so.
        #expect(try await run("pull", "org/gguf:groq").status == 3)
        #expect(router.requests.isEmpty)
    }

    @Test func twoChoicesAreOneTooMany() async throws {
        for words in [
            ["pull", "org/gguf:Q4_0", "--quant", "Q8_0"], ["lock", "write", "org/gguf:Q4_0", "--format", "gguf"],
            ["try", "org/gguf:Q4_0", "--gguf", "tiny-Q8_0.gguf"],
        ] {
            let result = try await stage.run(words, with: variables)
            #expect(result.status == 2 && result.error.contains("leave out one of the two"), "\(result.error)")
        }
    }

    // MARK: Running

    @Test func itAnswersHereAndNothingIsSent() async throws {
        _ = try await document("pull", "org/gguf:Q4_0")
        for name in ["org/gguf:Q4_0", "org/gguf:q4_0", "org/gguf:tiny-Q4_0.gguf"] {
            let chat = try await document("chat", name, "Hi", "--max-tokens", "2")
            #expect(chat["provider"]?.string == "local" && chat["model"]?.string == "org/gguf")
            let tried = try await document("try", name, "To be", "--max-tokens", "2")
            #expect(tried["path"]?.string?.hasSuffix("/tiny-Q4_0.gguf") == true)
        }
        // Another one of it is fetched after a yes, and sent nowhere.
        let absent = try await stage.run(["chat", "org/gguf:Q8_0", "Hi", "--json"], with: variables)
        #expect(try absent.status == 2 && absent.errorCode() == "confirmation_required")
        let fetched = try await document("chat", "org/gguf:q8_0", "Hi", "--max-tokens", "2", "--yes")
        #expect(fetched["provider"]?.string == "local")
        #expect(FileSystem.exists(try await stage.path("org/gguf:Q8_0")))
        // Who names a provider cannot mean a file.
        for name in ["org/gguf:Q4_0", "org/gguf:q4_k_m", "org/gguf:tiny-Q4_0.gguf"] {
            let remote = try await run("chat", name, "Hi", "--provider", "hf")
            #expect(remote.status == 2 && remote.error.contains("write --provider local"), "\(remote.error)")
        }
        let other = try await run("chat", "org/gguf:groq", "Hi")
        #expect(other.status == 2 && other.error.contains("is cached, and has no file or quantization groq"))
        #expect(router.requests.isEmpty)
    }

    // MARK: The cache

    @Test func commandsOnTheCacheTakeIt() async throws {
        _ = try await document("pull", "org/gguf")
        let snapshot = try await stage.path("org/gguf")
        #expect(try await stage.path("org/gguf:q4_0") == "\(snapshot)/tiny-Q4_0.gguf")
        let sizes = try ["README.md", "tiny-Q4_0.gguf", "tiny-Q8_0.gguf"].map {
            try #require(try FileSystem.status("\(snapshot)/\($0)")).size
        }
        #expect(try await document("cache", "warm", "org/gguf:q4_0", "--wait")["bytes"]?.int == sizes[0] + sizes[1])
        #expect(try await document("verify", "--full", "org/gguf:Q4_0").objects("models")[0]["checked"]?.int == 2)
        let archive = stage.machine("a.tar")
        let exported = try await document("export", "org/gguf:q4_0", "-o", archive)
        #expect(exported.objects("models")[0]["files"]?.int == 2)
        let lock = try await document("lock", "write", "org/gguf:q4_0", "--file", stage.machine("hub.lock"))
        #expect(lock["models"] != nil)
        let locked = try #require(try FileSystem.text(stage.machine("hub.lock")))
        #expect(locked.contains("tiny-Q4_0.gguf") && !locked.contains("Q8_0"))
        let changes = try await document("diff", "org/gguf:Q4_0", "org/gguf:Q8_0").objects("files")
        #expect(names(changes) == ["tiny-Q4_0.gguf", "tiny-Q8_0.gguf"])
        let pin = try await run("pin", "org/gguf:Q4_0")
        #expect(pin.status == 2 && pin.error.contains("only whole models and revisions can be pinned"))
        // hf.co/ is the Hub itself, whose cache this may be.
        let short = try await stage.run(
            ["path", "hf.co/org/gguf:q4_0"], with: ["HF_ENDPOINT": "", "HF_HUB_OFFLINE": "1"])
        #expect(short.output == "\(snapshot)/tiny-Q4_0.gguf\n", "\(short.error)")
        let removed = try await document("rm", "org/gguf:q4_0", "--yes")
        #expect(removed["freed_bytes"]?.int == sizes[1])
        let gone = try await run("path", "org/gguf:Q4_0")
        #expect(gone.status == 3 && gone.error.contains("hub pull org/gguf:Q4_0 downloads it"))
        #expect(try await run("export", "org/gguf:Q4_0", "-o", stage.machine("b.tar")).status == 3)
        #expect(try await run("cache", "warm", "org/gguf:Q4_0").status == 3)
        #expect(try await run("rm", "org/gguf:Q4_0", "--yes").status == 3)
        #expect(try await stage.path("org/gguf:Q8_0") == "\(snapshot)/tiny-Q8_0.gguf")
    }

    /// A path that is there, letter by letter, comes first.
    @Test func aFileOfThatNameComesFirst() async throws {
        let pulled = try await document("pull", "org/odd:Q4_0")
        #expect(names(pulled.objects("models")[0].objects("files")) == ["Q4_0"])
        #expect(try await stage.path("org/odd:Q4_0").hasSuffix("/Q4_0"))
        #expect(try await document("rm", "org/odd:Q4_0", "--yes")["freed_bytes"]?.int == 20)
    }
}
