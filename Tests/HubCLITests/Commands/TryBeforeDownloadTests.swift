import HubCore
import Support
import Testing

/// What `hub try` says of a name before anything is downloaded.
@Suite struct TryBeforeDownloadTests {
    private let stage: Stage
    private let folder: String

    init() throws {
        stage = try Stage.withModel()
        folder = try Fixtures.path("tiny-shakespeare")
    }

    /// What the Hub is asked for besides the list of files.
    private func fetched() -> [String] {
        stage.hub.requests.map(\.path).filter { $0.contains("/resolve/") }.map { Path.name($0) }
    }

    @Test func anotherArchitectureIsRefusedBeforeTheDownload() async throws {
        let repository = try ModelRepository("org/xlstm", in: stage.root)
        try repository.write("config.json", #"{"model_type": "xlstm", "architectures": ["xLSTMForCausalLM"]}"#)
        try repository.random("model.safetensors", size: 300_000)
        let result = try await stage.run("try", "org/xlstm", "--yes")
        #expect(result.status == 7 && result.output.isEmpty)
        #expect(
            result.error.hasPrefix(
                "hub: org/xlstm cannot be run yet: architecture xlstm\n     hub help architectures lists what hub runs, such as: hub try "
            ))
        #expect(result.error.hasSuffix("\n     transformers may run it, in Python\n"))
        #expect(try await stage.run("try", "org/xlstm", "x", "--yes", "--json").errorCode() == "unsupported_model")
        #expect(fetched() == ["config.json", "config.json"] && !FileSystem.exists(stage.cache))
        // Checks that compute nothing do not count.
        _ = try await stage.run("try", "org/xlstm", "--inspect", "--yes")
        #expect(FileSystem.exists(stage.cache))
    }

