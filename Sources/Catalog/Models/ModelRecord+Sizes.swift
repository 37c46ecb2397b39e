import HubCore

extension ModelRecord {
    /// Bytes of the repository with its history; nil if unknown.
    public var sizeBytes: Int64? { usedStorage.flatMap { $0 > 0 ? $0 : nil } }

    /// Bytes of one set of its weights, estimated from the metadata and the name; nil if neither parameters nor size
    /// are known.
    ///
    /// 16 bits a parameter; 4.5 (Q4_0) for GGUF, where a quantised set is usual; the name's bits (`-4bit`, `-AWQ`,
    /// `-FP8`) for other formats. At most the whole repository's size, which is also used if the parameters are
    /// unknown.
    public var estimatedWeightBytes: Int64? {
        guard let parameters = likelyParameters?.count else { return sizeBytes }
        let bits = isOffered(in: "gguf") ? 4.5 : packedBits ?? (isFP8 ? 8 : 16)
        let bytes = Int64(exactly: (Double(parameters) * bits / 8).rounded()) ?? .max
        return min(bytes, sizeBytes ?? .max)
    }

    /// The number of parameters, and whether it comes from the name (`-0.5B-`, `8x7B`) instead of the Hub.
    ///
    /// For packed weights the Hub counts the words, about an eighth of the weights, so the name takes precedence.
    public var likelyParameters: (count: Int64, isFromName: Bool)? {
        let said = parameters.flatMap { $0 > 0 ? $0 : nil }
        if let said, isOffered(in: "gguf") || packedBits == nil { return (said, false) }
        return ModelName.parameters(in: repository.id.name).map { ($0, true) } ?? said.map { ($0, false) }
    }

    /// Bits per weight if several are packed into one number.
    private var packedBits: Double? {
        if isFP8 { return nil }
        return ModelName.packedBits(in: repository.id.name)
            ?? (hasTag("4-bit") ? 4.5 : hasTag("8-bit") ? 8.5 : nil)
    }

    /// Whether several weights are packed into one number, as far as name and tags say.
    package var isPacked: Bool { packedBits != nil }

    /// Whether each weight is a number of one byte.
    var isFP8: Bool { hasTag("fp8") || ModelName.isFP8(repository.id.name) }

    /// Whether library or tags name a format of weights: `gguf`, `mlx`, `safetensors`.
    package func isOffered(in format: String) -> Bool { library == format || hasTag(format) }

    /// Compared byte by byte, as in the catalog and on the Hub.
    package func hasTag(_ tag: String) -> Bool { tags?.contains { $0.utf8.elementsEqual(tag.utf8) } ?? false }
}
