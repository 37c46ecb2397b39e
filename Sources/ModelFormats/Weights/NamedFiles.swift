package import HubCore

/// What the word after a reference's colon means among a repository's files: the exact path of one; else a quantization,
/// as llama.cpp and ollama write it (`org/name:Q4_K_M`, in any case); else a glob.
package enum NamedFiles: Sendable {
    case path(String)
    /// A set of weights, and the files that it needs.
    case weights(ModelVariant, FileSelection)
    case glob(GlobPattern)

    /// - Parameters:
    ///   - files: those of the commit, or those of it that are here.
    ///   - library: the Hub's library name, if known.
    ///   - tags: the Hub's tags, if known.
    /// - Throws: ``ErrorCode/nothingMatches`` for a quantization that the repository does not have,
    ///   ``ErrorCode/invalidInput`` for one that it has of several models.
    package init(
        _ word: String, among files: [RepositoryFile], of repository: Repository, library: String? = nil,
        tags: [String] = []
    ) throws(AIError) {
        let exact = ExactText(word)
        if files.contains(where: { ExactText($0.path) == exact }) {
            self = .path(word)
            return
        }
        self = .glob(GlobPattern(word))
        guard repository.kind == .model, Self.mayBeQuantization(word) else { return }
        let all = ModelFiles(files, library: library, tags: tags)
        guard Self.isQuantization(word) || all.variants.contains(where: { $0.isQuantized(as: word) }) else {
            return
        }
        // Only automatic choices depend on the machine.
        let target = WeightChoice.Target(memoryBytes: 0, runsMLX: false)
        let choice = try WeightChoice(format: nil, quantization: word)
        if let found = try choice.choose(from: all, of: "\(repository)", for: target) {
            self = .weights(found, all.selection(of: found))
        }
    }

    /// As above, by paths alone, where sizes do not matter.
    package init(_ word: String, amongPaths paths: [String], of repository: Repository) throws(AIError) {
        try self.init(
            word, among: paths.map { RepositoryFile(path: $0, size: 0, oid: "") }, of: repository)
    }

    /// The filter that accepts what is meant, and what it needs.
    package var filter: FileFilter {
        var filter = FileFilter.all
        switch self {
        case .path(let path): filter.include = [.exactly(path)]
        case .weights(_, let selection): filter.selection = selection
        case .glob(let pattern): filter.include = [pattern]
        }
        return filter
    }

    /// Whether each file that is meant is named, and not only described.
    package var isExact: Bool {
        if case .glob(let pattern) = self { !GlobPattern.isPattern(pattern.pattern) } else { true }
    }

    /// Whether a path is meant. Of weights these are their own files, without what goes with any set of them.
    package func matches(_ path: String) -> Bool {
        switch self {
        case .path(let own): ExactText(own) == ExactText(path)
        case .weights(let variant, _): variant.files.contains { ExactText($0) == ExactText(path) }
        case .glob(let pattern): pattern.matches(path)
        }
    }

    /// Whether a path is needed to use what is meant: with weights also their configuration and tokenizer.
    package func needs(_ path: String) -> Bool {
        if case .weights(_, let selection) = self { selection.contains(path) } else { matches(path) }
    }

    /// Whether a word is the name of a quantization, whatever files there are: `Q4_K_M`, `iq2_xxs`, `BF16`, `4bit`.
    package static func isQuantization(_ word: String) -> Bool {
        guard mayBeQuantization(word) else { return false }
        if GGUFQuantization(in: word)?.rest.isEmpty == true { return true }
        // The shorter names that people type, of which llama.cpp's list has only longer ones: Q4, Q8.
        return word.wholeMatch(of: /(?i)(ud-)?[it]?q[1-8]([-_][a-z0-9_-]*)?|[2-8]-?bit/) != nil
    }

    /// Whether a word names weights by itself, whatever files there are: a quantization, or a GGUF file.
    package static func isOfModel(_ word: String) -> Bool {
        isQuantization(word) || WeightFormat(fileName: Path.name(word)) == .gguf && !GlobPattern.isPattern(word)
    }

    /// Whether a word has nothing of a path or a glob.
    private static func mayBeQuantization(_ word: String) -> Bool {
        !word.contains("/") && !GlobPattern.isPattern(word)
    }
}

extension ModelVariant {
    /// Whether a typed name is that of its quantization.
    fileprivate func isQuantized(as text: String) -> Bool { quantization != nil && distance(to: text) != nil }
}

extension ModelFiles {
    /// A variant with its companion files.
    package func selection(of variant: ModelVariant) -> FileSelection {
        FileSelection(name: variant.name, format: variant.format.identifier, paths: paths(of: variant))
    }
}