    /// It was the largest of all that fit, whatever the model was for.
    @Test func whatIsAdvisedInsteadIsSmallAndForTheSame() async throws {
        let cases: [(task: String?, type: String, advised: String?)] = [
            ("text-generation", "xlstm", "qwen3-1.7b"), ("feature-extraction", "xlstm", "qwen3-embedding-0.6b"),
            ("automatic-speech-recognition", "whisper", nil), (nil, "whisper", nil),
            ("object-detection", "rt_detr", nil),
        ]
        for (number, (task, type, advised)) in cases.enumerated() {
            let repository = try ModelRepository("org/m\(number)", in: stage.root)
            try repository.write("config.json", #"{"model_type": "\#(type)"}"#)
            try repository.random("model.safetensors", size: 3000)
            if let task { try repository.card(["pipeline_tag": .string(task)]) }
            let error = try await stage.run("try", "org/m\(number)", "--yes").error
            #expect(error.contains("cannot be run yet"), "\(error)")
            #expect(error.contains("hub try") == (advised != nil), "\(error)")
            if let advised { #expect(error.contains("such as: hub try \(advised)"), "\(error)") }
        }
        let here = try TemporaryFolder("whisper")
        try here.write("config.json", #"{"model_type": "whisper"}"#)
        try here.write("model.safetensors", Fixtures.bytes("tiny-shakespeare/model.safetensors"))
        #expect(try await !stage.run("try", here.path).error.contains("hub try"))
    }

    /// Its file names do not say what is in a GGUF file; its header does, which is read before the download.
    @Test func aGGUFFileThatCannotBeRunIsRefusedWithTheProgramThatRunsIt() async throws {
        let repository = try ModelRepository("org/many-GGUF", in: stage.root)
        var bytes = try Fixtures.bytes("tiny-shakespeare-gguf/model-f16.gguf")
        let name = Array("general.architecture".utf8)
        let key = try #require(bytes.firstRange(of: name))
        // Behind the key: its type, and the length of the text.
        let value = key.upperBound + 12
        #expect(Array(bytes[value..<value + 5]) == Array("llama".utf8))
        bytes.replaceSubrange(value..<value + 5, with: Array("xlstm".utf8))
        try repository.write("many-F16.gguf", bytes)
        let result = try await stage.run("try", "org/many-GGUF", "--yes")
        #expect(result.status == 7 && result.error.contains("cannot be run yet: architecture xlstm"))
        #expect(
            result.error.hasSuffix(
                "llama.cpp runs it: hub pull org/many-GGUF:many-F16.gguf && llama-cli -m \"$(hub path org/many-GGUF:many-F16.gguf)\"\n"
            ), "\(result.error)")
        #expect(!FileSystem.exists(stage.cache))
        let path = stage.root("org/many-GGUF/many-F16.gguf")
        #expect(try await stage.run("try", path).error.hasSuffix("llama.cpp runs it: llama-cli -m '\(path)'\n"))
        // What reads pictures cannot run alone.
        try repository.write("mmproj-F32.gguf", bytes)
        let projector = stage.root("org/many-GGUF/mmproj-F32.gguf")
        let error = try await stage.run("try", projector).error
        #expect(error.hasSuffix("llama-mtmd-cli -m MODEL.gguf --mmproj '\(projector)'\n"), "\(error)")
        #expect(!error.contains("llama-cli"))
    }

    @Test func whatNeedsMoreMemoryThanThereIsIsRefusedBeforeTheDownload() async throws {
        let repository = try ModelRepository("org/huge", in: stage.root)
        try repository.write(
            "config.json",
            """
            {"model_type": "llama", "architectures": ["LlamaForCausalLM"], "hidden_size": 1048576, \
            "num_hidden_layers": 10000, "num_attention_heads": 8192, "intermediate_size": 1048576, "vocab_size": 1024}
            """)
        try repository.random("model.safetensors", size: 300_000)
        try repository.write("tokenizer.json", "{}")
        let result = try await stage.run("try", "org/huge", "--yes")
        #expect(result.status == 6 && result.output.isEmpty)
        #expect(
            result.error.firstMatch(
                of:
                    /^hub: org\/huge needs about [\d.]+ [TP]B of memory with a context of 2,048 tokens; [\d.]+ GB is available\n/
            )
                != nil, "\(result.error)")
        #expect(fetched() == ["config.json"] && !FileSystem.exists(stage.cache))
    }

    @Test func aDamagedModelIsExit7() async throws {
        let damaged = try TemporaryFolder("damaged")
        for name in ["config.json", "tokenizer.json", "model.safetensors"] {
            let bytes = try Fixtures.bytes("tiny-shakespeare/\(name)")
            try damaged.write(name, name.hasSuffix("safetensors") ? Array(bytes.prefix(1_000_000)) : bytes)
        }
        let result = try await stage.run("try", damaged.path)
        #expect(result.status == 7 && result.output.hasPrefix("does not work: model.safetensors: "))
        #expect(result.output.contains("fail  model.safetensors: ") && result.error.isEmpty)
        #expect(result.output.contains("  tokenizer           skip  skipped: an earlier check failed\n"))
        #expect(try await stage.run("try", damaged.path, "--json").errorCode() == "malformed_model")
        // --check says it once, too.
        let checked = try await stage.run("try", damaged.path, "--check")
        #expect(checked.status == 7 && checked.error.isEmpty)
        #expect(checked.output.contains("  headers             fail  model.safetensors: "))
    }

    @Test func aModelThatIsNotHereNeedsAYes() async throws {
        let result = try await stage.run("try", "org/tiny")
        #expect(result.status == 2 && result.output.isEmpty)
        #expect(
            result.error == """
                hub: org/tiny is not in the cache
                     --yes downloads it (2.3 MB), as hub pull org/tiny does

                """)
        #expect(!FileSystem.exists(stage.cache))
        // Whatever is to be done with it, and by whatever command.
        let file = try stage.machine.write("words.txt", Array("some words".utf8))
        for words in [
            ["try", "org/tiny"], ["tokenize", "org/tiny", "Hi"], ["eval", "org/tiny", file],
            ["rank", "org/tiny", "Q", "A"], ["classify", "org/tiny", "Hi"], ["forecast", "org/tiny", file],
            ["chat", "org/tiny", "Hi"], ["chat", "org/tiny", "Hi", "--provider", "local"],
            ["embed", "org/tiny", "Hi", "--provider", "local"],
        ] {
            let refused = try await stage.run(words + ["--json"])
            #expect(try refused.status == 2 && refused.errorCode() == "confirmation_required", "\(words)")
            let error = try refused.document()["error"]
            #expect(error?["message"]?.string?.hasPrefix("org/tiny is not in the cache") == true, "\(words)")
            #expect(error?["advice"]?.string?.contains("--yes") == true, "\(words)")
        }
        let yes = try await stage.run("try", "org/tiny", "--yes", "-q")
        #expect(yes.status == 0 && yes.output == "pass\n")
        #expect(try await stage.run("ls", "-q").output == "org/tiny\n")
    }

