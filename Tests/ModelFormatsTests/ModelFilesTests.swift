import HubCore
import Support
import Testing

@testable import ModelFormats

/// The sets of weights of real repositories.
@Suite struct ModelFilesTests {
    /// All of llama.cpp's names, its forks', and the ways people write them.
    @Test(arguments: [
        ("Q1_0", 1), ("Q2_0", 2), ("Q4_0", 4), ("Q4_1", 4), ("Q5_0", 5), ("Q5_1", 5), ("Q8_0", 8), ("Q8_1", 8),
        ("IQ1_S", 1), ("IQ1_M", 1), ("IQ2_XXS", 2), ("IQ2_XS", 2), ("IQ2_S", 2), ("IQ2_M", 2), ("IQ3_XXS", 3),
        ("IQ3_XS", 3), ("IQ3_S", 3), ("IQ3_M", 3), ("IQ4_NL", 4), ("IQ4_XS", 4), ("TQ1_0", 1), ("TQ2_0", 2),
        ("Q2_K", 2), ("Q2_K_S", 2), ("Q2_K_L", 2), ("Q3_K", 3), ("Q3_K_S", 3), ("Q3_K_M", 3), ("Q3_K_L", 3),
        ("Q3_K_XL", 3), ("Q4_K", 4), ("Q4_K_S", 4), ("Q4_K_M", 4), ("Q4_K_L", 4), ("Q5_K", 5), ("Q5_K_S", 5),
        ("Q5_K_M", 5), ("Q6_K", 6), ("Q6_K_L", 6), ("Q8_K_XL", 8), ("Q4_0_4_4", 4), ("Q4_0_4_8", 4),
        ("Q4_0_8_8", 4), ("IQ4_NL_4_4", 4), ("IQ4_KSS", 4), ("IQ5_KS_R4", 5), ("Q8_0_R8", 8), ("IQ2_KT", 2),
        ("MXFP4", 4), ("MXFP4_MOE", 4), ("NVFP4", 4), ("F16", 16), ("BF16", 16), ("F32", 32), ("UD-Q4_K_XL", 4),
        ("UD-IQ2_XXS", 2), ("UD-TQ1_0", 1),
    ])
    func everyQuantisationIsFoundInAName(_ name: String, _ bits: Int) throws {
        let spellings = [
            "Model-7B-v1.5-\(name)", "model.\(name.lowercased())", name, "Model-7B-\(name)-imat", "Q5-\(name)",
        ]
        for spelling in spellings {
            let found = GGUFQuantization(in: spelling)
            #expect(found?.name == name && found?.bits == bits, "\(spelling)")
        }
        let inFolder = try #require(GGUFName(path: "weights/\(name)/Model-00001-of-00009.gguf"))
        #expect(inFolder.quantization?.name == name && inFolder.stem == "Model")
    }

    @Test(arguments: [
        ("gemma_q4_k_m", "Q4_K_M"), ("Model.f16.Q6_K", "Q6_K"), ("Model-Q6_K-f16", "Q6_K"), ("model-fp16", "F16"),
        ("Model.i1-IQ3_XXS", "IQ3_XXS"), ("model-Q4_K_M_v2", "Q4_K_M"),
    ])
    func quantisationsAsOthersWriteThem(text: String, name: String) {
        #expect(GGUFQuantization(in: text)?.name == name)
    }

