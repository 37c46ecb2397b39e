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
    mutating func json(_ name: String, _ check: String) -> JSON? {
        do throws(AIError) { return try JSONFile.read(Path.join(path, name)) } catch {
            add(.init(check, .fail, told(error), file: name))
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
            add(.init(check, status, told(error), file: file ?? error.context.path.map(Path.name)))
            return nil
        }
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
}
