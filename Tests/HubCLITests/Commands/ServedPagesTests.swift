import HubCore
import HubServer
import Support
import Testing

@testable import HubCLI

/// What the pages of `hub serve page` say, without a browser.
@Suite struct ServedPagesTests {
    private static let browser: HTTPHeaders = ["Accept": "text/html,application/xhtml+xml"]

    /// Starts a server, runs the body with its address, and stops it.
    private func serve(_ stage: Stage, _ words: String..., body: (String) async throws -> Void) async throws {
        let server = try stage.start(["serve"] + words)
        let address = String(try await server.wait(forText: "export ").prefix { $0 != "\n" })
        try await body(address)
        server.interrupt()
        _ = try await server.wait()
    }

    private func page(_ address: String) async throws -> String {
        try await HTTPClient.get(address, headers: Self.browser).text
    }

    /// The fixture of that name, as `org/bert`.
    private static func withEncoder() throws -> Stage {
        try Stage { root in
            let repository = try ModelRepository("org/bert", in: root)
            for name in [
                "1_Pooling/config.json", "config.json", "model.safetensors", "modules.json",
                "sentence_bert_config.json", "special_tokens_map.json", "tokenizer.json", "tokenizer_config.json",
                "vocab.txt",
            ] { try repository.write(name, Fixtures.bytes("micro/bert/\(name)")) }
        }
    }

