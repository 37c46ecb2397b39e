import HubCore
import ModelFormats

/// One check on its way.
struct CheckRun {
    let path: String
    let options: ModelCheck.Options
    private(set) var results: [CheckResult] = []
    private(set) var findings: [CheckFinding] = []
    private(set) var sources: ModelSources?
    private var pending: [CheckFinding] = []

    init(path: String, options: ModelCheck.Options) {
        (self.path, self.options) = (path, options)
    }

    mutating func run(_ isCancelled: () -> Bool) throws(AIError) {
        guard let status = try FileSystem.status(path) else {
            throw AIError(.fileNotFound, "there is nothing at \(path)", context: .init(path: path))
        }
        let isFolder = status.kind == .directory
        do throws(AIError) {
            let read =
                isFolder
                ? try ModelSources.read(folder: path).0 : try ModelSources.read(file: path, size: status.size)
            sources = read
            if let configuration = read.configuration {
                let file = Path.name(configuration.path)
                for fault in configuration.faults { add(.init("headers", .fail, "\(file): \(fault)", file: file)) }
            }
            let shown = read.formats.map { "\($0.format.rawValue), \(ByteCount($0.bytes))" }
            if isFolder { try checkIndex(read) }
            close("headers", shown.isEmpty ? "no weights" : shown.joined(separator: "; "))
        } catch {
            guard error.code == .malformedModel || error.code == .unsupportedModel else { throw error }
            add(.init("headers", .fail, told(error), file: error.context.path.map(Path.name)))
            close("headers", "")
        }
        if let sources {
            checkTensors(sources)
            try checkValues(sources, isCancelled)
        } else {
            skip("tensors")
            skip("values")
        }
        if isFolder { try checkSettings() } else { try checkVocabulary() }
        try checkPickles(isFolder: isFolder, isCancelled)
    }

    /// An error's sentence with the file's name for its path, which stands above the page.
    func told(_ error: AIError) -> String {
        guard let place = error.context.path, error.message.hasPrefix(place + ": ") else { return error.message }
        return Path.name(place) + error.message.dropFirst(place.count)
    }

    // MARK: Results

    mutating func add(_ finding: CheckFinding) { pending.append(finding) }

    private mutating func skip(_ name: String) {
        results.append(.init(name: name, status: .skip, detail: "not looked at"))
    }

    /// Ends one check: its status is that of its gravest finding, whose sentence it shows.
    mutating func close(_ name: String, _ detail: String, otherwise: CheckResult.Status = .pass) {
        func gravity(_ status: CheckResult.Status) -> Int { status == .fail ? 0 : status == .warn ? 1 : 2 }
        let sorted = pending.enumerated().sorted {
            (gravity($0.element.status), $0.offset) < (gravity($1.element.status), $1.offset)
        }.map(\.element)
        let worst = sorted.first { $0.status != .pass }
        let more = sorted.count { $0.status == worst?.status } - 1
        let told = worst.map { $0.detail + (more > 0 ? " (and \(more) more)" : "") }
        results.append(.init(name: name, status: worst?.status ?? otherwise, detail: told ?? detail))
        findings += sorted
        pending = []
    }

    // MARK: Tensors

    private mutating func checkTensors(_ sources: ModelSources) {
        guard let weights = sources.weights else { return skip("tensors") }
        guard let configuration = sources.configuration else {
            if sources.isLoadable {
                add(
                    .init(
                        "tensors", .warn, "there is no config.json to hold the tensors against", file: "config.json"
                    ))
            }
            return close("tensors", "\(weights.tensors.count) tensors, held against nothing")
        }
        let packed = ModelTensors(weights, configuration.quantization)
        let grouped = packed.tensors
        for fault in packed.faults {
            let file = Path.name(weights.files[weights.tensors[fault.weights].file].path)
            add(.init("tensors", .fail, fault.detail, file: file, tensor: fault.tensor))
        }
        let isGGUF = weights.files.first?.format == .gguf
        var known: [String: ModelTensor] = [:]
        for tensor in grouped {
            let name = tensor.name.replacing("LayerNorm.gamma", with: "LayerNorm.weight").replacing(
                "LayerNorm.beta", with: "LayerNorm.bias")
            known[name] = tensor
        }
        let type = configuration.modelType ?? "such a model"
        guard let needs = TensorNeeds(configuration, names: known.keys, isGGUF: isGGUF) else {
            checkLikeness(configuration, known)
            return close(
                "tensors", "\(grouped.count) tensors; which of them \(type) needs is not known here",
                otherwise: .skip)
        }
        var left = known
        for need in needs.needs {
            guard let tensor = left.removeValue(forKey: need.name) else {
                if !need.isOptional { missing(need, weights) }
                continue
            }
            compare(tensor, need, weights, Path.name(configuration.path))
        }
        for name in left.keys.sorted() where !needs.isBeside(name) {
            let tensor = left[name]!
            add(
                .init(
                    "tensors", .pass, "tensor \"\(tensor.name)\" is none that \(type) uses",
                    file: file(of: tensor, weights), tensor: tensor.name))
        }
        let unused = pending.count { $0.status == .pass }
        close(
            "tensors",
            "\(needs.needs.count { !$0.isOptional }) needed, all there with their shapes"
                + (unused > 0 ? "; \(unused) that are not used" : ""))
    }

