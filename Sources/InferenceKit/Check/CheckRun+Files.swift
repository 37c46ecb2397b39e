import HubCore
import ModelFormats

/// The small files, and what must not be run.
extension CheckRun {
    mutating func checkSettings() throws(AIError) {
        try checkTokenizer()
        try checkTemplate()
        try checkGeneration()
        try checkCode()
    }

    /// A single file: what a GGUF file has in itself.
    mutating func checkVocabulary() throws(AIError) {
        guard WeightFormat(fileName: Path.name(path)) == .gguf else { return }
        try checkTokenizer()
        try checkTemplate()
    }

    /// A JSON file of the folder; what is broken is a finding.
    private mutating func json(_ name: String, _ check: String) -> JSON? {
        do throws(AIError) { return try JSONFile.read(Path.join(path, name)) } catch {
            add(.init(check, .fail, error.message, file: name))
            return nil
        }
    }

    // MARK: Tokenizer

    private mutating func checkTokenizer() throws(AIError) {
        let source = try findings("tokenizer") { path throws(AIError) in try TokenizerSource.find(path) } ?? nil
        let file = source?.fileName ?? "tokenizer.json"
        let tokenizer = try findings("tokenizer", file) { _ throws(AIError) in try Tokenizer(source) } ?? nil
        guard let tokenizer else {
            if source == nil, sources?.isLoadable == true {
                add(.init("tokenizer", .warn, "there is no tokenizer.json", file: file))
            }
            return close("tokenizer", "none")
        }
        let rows = sources?.configuration?.vocabulary
        if let rows, tokenizer.idCount > rows {
            // What was added beside the vocabulary is met only where somebody writes it out.
            let isAdded = tokenizer.ownIDCount <= rows
            let last = (isAdded ? tokenizer.idCount : tokenizer.ownIDCount) - 1
            add(
                .init(
                    "tokenizer", isAdded ? .warn : .fail,
                    "the tokenizer has \(isAdded ? "an added token with " : "")the id \(last), the model has \(rows) tokens",
                    file: file, expected: "ids below \(rows)", found: "\(last)"))
        }
        checkSpecialTokens(tokenizer)
        let room = rows.map { $0 > tokenizer.idCount ? ", room for \($0)" : "" } ?? ""
        close("tokenizer", "\(tokenizer.kind), \(tokenizer.idCount) tokens\(room)")
    }

    private mutating func checkSpecialTokens(_ tokenizer: Tokenizer) {
        guard let settings = json("tokenizer_config.json", "tokenizer") else { return }
        for key in ["bos_token", "eos_token", "pad_token", "unk_token"] {
            guard let token = settings[key]?.string ?? settings[key]?["content"]?.string,
                tokenizer.id(of: token) == nil
            else { continue }
            add(
                .init(
                    "tokenizer", .warn, "\(key) \"\(token.printable)\" is no token of the tokenizer",
                    file: "tokenizer_config.json", expected: "a token", found: token))
        }
    }

    // MARK: Template

    /// What a conversation becomes must not be tried out on the person first: every template of the model is rendered.
    private mutating func checkTemplate() throws(AIError) {
        let found = try findings("template") { path throws(AIError) in try ChatTemplates.read(model: path) } ?? nil
        guard let found else { return close("template", "none") }
        for name in found.names {
            try findings("template") { _ throws(AIError) in try TemplateTrial(found, name).run() }
        }
        close("template", found.names.count == 1 ? "renders" : "all \(found.names.count) render")
    }

    /// Does what may find a fault; a fault of the model's is a finding, what is not implemented a lesser one.
    ///
    /// - Returns: nil where there was a fault.
    @discardableResult
    private mutating func findings<Value>(
        _ check: String, _ file: String? = nil, _ body: (String) throws(AIError) -> Value
    ) throws(AIError) -> Value? {
        do throws(AIError) { return try body(path) } catch {
            let statuses: [ErrorCode: CheckResult.Status] = [
                .malformedModel: .fail, .unsupportedModel: .warn, .invalidInput: .warn,
            ]
            guard let status = statuses[error.code] else { throw error }
            add(.init(check, status, error.message, file: file ?? error.context.path.map(Path.name)))
            return nil
        }
    }

    // MARK: Generation

