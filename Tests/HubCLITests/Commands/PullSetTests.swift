import HubCore
import Support
import Testing

/// `hub pull --format` and `--quant`: which files come, and what is said where the choice is not clear.
@Suite struct PullSetTests {
    let stage: Stage

    init() throws {
        stage = try Stage { root in
            let many = try ModelRepository("org/many", in: root)
            for (name, size) in [
                ("many-Q8_0.gguf", 5000), ("many-Q4_K_M.gguf", 3000), ("F16/many-F16-00001-of-00002.gguf", 6000),
                ("F16/many-F16-00002-of-00002.gguf", 3000), ("mmproj-many-F16.gguf", 700), ("imatrix.dat", 90),
                ("many-UD-Q2_K_XL.gguf", 2000),
            ] { try many.random(name, size: size) }
            try many.write("README.md", "many\n")
            try many.write("config.json", "{}")

            let both = try ModelRepository("org/both", in: root)
            for name in [
                "model.safetensors", "pytorch_model.bin", "onnx/model.onnx", "both-Q4_0.gguf",
                "consolidated.safetensors",
            ] { try both.random(name, size: 4000) }
            try both.write("tokenizer.json", "{}")
            try both.write("config.json", "{}")

            let parts = try ModelRepository("org/parts", in: root)
            for name in ["model.safetensors", "pytorch_model.bin", "2_Dense/pytorch_model.bin"] {
                try parts.random(name, size: 2000)
            }

            let mlx = try ModelRepository("org/apple", in: root)
            try mlx.random("model.safetensors", size: 4000)
            try mlx.write("config.json", "{}")
            try mlx.card(["library_name": "transformers", "tags": .array(["mlx", "4-bit"])])

            try ModelRepository("org/words", in: root).write("tokenizer.json", "{}")
            try ModelRepository("org/data", in: root, kind: .dataset).write("a.csv", "1,2\n")
        }
    }

    /// The paths that come, and stderr.
    private func pulled(_ words: String...) async throws -> (files: [String], error: String) {
        let result = try await stage.run(["pull", "--json"] + words)
        let files = try result.document().objects("models").flatMap { $0.objects("files") }
        #expect(result.status == 0 && files.allSatisfy { $0["status"]?.string != "failed" }, "\(result.error)")
        return (files.compactMap { $0["path"]?.string }, result.error)
    }

    private func refused(_ words: String...) async throws -> (status: Int32, error: String) {
        let result = try await stage.run(["pull"] + words)
        #expect(result.output.isEmpty && !FileSystem.exists(stage.cache))
        return (result.status, result.error)
    }

