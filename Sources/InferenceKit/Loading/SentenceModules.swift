import HubCore
import ModelFormats

/// How the rows of a text become one vector: the files of sentence-transformers, or GGUF's metadata.
/// https://sbert.net/docs/package_reference/sentence_transformer/models.html
struct SentenceModules: Sendable, Hashable {
    enum Pooling: String, Sendable, Hashable {
        case first = "cls"
        case largest = "max"
        case mean
        case scaledMean = "mean_sqrt_len_tokens"
        case weightedMean = "weightedmean"
        case last = "lasttoken"
    }

    /// What happens to the vector after pooling.
    enum Layer: Sendable, Hashable {
        /// A matrix and an activation, in a folder of its own.
        case dense(folder: String, outputs: Int, hasBias: Bool, ModelDescription.Activation?, isResidual: Bool)
        /// A LayerNorm, in a folder of its own.
        case norm(folder: String)
        /// Length 1.
        case unit

        /// Where its weights are; nil for none.
        var folder: String? {
            switch self {
            case .dense(let folder, _, _, _, _), .norm(let folder): folder
            case .unit: nil
            }
        }
    }

    /// The vectors of several follow each other.
    var poolings = [Pooling.mean]
    /// Whether the tokens of a prompt are pooled too.
    private(set) var includesPrompt = true
    private(set) var layers: [Layer] = []
    /// Tokens of a text that are read, special ones included; nil for as many as the model takes.
    private(set) var maxTokens: Int?
    private(set) var prompts = SentencePrompts()
    /// How texts are compared by a vector of each token; nil for a model with one vector of a text. The layers are then
    /// those of each token's, and nothing is pooled.
    private(set) var interaction: LateInteraction?
    /// What of the files cannot be run.
    private(set) var obstacles: [RunObstacle] = []

    /// Reads a folder; nil if it has no such files, or they are those of a model that ranks pairs.
    ///
    /// - Parameter name: the class that config.json names: one of them needs no such files.
    /// - Throws: ``ErrorCode/malformedModel`` for files that are not what they should be.
    static func read(folder: String, for name: String?) throws(AIError) -> SentenceModules? {
        let path = Path.join(folder, "modules.json")
        guard let list = try JSONFile.read(path) else {
            return name == ModelClass.lateInteraction.name ? try SentenceModules(stanford: folder) : nil
        }
        guard let modules = list.array else { throw .malformed(path, "it is not a list") }
        let settings = try JSONFile.read(Path.join(folder, "config_sentence_transformers.json"))
        // Cross encoders have the same files, and their head is in the model itself.
        guard settings?["model_type"]?.string != "CrossEncoder" else { return nil }
        var found = SentenceModules()
        found.interaction = try interaction(settings, modules, folder)
        for module in modules { try found.add(module, folder) }
        found.maxTokens = try SentenceSettings(folder: folder).maxTokens
        guard found.interaction == nil else {
            if found.layers.last != .unit { found.layers.append(.unit) }
            return found
        }
        found.prompts = try SentencePrompts(settings, path: Path.join(folder, "config_sentence_transformers.json"))
        return found
    }

    /// What the files say of late interaction; nil for a model with one vector of a text.
    private static func interaction(_ settings: JSON?, _ modules: [JSON], _ folder: String) throws(AIError)
        -> LateInteraction?
    {
        let path = Path.join(folder, "config_sentence_transformers.json")
        let settings = try FileSettings(settings ?? .object([:]), path: path)
        let types = modules.map { $0["type"]?.string ?? "" }
        if let found = try LateInteraction(encoder: settings, folder: folder) { return found }
        return try LateInteraction(pylate: settings, modules: types)
    }

    /// The first models for late interaction, whose matrix stands beside the model's own.
    private init(stanford folder: String) throws(AIError) {
        let file = try SentenceLayers.file(folder)
        guard
            let matrix = try StoredWeights(file: file).tensors.first(where: { $0.name == "linear.weight" }),
            matrix.shape.count == 2
        else { throw .malformed(file, "it has no matrix \"linear.weight\"") }
        interaction = try LateInteraction(stanford: folder)
        layers = [.dense(folder: folder, outputs: matrix.shape[0], hasBias: false, nil, isResidual: false), .unit]
    }

    private mutating func refuse(_ name: String, _ value: String) { obstacles.append(.setting(name, value)) }

    private mutating func add(_ module: JSON, _ folder: String) throws(AIError) {
        let type = module["type"]?.string ?? ""
        let place = module["path"]?.string ?? ""
        guard place.utf8.first != UInt8(ascii: "/"), !Path.parts(place).contains("..") else {
            throw .malformed(
                Path.join(folder, "modules.json"), "the path \"\(place.printable)\" leaves the folder")
        }
        let inner = Path.join(folder, place)
        let path = Path.join(inner, "config.json")
        func settings() throws(AIError) -> FileSettings {
            guard let settings = try JSONFile.read(path) else { throw .malformed(path, "it is missing") }
            return try FileSettings(settings, path: path)
        }
        switch type.split(separator: ".").last ?? "" {
        case "Transformer", "Dropout": break
        case "Normalize": layers.append(.unit)
        case "Pooling" where interaction == nil: try readPooling(try settings())
        case "MultiVectorMask" where interaction != nil: try interaction?.readMask(try settings())
        case "LayerNorm": layers.append(.norm(folder: inner))
        case "Dense": try readDense(try settings(), inner)
        default: refuse("module", type)
        }
    }