    private mutating func checkGeneration() throws(AIError) {
        let name = "generation_config.json"
        let settings = json(name, "generation config")
        func bad(_ key: String, _ value: JSON, _ expected: String) {
            add(
                .init(
                    "generation config", .warn, "\(key) is \(value.text()), which is not \(expected)", file: name,
                    expected: expected, found: value.text()))
        }
        let ranges: [(String, String, (Double) -> Bool)] = [
            ("temperature", "a number of at least 0", { $0 >= 0 && $0 <= 100 }),
            ("top_p", "above 0 and at most 1", { $0 > 0 && $0 <= 1 }),
            ("min_p", "from 0 to 1", { $0 >= 0 && $0 <= 1 }), ("top_k", "a number of at least 0", { $0 >= 0 }),
            ("repetition_penalty", "above 0", { $0 > 0 }), ("max_length", "above 0", { $0 > 0 }),
            ("max_new_tokens", "above 0", { $0 > 0 }),
        ]
        for (key, expected, isSane) in ranges {
            guard let value = settings?[key] else { continue }
            if value.double.map(isSane) != true { bad(key, value, expected) }
        }
        let vocabulary = sources?.configuration?.vocabulary
        for (file, json) in [(name, settings), ("config.json", self.json("config.json", "generation config"))] {
            for key in ["bos_token_id", "eos_token_id", "pad_token_id"] {
                guard let value = json?[key], let vocabulary else { continue }
                for id in value.array ?? [value] {
                    guard let id = id.int, id >= vocabulary || id < -1 else { continue }
                    add(
                        .init(
                            "generation config", .fail, "\(key) is \(id), the model has \(vocabulary) tokens",
                            file: file,
                            expected: "an id below \(vocabulary)", found: "\(id)"))
                }
            }
        }
        close("generation config", settings == nil ? "none" : "sane")
    }

    // MARK: Code

    /// Code that others would run on loading. hub never does.
    private mutating func checkCode() throws(AIError) {
        for name in ["config.json", "tokenizer_config.json"] {
            for member in json(name, "custom code")?["auto_map"]?.object?.members ?? [] {
                let targets = (member.value.array ?? [member.value]).compactMap(\.string)
                guard !targets.isEmpty else { continue }
                add(
                    .init(
                        "custom code", .warn,
                        "\(member.key.printable) is code of the repository's own (\(targets.joined(separator: ", ").printable)), which transformers runs where it is told to trust it",
                        file: name, found: targets.joined(separator: ", ")))
            }
        }
        close("custom code", "none")
    }

    // MARK: Pickles

    mutating func checkPickles(isFolder: Bool) throws(AIError) {
        var names = [Path.name(path)]
        var folder = Path.parent(path)
        if isFolder { (names, folder) = (try FileSystem.entries(path) ?? [], path) }
        let pickles = names.filter { name in
            WeightFormat(fileName: name) == .pickle || WeightFormat.isTrainingState(name) || name.hasSuffix(".pkl")
        }
        let hasOther = names.contains { WeightFormat(fileName: $0) == .safetensors }
        for name in pickles {
            do throws(AIError) { report(try TorchFile(Path.join(folder, name)), name, besideOther: hasOther) } catch
            {
                guard error.code == .malformedModel else { throw error }
                add(.init("pickles", .warn, error.message, file: name))
            }
        }
        close("pickles", pickles.isEmpty ? "none" : "\(pickles.count), which import nothing that is not harmless")
    }

    private mutating func report(_ file: TorchFile, _ name: String, besideOther: Bool) {
        for found in file.imports where found.danger != .harmless {
            let isDangerous = found.danger == .dangerous
            add(
                .init(
                    "pickles", isDangerous ? .fail : .warn,
                    isDangerous
                        ? "\(name) runs \(found.description.printable) when it is loaded"
                        : "\(name) imports \(found.description.printable), which is not known to be harmless",
                    file: name, expected: "tensors and plain values", found: found.description))
        }
        if let fault = file.fault { add(.init("pickles", .warn, "\(name): \(fault)", file: name)) }
        if besideOther {
            add(
                .init(
                    "pickles", .pass, "\(name) is a pickle beside safetensors, which load without running anything",
                    file: name))
        }
    }
}
