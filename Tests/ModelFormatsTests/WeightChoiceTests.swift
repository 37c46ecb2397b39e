import HubCore
import Testing

@testable import ModelFormats

/// Which files a choice takes, in real repositories.
@Suite struct WeightChoiceTests {
    private let plainOfSDXL = [
        ".gitattributes", "LICENSE.md", "README.md", "image_of_squirrel.png", "model_index.json",
        "scheduler/scheduler_config.json", "text_encoder/config.json", "text_encoder_2/config.json",
        "tokenizer/merges.txt", "tokenizer/vocab.json", "unet/config.json", "vae/config.json",
        "vae_decoder/config.json",
    ]

    @Test func safetensorsComeWithoutDuplicates() throws {
        func left(_ listing: Listing) throws -> [String] { listing.left(try listing.choose(.safetensors)) }
        #expect(try left(.mistral) == ["consolidated.safetensors"])
        #expect(try left(.pixtral) == [])
        #expect(
            try left(.llama) == [
                "original/consolidated.00.pth", "original/params.json", "original/tokenizer.model",
            ])
        #expect(
            try left(.gptOSS) == [
                "metal/model.bin", "original/config.json", "original/dtypes.json", "original/model.safetensors",
            ])
        #expect(
            try left(.whisper) == [
                "flax_model.msgpack", "model.fp32-00001-of-00002.safetensors",
                "model.fp32-00002-of-00002.safetensors", "model.safetensors.index.fp32.json", "pytorch_model.bin",
                "pytorch_model.bin.index.fp32.json", "pytorch_model.fp32-00001-of-00002.bin",
                "pytorch_model.fp32-00002-of-00002.bin",
            ])
        #expect(
            try left(.miniLM) == [
                "onnx/model.onnx", "onnx/model_O1.onnx", "onnx/model_O4.onnx", "onnx/model_qint8_arm64.onnx",
                "openvino/openvino_model.bin", "openvino/openvino_model.xml",
                "openvino/openvino_model_qint8_quantized.bin", "openvino/openvino_model_qint8_quantized.xml",
                "pytorch_model.bin", "rust_model.ot", "tf_model.h5",
            ])
        #expect(try left(.mixed) == ["both-f16.gguf", "both-q4_k_m.gguf", "both-q8_0.gguf"])
        #expect(try left(.phi) == [] && left(.mlx) == [])
        #expect(
            try left(.adapter)
                == Listing.adapter.files.map(\.path).filter {
                    $0.hasPrefix("checkpoint-") || $0 == "training_args.bin"
                })
    }

    @Test func aPipelineIsOneSetInAllItsFolders() throws {
        let usual = Listing.sdxl.taken(try Listing.sdxl.choose(.safetensors))
        #expect(
            usual
                == (plainOfSDXL + [
                    "text_encoder/model.safetensors", "text_encoder_2/model.safetensors",
                    "unet/diffusion_pytorch_model.safetensors", "vae/diffusion_pytorch_model.safetensors",
                ]).sorted())
        // The vae has no fp16 variant.
        let half = Listing.sdxl.taken(try Listing.sdxl.choose(.safetensors, quant: "FP16"))
        #expect(
            half
                == (plainOfSDXL + [
                    "text_encoder/model.fp16.safetensors", "text_encoder_2/model.fp16.safetensors",
                    "unet/diffusion_pytorch_model.fp16.safetensors", "vae/diffusion_pytorch_model.safetensors",
                ]).sorted())
        let single = Listing.sdxl.taken(try Listing.sdxl.choose(.safetensors, quant: "sd_xl_turbo_1.0_fp16"))
        #expect(single == (plainOfSDXL + ["sd_xl_turbo_1.0_fp16.safetensors"]).sorted())
    }

    /// A model without a part of it would not run.
    @Test func aPartThatIsInNoOtherFormatComesAlong() throws {
        let labse = try #require(try Listing.labse.choose(.safetensors))
        #expect(labse.foreignFiles == ["2_Dense/pytorch_model.bin"])
        #expect(Listing.labse.left(labse) == ["pytorch_model.bin"])
        let wan = try #require(try Listing.wan.choose(.safetensors))
        #expect(wan.foreignFiles == ["Wan2.1_VAE.pth", "models_t5_umt5-xxl-enc-bf16.pth"])
        #expect(Listing.wan.left(wan) == [])
        #expect(try Listing.mistral.choose(.safetensors)?.foreignFiles == [])
    }

    @Test func anotherVariantAnotherIndex() throws {
        let fp32 = try Listing.whisper.choose(.safetensors, quant: "fp32")
        let taken = Listing.whisper.taken(fp32)
        #expect(taken.contains("model.safetensors.index.fp32.json") && !taken.contains("model.safetensors"))
        #expect(taken.filter { $0.hasSuffix(".safetensors") }.count == 2)
    }

    @Test func aTrainingStateComesWithItsOwnFolder() throws {
        let taken = Listing.adapter.taken(try Listing.adapter.choose(quant: "checkpoint-500"))
        #expect(
            taken == [
                "README.md", "adapter_config.json", "checkpoint-500/adapter_config.json",
                "checkpoint-500/adapter_model.safetensors", "tokenizer.json",
            ])
        let bits = Listing.bitFolders.taken(try Listing.bitFolders.choose(quant: "4-bit"))
        #expect(bits == ["4bit/config.json", "4bit/model.safetensors", "4bit/tokenizer.json", "README.md"])
    }

    @Test func aQuantisationComesWithAllItsPartsAndItsProjector() throws {
        for name in ["Q4_K_M", "q4_k_m", "Q4-K-M"] {
            #expect(
                Listing.unslothFolders.taken(try Listing.unslothFolders.choose(quant: name)) == [
                    ".gitattributes", "Q4_K_M/DeepSeek-R1-0528-Q4_K_M-00001-of-00002.gguf",
                    "Q4_K_M/DeepSeek-R1-0528-Q4_K_M-00002-of-00002.gguf", "README.md", "config.json",
                ], "\(name)")
        }
        // Unsloth's are chosen if there are no others.
        #expect(try Listing.unslothFolders.choose(quant: "Q4_K_XL")?.name == "UD-Q4_K_XL")
        #expect(try Listing.unslothFolders.choose(.gguf, quant: "ud-iq1_s")?.files.count == 2)
        let vision = [".gitattributes", "README.md", "config.json", "params", "template"]
        #expect(
            Listing.unslothVision.taken(try Listing.unslothVision.choose(quant: "Q4_K_M"))
                == (vision + ["gemma-3-12b-it-Q4_K_M.gguf", "mmproj-BF16.gguf"]).sorted())
        #expect(try Listing.bloke.choose(quant: "Q6_K")?.files.count == 2)
        #expect(try Listing.bartowski.choose(quant: "fp32")?.name == "F32")
        #expect(Listing.bartowski.taken(try Listing.bartowski.choose(quant: "Q8_0")).count == 3)
    }

    @Test func aProjectorIsTheNearestOfItsModel() throws {
        let listing = Listing(
            "org/eyes",
            """
            a/a-Q8_0.gguf 8
            a/mmproj-a-F16.gguf 2
            a/mmproj-a-Q8_0.gguf 1
            b-Q8_0.gguf 9
            mmproj-b-F32.gguf 4
            mmproj-b-Q8_0.gguf 1
            mmproj-voice-F16.gguf 1
            """)
        func projectors(_ name: String) throws -> [String] {
            listing.taken(try listing.choose(quant: name)).filter { $0.contains("mmproj") }
        }
        #expect(try projectors("a/a-Q8_0") == ["a/mmproj-a-Q8_0.gguf"])
        #expect(try projectors("b-Q8_0") == ["mmproj-b-Q8_0.gguf", "mmproj-voice-F16.gguf"])
    }

    // MARK: Refusals

    private func refusal(_ choose: @autoclosure () throws -> ModelVariant?) throws -> AIError {
        try #require(throws: AIError.self) { try choose() }
    }

    @Test func severalQuantisationsAreNotGuessed() throws {
        let error = try refusal(try Listing.unslothVision.choose(.gguf))
        #expect(error.code == .invalidInput)
        #expect(error.message == "unsloth/gemma-3-12b-it-GGUF has 5 sets of GGUF weights; --quant chooses one")
        #expect(
            error.recoverySuggestion == """
                IQ4_XS       6.6 GB  gguf
                Q4_K_M       7.3 GB  gguf
                UD-Q4_K_XL   7.4 GB  gguf
                Q8_0        12.5 GB  gguf
                BF16        23.5 GB  gguf
                """)
        // What the globs leave is what there is to choose from.
        #expect(try Listing.unslothVision.choose(.gguf, include: "*-Q8*")?.name == "Q8_0")
        #expect(try refusal(try Listing.unslothVision.choose(.gguf, include: "*Q4_K*")).code == .invalidInput)
        #expect(try refusal(try Listing.unslothVision.choose(.gguf, include: "*.md")).code == .invalidInput)
    }

    @Test func whatIsNotThereIsSaidWithWhatIs() throws {
        let format = try refusal(try Listing.mistral.choose(.gguf))
        #expect(format.code == .nothingMatches)
        #expect(format.message == "mistralai/Mistral-7B-Instruct-v0.3 has no GGUF weights")
        #expect(
            format.recoverySuggestion == """
                it has
                safetensors   14.5 GB
                consolidated  14.5 GB  safetensors
                """)
        let quant = try refusal(try Listing.mixed.choose(quant: "Q3_K_M"))
        #expect(quant.code == .nothingMatches && quant.message == "org/both has no GGUF weights called Q3_K_M")
        #expect(try refusal(try Listing.mistral.choose(quant: "Q4_K_M")).code == .nothingMatches)
        #expect(
            try refusal(try Listing.mistral.choose(.safetensors, quant: "fp16")).message
                == "mistralai/Mistral-7B-Instruct-v0.3 has no safetensors weights called fp16")
        // A projector is not a model.
        #expect(try refusal(try Listing.unslothVision.choose(quant: "F16")).code == .nothingMatches)
        let bare = try refusal(try Listing.bare.choose(.mlx))
        #expect(
            bare.recoverySuggestion
                == "none of its files looks like weights; leave out --format and --quant to fetch all files")
        #expect(try refusal(try Listing.mixed.choose(.mlx)).code == .nothingMatches)
    }

    @Test func twoSetsOfOneNameAreNotGuessed() throws {
        let listing = Listing("org/two", "a-Q4_K_M.gguf 1\nb-Q4_K_M.gguf 2")
        let error = try refusal(try listing.choose(quant: "q4_k_m"))
        #expect(error.code == .invalidInput)
        #expect(error.message == "org/two has 2 sets of weights called q4_k_m; --quant chooses one")
        #expect(try listing.choose(quant: "b-Q4_K_M")?.files == ["b-Q4_K_M.gguf"])
        #expect(try listing.choose(quant: "Q4_K_M", include: "a*")?.files == ["a-Q4_K_M.gguf"])
    }

    @Test func everythingAndOneQuantisationAreTwoWishes() throws {
        let error = try #require(throws: AIError.self) { try WeightChoice(format: .all, quantization: "Q8_0") }
        #expect(error.code == .invalidInput)
        #expect(try WeightChoice(format: .all, quantization: nil).isEverything)
        #expect(try WeightChoice(format: nil, quantization: nil).isEverything)
        #expect(try Listing.mistral.choose(.all) == nil)
    }

    // MARK: What this machine can use

    @Test func automaticallySafetensorsFirst() throws {
        for listing in [Listing.mistral, .llama, .gptOSS, .sdxl, .whisper, .miniLM, .mixed, .adapter] {
            let chosen = try #require(try listing.choose(.auto))
            #expect(chosen.format == .safetensors && chosen.isMain, "\(listing.id)")
        }
        #expect(try Listing.bare.choose(.auto) == nil)
        #expect(try Listing.cpp.choose(.auto)?.format == .coreML)
    }

    @Test func automaticallyMLXWhereItRuns() throws {
        let listing = Listing(
            "org/x", library: "transformers", "mlx/model.safetensors 1\nmodel.safetensors 2\nx-Q8_0.gguf 3")
        #expect(listing.sets == ["mlx* mlx 1", "safetensors* safetensors 1", "Q8_0* gguf 1"])
        #expect(try listing.choose(.auto, runsMLX: true)?.format == .mlx)
        #expect(try listing.choose(.auto)?.format == .safetensors)
        #expect(try Listing.mlx.choose(.auto)?.format == .mlx)
    }

    @Test(arguments: [(1000, "Q8_0"), (12, "Q8_0"), (11, "Q6_K_L"), (7, "Q4_K_M"), (6, "IQ4_XS"), (4, "IQ2_M")])
    func automaticallyTheLargestQuantisedThatFits(memoryGB: Int64, name: String) throws {
        #expect(try Listing.bartowski.choose(.auto, memoryGB: memoryGB)?.name == name)
    }

    @Test func whatDoesNotFitIsNotTakenAutomatically() throws {
        // 2000 MB of safetensors do not fit; the quantised ones do.
        #expect(try Listing.mixed.choose(.auto, memoryGB: 2)?.name == "Q8_0")
        #expect(try Listing.mixed.choose(.auto, memoryGB: 1)?.name == "Q4_K_M")
        #expect(try Listing.sdxl.choose(.auto, memoryGB: 10)?.name == "fp16")
        let error = try refusal(try Listing.mistral.choose(.auto, memoryGB: 16))
        #expect(error.code == .insufficientMemory)
        #expect(
            error.message
                == "no weights of mistralai/Mistral-7B-Instruct-v0.3 fit in 12.0 GB, three quarters of this machine's memory"
        )
        #expect(
            error.recoverySuggestion == "safetensors  14.5 GB\n--format or --quant takes one anyway")
        #expect(try Listing.mistral.choose(.safetensors, memoryGB: 1)?.isMain == true)
    }

    /// Without a quantised one a plain one is better than none, and the smaller as good as the larger.
    @Test func automaticallyPlainNumbersLast() throws {
        let listing = Listing("org/plain", "x-F32.gguf 4\nx-BF16.gguf 2")
        #expect(try listing.choose(.auto)?.name == "BF16")
    }
}