    /// Sets of weights of these sizes, none of them here.
    private static func withSets(_ sizes: [(name: String, bytes: Int)], type: String = "llama") throws -> Stage {
        try Stage { root in
            let repository = try ModelRepository("org/m", in: root)
            try repository.write("config.json", #"{"model_type": "\#(type)"}"#)
            for (name, bytes) in sizes { try repository.random(name, size: bytes) }
            let format = sizes[0].name.hasSuffix(".gguf") ? "gguf" : "safetensors"
            try repository.card([
                "pipeline_tag": "text-generation",
                "tags": .array([.string(type), .string(format), "conversational", "a:b"]),
            ])
            try ModelRepository.tiny("org/other", in: root)
        }
    }

    @Test func anAddressOfTheHubLeadsToItsPage() async throws {
        let stage = try Stage { try ModelRepository.tiny("org/tiny", in: $0) }
        #expect(try await stage.run("pull", "org/tiny", "-q").status == 0)
        try await serve(stage, "page") { address in
            for (path, place) in [
                ("/org/tiny", "/-/models/org/tiny"), ("/org/tiny/tree/main", "/-/models/org/tiny?revision=main"),
                ("/datasets/org/d", "/-/datasets/org/d"),
            ] {
                let answer = try await HTTPClient.get(address + path, headers: Self.browser)
                #expect(answer.status == 303 && answer.headers["Location"] == place, "\(path): \(answer.headers)")
                let program = try await HTTPClient.get(address + path)
                #expect(program.status == 404 && program.headers["X-Error-Message"] != nil)
                #expect(try program.json()["error"]?.string != nil)
            }
            let lost = try await HTTPClient.get("\(address)/nonsense", headers: Self.browser)
            #expect(lost.status == 404 && lost.text.contains("<h1>Not found</h1>"))
            #expect(lost.text.contains("href=\"/?q=nonsense\"") && lost.text.contains("<p>There is nothing at "))
            #expect(lost.text.contains("href=\"/?q=author:nonsense\""))
            // The Hub's own routes are for everyone.
            let file = try await HTTPClient.get(
                "\(address)/org/tiny/resolve/main/config.json", headers: Self.browser)
            #expect(file.status == 200 && file.text == "{\"model_type\":\"tiny\"}\n")
            let info = try await HTTPClient.get("\(address)/api/models/org/none", headers: Self.browser)
            #expect(try info.json()["error"]?.string != nil)
        }
    }

    @Test func aHubWithoutAPageSaysSoInWords() async throws {
        let stage = try Stage { try ModelRepository.tiny("org/tiny", in: $0) }
        try await serve(stage, "hub", stage.root.path) { address in
            for path in ["/", "/nonsense", "/org/tiny", "/org/none/resolve/main/%3Cb%3E"] {
                let answer = try await HTTPClient.get(address + path, headers: Self.browser)
                #expect([401, 404].contains(answer.status))
                #expect(answer.headers["Content-Type"] == "text/html; charset=utf-8")
                #expect(answer.text.contains("<h1>Not found</h1>") && answer.text.contains("hub serve page"))
                #expect(!answer.text.contains("<b>"))
                let program = try await HTTPClient.get(address + path)
                #expect(program.status == answer.status)
                #expect(try program.json()["error"]?.string != nil)
            }
        }
    }

    @Test func thePagesThemselvesAreNotInTheLog() async throws {
        try await serve(try Stage(), "page") { address in
            for path in ["/?q=from-a-page", "/", "/health?from=test"] {
                _ = try await HTTPClient.get(address + path, headers: Self.browser)
            }
            let log = try await HTTPClient.get("\(address)/-/machine/state").json()["log"]?.array ?? []
            #expect(log.count == 1 && log[0].string?.contains("/health?from=test") == true, "\(log)")
        }
    }

    @Test func whatAModelIsForIsOffered() async throws {
        let encoder = try Self.withEncoder()
        try await serve(encoder, "api", "page") { address in
            // By the Hub's word before it is here, by the engine's once it is.
            for isHere in [false, true] {
                if isHere { #expect(try await encoder.run("pull", "org/bert", "-q").status == 0) }
                let text = try await page("\(address)/-/models/org/bert")
                #expect(!text.contains("/-/chat?model=") && !text.contains("hub chat"))
                #expect(text.contains("href=\"#use\"") == isHere)
                #expect(text.contains("<code>hub embed org/bert") == isHere, "\(text)")
            }
        }
        let writer = try Stage.withModel()
        #expect(try await writer.run("pull", "org/tiny", "-q").status == 0)
        try await serve(writer, "api", "page") { address in
            let text = try await page("\(address)/-/models/org/tiny")
            #expect(text.contains("href=\"/-/chat?model=org/tiny\"") && text.contains("<code>hub chat org/tiny<"))
            #expect(text.contains("href=\"/-/storage?mark=org%2Ftiny%40"))
            #expect(text.contains("href=\"\(writer.hub.endpoint)/org/tiny\""))
            let models = try await HTTPClient.get("\(address)/v1/models").json()["data"]?.array
            #expect((models?.first?["size_bytes"]?.int ?? 0) > 1_000_000)
        }
    }

    /// What writes texts without a chat template does not chat.
    @Test func aTranslatorIsNotOfferedForChats() async throws {
        let stage = try Stage { root in
            let model = try ModelRepository("org/translator", in: root)
            for name in try FileSystem.entries(Fixtures.path("micro/marian")) ?? [] {
                try model.write(name, Fixtures.bytes("micro/marian/\(name)"))
            }
        }
        #expect(try await stage.run("pull", "org/translator", "-q").status == 0)
        try await serve(stage, "api", "page") { address in
            let text = try await page("\(address)/-/models/org/translator")
            #expect(!text.contains("/-/chat?model=") && !text.contains("hub chat"))
            #expect(text.contains("href=\"#use\"") && text.contains("<code>hub try org/translator"))
            let models = try await HTTPClient.get("\(address)/v1/models").json()["data"]?.array
            #expect(models?.first?["task"] == "text-generation" && models?.first?["chat"] == false)
        }
    }

    @Test func nothingThatIsFoundLeadsOn() async throws {
        try await serve(try Stage(), "page") { address in
            let text = try await page("\(address)/?q=no-such-model&license=mit")
            #expect(text.contains("No model matches &quot;no-such-model&quot;<"), "\(text)")
            #expect(!text.contains("no model matches"))
            #expect(text.contains("href=\"/?q=no-such-model\"") && text.contains(">All models</a>"))
            let bare = try await page("\(address)/?license=no-such-license")
            #expect(bare.contains(">No model was found<") && !bare.contains("Search without filters"))
        }
    }

    @Test func theBestSetOfWeightsIsNamed() async throws {
        let stage = try Self.withSets([
            ("m-Q2_K.gguf", 1_000_000), ("m-Q4_K_M.gguf", 2_000_000), ("m-Q8_0.gguf", 3_000_000),
        ])
        try await serve(stage, "page") { address in
            let text = try await page("\(address)/-/models/org/m")
            #expect(text.contains(">Download Q8_0, 3.0 MB</button>"), "\(text)")
            #expect(text.contains("/org/m:Q4_K_M</code>"))
            #expect(text.contains("tag%3A%22conversational%22") && !text.contains("tag%3A%22a%3Ab"))
        }
        let odd = try Self.withSets([("m-Q2_K.gguf", 1_000_000), ("m-Q5_K_M.gguf", 2_000_000)], type: "unheard")
        try await serve(odd, "page") { address in
            let text = try await page("\(address)/-/models/org/m")
            #expect(text.contains(">Download Q5_K_M, 2.0 MB</button>") && text.contains("/org/m:Q5_K_M</code>"))
        }
    }

    /// A clause with a command in a narrow column is no verdict.
    @Test func theVerdictIsShortAndCommandsStandBelow() async throws {
        let stage = try Self.withSets([("model.safetensors", 3000)], type: "unheard")
        try await serve(stage, "page") { address in
            let text = try await page("\(address)/-/models/org/m")
            #expect(text.contains(">no: the architecture unheard is not supported yet</span>"), "\(text)")
            let below = try #require(text.split(separator: "<h2>Alternatives</h2>").dropFirst().first)
            #expect(below.contains("<code>hub ") && below.contains("<p>Transformers may run it, in Python</p>"))
        }
        let info = try await stage.run("info", "org/m", "--json").document()
        #expect(info["runs"]?["alternatives"]?.array?.last == "transformers may run it, in Python")
    }

    @Test func theFiltersAreThoseOfTheCommand() async throws {
        let stage = try Self.withSets([("m-Q2_K.gguf", 1_000_000)])
        try await serve(stage, "page") { address in
            for (query, finds) in [
                ("format=gguf", true), ("task=text-generation", true), ("task=fill-mask", false),
                ("access=gated", false), ("library=none", false), ("parameters=40B-", false),
            ] {
                let text = try await page("\(address)/?\(query)")
                #expect(text.contains("href=\"/-/models/org/m\"") == finds, "\(query)")
                #expect(!text.contains("href=\"/-/models/org/other\""), "\(query)")
                #expect(text.contains("<details class=\"filters-more\" open>"))
            }
            #expect(try await page("\(address)/?q=org&n=1").contains(">The first 1 model<"))
            let start = try await page(address)
            #expect(start.contains("<details class=\"filters-more\">"))
            // Each good model has its size and a button.
            let tiles = start.split(separator: "class=\"tile\"").dropFirst()
            #expect(tiles.allSatisfy { $0.contains("data-download=") && $0.firstMatch(of: /\d [kMG]B/) != nil })
            #expect(!start.contains("for llama.cpp"))
        }
    }

    @Test func theListOfTheDiskHasOrders() async throws {
        let stage = try Stage { root in
            try ModelRepository.tiny("org/a", in: root, weights: 1000)
            try ModelRepository.tiny("org/b", in: root)
        }
        for model in ["org/a", "org/b"] { #expect(try await stage.run("pull", model, "-q").status == 0) }
        try await serve(stage, "page") { address in
            let row = /<th scope="row"><a href="\/-\/models\/org\/(\w)">/
            for (query, names) in [("", ["a", "b"]), ("?sort=size", ["b", "a"]), ("?sort=name", ["a", "b"])] {
                let text = try await page("\(address)/-/storage\(query)")
                #expect(text.matches(of: row).map { String($0.1) } == names, "\(query)")
                #expect(text.contains(" ago</time>") && text.contains("id=\"all\""))
            }
        }
    }
}
