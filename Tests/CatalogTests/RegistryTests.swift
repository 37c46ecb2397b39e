import HubCore
import Support
import Testing

@testable import Catalog

/// The list that hub ships.
@Suite struct ShippedRegistryTests {
    @Test func everyIdWasSeenSomewhere() throws {
        let text = String(decoding: try Fixtures.bytes("hub-metadata/registry-ids.txt"), as: UTF8.self)
        var seen: [String: Set<String>] = [:]
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            let words = line.split(separator: " ").map(String.init)
            try #require(words.count == 2 && ["listed", "based", "named"].contains(words[0]), "\(line)")
            seen[words[0], default: []].insert(words[1])
        }
        let ids = ShippedRegistry.entries.map(\.repository.name)
        #expect(Set(ids) == seen.values.reduce([]) { $0.union($1) })
        #expect(Set(ids).count == ids.count && ids.count >= 70)
        // Every fixture model must be listed as one.
        let sample = Set(try RealModels.load().map(\.repository.id.name))
        #expect(sample.intersection(ids).isSubset(of: seen["listed"]!))
    }

    @Test func everyEntryIsWhole() {
        for entry in ShippedRegistry.entries {
            let alias = entry.alias
            #expect(
                entry.description?.hasSuffix(".") == true && entry.size != nil && entry.memory != nil, "\(alias)")
            #expect(!entry.capabilities.isEmpty, "\(alias)")
            #expect((entry.provider == .mlx) == entry.repository.name.hasPrefix("mlx-community/"), "\(alias)")
            #expect((entry.provider == .mlx) == alias.hasSuffix("-mlx"), "\(alias)")
            #expect(entry.repository.name.lowercased().hasSuffix("gguf") == alias.hasSuffix("-gguf"), "\(alias)")
            if alias.hasSuffix("-gguf") { #expect(entry.quantization?.hasPrefix("Q") == true, "\(alias)") }
            if entry.capabilities.contains(.textGeneration) { #expect(entry.contextLength != nil, "\(alias)") }
        }
    }

    /// The weights take at most three quarters of the memory asked for, and not less than an eighth of it, but for what
    /// is small anyway; the size class is that of the weights and a fifth more.
    @Test func memoryFollowsFromTheWeights() throws {
        let bits = ["4bit": 4.5, "Q4_K_S": 4.5, "Q4_K_M": 4.85, "Q8_0": 8.5]
        for entry in ShippedRegistry.entries {
            guard let parameters = entry.parameters else { continue }
            let width = try entry.quantization.map { try #require(bits[$0], "\(entry.alias)") } ?? 16
            let weights = Double(parameters) * width / 8
            let memory = Double(try #require(entry.memory).bytes)
            #expect(weights <= memory * 3 / 4, "\(entry.alias)")
            #expect(memory <= max(weights * 8, 8e9), "\(entry.alias)")
            #expect(entry.size == ModelSize(memory: ByteCount(Int64(weights * 1.2))), "\(entry.alias)")
        }
    }

    /// A model of one word that the Hub still answers to must not be hidden by an alias.
    @Test func noAliasIsACanonicalModel() {
        let canonical = ["gpt2", "distilgpt2", "t5-small", "bert-base-uncased", "roberta-base", "xlm-roberta-base"]
        #expect(canonical.allSatisfy { ShippedRegistry.byAlias[$0] == nil })
    }

    @Test func everyFormatAndCapabilityIsThere() {
        let all = ShippedRegistry.entries
        for capability in ModelCapability.allCases {
            #expect(all.contains { $0.capabilities.contains(capability) && $0.isPick }, "\(capability)")
        }
        #expect(Set(all.compactMap(\.size)) == Set(ModelSize.allCases))
    }
}

@Suite struct RegistryEntryTests {
    @Test(arguments: ["llama-3.2-1b", "a", "7b", "x_1.5", String(repeating: "a", count: 64)])
    func anAlias(_ alias: String) throws {
        try RegistryEntry.checkAlias(alias)
        // Whatever is an alias can be written as a reference.
        #expect(try ModelReference(parsing: alias + "@main:*.json").repository.id.name == alias)
    }

    @Test(arguments: [
        ("", "it is empty"), ("org/name", "with a slash it names a repository"), ("Llama", "\"L\" is not allowed"),
        ("a b", "\" \" is not allowed"), ("a@b", "\"@\" is not allowed"), ("a:b", "\":\" is not allowed"),
        ("a*", "\"*\" is not allowed"), ("-a", "it begins or ends with"), ("a.", "it begins or ends with"),
        ("..", "it begins or ends with"), ("a--b", "it begins or ends with"), ("a.git", "it begins or ends with"),
        ("_a", "it begins with \"_\""), ("model.gguf", "it looks like the name of a file"),
        ("a\u{1B}[31m", "\"\\u{1B}\" is not allowed"), ("\u{E9}", "\"\u{E9}\" is not allowed"),
        (String(repeating: "a", count: 65), "it has 65 characters, at most 64 are allowed"),
    ])
    func noAlias(_ alias: String, _ why: String) {
        let error = #expect(throws: AIError.self) { try RegistryEntry.checkAlias(alias) }
        #expect(error?.code == .invalidInput && error?.message.contains(why) == true, "\(error?.message ?? "")")
        #expect(error?.message.contains("\u{1B}") == false)
    }

    @Test func anEntryRoundTripsThroughJSON() throws {
        for entry in ShippedRegistry.entries + [try RegistryEntry(alias: "bare", repository: RepositoryID("gpt2"))]
        {
            #expect(try RegistryEntry(try JSON.parse(JSON.object(entry.json).text())) == entry)
        }
    }

    @Test(arguments: [
        ("[]", "it is not an object"), ("{\"alias\":\"a\"}", "\"id\" is missing"),
        ("{\"id\":\"o/n\"}", "\"alias\" is missing"),
        ("{\"id\":\"o/n/x\"}", "\"id\": \"o/n/x\" is not a repository"),
        ("{\"alias\":\"a\",\"id\":7}", "\"id\": it is not a string"),
        ("{\"alias\":\"a\",\"id\":\"o/n\",\"nmae\":\"x\"}", "unknown field \"nmae\""),
        ("{\"alias\":\"a\",\"id\":\"o/n\",\"id\":\"o/m\"}", "a field occurs twice"),
        ("{\"alias\":\"a\",\"id\":\"o/n\",\"name\":\"a\\u001b[2J\"}", "\"name\": it holds control characters"),
        ("{\"alias\":\"a\",\"id\":\"o/n\",\"description\":\"\\u202eevil\"}", "\"description\": it holds control"),
        ("{\"alias\":\"a\",\"id\":\"o/n\",\"name\":\" \"}", "\"name\": it is empty"),
        ("{\"alias\":\"a\",\"id\":\"o/n\",\"context_length\":0}", "\"context_length\": it is not a whole number"),
        ("{\"alias\":\"a\",\"id\":\"o/n\",\"parameters\":1.5}", "\"parameters\": it is not a whole number"),
        ("{\"alias\":\"a\",\"id\":\"o/n\",\"memory_bytes\":1e30}", "\"memory_bytes\": it is not a whole number"),
        (
            "{\"alias\":\"a\",\"id\":\"o/n\",\"capabilities\":[\"telepathy\"]}",
            "\"telepathy\" is not one of its values"
        ),
        ("{\"alias\":\"a\",\"id\":\"o/n\",\"capabilities\":\"reasoning\"}", "\"capabilities\": it is not a list"),
        (
            "{\"alias\":\"a\",\"id\":\"o/n\",\"capabilities\":[\"reasoning\",\"reasoning\"]}",
            "\"reasoning\" occurs twice"
        ),
        ("{\"alias\":\"a\",\"id\":\"o/n\",\"provider\":\"local\"}", "\"local\" is not one of its values"),
        ("{\"alias\":\"a\",\"id\":\"o/n\",\"size\":\"huge\"}", "\"huge\" is not one of its values"),
        ("{\"alias\":\"a\",\"id\":\"o/n\",\"pick\":1}", "\"pick\": it is neither true nor false"),
        ("{\"alias\":\"a\",\"id\":\"o/n\",\"name\":null}", "\"name\": it is not a string"),
    ])
    func aBadEntryNamesItsField(_ text: String, _ why: String) throws {
        let json = try JSON.parse(text)
        let error = #expect(throws: AIError.self) { try RegistryEntry(json) }
        #expect(error?.code == .invalidInput && error?.message.contains(why) == true, "\(error?.message ?? "")")
    }
}

@Suite struct RegistryDocumentTests {
    private func refusal(_ text: String) -> String? {
        let error = #expect(throws: AIError.self) { try RegistryDocument(Array(text.utf8), source: "list.json") }
        #expect(error?.code == .invalidInput)
        return error?.message
    }

    @Test func aFaultIsPlaced() {
        let good = "{\"alias\":\"a\",\"id\":\"o/n\"}"
        #expect(
            refusal("{\"models\":[\(good),{\"alias\":\"A\",\"id\":\"o/n\"}]}")?.hasPrefix("list.json: models[1]: ")
                == true)
        #expect(
            refusal("{\"models\":[\(good),{\"alias\":\"b\",\"id\":\"o/n\"},\(good)]}")
                == "list.json: models[2]: the alias a is also that of models[0]")
        #expect(
            refusal("{\"models\":[\(good)],\"hidden\":[\"x\",\"a\"]}")
                == "list.json: hidden[1]: the alias a is also that of models[0]")
        #expect(refusal("{\"models\":[],\"hidden\":[7]}") == "list.json: hidden[0]: it is not a string")
        #expect(refusal("{\"models\":[],\"hidden\":7}") == "list.json: \"hidden\" is not a list")
        #expect(refusal("{\"models\":[],\"models\":[]}") == "list.json: a field occurs twice")
        #expect(refusal("{\"models\":[],\"more\":1}") == "list.json: unknown field \"more\"")
        #expect(refusal("[]") == "list.json: \"models\" is missing or is not a list")
    }

    @Test func whatIsNoJSONIsRefused() {
        for text in ["", "{", "\u{FEFF}", String(repeating: "[", count: 100_000), "{\"models\":[\"\u{0}\"]}"] {
            #expect(refusal(text)?.hasPrefix("list.json: ") == true)
        }
        let error = #expect(throws: AIError.self) {
            try RegistryDocument(Array("{\"models\":[{\"alias\":\"".utf8) + [0xFF, 0xFE], source: "x")
        }
        #expect(error?.code == .invalidInput)
    }

    @Test func exportAndImportRoundTrip() throws {
        var user = UserRegistry()
        try user.add(entry("mine", "org/mine") { $0.description = "Mine, \"quoted\" and \u{E4}." }, replaces: false)
        try user.add(entry("phi-4", "org/other"), replaces: true)
        _ = user.remove("llama-3.1-8b")
        let text = JSON.object(user.document.json).text(.pretty)
        var other = UserRegistry()
        let report = other.take(try RegistryDocument(Array(text.utf8), source: "x"))
        #expect(report == .init(added: ["mine"], replaced: ["phi-4"], unchanged: [], hidden: ["llama-3.1-8b"]))
        #expect(other == user && JSON.object(other.document.json).text(.pretty) == text)
        #expect(other.take(user.document).unchanged == ["mine", "phi-4", "llama-3.1-8b"])
        // Importing the whole list adds no user entries for unchanged shipped ones.
        var third = UserRegistry()
        _ = third.take(RegistryDocument(entries: user.all, hidden: user.document.hidden))
        #expect(third == user)
    }

    @Test func anImportHidesNothingOfOnesOwn() throws {
        var user = UserRegistry()
        try user.add(entry("phi-4", "org/other"), replaces: true)
        _ = user.take(RegistryDocument(entries: [], hidden: ["phi-4"]))
        #expect(user.entry("phi-4")?.repository.name == "org/other" && user.hidden.isEmpty)
    }
}