    @Test func oneQuantisationWithItsProjectorAndWhatIsNoWeights() async throws {
        let expected = ["README.md", "config.json", "many-Q4_K_M.gguf", "mmproj-many-F16.gguf"]
        for name in ["Q4_K_M", "q4_k_m"] {
            let (files, error) = try await pulled("org/many", "--quant", name)
            #expect(files == expected && error.isEmpty)
        }
        #expect(try await pulled("org/many", "--format", "gguf", "--quant", "q2_k_xl").files.count == 4)
        let shards = try await pulled("org/many", "--quant", "f16", "--exclude", "*.md")
        #expect(
            shards.files == [
                "F16/many-F16-00001-of-00002.gguf", "F16/many-F16-00002-of-00002.gguf", "config.json",
                "mmproj-many-F16.gguf",
            ])
        // The cache holds what was chosen, and the summary counts it alone.
        let again = try await stage.run("pull", "org/many", "--quant", "Q4_K_M")
        #expect(again.output.contains(": 4 files, 3.7 kB, nothing to fetch\n"))
        #expect(!FileSystem.exists(Path.join(try await stage.path("org/many"), "many-Q8_0.gguf")))
    }

    @Test func safetensorsWithoutTheOtherFormats() async throws {
        let (files, error) = try await pulled("org/both", "--format", "safetensors")
        #expect(files == ["config.json", "model.safetensors", "tokenizer.json"] && error.isEmpty)
        #expect(
            try await pulled("org/both", "--format", "safetensors", "--quant", "consolidated").files == [
                "config.json", "consolidated.safetensors", "tokenizer.json",
            ])
        #expect(
            try await pulled("org/both:*.safetensors", "--format", "safetensors").files == ["model.safetensors"])
        #expect(try await pulled("org/both", "--format", "gguf", "--include", "*.gguf").files == ["both-Q4_0.gguf"])
        for words in [["org/both", "--format", "all"], ["org/both"]] {
            let result = try await RunningProcess.run(
                BuiltProduct.path(), ["pull", "--json"] + words, environment: stage.environment)
            #expect(try result.document().objects("models")[0].objects("files").count == 7)
        }
    }

    @Test func aPartThatIsInNoOtherFormatIsNamed() async throws {
        let (files, error) = try await pulled("org/parts", "--format", "safetensors")
        #expect(files == ["2_Dense/pytorch_model.bin", "model.safetensors"])
        #expect(
            error
                == "hub: org/parts: also taking 2_Dense/pytorch_model.bin: the model has this part in no other format\n"
        )
    }

    @Test func automaticallyWhatThisMachineCanUse() async throws {
        let both = try await pulled("org/both", "--format", "auto")
        #expect(both.files == ["config.json", "model.safetensors", "tokenizer.json"])
        #expect(both.error == "hub: org/both: taking safetensors, 4.0 kB\n")
        let many = try await pulled("org/many", "--format", "auto")
        #expect(many.files == ["README.md", "config.json", "many-Q8_0.gguf", "mmproj-many-F16.gguf"])
        let budget = ByteCount(try Machine.memory().total / 4 * 3)
        #expect(
            many.error
                == "hub: org/many: taking Q8_0, 5.0 kB, the largest quantized set that fits in \(budget), three quarters of the memory\n"
        )
        #expect(try await pulled("org/words", "--format", "auto").files == ["tokenizer.json"])
        #expect(try await stage.run("pull", "org/many", "--format", "auto", "-q").error.isEmpty)
    }

    @Test func severalSetsAreExit2WithTheirSizes() async throws {
        let (status, error) = try await refused("org/many", "--format", "gguf")
        #expect(status == 2)
        #expect(
            error == """
                hub: org/many has 4 sets of GGUF weights; --quant chooses one
                     UD-Q2_K_XL  2.0 kB  gguf
                     Q4_K_M      3.0 kB  gguf
                     Q8_0        5.0 kB  gguf
                     F16         9.0 kB  gguf

                """)
        let document = try await stage.run("pull", "org/many", "--format", "gguf", "--json")
        #expect(try document.errorCode() == "invalid_input")
    }

    @Test func whatIsNotThereIsExit3WithWhatIs() async throws {
        let quant = try await refused("org/many", "--quant", "Q5_K_M")
        #expect(quant.status == 3)
        #expect(
            quant.error == """
                hub: org/many has no GGUF weights called Q5_K_M
                     it has
                     UD-Q2_K_XL  2.0 kB  gguf
                     Q4_K_M      3.0 kB  gguf
                     Q8_0        5.0 kB  gguf
                     F16         9.0 kB  gguf

                """)
        let format = try await refused("org/both", "--format", "mlx")
        #expect(format.status == 3)
        #expect(
            format.error == """
                hub: org/both has no MLX weights
                     it has
                     Q4_0          4.0 kB  gguf
                     consolidated  4.0 kB  safetensors
                     onnx          4.0 kB
                     pytorch       4.0 kB
                     safetensors   4.0 kB

                """)
        let none = try await refused("org/words", "--format", "safetensors")
        #expect(none.status == 3)
        #expect(
            none.error == """
                hub: org/words has no safetensors weights
                     none of its files looks like weights; leave out --format and --quant to fetch all files

                """)
        // Globs on top that leave nothing of it.
        let nothing = try await refused("org/many", "--quant", "Q8_0", "--include", "*.txt")
        #expect(nothing.status == 3)
        #expect(nothing.error.hasPrefix("hub: no file of org/many matches \"*.txt\" among the files of Q8_0\n"))
    }

    @Test func wishesThatContradictAreExit2() async throws {
        let all = try await refused("org/many", "--format", "all", "--quant", "Q8_0")
        #expect(all.status == 2)
        #expect(all.error == "hub: --format all takes every set of weights; --quant Q8_0 takes one\n")
        let data = try await refused("datasets/org/data", "--format", "auto")
        #expect(data.status == 2)
        #expect(
            data.error
                == "hub: datasets/org/data is not a model; --format and --quant choose among the weights of a model\n"
        )
        let unknown = try await refused("org/many", "--format", "ggml")
        #expect(
            unknown.status == 2 && unknown.error.contains("it must be one of auto, safetensors, gguf, mlx, all"))
        #expect(try await refused("org/many", "--quant", "").status == 2)
    }

    @Test func anEstimateCountsTheChosenSetAlone() async throws {
        let estimate = try await stage.run("pull", "org/many", "--quant", "Q8_0", "--estimate", "--json")
        let document = try estimate.document()
        #expect(document["download_bytes"]?.int == 5707 && document["memory_bytes"]?.int == 6000)
        #expect(!FileSystem.exists(stage.cache))
    }

    /// Tags come from the Hub, from the catalog after it, and for a commit that was never asked about from the Hub again.
    @Test func tagsTellMLX() async throws {
        let tagged = try await stage.run("pull", "org/apple", "--format", "mlx", "-q")
        #expect(tagged.status == 0)
        let commit = Path.name(String(tagged.output.dropLast()))
        for variables in [[:], ["HUB_HOME": stage.machine("other")]] {
            let exact = try await stage.run(
                "pull", "org/apple@\(commit)", "--quant", "4bit", "--json", with: variables)
            #expect(exact.status == 0)
            #expect(try exact.document().objects("models")[0].objects("files").count == 2)
        }
        let offline = try await stage.run("pull", "org/apple", "--format", "mlx", "--offline", "-q")
        #expect(offline.status == 0 && offline.output == tagged.output)
        #expect(try await stage.run("pull", "org/apple", "--format", "safetensors", "-q").status == 0)
        #expect(try await stage.run("info", "org/apple").output.contains(/\nmlx +1 +4\.0 kB +yes +yes\n/))
    }

    @Test func infoNamesTheSetsAsQuantTakesThem() async throws {
        let result = try await stage.run("info", "org/many")
        #expect(
            Array(result.lines.drop { !$0.hasPrefix("WEIGHTS") }) == [
                "WEIGHTS     FORMAT  FILES    SIZE  FITS", "UD-Q2_K_XL  gguf        1  2.0 kB  yes",
                "Q4_K_M      gguf        1  3.0 kB  yes", "Q8_0        gguf        1  5.0 kB  yes",
                "F16         gguf        2  9.0 kB  yes",
            ])
        let variants = try await stage.run("info", "org/both", "--json").document().objects("variants")
        #expect(
            variants.map { "\($0["name"]?.string ?? "") \($0["format"]?.string ?? "")" } == [
                "Q4_0 gguf", "consolidated safetensors", "onnx onnx", "pytorch pytorch", "safetensors safetensors",
            ])
        #expect(variants.map { $0["quantization"]?.string } == ["Q4_0", nil, nil, nil, nil])
        for name in ["Q4_0", "consolidated", "onnx", "pytorch", "safetensors"] {
            let words = name == "Q4_0" ? ["--quant", name] : ["--format", "safetensors", "--quant", name]
            let result = try await RunningProcess.run(
                BuiltProduct.path(), ["pull", "org/both", "--estimate"] + words, environment: stage.environment)
            #expect(result.status == (["onnx", "pytorch"].contains(name) ? 3 : 0), "\(name)")
        }
    }
}