    private func file(of tensor: ModelTensor, _ weights: StoredWeights) -> String {
        Path.name(weights.files[weights.tensors[tensor.members[0]].file].path)
    }

    private static func shown(_ shape: [Int?]) -> String {
        "[" + shape.map { $0.map(String.init) ?? "?" }.joined(separator: ", ") + "]"
    }

    private mutating func missing(_ need: TensorNeeds.Need, _ weights: StoredWeights) {
        let file = weights.files.count == 1 ? Path.name(weights.files[0].path) : SafetensorsFolder.indexName
        add(
            .init(
                "tensors", .fail, "tensor \"\(need.name)\" is missing", file: file, tensor: need.name,
                expected: Self.shown(need.shape), found: "nothing"))
    }

    private mutating func compare(
        _ tensor: ModelTensor, _ need: TensorNeeds.Need, _ weights: StoredWeights, _ source: String
    ) {
        guard let shape = tensor.shape else { return }
        let fits = shape.count == need.shape.count && zip(shape, need.shape).allSatisfy { $1 == nil || $0 == $1 }
        guard !fits else { return }
        add(
            .init(
                "tensors", .fail,
                "tensor \"\(tensor.name)\" has the shape \(shape), \(source) says \(Self.shown(need.shape))",
                file: file(of: tensor, weights), tensor: tensor.name, expected: Self.shown(need.shape),
                found: "\(shape)"))
    }

    // MARK: Values

    private mutating func checkValues(_ sources: ModelSources, _ isCancelled: () -> Bool) throws(AIError) {
        guard let weights = sources.weights, weights.tensors.contains(where: { $0.offset != nil }) else {
            return skip("values")
        }
        var remembered = 0
        for (number, file) in weights.files.enumerated() {
            if isCancelled() { throw AIError(.cancelled, "interrupted") }
            let digest = CheckMemory.digest(of: file.path)
            if let digest, let known = options.memory.recall(digest, ValueScan.version, options.isFull),
                let findings = Self.findings(known, Path.name(file.path))
            {
                pending += findings
                remembered += 1
                continue
            }
            let tensors = weights.tensors.filter { $0.file == number }
            let found: [CheckFinding]
            do throws(AIError) {
                found = try ValueScan(
                    file.path, tensors: tensors, isWhole: options.isFull, isUnchanging: digest != nil
                ).findings()
            } catch {
                guard error.code == .malformedModel else { throw error }
                add(.init("values", .fail, told(error), file: Path.name(file.path)))
                continue
            }
            pending += found
            if let digest { options.memory.keep(digest, ValueScan.version, options.isFull, Self.json(found)) }
        }
        let some = pending.contains { $0.status == .pass } ? " that could be looked at" : ""
        let how =
            options.isFull ? "every number\(some) is finite" : "samples of every tensor\(some) are finite"
        close(
            "values",
            how + (remembered > 0 ? " (\(remembered) of \(weights.files.count) files were looked at before)" : ""))
    }

    private static func json(_ findings: [CheckFinding]) -> JSON {
        .array(
            findings.map { finding in
                .object([
                    "status": .string(finding.status.rawValue), "detail": .string(finding.detail),
                    "tensor": finding.tensor.map { .string($0) }, "expected": finding.expected.map { .string($0) },
                    "found": finding.found.map { .string($0) },
                ])
            })
    }

    /// nil for what is not this version's.
    private static func findings(_ json: JSON, _ file: String) -> [CheckFinding]? {
        guard let entries = json.array else { return nil }
        var findings: [CheckFinding] = []
        for entry in entries {
            guard let status = entry["status"]?.string.flatMap(CheckResult.Status.init),
                let detail = entry["detail"]?.string
            else { return nil }
            findings.append(
                .init(
                    "values", status, detail, file: file, tensor: entry["tensor"]?.string,
                    expected: entry["expected"]?.string, found: entry["found"]?.string))
        }
        return findings
    }
}
