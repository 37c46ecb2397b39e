import HubCore
import ModelFormats

/// Every architecture that runs.
enum Architectures {
    static let all: [Architecture] = [
        .llama, .mistral, .qwen2, .qwen3, .qwen35, .qwen35Moe, .qwen3Next, .gemma, .gemma2, .gemma3, .gemma3n,
        .gemma4, .phi3,
        .gpt2,
        .opt, .bert, .roberta,
        .xlmRoberta,
        .camembert, .electra, .distilbert, .albert, .nomicBert, .modernBert, .gte, .jinaV3, .euroBert, .esm,
        .embeddingGemma, .mpnet, .debertaV2, .deberta,
        .mobileBert, .qwen2Moe, .qwen3Moe, .mixtral, .gptOss, .deepSeek, .glm4Moe, .miniMaxM2, .nemotronH,
        .nemotronHMoe, .mamba,
        .mamba2, .falconMamba, .bamba, .falconH1, .jamba, .t5,
        .bart, .marian,
        .m2m100, .pegasus, .mBart, .t5Gemma, .chronos,
        .gptNeoX, .gptJ, .phi, .falcon, .stableLM, .bloom, .gptNeo, .starCoder,
        .starCoder2, .mpt, .olmo, .olmo2, .exaone4, .cohere, .cohere2,
        .lfm2, .lfm2Moe, .granite, .graniteMoe, .graniteHybrid, .smolLM3, .olmoe, .phiMoe,
        .glm, .glm4, .ernie45, .ernie45Moe, .seedOss, .hunYuanDense, .hunYuanMoe, .nemotron, .ministral,
        .ministral3,
        .apertus, .arcee,
        .vit, .deit, .dinov2, .dinov2WithRegisters, .dinov3, .beit, .data2vecVision, .vitMAE,
        .vitMSN, .timmViT,
        .clip, .clipTexts, .clipPictures, .siglip, .siglipTexts, .siglipPictures, .siglip2, .siglip2Texts,
        .siglip2Pictures, .yolos, .detr, .tableTransformer,
    ]

    /// The ways of packing weights in safetensors that run.
    static let methods = Set(QuantizationConfiguration.Method.allCases).subtracting([.other])
    /// The layouts that run, of methods with several.
    private static let formats: [QuantizationConfiguration.Method: Set<String>] = [
        .awq: ["gemm"], .gptq: ["gptq", "gptq_v2"],
        .modelOpt: ["fp8", "fp8_pb_wo", "fp8_per_channel_per_token", "nvfp4", "w4a16_nvfp4", "mixed_precision"],
        .compressedTensors: [
            "dense", "float-quantized", "naive-quantized", "int-quantized", "pack-quantized",
            "nvfp4-pack-quantized",
            "mxfp4-pack-quantized", "mixed-precision",
        ],
    ]
    /// What the Hub's tags and people call them: the methods, and layouts that several have.
    static let quantizations = methods.map { $0.rawValue.lowercased() } + ["nvfp4", "int8", "auto-round"]

    private static func runs(_ quantization: QuantizationConfiguration) -> Bool {
        guard let format = quantization.format, let known = formats[quantization.method] else {
            return methods.contains(quantization.method)
        }
        return known.contains(format)
    }

    private static let byModelType = Dictionary(
        uniqueKeysWithValues: all.flatMap { family in family.modelTypes.map { ($0, family) } })
    private static let byGGUFName = Dictionary(
        uniqueKeysWithValues: all.flatMap { family in family.ggufNames.map { ($0, family) } })

    /// Their names in `config.json`.
    static let modelTypes = Set(byModelType.keys)

    /// The architecture of a configuration; nil if there is none for it.
    static func of(_ configuration: ModelConfiguration) -> Architecture? {
        guard let type = configuration.modelType else { return nil }
        if configuration.isGGUF { return byGGUFName[type] }
        // Jina 3 calls itself so in the configuration that its own code reads.
        let isJina = type == "xlm-roberta" && configuration.settings["position_embedding_type"]?.string == "rotary"
        return isJina ? .jinaV3 : forecasts(configuration) ? .chronos : byModelType[type]
    }

    /// The same, or that of the decoder in a model that also sees or hears, and is not run; nil if there is none for it.
    static func textSide(of configuration: ModelConfiguration) -> Architecture? {
        of(configuration) ?? (configuration.isGGUF ? nil : configuration.decoderType.flatMap { byModelType[$0] })
    }

    /// Whether a model reads series of numbers.
    static func forecasts(_ configuration: ModelConfiguration) -> Bool {
        configuration.modelType == Architecture.chronos.calledLike
            && configuration.settings["chronos_config"] != nil
    }

    /// What a model is for, by the class that it names; nil if there is no architecture for it.
    static func task(_ configuration: ModelConfiguration) -> ModelTask? {
        if let family = Nets.of(configuration) { return family.task(configuration) }
        guard let classes = of(configuration)?.classes else { return nil }
        return (classes.first { $0.name == configuration.architectures.first } ?? classes.first)?.task
    }

    /// Whether a model reads pictures, alone or beside texts.
    static func sees(_ configuration: ModelConfiguration) -> Bool { task(configuration)?.sees ?? false }

    /// Whether a model reads texts, for which it has a tokenizer.
    static func readsTexts(_ configuration: ModelConfiguration) -> Bool {
        !forecasts(configuration) && task(configuration)?.reads ?? !configuration.isTimm
    }

    /// What keeps a configuration from running; empty if nothing does.
    static func obstacles(_ configuration: ModelConfiguration, stored: Set<String>?) -> [RunObstacle] {
        guard let type = configuration.timmName ?? configuration.modelType else { return [.noModelType] }
        let (net, architecture) = (Nets.of(configuration), of(configuration))
        guard net != nil || architecture != nil else { return [.architecture(type)] }
        var found: [RunObstacle] = []
        if let quantization = configuration.quantization, !runs(quantization) {
            found.append(
                .quantization(quantization.name, packing: quantization.packed, layout: quantization.format))
        }
        // Faults of values are reported as faults.
        if configuration.faults.isEmpty {
            do throws(AIError) {
                found += try net?.describe(configuration, stored: stored).obstacles ?? []
                found += try architecture?.describe(configuration, stored: stored).obstacles ?? []
            } catch {
                found.append(RunObstacle(error))
            }
        }
        return found
    }
}
