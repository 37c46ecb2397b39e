package import HubCore

/// The metadata from a model's headers and small files, read in a folder or by ranges from a Hub.
package struct ModelSources: Sendable {
    /// Weight files of one format.
    package struct Format: Sendable, Hashable {
        package let format: WeightFormat
        /// The first file of this format.
        package let evidence: String
        /// Bytes of all its files.
        package let bytes: Int64

        package init(format: WeightFormat, evidence: String, bytes: Int64) {
            (self.format, self.evidence, self.bytes) = (format, evidence, bytes)
        }
    }

    /// The folder, the file, or `org/name`; for errors.
    package let name: String
    package var formats: [Format] = []
    package var configuration: ModelConfiguration?
    package var weights: StoredWeights?
    /// The file with the weights if there are other models beside it; otherwise nil.
    package private(set) var chosen: String?
    /// Whether the weights can be opened: safetensors or a PyTorch checkpoint with the standard names, or GGUF.
    package var isLoadable = false
    /// Why a PyTorch checkpoint with a standard name is not opened.
    package var weightsFault: AIError?
    /// nil if there is none or its kind is unknown.
    package var tokenizerKind: String?
    package var hasChatTemplate = false
    /// From the model card; nil if unknown.
    package var license: String?
    /// Why there is no tokenizer that can be used; nil for none or where that is not known.
    package var tokenizerFault: RunObstacle?
    /// Whether it has the modules of sentence-transformers.
    private var hasModules = false
    /// Whether its files say how texts become vectors: modules, or in a GGUF file a kind of pooling.
    package var makesVectors: Bool {
        guard let configuration, configuration.isGGUF else { return hasModules }
        return hasModules || configuration.settings["pooling_type"] != nil
    }
    /// Whether it has the settings of PEFT, of weights that change another model's.
    package private(set) var isAdapter = false

    package init(name: String) { self.name = name }

    /// Notes what the names of all its files say.
    package mutating func note(files names: some Sequence<String>) {
        for name in names {
            if name == "modules.json" { hasModules = true }
            if name == "adapter_config.json" { isAdapter = true }
        }
    }

    /// Bytes of all tensors, or where no header was read of the files of the first format.
    package var weightsBytes: Int64 { weights?.tensorBytes ?? formats.first?.bytes ?? 0 }

    /// Weight files of a list by format, in the order of ``WeightFormat``.
    package static func formats(_ files: [(path: String, size: Int64)]) -> [Format] {
        var found: [WeightFormat: (evidence: String, bytes: ByteCount)] = [:]
        for (path, size) in files {
            guard let format = WeightFormat(fileName: Path.name(path)) else { continue }
            let known = found[format]
            found[format] = (known?.evidence ?? Path.name(path), (known?.bytes ?? ByteCount(0)) + ByteCount(size))
        }
        return found.sorted { $0.key < $1.key }.map {
            Format(format: $0.key, evidence: $0.value.evidence, bytes: $0.value.bytes.bytes)
        }
    }

    /// Whether a folder with these files has weights that can be opened, as far as names tell; GGUF apart.
    package static func isLoadable(_ paths: some Sequence<String>) -> Bool {
        let paths = Array(paths)
        return paths.contains { SafetensorsFolder.isEntry($0) || TorchFolder.isEntry($0) }
            || openCLIPWeights(paths) != nil
    }

    /// Sets which of several GGUF models the weights are from; the format's figures are then that model's.
    ///
    /// - Parameter count: the number of models.
    package mutating func choose(_ file: String, of count: Int) {
        if count > 1 { chosen = file }
        formats = formats.map { format in
            format.format == .gguf ? Format(format: .gguf, evidence: file, bytes: format.bytes) : format
        }
    }

    /// The licence in a card's front matter.
    package static func license(readme: [UInt8]) -> String? {
        let lines = String(decoding: readme.prefix(CardSummary.readLimit), as: UTF8.self)
            .split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        guard lines.first?.hasPrefix("---") == true else { return nil }
        for line in lines.dropFirst() {
            if line.hasPrefix("---") { return nil }
            guard line.hasPrefix("license:") else { continue }
            let value = line.dropFirst(8).filter { !"\"' ".contains($0) }
            return value.isEmpty ? nil : String(value)
        }
        return nil
    }
}