@Suite struct RegistryTableTests {
    @Test func onesOwnEntriesWinAndSurvive() throws {
        let place = try Place()
        let mine = try entry("phi-4", "org/mine") {
            $0.provider = .mlx
            $0.name = "Mine"
            $0.description = "A sentence."
            $0.size = .large
            $0.contextLength = 4096
            $0.capabilities = [.reasoning, .codeGeneration]
            $0.parameters = 7_000_000_000
            $0.quantization = "4bit"
            $0.memory = ByteCount(8_000_000_000)
            $0.isPick = true
        }
        try place.open().changeRegistry { try $0.add(mine, replaces: true) }
        let catalog = try place.open()
        #expect(try catalog.userRegistry().entries == ["phi-4": mine])
        #expect(try catalog.registryEntry("phi-4") == mine)
        #expect(try catalog.registryEntry("qwen3-4b") == ShippedRegistry.byAlias["qwen3-4b"])
        #expect(try catalog.registryEntry("nothing") == nil)
        #expect(
            try catalog.changeRegistry { $0.remove("phi-4") }
                == .uncovered(mine, shipped: ShippedRegistry.byAlias["phi-4"]!))
        #expect(try catalog.userRegistry() == UserRegistry())
    }

    @Test func hidingIsKeptAndAddingRestores() throws {
        let place = try Place()
        let catalog = try place.open()
        let shipped = try #require(ShippedRegistry.byAlias["phi-4"])
        #expect(try catalog.changeRegistry { $0.remove("phi-4") } == .hidden(shipped))
        #expect(try catalog.changeRegistry { $0.remove("phi-4") } == nil)
        let again = try place.open()
        #expect(try again.registryEntry("phi-4") == nil && again.userRegistry().hidden == ["phi-4"])
        #expect(try again.changeRegistry { $0.restore("phi-4", naming: try RepositoryID("org/other")) } == nil)
        #expect(try again.changeRegistry { $0.restore("phi-4") } == shipped)
        #expect(try again.registryEntry("phi-4") == shipped)
    }

    @Test func anAliasThatIsTakenIsRefusedAndNothingIsWritten() throws {
        let catalog = try Place().open()
        try catalog.changeRegistry { try $0.add(entry("mine", "org/a"), replaces: false) }
        for (alias, whose) in [
            ("mine", "already your alias of org/a"),
            ("phi-4", "already the shipped alias of microsoft/phi-4"),
        ] {
            let error = #expect(throws: AIError.self) {
                try catalog.changeRegistry { registry in
                    _ = registry.remove("qwen3-4b")
                    try registry.add(entry(alias, "org/b"), replaces: false)
                }
            }
            #expect(error?.code == .invalidInput && error?.message == "\(alias) is \(whose)")
        }
        #expect(try catalog.userRegistry().document.entries.map(\.repository.name) == ["org/a"])
        #expect(try catalog.userRegistry().hidden.isEmpty)
    }

    /// Two processes at once: each change sees what the other did.
    @Test func nothingIsLostBetweenTwoConnections() throws {
        let place = try Place()
        let (one, two) = (try place.open(), try place.open())
        for number in 0..<5 {
            try one.changeRegistry { try $0.add(entry("one\(number)", "org/a"), replaces: false) }
            try two.changeRegistry { try $0.add(entry("two\(number)", "org/b"), replaces: false) }
        }
        #expect(try one.userRegistry().entries.count == 10)
    }

    @Test func aRepositorysCurationIsTheUsersOwnFirst() throws {
        let catalog = try Place().open()
        func curation(_ id: String) throws -> String? {
            try catalog.read { try Catalog.curation(of: id, $0)?.alias }
        }
        #expect(try curation("microsoft/phi-4") == "phi-4")
        #expect(try curation("org/none") == nil)
        try catalog.changeRegistry { try $0.add(entry("best", "microsoft/phi-4"), replaces: false) }
        #expect(try curation("microsoft/phi-4") == "best")
        try catalog.changeRegistry { registry in
            _ = registry.remove("best")
            _ = registry.remove("phi-4")
        }
        #expect(try curation("microsoft/phi-4") == nil)
    }
}

