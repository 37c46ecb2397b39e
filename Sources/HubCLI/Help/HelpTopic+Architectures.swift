import HubCore
import InferenceKit

/// `hub help architectures`: what the engine's registry says.
extension HelpTopic {
    static let architectures: HelpTopic = {
        let engine = RunnableModels.supported
        let running = engine.families.filter(\.runs)
        let checked = engine.families.filter { !$0.runs }
        return HelpTopic(
            name: "architectures", doc: "the models that run, and those whose files are only checked",
            detail: """
                hub try runs models whose config.json has one of these types as model_type, for the tasks in the second \
                column, from safetensors, MLX and pickle files. Models of timm have no model_type; theirs is timm: and what \
                their architecture begins with. The last column is the name of the architecture in GGUF files: \
                where there is one, GGUF files run, too; with only before it, only they do. Weights may be plain or \
                quantized in these ways: \(engine.quantizations.dropFirst().joined(separator: ", ")). \
                hub info says whether a model runs on this machine, and hub search --runs finds those that do. \
                Of these models, which also see or hear, only the text side runs: \(seeing(running).joined(separator: ", ")).

                The tasks, as the Hub names them: \(ModelTask.allCases.map { "\($0.word) is \($0.rawValue)" }.joined(separator: ", ")).
                """,
            entries: engine.families.map { family in
                let use = family.runs ? words(family).joined(separator: ", ") : "checked only"
                return (family.modelType, "\(use); \(formats(family).joined(separator: ", "))")
            },
            table: { width in table(running, checked, width) }, json: json(engine))
    }()

    /// The types that have a class for text alone and one for more.
    private static func seeing(_ families: [SupportedModels.Family]) -> [String] {
        families.filter { family in
            ["ForCausalLM", "ForConditionalGeneration"].allSatisfy { ending in
                family.classes.keys.contains { $0.hasSuffix(ending) }
            }
        }.map(\.modelType)
    }

    /// Of a family with a side for texts and one for pictures, what both have is named once; of one for pictures alone, that
    /// it is about pictures is said once.
    private static func words(_ family: SupportedModels.Family) -> [String] {
        let words = family.tasks.map { ModelTask(rawValue: $0)?.word ?? $0 }
        let hasTexts = family.tasks.contains(ModelTask.zeroShotImages.rawValue)
        return words.reduce(into: []) { short, word in
            let plain = word.replacing("picture ", with: "")
            if short.contains(plain) { return }
            let isSaid = hasTexts || short.contains { $0.hasPrefix("picture ") }
            short.append(isSaid ? plain : word)
        }
    }

    /// Formats, with the name in GGUF if that is another.
    private static func formats(_ family: SupportedModels.Family) -> [String] {
        family.formats.map { format in
            guard format == "gguf", let name = family.ggufName, name != family.modelType else { return format }
            return "gguf (as \(name))"
        }
    }

    private static func table(
        _ running: [SupportedModels.Family], _ checked: [SupportedModels.Family], _ width: Int
    ) -> [String] {
        var table = Table([.init("TYPE"), .init("TASKS", least: 12), .init("GGUF", optional: true)])
        for family in running {
            let isAlone = family.formats == ["gguf"]
            table.add([
                Styled(family.modelType), Styled(words(family).joined(separator: " ")),
                Styled(family.ggufName.map { (isAlone ? "only " : "") + $0 } ?? ""),
            ])
        }
        let names = checked.map(\.modelType).joined(separator: ", ")
        return table.lines(width: width).map(\.plain) + [""]
            + TextWrap.lines("The files of these are only checked, by hub try --check: \(names).", width: width)
    }

    private static func json(_ engine: SupportedModels) -> JSONObject {
        func list(_ texts: [String]) -> JSON { .array(texts.map { .string($0) }) }
        let families = engine.families.map { family in
            JSON.object([
                "model_type": .string(family.modelType), "gguf": family.ggufName.map { .string($0) },
                "tasks": list(family.tasks), "formats": list(family.formats), "runs": .bool(family.runs),
            ])
        }
        return [
            "architectures": .array(families), "formats": list(engine.formats),
            "quantizations": list(engine.quantizations),
        ]
    }
}

extension ModelTask {
    /// A word for narrow columns.
    fileprivate var word: String {
        switch self {
        case .textGeneration: "text"
        case .embedding: "vectors"
        case .ranking: "ranks"
        case .classification: "labels"
        case .tokenClassification: "tokens"
        case .fillMask: "masks"
        case .forecasting: "series"
        case .imageClassification: "picture labels"
        case .imageEmbedding: "picture vectors"
        case .depthEstimation: "depth"
        case .imageSegmentation: "segments"
        case .zeroShotImages: "matches"
        case .objectDetection: "objects"
        }
    }
}
