extension ModelRecord {
    /// Bytes of the repository, as far as they are known without its files.
    public var sizeBytes: Int64? { usedStorage.flatMap { $0 > 0 ? $0 : nil } }

    /// Bytes of one set of its weights, an estimate from the metadata alone; nil where neither parameters nor size are
    /// known.
    ///
    /// 16 bits a parameter; four and a half (Q4_0's) in GGUF, where a quantised set is what one takes. Never more than
    /// the whole repository has, which is how models quantised in other ways show; and that where the parameters are not
    /// known.
    public var estimatedWeightBytes: Int64? {
        guard let parameters, parameters > 0 else { return sizeBytes }
        let (bits, overflow) = parameters.multipliedReportingOverflow(by: isOffered(in: "gguf") ? 9 : 32)
        return min(overflow ? .max : bits / 16, sizeBytes ?? .max)
    }

    /// Whether library or tags name a format of weights: `gguf`, `mlx`, `safetensors`.
    package func isOffered(in format: String) -> Bool { library == format || hasTag(format) }

    /// Byte for byte, as the catalog and the Hub compare.
    package func hasTag(_ tag: String) -> Bool { tags?.contains { $0.utf8.elementsEqual(tag.utf8) } ?? false }
}