@Suite struct ModelRegistryTests {
    @Test func theShippedListAlone() throws {
        let registry = try ModelRegistry(catalog: nil, memory: ByteCount(16_000_000_000))
        #expect(registry.allModels.count == ShippedRegistry.entries.count && registry.catalogFault == nil)
        #expect(registry.model(alias: "smollm2-135m")?.diskSize == ByteCount(269_030_016))
        #expect(registry.models(for: .local).isEmpty)
        #expect(registry.models(for: .mlx).allSatisfy { $0.identifier.provider == .mlx })
        #expect(
            registry.models(for: .mlx).count + registry.models(for: .huggingFace).count == registry.allModels.count)
        #expect(
            registry.models(with: .transcription).contains { $0.identifier.repository == "openai/whisper-small" })
        let model = try #require(registry.model(alias: "qwen3-4b-gguf"))
        #expect(model.identifier == .huggingFace("unsloth/Qwen3-4B-GGUF") && model.quantization == "Q4_K_M")
        #expect(model.size == .small && model.contextWindow == 40_960 && model.parameters == 4_022_468_096)
        #expect(model.isRecommended && registry.source(alias: "qwen3-4b-gguf") == .shipped)
        #expect(registry.model(alias: "nothing") == nil && registry.source(alias: "nothing") == nil)
    }

    @Test func whatIsRecommendedFitsTheMemory() throws {
        var before: Set<ModelInfo> = []
        for gigabytes: Int64 in [1, 2, 4, 8, 16, 64, 256] {
            let registry = try ModelRegistry(catalog: nil, memory: ByteCount(gigabytes * 1_000_000_000))
            let models = registry.recommendedModels()
            #expect(models.isEmpty == (gigabytes < 2))
            for entry in registry.entries where models.contains(where: { $0.identifier == entry.identifier }) {
                #expect(entry.isPick && entry.memory! <= registry.memory)
                #expect(entry.provider != .mlx || Machine.runsMLX)
            }
            #expect(before.isSubset(of: models))
            before = Set(models)
        }
        #expect(try ModelRegistry(catalog: nil).memory.bytes == Machine.memory().total)
    }

    @Test func sizesComeFromTheCatalog() throws {
        let catalog = try Place().open()
        func file(_ path: String, _ size: Int64) -> RepositoryFile {
            RepositoryFile(
                path: path, size: size, oid: String(repeating: "a", count: 40), sha256: nil, xetHash: nil)
        }
        func remember(_ id: String, _ digit: Character, _ files: [RepositoryFile], at now: Double) throws {
            try catalog.remember(
                RepositoryTree(commit: commit(digit), files: files), of: repository(id), at: now)
        }
        var stored = ModelRecord(try repository("microsoft/phi-4"))
        stored.usedStorage = 77
        var many = ModelRecord(try repository("bartowski/phi-4-GGUF"))
        many.usedStorage = 7700
        try catalog.remember([stored, many], at: 1)
        // A repository with its history says less than the parameters do; hub search counts the same.
        let estimated = try ModelRegistry(catalog: catalog)
        for alias in ["phi-4", "phi-4-gguf"] {
            let entry = try #require(estimated.entry(alias: alias))
            let bytes = try #require(entry.estimatedWeightBytes)
            #expect(estimated.size(alias: alias) == .estimated(ByteCount(bytes)))
            #expect(estimated.model(alias: alias)?.diskSize == ByteCount(bytes))
            #expect(try catalog.weights(of: ["x": entry]) == ["x": bytes])
        }
        try remember("microsoft/phi-4", "1", [file("a", 5), file("b", 6)], at: 2)
        try remember("microsoft/phi-4", "2", [file("a", 50)], at: 3)
        #expect(try ModelRegistry(catalog: catalog).model(alias: "phi-4")?.diskSize == ByteCount(50))
        try catalog.remember(
            [KnownRevision(name: "main", kind: .branch, commit: commit("1"))], of: repository("microsoft/phi-4"),
            complete: true, at: 4)
        #expect(try ModelRegistry(catalog: catalog).model(alias: "phi-4")?.diskSize == ByteCount(11))
        try remember(
            "bartowski/phi-4-GGUF", "3",
            [
                file("README.md", 1), file("phi-4-Q4_K_M.gguf", 20), file("phi-4-Q4_K_M_L.gguf", 300),
                file("phi-4-Q8_0.gguf", 4000),
            ], at: 5)
        #expect(try ModelRegistry(catalog: catalog).model(alias: "phi-4-gguf")?.diskSize == ByteCount(21))
        // Without parameters the repository's size is a ceiling, except where it holds many quantisations.
        var whole = try RegistryEntry(alias: "whole", repository: RepositoryID("org/whole"))
        var record = ModelRecord(try repository("org/whole"))
        record.usedStorage = 5000
        try catalog.remember([record], at: 6)
        #expect(try catalog.sizes(of: [whole]) == ["whole": .atMost(ByteCount(5000))])
        #expect(try catalog.weights(of: ["x": whole]).isEmpty)
        whole.quantization = "Q4_K_M"
        #expect(try catalog.sizes(of: [whole]).isEmpty)
    }

    @Test func theUsersEntriesStandInTheirPlaces() throws {
        let catalog = try Place().open()
        try catalog.changeRegistry { registry in
            try registry.add(entry("zz", "org/zz"), replaces: false)
            try registry.add(entry("aa", "org/aa"), replaces: false)
            try registry.add(entry("qwen3-4b", "org/mine"), replaces: true)
            _ = registry.remove("phi-4")
        }
        let registry = try ModelRegistry(catalog: catalog)
        let shipped = ShippedRegistry.entries.map(\.alias)
        #expect(registry.entries.map(\.alias) == shipped.filter { $0 != "phi-4" } + ["aa", "zz"])
        #expect(registry.model(alias: "qwen3-4b")?.identifier.repository == "org/mine")
        #expect(registry.source(alias: "qwen3-4b") == .user && registry.model(alias: "phi-4") == nil)
        #expect(registry.curatedIDs.contains("org/zz") && !registry.curatedIDs.contains("microsoft/phi-4"))
        #expect(registry.entriesByRepository["org/mine"]?.alias == "qwen3-4b")
        #expect(registry.entriesByRepository["Qwen/Qwen3-4B"] == nil)
    }

    @Test func withoutAUsableCatalogTheFaultIsTold() throws {
        let place = try Place()
        let environment = HubEnvironment(["HUB_HOME": place.folder("state")])
        #expect(try ModelRegistry(environment: environment).catalogFault == nil)
        #expect(!FileSystem.exists(place.path))
        try place.folder.write("state/catalog.sqlite3", "this is no database, whatever its name may say about it")
        let registry = try ModelRegistry(environment: environment)
        #expect(registry.catalogFault?.code == .catalogUnusable)
        #expect(registry.allModels.count == ShippedRegistry.entries.count)
        #expect(
            ModelRegistry.entries(aliases: ["phi-4", "none"], environment: environment).mapValues(\.repository.name)
                == ["phi-4": "microsoft/phi-4"])
    }
}

private func entry(_ alias: String, _ id: String, _ change: (inout RegistryEntry) -> Void = { _ in }) throws
    -> RegistryEntry
{
    var out = try RegistryEntry(alias: alias, repository: RepositoryID(id))
    change(&out)
    return out
}