    @Test func aYesOnATerminalFetchesAndANoDoesNot() async throws {
        for (answer, status) in [("n\n", Int32(2)), ("\n", 2), ("y\n", 0)] {
            let process = try stage.start(
                "try", "org/tiny", "--color", "never", terminal: .init(columns: 120, rows: 24))
            try await process.wait(forText: "Fetch it? [y/N] ")
            process.write(answer)
            let result = try await process.wait()
            #expect(result.status == status)
            #expect(result.terminal.contains("works: ") == (status == 0))
            #expect(result.terminal.contains("hub: org/tiny was not fetched") == (status == 2))
        }
    }

    @Test func offlineOnlyWhatIsHereRuns() async throws {
        let missing = try await stage.run("try", "org/tiny", "--offline", "--yes")
        #expect(missing.status == 5)
        #expect(
            missing.error == """
                hub: org/tiny is not in the cache, and the network is switched off
                     leave out --offline, or unset HF_HUB_OFFLINE

                """)
        #expect(stage.hub.requests.isEmpty)
        #expect(try await stage.run("pull", "org/tiny").status == 0)
        let seen = stage.hub.requests.count
        #expect(try await stage.run("try", "org/tiny", "--offline", "-q").output == "pass\n")
        #expect(stage.hub.requests.count == seen)
    }

    @Test func aFolderNamedLikeARepositoryIsPointedOut() async throws {
        func run(_ name: String) async throws -> String {
            try await RunningProcess.run(
                try BuiltProduct.path(), ["try", name, "--offline"], environment: stage.environment,
                directory: folder + "/../.."
            )
            .error
        }
        let parent = Path.name(Path.parent(folder))
        let name = "\(parent)/\(Path.name(folder))"
        let missing = try await run(name)
        #expect(
            missing.hasPrefix(
                "hub: taken as a repository on the Hub; to use the file or folder here, write ./\(name)\n"))
        let file = try await run("\(name)/config.json")
        #expect(file.hasSuffix("to use the file or folder here, write ./\(name)/config.json\n"), "\(file)")
    }

    @Test func whatIsNoModelIsSaidSo() async throws {
        let missing = try await stage.run("try", "./nope")
        #expect(missing.status == 3)
        #expect(
            missing.error == """
                hub: ./nope does not exist
                     hub try takes a folder with config.json and weights, or org/name

                """)
        let empty = try TemporaryFolder("empty")
        let result = try await stage.run("try", empty.path)
        #expect(result.status == 7 && result.error.contains("no weights"))
        let file = try await stage.run("try", "org/tiny:config.json")
        #expect(file.status == 2)
        #expect(
            file.error == """
                hub: org/tiny:config.json names a file; hub try takes a model
                     a GGUF file or a quantization, such as Q4_K_M, may follow the colon

                """)
        let both = try await stage.run("try", folder, "--greedy", "--temperature", "1")
        #expect(both.status == 2)
    }
}
