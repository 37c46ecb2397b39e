import HubCore

extension ModelRecord {
    /// Bytes of the repository with its history, as far as they are known without its files.
    public var sizeBytes: Int64? { usedStorage.flatMap { $0 > 0 ? $0 : nil } }

    /// Bytes of one set of its weights, an estimate from the metadata and the name; nil where neither parameters nor size
    /// are known.
    ///
    /// 16 bits a parameter; four and a half (Q4_0's) in GGUF, where a quantised set is what one takes; what the name says
    /// (`-4bit`, `-AWQ`, `-FP8`) in other formats. Never more than the whole repository has, and that where the parameters
    /// are not known.
    public var estimatedWeightBytes: Int64? {
        guard let parameters = likelyParameters?.count else { return sizeBytes }
        let bits = isOffered(in: "gguf") ? 4.5 : packedBits ?? (isFP8 ? 8 : 16)
        let bytes = Int64(exactly: (Double(parameters) * bits / 8).rounded()) ?? .max
        return min(bytes, sizeBytes ?? .max)
    }

    /// The number of parameters, and whether it is the name that says it (`-0.5B-`, `8x7B`) instead of the Hub.
    ///
    /// Of packed weights the Hub counts what they are packed into, some eighth of them: there the name goes first.
    public var likelyParameters: (count: Int64, isFromName: Bool)? {
        let said = parameters.flatMap { $0 > 0 ? $0 : nil }
        if let said, isOffered(in: "gguf") || packedBits == nil { return (said, false) }
        return ModelName.parameters(in: repository.id.name).map { ($0, true) } ?? said.map { ($0, false) }
    }

    /// The bits of a weight where several are packed into one number.
    private var packedBits: Double? {
        if isFP8 { return nil }
        return ModelName.packedBits(in: repository.id.name)
            ?? (hasTag("4-bit") ? 4.5 : hasTag("8-bit") ? 8.5 : nil)
    }

    /// Whether each weight is a number of one byte.
    private var isFP8: Bool { hasTag("fp8") || ModelName.isFP8(repository.id.name) }

    /// Whether library or tags name a format of weights: `gguf`, `mlx`, `safetensors`.
    package func isOffered(in format: String) -> Bool { library == format || hasTag(format) }

    /// Byte for byte, as the catalog and the Hub compare.
    package func hasTag(_ tag: String) -> Bool { tags?.contains { $0.utf8.elementsEqual(tag.utf8) } ?? false }
}
