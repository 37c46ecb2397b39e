import HubCore
import Support
import Testing

/// What `hub try` and its neighbours say of models that lack something or are damaged.
@Suite struct TryTroubleTests {
    static let tiny = ["config.json", "model.safetensors", "tokenizer.json"]

    private static func stage(_ names: [String]) throws -> Stage {
        try Stage { root in
            let repository = try ModelRepository("org/m", in: root)
            for name in names { try repository.write(name, Fixtures.bytes("tiny-shakespeare/\(name)")) }
        }
    }

    /// Takes a cached file away, its blob too, as a download that was cut off leaves it.
    private func lose(_ name: String, _ stage: Stage) async throws {
        let path = Path.join(try await stage.path("org/m"), name)
        let blob = try #require(FileSystem.resolved(path))
        _ = try FileSystem.remove(blob)
        _ = try FileSystem.remove(path)
    }

    // MARK: No tokenizer

    /// It printed nothing at all.
    @Test func aModelWithoutATokenizerIsToldWhatItLacks() async throws {
        let stage = try Self.stage(["config.json", "model.safetensors"])
        let before = try await stage.run("try", "org/m", "--yes")
        #expect(before.status == 7 && before.output.isEmpty && !FileSystem.exists(stage.cache))
        #expect(before.error.hasPrefix("hub: org/m cannot be run yet: no tokenizer.json or tokenizer.model\n"))
        #expect(try await stage.run("pull", "org/m").status == 0)
        for words in [["try", "org/m"], ["try", "org/m", "Hello", "--raw"]] {
            let result = try await stage.run(words)
            #expect(result.status == 7 && result.output.isEmpty)
            #expect(result.error == before.error, "the same as before the download")
        }
        let tokens = try await stage.run("try", "org/m", "--tokenize", "Hello")
        #expect(
            tokens.status == 7
                && tokens.error.hasSuffix(
                    ": there is no tokenizer.json or tokenizer.model; hub needs one of them\n")
        )
        #expect(try await stage.run("try", "org/m", "--json").errorCode() == "unsupported_model")
    }

    @Test func aTokenizerModelThatHubCannotReadIsNamed() async throws {
        let stage = try Self.stage(["config.json", "model.safetensors"])
        try FileSystem.replace(stage.root("org/m/tokenizer.model"), with: Array("other".utf8))
        let result = try await stage.run("try", stage.root("org/m"))
        #expect(result.status == 7 && result.error.contains("tokenizer.model: it is not a SentencePiece model\n"))
    }

    // MARK: Another program

    @Test func whatMLXPackedIsForMLX() async throws {
        let stage = try Stage { root in
            let repository = try ModelRepository("org/m-4bit", in: root)
            let config = try Fixtures.text("tiny-shakespeare-mlx-4bit/config.json")
            try repository.write(
                "config.json", config.replacing("\"llama\"", with: "\"xlstm\"").replacing("Llama", with: "xLSTM"))
            for name in ["model.safetensors", "tokenizer.json"] {
                try repository.write(name, Fixtures.bytes("tiny-shakespeare-mlx-4bit/\(name)"))
            }
            try repository.card(["library_name": "mlx", "tags": .array(["mlx"])])
        }
        let line = "mlx-lm runs it, on Apple silicon: "
        let command = "mlx_lm.generate --model \"$(hub path org/m-4bit)\" --prompt Hello\n"
        let before = try await stage.run("try", "org/m-4bit", "--yes")
        #expect(before.status == 7 && before.error.hasSuffix("\(line)hub pull org/m-4bit && \(command)"))
        #expect(try await stage.run("pull", "org/m-4bit").status == 0)
        for words in [["try", "org/m-4bit"], ["try", "org/m-4bit", "Hello"]] {
            #expect(try await stage.run(words).error.hasSuffix(line + command))
        }
        let folder = stage.root("org/m-4bit")
        #expect(
            try await stage.run("try", folder).error.hasSuffix(
                "\(line)mlx_lm.generate --model '\(folder)' --prompt Hello\n"))
    }

    // MARK: An incomplete download

    @Test func anIncompleteDownloadIsToldWithTheCommandThatFinishesIt() async throws {
        let stage = try Self.stage(Self.tiny)
        #expect(try await stage.run("pull", "org/m").status == 0)
        try await lose("model.safetensors", stage)
        let sentence = "the download is incomplete; hub pull org/m finishes it"
        for words in [["try", "org/m"], ["try", "org/m", "--check"], ["try", "org/m", "--offline"]] {
            let result = try await stage.run(words)
            #expect(result.status == 7 && result.error == "hub: org/m: \(sentence)\n", "\(words): \(result.error)")
        }
        let path = try await stage.run("path", "org/m")
        #expect(path.status == 0 && path.error == "hub: org/m: \(sentence)\n" && path.lines.count == 1)
        for flags in [[], ["--offline"]] {
            let info = try await stage.run(["info", "org/m"] + flags)
            #expect(info.status == 0 && info.output.contains(sentence), "\(info.output)")
        }
        #expect(try await stage.run("pull", "org/m").status == 0)
        #expect(try await stage.run("try", "org/m", "-q").output == "pass\n")
        #expect(try await stage.run("path", "org/m").error.isEmpty)
        #expect(try await !stage.run("info", "org/m").output.contains("incomplete"))
    }

    /// What others fetch by halves on purpose runs.
    @Test func whatIsMissingButNotNeededIsNoObstacle() async throws {
        let stage = try Self.stage(Self.tiny + ["special_tokens_map.json"])
        #expect(try await stage.run("pull", "org/m").status == 0)
        try await lose("special_tokens_map.json", stage)
        let result = try await stage.run("try", "org/m", "-q")
        #expect(result.status == 0 && result.output == "pass\n" && result.error.isEmpty)
    }

    // MARK: Damage

    /// A damaged weight computes all the same, and the verdict was a pass.
    @Test func damageThatVerifyFoundIsHeeded() async throws {
        let stage = try Self.stage(Self.tiny)
        #expect(try await stage.run("pull", "org/m").status == 0)
        let path = Path.join(try await stage.path("org/m"), "model.safetensors")
        let blob = try #require(FileSystem.resolved(path))
        var bytes = try #require(try FileSystem.contents(blob))
        bytes[1_000_000] ^= 1
        try FileSystem.replace(blob, with: bytes)
        #expect(try await stage.run("verify", "org/m").status == 1)
        for words in [["try", "org/m"], ["try", "org/m", "--check"], ["try", "org/m", "Hello"]] {
            let result = try await stage.run(words)
            #expect(result.status == 7 && result.output.isEmpty)
            #expect(
                result.error == """
                    hub: org/m: hub verify found model.safetensors damaged
                         hub verify --repair org/m repairs it

                    """)
        }
        #expect(try await stage.run("try", "org/m", "--json").errorCode() == "malformed_model")
        let told = "hub verify found model.safetensors damaged; hub verify --repair org/m repairs it\n"
        #expect(try await stage.run("info", "org/m").output.contains("  damaged     \(told)"))
        #expect(try await stage.run("info", "org/m", "--json").document()["damaged"]?.bool == true)
        // Neither fetches it again, for what was found may be what somebody changed on purpose; neither is silent.
        for words in [["pull", "org/m"], ["path", "org/m"]] {
            let result = try await stage.run(words)
            #expect(result.status == 0 && result.error == "hub: warning: org/m: \(told)", "\(words)")
        }
        let doctor = try await stage.run("doctor", "--offline")
        #expect(doctor.status == 1 && doctor.output.contains("hub verify found damage in 1 revision\n"))
        #expect(try await stage.run("verify", "--repair", "org/m").status == 0)
        #expect(try await !stage.run("info", "org/m").output.contains("damaged"))
        #expect(try await stage.run("try", "org/m", "-q").output == "pass\n")
    }
}
