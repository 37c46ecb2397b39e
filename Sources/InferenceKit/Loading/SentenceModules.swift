import HubCore
import ModelFormats

/// How the rows of a text become one vector: the files of sentence-transformers, or GGUF's metadata.
/// https://sbert.net/docs/package_reference/sentence_transformer/models.html
struct SentenceModules: Sendable, Hashable {
    enum Pooling: Sendable, Hashable { case mean, first, last, largest }

    var pooling = Pooling.mean
    /// Whether vectors have length 1.
    var isNormalized = false
    /// Tokens of a text that are read, special ones included; nil for as many as the model takes.
    var maxTokens: Int?
    /// What of the files cannot be run, each a noun phrase.
    private(set) var obstacles: [String] = []

    /// Reads a folder; nil if it has no such files.
    ///
    /// - Throws: ``ErrorCode/malformedModel`` for files that are not what they should be.
    static func read(folder: String) throws(AIError) -> SentenceModules? {
        guard let list = try JSONFile.read(Path.join(folder, "modules.json")) else { return nil }
        guard let modules = list.array else {
            throw .malformed(Path.join(folder, "modules.json"), "it is not a list")
        }
        var found = SentenceModules()
        for module in modules {
            let type = module["type"]?.string ?? ""
            switch type.split(separator: ".").last ?? "" {
            case "Transformer": break
            case "Normalize": found.isNormalized = true
            case "Pooling":
                let place = module["path"]?.string ?? ""
                guard !place.hasPrefix("/"), !place.split(separator: "/").contains("..") else {
                    throw .malformed(
                        Path.join(folder, "modules.json"), "the path \"\(place.printable)\" leaves the folder")
                }
                let path = Path.join(Path.join(folder, place), "config.json")
                guard let settings = try JSONFile.read(path) else { throw .malformed(path, "it is missing") }
                found.read(settings)
            default: found.obstacles.append("module \(type.printable)")
            }
        }
        let settings = try JSONFile.read(Path.join(folder, "sentence_bert_config.json"))
        found.maxTokens = settings?["max_seq_length"]?.int.flatMap { Int(exactly: $0) }.flatMap {
            $0 > 0 ? $0 : nil
        }
        return found
    }

    /// The modes of a pooling module, by their names and by the switches of older files.
    private static let modes: [(name: String, switch: String, pooling: Pooling?)] = [
        ("mean", "mean_tokens", .mean), ("cls", "cls_token", .first), ("lasttoken", "lasttoken", .last),
        ("max", "max_tokens", .largest), ("mean_sqrt_len_tokens", "mean_sqrt_len_tokens", nil),
        ("weightedmean", "weightedmean_tokens", nil),
    ]

    /// Several modes would be concatenated.
    private mutating func read(_ settings: JSON) {
        let named = settings["pooling_mode"].map { $0.array?.compactMap(\.string) ?? [$0.string].compactMap { $0 } }
        let chosen =
            named ?? Self.modes.filter { settings["pooling_mode_\($0.switch)"]?.bool == true }.map(\.name)
        if chosen.count == 1, let mode = Self.modes.first(where: { $0.name == chosen[0] })?.pooling {
            pooling = mode
        } else if !chosen.isEmpty {
            obstacles.append("pooling by \(chosen.joined(separator: ", ").printable)")
        }
    }

    /// What a GGUF file says; nil if it says nothing. llama.cpp normalises.
    init?(_ header: GGUFHeader) {
        guard let type = header["general.architecture"]?.string, let number = header["\(type).pooling_type"]?.int
        else {
            return nil
        }
        isNormalized = true
        // https://github.com/ggml-org/llama.cpp/blob/master/include/llama.h (`llama_pooling_type`)
        switch number {
        case 1: pooling = .mean
        case 2: pooling = .first
        case 3: pooling = .last
        default: obstacles.append("pooling type \(number)")
        }
    }

    private init() {}

    /// The mean, as sentence-transformers makes of an encoder without its files.
    static let plain = SentenceModules()
}