    /// The switches of older files, in the order in which their vectors follow each other.
    private static let switches: [(key: String, pooling: Pooling)] = [
        ("cls_token", .first), ("max_tokens", .largest), ("mean_tokens", .mean),
        ("mean_sqrt_len_tokens", .scaledMean), ("weightedmean_tokens", .weightedMean), ("lasttoken", .last),
    ]

    private mutating func readPooling(_ settings: FileSettings) throws(AIError) {
        includesPrompt = settings.flag("include_prompt") ?? true
        let named: [String]? =
            if settings.value("pooling_mode")?.array != nil { settings.texts("pooling_mode") } else {
                settings.text("pooling_mode").map { [$0] }
            }
        var switched: [String: Bool] = [:]
        for (key, _) in Self.switches { switched[key] = settings.flag("pooling_mode_\(key)") }
        try settings.check()
        if let named {
            let chosen = named.compactMap(Pooling.init)
            if chosen.count < named.count { refuse("pooling by", named.joined(separator: ", ")) }
            if !chosen.isEmpty { poolings = chosen }
            return
        }
        let chosen = Self.switches.filter { switched[$0.key] == true }.map(\.pooling)
        // A file that says nothing means the class's default.
        guard !chosen.isEmpty || switched["mean_tokens"] == nil else {
            throw .malformed(settings.path, "it switches every pooling off")
        }
        if !chosen.isEmpty { poolings = chosen }
    }

    private static let activations: [String: ModelDescription.Activation?] = [
        "linear.Identity": nil, "activation.Tanh": .tanh, "activation.ReLU": .relu, "activation.GELU": .gelu,
        "activation.SiLU": .silu,
    ]

    private mutating func readDense(_ settings: FileSettings, _ folder: String) throws(AIError) {
        let outputs = settings.count("out_features")
        let name = settings.text("activation_function") ?? "torch.nn.modules.activation.Tanh"
        let hasBias = settings.flag("bias") ?? true
        let isResidual = settings.flag("use_residual") ?? false
        let vectors = ["module_input_name", "module_output_name"].compactMap(settings.text)
        try settings.check()
        guard let outputs else { throw .malformed(settings.path, "it has no out_features") }
        guard name.hasPrefix("torch.nn.modules."),
            let activation = Self.activations[String(name.dropFirst("torch.nn.modules.".count))]
        else { return refuse("activation", name) }
        if let other = vectors.first(where: {
            $0 != (interaction == nil ? "sentence_embedding" : "token_embeddings")
        }) {
            return refuse("a dense layer of", other)
        }
        layers.append(
            .dense(folder: folder, outputs: outputs, hasBias: hasBias, activation, isResidual: isResidual))
    }

    /// What a GGUF file says; nil if it says nothing. llama.cpp normalises.
    init?(_ header: GGUFHeader) {
        guard let type = header["general.architecture"]?.string, let number = header["\(type).pooling_type"]?.int
        else {
            return nil
        }
        layers = [.unit]
        // https://github.com/ggml-org/llama.cpp/blob/master/include/llama.h (`llama_pooling_type`)
        switch number {
        case 1: poolings = [.mean]
        case 2: poolings = [.first]
        case 3: poolings = [.last]
        default: refuse("pooling type", "\(number)")
        }
    }

    private init() {}

    /// The mean, as sentence-transformers makes of an encoder without its files.
    static let plain = SentenceModules()
    /// The row of the token that ends the text.
    static let lastRow: SentenceModules = {
        var modules = SentenceModules()
        modules.poolings = [.last]
        return modules
    }()
}

extension ModelTask {
    /// What sentence-transformers' files make a folder's model for; nil without them, or for a model that ranks pairs, whose
    /// class says so. Blocks.
    package static func ofModules(in folder: String) -> ModelTask? {
        // What is wrong with the files is told when the model is opened.
        do throws(AIError) {
            guard let modules = try SentenceModules.read(folder: folder, for: nil) else { return nil }
            return modules.interaction == nil ? .embedding : .ranking
        } catch { return .embedding }
    }
}

/// The settings of sentence-transformers for reading a text: sentence_bert_config.json.
struct SentenceSettings {
    /// Tokens of a text that are read, special ones included; nil if the file does not say.
    private(set) var maxTokens: Int?
    /// Whether texts are made lower case, whatever the tokenizer does.
    private(set) var lowercases = false

    /// Older files are named after their model; the first that exists counts.
    private static let names = ["bert", "roberta", "distilbert", "camembert", "albert", "xlm-roberta", "xlnet"]

    /// Reads the file of a folder; it may be missing.
    init(folder: String) throws(AIError) {
        for name in Self.names {
            let path = Path.join(folder, "sentence_\(name)_config.json")
            guard let json = try JSONFile.read(path) else { continue }
            let settings = try FileSettings(json, path: path)
            // A number beyond all positions stands for no limit.
            if settings.number("max_seq_length") ?? 0 <= Double(SettingLimits.positions.upperBound) {
                maxTokens = settings.positions("max_seq_length")
            }
            lowercases = settings.flag("do_lower_case") ?? false
            try settings.check()
            return
        }
    }
}