    @Test(arguments: ["Qwen2-7B", "phi-2", "model-q8", "Q9_0", "xQ4_K_M", "IQ-7B", "Q4_LynnStyle", "f16x", ""])
    func whatIsNoQuantisation(text: String) { #expect(GGUFQuantization(in: text) == nil) }

    @Test(arguments: [
        ("model-00001-of-00003", "model"), ("model-00001-of-00002.fp16", "model.fp16"), ("a-of-b", "a-of-b"),
        ("model.fp32-00001-of-00002", "model.fp32"), ("best-of-3", "best-of-3"), ("1-of-2", "1-of-2"),
        ("king-of-00002", "king-of-00002"), ("", ""), ("-of-", "-of-"),
    ])
    func numbersOfShardsAreNoPartOfAName(stem: String, expected: String) {
        #expect(ShardName.removed(from: stem) == expected)
    }

    @Test(arguments: [
        ("x.gguf", "x"), ("x.GGUF", "x"), ("x-00001-of-00009.gguf", "x"), ("x.gguf-split-a", "x"),
        ("x.gguf.part2of3", "x"), ("x.gguf.txt", nil), ("x.gguf_file", nil), ("x.gguf.partial", nil), ("gguf", nil),
    ])
    func fileNamesOfGGUF(name: String, stem: String?) { #expect(GGUFName(path: "sub/" + name)?.stem == stem) }

    @Test(arguments: [
        (
            Listing.bloke,
            [
                "Q2_K gguf 1", "Q3_K_S gguf 1", "Q3_K_M gguf 1", "Q3_K_L gguf 1", "Q4_0 gguf 1", "Q4_K_S gguf 1",
                "Q4_K_M gguf 1", "Q5_0 gguf 1", "Q5_K_S gguf 1", "Q5_K_M gguf 1", "Q6_K gguf 2", "Q8_0 gguf 2",
            ]
        ),
        (
            .bartowski,
            [
                "IQ2_M gguf 1", "Q2_K gguf 1", "IQ3_XS gguf 1", "Q3_K_S gguf 1", "Q2_K_L gguf 1", "IQ3_M gguf 1",
                "Q3_K_M gguf 1", "Q3_K_L gguf 1", "IQ4_XS gguf 1", "Q4_0_4_4 gguf 1", "Q4_0_8_8 gguf 1",
                "Q4_0 gguf 1", "Q4_K_S gguf 1", "Q3_K_XL gguf 1", "Q4_K_M gguf 1", "Q4_K_L gguf 1",
                "Q5_K_S gguf 1", "Q5_K_M gguf 1", "Q5_K_L gguf 1", "Q6_K gguf 1", "Q6_K_L gguf 1", "Q8_0 gguf 1",
                "F32 gguf 1",
            ]
        ),
        (
            .unslothFolders,
            [
                "UD-TQ1_0 gguf 1", "UD-IQ1_S gguf 2", "UD-Q4_K_XL gguf 2", "Q4_K_M gguf 2", "Q8_0 gguf 2",
                "BF16 gguf 3",
            ]
        ),
        (
            .unslothVision,
            ["IQ4_XS gguf 1", "Q4_K_M gguf 1", "UD-Q4_K_XL gguf 1", "Q8_0 gguf 1", "BF16 gguf 1"]
        ),
        (.mistral, ["safetensors* safetensors 3", "consolidated safetensors 1"]),
        (.pixtral, ["consolidated* safetensors 2"]),
        (.llama, ["original* pytorch 1", "safetensors* safetensors 4"]),
        (.gptOSS, ["metal* metal 1", "safetensors* safetensors 3", "original safetensors 1"]),
        (.mlx, ["mlx* mlx 1"]),
        (.mlxWhisper, ["mlx* mlx 1"]),
        (
            .sdxl,
            [
                "openvino* openvino 2", "onnx* onnx 3", "sd_xl_turbo_1.0_fp16 safetensors 1",
                "fp16 safetensors 4", "safetensors* safetensors 4", "sd_xl_turbo_1.0* pytorch 1",
                "sd_xl_turbo_1.0 safetensors 1",
            ]
        ),
        (
            .whisper,
            [
                "safetensors* safetensors 1", "pytorch* pytorch 1", "flax* flax 1", "fp32 pytorch 2",
                "fp32 safetensors 2",
            ]
        ),
        (
            .miniLM,
            [
                "safetensors* safetensors 1", "pytorch* pytorch 1", "rust* rust 1", "tensorflow* tensorflow 1",
                "openvino* openvino 4", "onnx* onnx 4",
            ]
        ),
        (.labse, ["safetensors* safetensors 2", "pytorch* pytorch 2"]),
        (
            .adapter,
            ["adapter* safetensors 1", "checkpoint-1000 safetensors 1", "checkpoint-500 safetensors 1"]
        ),
        (.phi, ["safetensors* safetensors 5"]),
        (.wan, ["safetensors* safetensors 3"]),
        (.mixed, ["Q4_K_M gguf 1", "Q8_0 gguf 1", "F16 gguf 1", "safetensors* safetensors 1"]),
        (.bitFolders, ["4bit mlx 1", "8bit mlx 1"]),
        (.cpp, ["coreml* coreml 1", "ggml-base-q5_1 ggml 1", "ggml-base ggml 1"]),
        (.bare, []),
    ])
    func theSetsOfARepository(listing: Listing, expected: [String]) {
        #expect(listing.sets == expected)
    }

    @Test func everyFileOfAListingIsSortedAlikeInAnyOrder() {
        for listing in [Listing.sdxl, .whisper, .miniLM, .unslothVision, .adapter, .labse] {
            let reversed = ModelFiles(listing.files.reversed(), library: listing.library, tags: listing.tags)
            #expect(reversed.variants == listing.sorted.variants, "\(listing.id)")
        }
    }

    @Test func twoModelsInOneQuantisationKeepTheirNames() {
        let listing = Listing(
            "org/two", "a-Q4_K_M.gguf 1\nb-Q4_K_M.gguf 2\nb-Q8_0.gguf 3\nsub/a-Q4_K_M.gguf 4")
        #expect(
            listing.sets == ["a-Q4_K_M gguf 1", "b-Q4_K_M gguf 1", "Q8_0 gguf 1", "sub/a-Q4_K_M gguf 1"])
    }

    @Test func draftsAloneAreModels() {
        let listing = Listing("org/Draft-GGUF", "Mistral-DRAFT-0.5B-Q4_0.gguf 1\nMistral-DRAFT-0.5B-Q8_0.gguf 2")
        #expect(listing.sets == ["Q4_0 gguf 1", "Q8_0 gguf 1"])
    }

    @Test func aModelMadeWithAnImportanceMatrixIsNone() throws {
        let listing = Listing(
            "org/x-imatrix-GGUF", "x-imatrix-Q4_K_M.gguf 1\nx-imatrix.gguf 2\nx.imatrix\nimatrix.dat")
        #expect(listing.sets == ["Q4_K_M* gguf 1"])
        #expect(try listing.left(listing.choose(.gguf)) == ["x-imatrix.gguf", "x.imatrix", "imatrix.dat"])
    }

    /// The bits are what the Hub's tags say, where they say it once.
    @Test func anMLXModelIsToldByLibraryOrTag() {
        let files = Listing.mlx.files
        func format(_ library: String?, _ tags: [String]) -> [String] {
            ModelFiles(files, library: library, tags: tags).variants.map {
                "\($0.format.identifier) \($0.quantization ?? "-")"
            }
        }
        #expect(format("mlx", ["4-bit"]) == ["mlx 4bit"] && format("mlx-vlm", []) == ["mlx -"])
        #expect(format("transformers", ["mlx", "4-bit", "8-bit"]) == ["mlx -"])
        #expect(format("transformers", ["4-bit"]) == ["safetensors -"] && format(nil, []) == ["safetensors -"])
    }

    /// A server may send any size.
    @Test func sizesDoNotOverflow() {
        let files = ["model-1-of-2.safetensors", "model-2-of-2.safetensors"].map {
            RepositoryFile(path: $0, size: .max, oid: "")
        }
        #expect(ModelFiles(files).variants.map(\.sizeBytes) == [.max])
    }

    /// Any names at all: every set is whole, can be told by its name, and is found whatever the order of the files.
    @Test(arguments: UInt64(1)...200) func anyNames(seed: UInt64) throws {
        var random = SeededRandom(state: seed)
        let words = [
            "model", "pytorch_model", "adapter_model", "consolidated", "open_clip_model", "x", "Q4_K_M", "UD-Q2_K",
            "F16", "mmproj", "imatrix", "-00001-of-00002", ".fp16", "original/", "checkpoint-5/", "onnx/", "unet/",
            "mlx/", "a_b", "a-b", "weights", "é", "", ".", "-of-", ".index",
        ]
        let endings = [
            ".safetensors", ".gguf", ".bin", ".pt", ".ckpt", ".json", ".safetensors.index.json", ".npz", ".xml", "",
            ".onnx", ".gguf-split-a", ".txt",
        ]
        var paths: Set<String> = ["config.json"]
        if seed % 3 == 0 { paths.insert("model_index.json") }
        for _ in 0..<40 {
            let name = (0..<Int.random(in: 1...4, using: &random)).map { _ in words.randomElement(using: &random)! }
            let path = name.joined() + endings.randomElement(using: &random)!
            if !path.isEmpty, !path.hasSuffix("/"), !path.contains("//") { paths.insert(path) }
        }
        let files = paths.sorted().map { RepositoryFile(path: $0, size: Int64($0.utf8.count), oid: "") }
        let sorted = ModelFiles(files, tags: seed % 5 == 0 ? ["mlx"] : [])
        #expect(
            ModelFiles(files.shuffled(using: &random), tags: seed % 5 == 0 ? ["mlx"] : []).variants
                == sorted.variants)
        for variant in sorted.variants {
            let taken = sorted.paths(of: variant)
            #expect(Set(taken).count == taken.count && paths.isSuperset(of: taken), "\(variant)")
            #expect(!variant.files.isEmpty && Set(taken).isSuperset(of: variant.files))
            let sizes = files.filter { variant.files.contains($0.path) }.map(\.size).reduce(0, +)
            #expect(variant.sizeBytes == sizes && taken.contains("config.json"))
        }
        let names = sorted.variants.map { "\($0.name) \($0.format)" }
        #expect(Set(names).count == names.count, "\(names)")
        #expect(
            Dictionary(grouping: sorted.variants.filter(\.isMain), by: \.format).values.allSatisfy { $0.count == 1 }
        )
    }

    /// The tree of a repository may be long: what takes time for each pair of folders would be seen.
    @Test func tenThousandFoldersAreSorted() {
        let files = (0..<20_000).map {
            RepositoryFile(path: "checkpoint-\($0 / 2)/model-\($0)-of-100000.safetensors", size: 1, oid: "")
        }
        #expect(ModelFiles(files).variants.count == 10_000)
    }
}
