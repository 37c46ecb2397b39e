import HubChatTemplates
import HubCore
import HubTokenizers
import ModelFormats

/// Checks of the small files and of code.
extension CheckRun {
    /// A JSON file of the folder; a broken one is reported once as a finding.
    mutating func json(_ name: String, _ check: String) -> JSON? {
        guard !broken.contains(name) else {
            isRepeated = true
            return nil
        }
        do throws(AIError) { return try JSONFile.read(Path.join(path, name)) } catch {
            add(check, .fail, error, file: name)
            return nil
        }
    }

    // MARK: Tokenizer

    /// Checks the folder's tokenizer and that of each GGUF model.
    mutating func checkTokenizers() throws(AIError) {
        let path = path
        var places: [(source: TokenizerSource, part: CheckedWeights?)] = []
        if isFolder, let found = try attempt("tokenizer", { () throws(AIError) in try TokenizerSource.find(path) }),
            let found
        {
            if case .gguf = found {} else { places.append((found, nil)) }
        }
        for part in parts {
            if let gguf = part.gguf { places.append((.gguf(gguf), part)) }
        }
        if places.isEmpty, pending.isEmpty {
            // A broken GGUF file has been reported; its tokenizer is not missing.
            guard folder.ggufs.isEmpty, isFolder else { return skip("tokenizer") }
            let readsTexts = sources?.configuration.map(Architectures.readsTexts) ?? true
            if sources?.isLoadable == true, readsTexts {
                add(.init("tokenizer", .warn, "there is \(RunObstacle.noTokenizer.text)", file: "tokenizer.json"))
            }
        }
        var details: [(label: String, text: String)] = []
        for (number, place) in places.enumerated() {
            let file = place.part?.gguf.map(shown) ?? place.source.fileName
            let label = places.count > 1 ? file : ""
            if let part = place.part { checkSpecialIDs(part, file, label) }
            let found = try attempt("tokenizer", file: file) { () throws(AIError) in try Tokenizer(place.source) }
            guard let found, let tokenizer = found else { continue }
            let rows = (place.part == nil ? sources?.configuration : place.part?.configuration)?.vocabulary
            if let rows { checkIDs(tokenizer, rows: rows, file, label) }
            if number == 0, isFolder { checkSpecialTokens(tokenizer, rows: rows) }
            let room = rows.map { $0 > tokenizer.idCount ? ", room for \($0)" : "" } ?? ""
            details.append((label, "\(tokenizer.kind), \(counted(tokenizer.idCount, "token"))\(room)"))
        }
        close("tokenizer", details.isEmpty ? "none" : Self.summed(details))
    }

    private mutating func checkIDs(_ tokenizer: Tokenizer, rows: Int, _ file: String, _ label: String) {
        guard tokenizer.idCount > rows else { return }
        // Added tokens occur only if written out in the text.
        let isAdded = tokenizer.ownIDCount <= rows
        let last = (isAdded ? tokenizer.idCount : tokenizer.ownIDCount) - 1
        let what = isAdded ? "an added token with " : ""
        add(
            .init(
                "tokenizer", isAdded ? .warn : .fail,
                Self.labelled(
                    label, "the tokenizer has \(what)the id \(last); the model has \(counted(rows, "token"))"),
                file: file, expected: "ids below \(rows)", found: "\(last)"))
    }

    /// Checks the special token ids of a GGUF file.
    private mutating func checkSpecialIDs(_ part: CheckedWeights, _ file: String, _ label: String) {
        guard let configuration = part.configuration, let rows = configuration.vocabulary else { return }
        for (name, ids) in [("bos", configuration.bosIDs), ("eos", configuration.eosIDs)] {
            for id in ids where id >= rows {
                add(
                    .init(
                        "tokenizer", .fail,
                        Self.labelled(label, "\(name)_token_id is \(id); the model has \(counted(rows, "token"))"),
                        file: file, expected: "an id below \(rows)", found: "\(id)"))
            }
        }
    }

    /// Transformers gives a special token that its tokenizer lacks the next free id. If the embedding has no row for
    /// that id, texts that begin or end with it break; padding and unknown tokens rarely occur.
    private mutating func checkSpecialTokens(_ tokenizer: Tokenizer, rows: Int?) {
        guard let settings = json("tokenizer_config.json", "tokenizer") else { return }
        let hasRoom = rows.map { $0 > tokenizer.idCount } ?? true
        for key in ["bos_token", "eos_token", "pad_token", "unk_token"] {
            guard let token = settings[key]?.string ?? settings[key]?["content"]?.string,
                tokenizer.id(of: token) == nil
            else { continue }
            let isNeeded = key == "bos_token" || key == "eos_token"
            let fault = isNeeded && !hasRoom ? ", and the embedding has no row for it" : ""
            add(
                .init(
                    "tokenizer", fault.isEmpty ? .warn : .fail,
                    "\(key) \"\(token.printable)\" is not a token of the tokenizer\(fault)",
                    file: "tokenizer_config.json", expected: "a token", found: token))
        }
    }

    // MARK: Templates

    /// Renders every template of the model, so that errors do not appear first in a chat.
    mutating func checkTemplates(_ isCancelled: @escaping @Sendable () -> Bool) throws(AIError) {
        let path = path
        var found: [ChatTemplates] = []
        if isFolder {
            let own = try attempt("template") { () throws(AIError) in try ChatTemplates.read(folder: path) }
            if let own, let own { found.append(own) }
        }
        let ggufs = parts.compactMap(\.gguf)
        for gguf in ggufs {
            let own = try attempt("template", file: shown(gguf)) { () throws(AIError) in
                try ChatTemplates.read(model: gguf)
            }
            if let own, let own { found.append(own) }
        }
        if found.isEmpty, pending.isEmpty, ggufs.isEmpty, !isFolder || !folder.ggufs.isEmpty {
            return skip("template")
        }
        var trials = TemplateTrials(budget: TemplateBudget(isCancelled: isCancelled))
        for templates in found {
            for name in templates.names {
                try attempt("template") { () throws(AIError) in try trials.run(templates, name) }
            }
        }
        if let untried = trials.untried { add(.init("template", .warn, untried)) }
        let count = trials.count
        close("template", count == 0 ? "none" : count == 1 ? "renders" : "all \(count) render")
    }

    // MARK: Code

    /// Reports code that other programs would run on loading. hub never runs it.
    mutating func checkCode() throws(AIError) {
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
