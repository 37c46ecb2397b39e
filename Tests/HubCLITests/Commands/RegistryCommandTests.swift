import Catalog
import HubCore
import Support
import Testing

@testable import HubCLI

@Suite struct RegistryCommandTests {
    let stage: Stage

    init() throws {
        stage = try Stage { root in
            try ModelRepository.tiny("org/tiny", in: root)
            let many = try ModelRepository("org/many-GGUF", in: root)
            try many.random("many-Q4_K_M.gguf", size: 3000)
            try many.random("many-Q8_0.gguf", size: 5000)
            try many.write("config.json", "{}")
        }
    }

    private func add(_ words: String...) async throws {
        let result = try await RunningProcess.run(
            BuiltProduct.path(), ["registry", "add"] + words, environment: stage.environment)
        try #require(result.status == 0, "\(result.error)")
    }

    // MARK: The list

    @Test func theListOfOneCapability() async throws {
        try stage.plant("models--openai--whisper-base", commit: commit("1"), files: ["config.json": "{}"])
        try await add(
            "ears", "org/ears", "--capability", "transcription", "--memory", "1kB", "--pick", "--parameters",
            "1000000",
            "--quantization", "q8", "--context-length", "448", "--name", "Ears", "--description", "Hears.",
            "--size",
            "small")
        let result = try await stage.run("registry", "ls", "--capability", "transcription")
        #expect(result.status == 0 && result.error.isEmpty)
        let rows = result.lines.map(settled)
        #expect(rows[0] == "  ALIAS  MODEL  PARAMS  QUANT  SIZE  MEMORY  CONTEXT  GOOD FOR")
        #expect(
            rows.contains {
                $0.hasPrefix("●")
                    && $0.contains("whisper-base  openai/whisper-base  72.6M  ~145 MB  2.0 GB  transcription")
            })
        #expect(rows.contains(" ★  ears  org/ears  1.0M  q8  ~1.1 MB  1.0 kB  448  transcription  yours"))
        #expect(
            rows.last?.wholeMatch(of: /12 models; ● cached, ★ recommended for .* of memory/)
                != nil)
        #expect(try await stage.run("registry", "-q").lines.count == 162)
    }

    @Test func withoutUnicodeTheMarksAreASCII() async throws {
        try await add("ears", "org/ears", "--memory", "1kB", "--pick")
        let result = try await stage.run("registry", "ls", "--recommended", with: ["LC_ALL": "C"])
        #expect(result.lines.contains { $0.hasPrefix(" +   ears") })
        #expect(result.output.utf8.allSatisfy { $0 < 0x80 })
    }

    @Test func noLineIsWiderThanTheTerminal() async throws {
        let result = try await stage.run("registry", "--color", "never", terminal: .init(.output, columns: 60))
        let lines = result.terminal.split(separator: "\r\n").map(String.init)
        #expect(result.status == 0 && lines.count == 164)
        for line in lines { #expect(DisplayWidth.of(line) <= 60, "\(line)") }
    }

    @Test func noNameIsCutOnEightyColumns() async throws {
        let result = try await stage.run("registry", "--color", "never", terminal: .init(.output, columns: 80))
        let lines = result.terminal.split(separator: "\r\n").map(String.init)
        for line in lines { #expect(DisplayWidth.of(line) <= 80, "\(line)") }
        #expect(lines.contains { $0.contains("qwen3-4b-2507-gguf          unsloth/Qwen3-4B-Instruct-2507-GGUF") })
        // Those of more than 47 columns cannot stand beside the longest alias.
        #expect(lines.count { $0.contains("…") } == 2)
    }

    @Test func aMarkSaysWhatHubRuns() async throws {
        let document = try await stage.run("registry", "--json").document()
        let runs = document.objects("models").filter { $0["runs"]?["possible"]?.bool == true }
        let aliases = runs.compactMap { $0["alias"]?.string }
        #expect(
            aliases.contains("smollm2-135m") && aliases.contains("llama-3.2-1b")
                && aliases.contains("deepseek-r1-8b"))
        #expect(["qwen3-8b-mlx", "gemma-3-4b-gguf", "mistral-7b-gguf", "bge-small"].allSatisfy(aliases.contains))
        #expect(!aliases.contains { $0.hasPrefix("whisper") || $0.contains("-vision") || $0.contains("-vl-") })
        let name = "llama-3.2-11b-vision"
        let why = document.objects("models").first { $0["alias"]?.string == name }?["runs"]?["why"]?.string
        #expect(why == "the architecture mllama is not supported yet")
        // Every shipped entry says what it is.
        #expect(document.objects("models").allSatisfy { $0["runs"] != nil })
        let list = try await stage.run("registry")
        #expect(list.lines.contains { $0.contains("▸  smollm2-135m  ") })
        #expect(
            list.lines.contains { $0.hasPrefix("     \(name)  ") || $0.hasPrefix(" ★   \(name)  ") })
        #expect(list.lines.last?.hasSuffix(", ▸ runs in hub try") == true)
    }

    @Test func theDocument() async throws {
        try await add("mine", "org/tiny", "--capability", "embeddings", "--memory", "2GB")
        #expect(try await stage.run("info", "mine", "-q").output == "org/tiny\n")
        let document = try await stage.run("registry", "--json").document()
        document.expectKeys("models memory_bytes")
        let models = document.objects("models")
        for model in models {
            model.expectKeys(
                """
                alias id provider name description size context_length capabilities parameters quantization \
                architecture format memory_bytes recommended size_bytes size_from cached source runs
                """)
        }
        let mine = try #require(models.last)
        #expect(
            JSON.object(mine).text() == """
                {"alias":"mine","id":"org/tiny","name":"tiny","capabilities":["embeddings"],"memory_bytes":2000000000,\
                "provider":"huggingface","recommended":false,"size_bytes":300026,"size_from":"files","cached":false,\
                "source":"user"}
                """)
        #expect(models.filter { $0["source"]?.string == "shipped" }.count == models.count - 1)
        let few = try await stage.run("registry", "ls", "--recommended", "--json").document().objects("models")
        #expect(!few.isEmpty && few.count < models.count && few.allSatisfy { $0["recommended"]?.bool == true })
    }

    @Test func whatASearchSaysOfACuratedModel() throws {
        let entry = try #require(ModelRegistry(catalog: nil).entriesByRepository["openai/whisper-tiny"])
        #expect(
            entry.curatedJSON.text() == """
                {"alias":"whisper-tiny","name":"Whisper tiny","description":"Speech to text in many languages, tiny and \
                quick.","capabilities":["transcription"]}
                """)
    }

    // MARK: Changes

    @Test func addAndRemove() async throws {
        #expect(
            try await stage.run("registry", "add", "mine", "org/tiny").output == "added alias mine for org/tiny\n")
        #expect(
            try await stage.run("registry", "add", "mine", "org/x", "--replace").output
                == "added alias mine for org/x\n")
        #expect(try await stage.run("registry", "rm", "mine").output == "removed alias mine\n")
        #expect(
            try await stage.run("registry", "rm", "phi-4").output
                == "hid alias phi-4; hub registry add phi-4 restores it\n")
        #expect(!(try await stage.run("registry", "ls", "-q").lines.contains("phi-4")))
        #expect(
            try await stage.run("registry", "add", "phi-4").output == "restored alias phi-4 for microsoft/phi-4\n")
        #expect(try await stage.run("registry", "add", "phi-4", "org/x", "--replace", "-q").output == "phi-4\n")
        #expect(
            try await stage.run("registry", "rm", "phi-4", "--json").output
                == "{\"removed\":[{\"alias\":\"phi-4\",\"id\":\"org/x\",\"source\":\"user\"}]}\n")
        #expect(stage.hub.requests.isEmpty)
    }

    @Test func oneBadAliasDoesNotStopTheOthers() async throws {
        let result = try await stage.run("registry", "rm", "none", "phi-4")
        #expect(result.status == 3 && result.output == "hid alias phi-4; hub registry add phi-4 restores it\n")
        #expect(
            result.error == """
                hub: "none" is not in the registry
                     hub registry ls lists the aliases

                """)
    }

    @Test(arguments: [
        (["lst"], "hub registry does not know \"lst\""), (["add"], "missing ALIAS"),
        (["add", "a", "o/n", "x"], "unexpected argument \"x\""),
        (["ls", "x"], "unexpected argument \"x\""), (["rm"], "missing ALIAS"),
        (["import"], "missing FILE"),
        (["ls", "--all"], "--all is not a flag of hub registry ls"),
        (["rm", "x", "--name", "y"], "--name is not a flag of hub registry rm"),
        (["export", "--recommended"], "--recommended is not a flag of hub registry export"),
        (["add", "a"], "missing REPO: a is not a hidden entry of the shipped list"),
        (["add", "phi-4"], "missing REPO: phi-4 is not a hidden entry of the shipped list"),
        (["add", "Big", "o/n"], "\"Big\" cannot be an alias: \"B\" is not allowed"),
        (["add", "o/n", "o/n"], "\"o/n\" cannot be an alias: with a slash it names a repository"),
        (["add", "phi-4", "o/n"], "phi-4 is already the shipped alias of microsoft/phi-4"),
        (["add", "a", "o/n@main"], "\"o/n@main\" is not a whole model"),
        (["add", "a", "datasets/o/n"], "\"datasets/o/n\" is not a whole model"),
        (["add", "a", "o/n", "--capability", "magic"], "--capability: invalid value \"magic\""),
        (["add", "a", "o/n", "--size", "huge"], "--size: invalid value \"huge\""),
        (["add", "a", "o/n", "--memory", "much"], "--memory: \"much\" is not a size"),
        (["add", "a", "o/n", "--name", "\u{1B}[2J"], "--name: it holds control characters"),
        (["add", "a", "o/n", "--format", "local"], "--format: invalid value \"local\""),
        (["add", "a", "o/n", "--parameters", "0"], "--parameters: 0 is out of bounds: it must be at least 1"),
    ])
    func badInput(_ words: [String], _ message: String) async throws {
        let result = try await RunningProcess.run(
            BuiltProduct.path(), ["registry"] + words, environment: stage.environment)
        #expect(result.status == 2 && result.output.isEmpty)
        #expect(result.error.hasPrefix("hub: \(message)"), "\(result.error)")
        let user = try await stage.run("registry", "export", "--json")
        #expect(user.output == "{\"models\":[]}\n")
    }

    @Test func twoProcessesAddAtOnce() async throws {
        // Which of them is first is theirs to settle; nothing of either may be lost.
        let processes = try (0..<6).map { try stage.start("registry", "add", "own-\($0)", "org/n\($0)") }
        for process in processes {
            let result = try await process.wait()
            #expect(result.status == 0, "\(result.error)")
        }
        let models = try await stage.run("registry", "export", "--json").document().objects("models")
        #expect(models.map { $0["alias"]?.string } == (0..<6).map { "own-\($0)" })
    }

    // MARK: import, export

    @Test func exportGoesThroughImportUnchanged() async throws {
        try await add(
            "mine", "org/tiny", "--provider", "mlx", "--description", "Ä \"b\"", "--capability", "reasoning")
        #expect(try await stage.run("registry", "rm", "phi-4").status == 0)
        let export = try await stage.run("registry", "export").output
        #expect(
            export == """
                {
                  "models": [
                    {
                      "alias": "mine",
                      "id": "org/tiny",
                      "provider": "mlx",
                      "name": "tiny",
                      "description": "Ä \\"b\\"",
                      "capabilities": [
                        "reasoning"
                      ]
                    }
                  ],
                  "hidden": [
                    "phi-4"
                  ]
                }

                """)
        let other = ["HUB_HOME": stage.machine("other")]
        let imported = try await stage.run("registry", "import", "-", with: other, input: export)
        #expect(imported.status == 0 && imported.output == "1 added, 1 hidden\n")
        #expect(try await stage.run("registry", "export", with: other).output == export)
        let whole = try await stage.run("registry", "export", "--all", with: other).output
        let file = try stage.machine.write("list.json", whole)
        let third = ["HUB_HOME": stage.machine("third")]
        #expect(try await stage.run("registry", "import", file, "-q", with: third).output == "mine\nphi-4\n")
        #expect(try await stage.run("registry", "export", with: third).output == export)
        #expect(try await stage.run("registry", "import", file, "-q", with: third).output == "")
    }

    @Test func aBadFileIsRefusedWhole() async throws {
        let good = "{\"alias\":\"good\",\"id\":\"org/good\"}"
        let cases: [(String, String)] = [
            (
                "{\"models\":[\(good),{\"alias\":\"x\",\"id\":\"o/n\",\"size\":1}]}",
                "models[1]: \"size\": it is not a string"
            ),
            ("{\"models\":[\(good),\(good)]}", "models[1]: the alias good is also that of models[0]"),
            (
                "{\"models\":[\(good),{\"alias\":\"x\",\"id\":\"o/n\",\"name\":\"\\u001b]0;x\\u0007\"}]}",
                "models[1]: \"name\": it holds control characters"
            ),
            (String(repeating: "[", count: 200_000), "not JSON: "),
            ("", "not JSON: "), ("{}", "\"models\" is missing or is not a list"),
        ]
        for (text, message) in cases {
            let file = try stage.machine.write("bad.json", text)
            let result = try await stage.run("registry", "import", file)
            #expect(result.status == 2 && result.output.isEmpty)
            #expect(result.error.hasPrefix("hub: \(file): \(message)"), "\(result.error)")
            let piped = try await stage.run("registry", "import", "-", input: text)
            #expect(piped.status == 2 && piped.error.hasPrefix("hub: standard input: \(message)"), "\(piped.error)")
        }
        try stage.machine.write("huge.json", [UInt8](repeating: 32, count: (4 << 20) + 1))
        let huge = try await stage.run("registry", "import", stage.machine("huge.json"))
        #expect(huge.status == 6 && huge.error.contains("has 4194305 bytes, more than 4194304"))
        let none = try await stage.run("registry", "import", stage.machine("none.json"))
        #expect(none.status == 3 && none.error.hasPrefix("hub: \(stage.machine("none.json")) does not exist\n"))
        #expect(try await stage.run("registry", "export", "--json").output == "{\"models\":[]}\n")
    }

    // MARK: Aliases

    @Test func anAliasIsUnderstoodWhereverAModelIs() async throws {
        try await add("mine", "org/tiny")
        let pull = try await stage.run("pull", "mine@main:config.json", "-v")
        #expect(pull.status == 0 && pull.output.hasPrefix("org/tiny at "))
        #expect(pull.error.contains("hub: debug: mine is the registry's alias of org/tiny\n"))
        let snapshot = try await stage.path("org/tiny")
        #expect(try await stage.run("path", "mine").output == "\(snapshot)\n")
        #expect(try await stage.run("path", "mine:config.json").output == "\(snapshot)/config.json\n")
        #expect(try await stage.run("path", "mine@main", "--json").document()["path"]?.string == snapshot)
        #expect(try await stage.run("ls", "mine", "-q").output == "org/tiny\n")
        #expect(try await stage.run("info", "mine", "--offline", "-q").output == "org/tiny\n")
        let kept = try await stage.run("gc", "--unused-for", "0d", "--keep", "mine", "--dry-run", "--json")
        #expect(try kept.document().objects("plan").isEmpty)
        let inspected = try await stage.run("try", "mine", "--inspect").output
        #expect(try await inspected == stage.run("try", "org/tiny", "--inspect").output && !inspected.isEmpty)
        let removed = try await stage.run("rm", "mine", "--yes", "--json").document()
        #expect(removed.objects("plan").map { $0["id"]?.string } == ["org/tiny"])
        #expect(try await stage.run("path", "mine").error.hasPrefix("hub: org/tiny is not in the cache"))
    }

    /// A short name does not mean all quantisations of a model.
    @Test func anAliasThatMeansOneQuantisationTakesThat() async throws {
        try await add("many", "org/many-GGUF", "--quantization", "Q4_K_M")
        func files(_ words: String...) async throws -> [String] {
            let result = try await RunningProcess.run(
                BuiltProduct.path(), ["pull", "--estimate", "--json"] + words, environment: stage.environment)
            return try result.document().objects("models").flatMap { $0.objects("files") }.compactMap {
                $0["path"]?.string
            }
        }
        #expect(try await files("many") == ["config.json", "many-Q4_K_M.gguf"])
        #expect(try await files("many", "--quant", "Q8_0") == ["config.json", "many-Q8_0.gguf"])
        #expect(try await files("many:*Q8_0*") == ["many-Q8_0.gguf"])
        let all = ["config.json", "many-Q4_K_M.gguf", "many-Q8_0.gguf"]
        #expect(try await files("many", "--format", "all") == all)
        #expect(try await files("org/many-GGUF") == all)
        let said = try await stage.run("pull", "many", "--estimate")
        #expect(
            said.error
                == "hub: org/many-GGUF: taking Q4_K_M, 3.0 kB: the alias means Q4_K_M; --format all takes every file\n"
        )
    }

    @Test func anAliasGoesBeforeAModelOfOneWord() async throws {
        try stage.plant("models--gpt2", commit: commit("2"), files: ["config.json": "{}"])
        #expect(try await stage.run("path", "gpt2").output.hasSuffix("models--gpt2/snapshots/\(commit("2"))\n"))
        try await add("gpt2", "org/tiny")
        #expect(try await stage.run("path", "gpt2").error.hasPrefix("hub: org/tiny is not in the cache"))
    }

    /// Start-up is measured: what cannot be an alias opens nothing.
    @Test func aReferenceWithASlashLooksNothingUp() async throws {
        for alias in ["org", "hf", "http", "tiny"] { try await add(alias, "org/other") }
        for word in ["org/tiny", "hf://org/tiny", "\(stage.hub.endpoint)/org/tiny"] {
            let environment = HubEnvironment(stage.environment)
            let outcome = ArgumentParser.parse(["path", word])
            let context = Context(
                GlobalOptions(outcome.arguments), environment: environment, streams: .init(),
                interruption: Interruption(), runsCommand: { _, _ in 0 })
            let typed = try #require(outcome.command).references(in: outcome.arguments)
            let resolved = await context.resolvingAliases(typed)
            #expect(resolved.aliases.isEmpty)
        }
    }

    @Test func withoutAUsableCatalogTheShippedListStandsAndTheFaultIsSaidOnce() async throws {
        try stage.machine.write("state/catalog.sqlite3", "this is no database, whatever its name says")
        for words in [["registry", "ls", "-q"], ["path", "phi-4"]] {
            let result = try await RunningProcess.run(BuiltProduct.path(), words, environment: stage.environment)
            #expect(result.error.components(separatedBy: "continuing without the catalog").count == 2)
            #expect(
                words[0] == "path"
                    ? result.error.contains("microsoft/phi-4 is not in") : result.lines.contains("phi-4"))
        }
        let add = try await stage.run("registry", "add", "mine", "org/tiny")
        #expect(add.status == 6 && add.error.hasPrefix("hub: the catalog \(stage.catalog) is damaged"))
    }
}

extension String {
    fileprivate func components(separatedBy separator: String) -> [Substring] {
        split(separator: separator, omittingEmptySubsequences: false)
    }
}
