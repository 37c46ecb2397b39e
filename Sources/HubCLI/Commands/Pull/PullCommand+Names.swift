import Fetcher
import HubCore

/// What the words of `hub pull` mean. The first is a model. Each of the others is a model too, or, as for Python's client,
/// a file of the first.
struct PullNames {
    let words: [String]
    /// The value of `--revision`.
    let revision: String?
    let context: Context

    /// One model of a command line.
    struct Wanted {
        var found: Puller.Resolved
        /// Its files that were named.
        var files: [GlobPattern]
        /// Why the Hub could not be asked, so that the cache's own refs answered.
        var outage: AIError?
    }

    /// The first word.
    func first() throws(AIError) -> ModelReference { try reference(words[0]) }

    private func reference(_ word: String) throws(AIError) -> ModelReference {
        var reference = try context.reference(word)
        guard let revision else { return reference }
        guard reference.revision == nil || reference.revision == revision else {
            throw AIError(.invalidInput, "\(reference) and --revision \(revision.printable) name two revisions")
        }
        try RepositoryPath.checkRevision(revision)
        reference.revision = revision
        return reference
    }

    /// What there is to pull, all words looked up. What a word cannot mean is a failure.
    func wanted(_ first: ModelReference, _ puller: Puller, _ failures: inout Failures) async throws -> [Wanted] {
        var all: [Wanted] = []
        try await failures.attempt(context.output) { all.append(try await resolve(first, puller)) }
        guard var main = all.first else {
            for word in words.dropFirst() {
                try await failures.attempt(context.output) {
                    all.append(try await resolve(reference(word), puller))
                }
            }
            return all
        }
        let paths = Set(main.found.tree.files.map { ExactText($0.path) })
        var others: [Wanted] = []
        for word in words.dropFirst() {
            try await failures.attempt(context.output) {
                if paths.contains(ExactText(word)) {
                    try await checkIsFileAlone(word, of: main.found, puller)
                    main.files.append(GlobPattern.exactly(word))
                } else {
                    others.append(try await model(word, beside: main.found, puller))
                }
            }
        }
        return [main] + others
    }

    /// A word that is not a file of the first model.
    private func model(_ word: String, beside first: Puller.Resolved, _ puller: Puller) async throws -> Wanted {
        guard !FileNames.isUsual(word) else { throw noFile(word, of: first) }
        let reference: ModelReference
        do throws(AIError) { reference = try self.reference(word) } catch {
            // An address says what it is meant to be; anything else may be a file's name.
            guard !word.contains("://"), revision == nil || (try? context.reference(word)) == nil else {
                throw error
            }
            throw neither(
                word, first,
                advice: includeAdvice(word, first) ?? "hub info \(first.reference) --files lists its files")
        }
        do { return try await resolve(reference, puller) } catch let error as AIError
            where error.code == .repositoryNotFound
        {
            throw neither(word, first, advice: error.recoverySuggestion)
        }
    }

    /// What to write for a pattern that files match, where a shell has left it as it is; nil for any other word.
    private func includeAdvice(_ word: String, _ first: Puller.Resolved) -> String? {
        let glob = GlobPattern(word)
        let count = first.tree.files.count { glob.matches($0.path) }
        guard GlobPattern.isPattern(word), count > 0 else { return nil }
        return
            "hub pull \(first.reference) --include \(ShellQuoting.posix(word)) matches \(Humanize.plural(count, "file"))"
    }

    private func noFile(_ word: String, of first: Puller.Resolved) -> AIError {
        let near = FileNames.nearest(to: word, in: first.tree)
        return AIError(
            .fileNotFound, "\(first.reference) has no file \(word.printable)",
            advice: includeAdvice(word, first) ?? near.map { "did you mean \($0.printable)?" }
                ?? "hub info \(first.reference) --files lists its files",
            context: .init(repository: "\(first.repository)", path: word))
    }

    private func neither(_ word: String, _ first: Puller.Resolved, advice: String?) -> AIError {
        AIError(
            .repositoryNotFound,
            "\(word.printable) is neither a file of \(first.reference) nor a repository on \(context.endpointText)",
            advice: advice, context: .init(repository: word))
    }

    /// - Throws: ``ErrorCode/invalidInput`` where the word is the name of a repository as well.
    private func checkIsFileAlone(_ word: String, of first: Puller.Resolved, _ puller: Puller) async throws {
        guard let other = try? context.reference(word), try await exists(other.repository, puller) else { return }
        let file = ModelReference(first.repository, revision: first.reference.revision, files: word)
        throw AIError(
            .invalidInput, "\(word.printable) is a file of \(first.reference), and a repository too",
            advice: "write \(file) for the file, \(word.printable)@\(revision ?? "main") for the repository")
    }

    private func exists(_ repository: Repository, _ puller: Puller) async throws -> Bool {
        do { return try await puller.exists(repository) } catch let error as AIError where error.isOutage {
            return false
        }
    }

    /// What a reference stands for; where the Hub cannot be asked, in the cache.
    private func resolve(_ reference: ModelReference, _ puller: Puller) async throws -> Wanted {
        do { return Wanted(found: try await puller.resolve(reference), files: []) } catch let error as AIError
            where error.isOutage
        {
            var cached = puller
            cached.isOffline = true
            guard let found = try? await cached.resolve(reference) else { throw error }
            return Wanted(found: found, files: [], outage: error)
        }
    }
}

extension PullNames.Wanted {
    /// The plan of its pull.
    ///
    /// - Throws: also why the Hub could not be asked, unless the cache has all that is wanted.
    func plan(_ puller: Puller, _ options: Puller.Options, _ context: Context, isEstimate: Bool) async throws
        -> PullPlan
    {
        var options = try await puller.options(options, for: found).adding(files)
        if context.aliasQuantizations[found.repository.id] != nil, options.earlierChoice == .isFollowed {
            options.earlierChoice = .grows
        }
        let plan: PullPlan
        do { plan = try await puller.plan(found, options) } catch let error as AIError
            where error.code == .nothingMatches
        {
            throw advised(error, options.filter.include?.map(\.pattern) ?? [])
        }
        guard let outage else { return plan }
        guard !isEstimate, !plan.needsNetwork else { throw outage }
        context.output.warning(
            "\(outage.message); using \(found.repository) at \(found.commit.short) from the cache")
        return plan
    }

    /// The error that nothing matches, with the `--include` that was probably meant.
    private func advised(_ error: AIError, _ include: [String]) -> AIError {
        guard let word = include.first, include.count == 1 else { return error }
        let glob = word + "*"
        let count = GlobPattern.isPattern(word) ? 0 : found.tree.files.count { GlobPattern(glob).matches($0.path) }
        let meant: String
        if count > 1 {
            meant = "\(ShellQuoting.posix(glob)) (\(count) files)"
        } else if let near = FileNames.nearest(to: word, in: found.tree) {
            meant = ShellQuoting.posix(GlobPattern.exactly(near).pattern)
        } else {
            return error
        }
        var told = error
        told.specificAdvice =
            "did you mean --include \(meant)?" + (error.recoverySuggestion.map { "\n\($0)" } ?? "")
        return told
    }
}

extension AIError {
    /// Whether it tells of the Hub, or the way to it, and nothing of what was asked for.
    var isOutage: Bool { category == .network && isRetryable }
}
