import Fetcher
import HubCore
import InferenceKit
import ModelFormats

extension Context {
    /// The Hub that flags and variables name.
    func hubEndpoint() throws(AIError) -> Endpoint {
        if let endpoint { return try Endpoint(endpoint) }
        return try environment.endpoint()
    }

    /// The cache, the catalog and the way to the Hub, as flags and variables say. A catalog that cannot be used is reported,
    /// and the work continues without it.
    ///
    /// - Parameters:
    ///   - needsCatalog: where nothing can be done without it: a catalog that cannot be used is thrown.
    ///   - opensCatalog: false if it is not concerned.
    ///   - token: another than the environment's.
    ///   - endpoint: another than the environment's, and so is isOffline.
    ///   - joinsGroup: whether what is written from now on is the group's too, if the cache is a group's; false for commands
    ///     that write elsewhere.
    ///   - tellsFault: false if the caller itself shows why the catalog cannot be opened.
    func workspace(
        needsCatalog: Bool = false, opensCatalog: Bool = true, token: HFTokenProvider = .auto,
        joinsGroup: Bool = true, tellsFault: Bool = true, endpoint: Endpoint? = nil, isOffline: Bool? = nil
    ) async throws -> Workspace {
        let configuration = HFConfiguration.endpoint(try endpoint ?? hubEndpoint()).token(token)
        let (environment, cacheDir, output) = (environment, cacheDir, output)
        let isOffline = isOffline ?? self.isOffline
        let workspace = try await Blocking.run {
            let workspace = Workspace(
                environment: environment, cacheDirectory: cacheDir, configuration: configuration,
                isOffline: isOffline, opensCatalog: opensCatalog, memory: RunnableModels.memoryRule,
                log: { message in output.debug(message) }, notice: { message in output.warning(message) },
                onCatalogFault: tellOfCatalog)
            if joinsGroup, try workspace.layout.sharingGroup() != nil { Umask.shareWithGroup() }
            return workspace
        }
        if let fault = workspace.catalogFault {
            if needsCatalog { throw Self.advised(fault) }
            if tellsFault { tellOfCatalog(fault) }
        }
        return workspace
    }

    /// Says that the work continues without the catalog, and why.
    @Sendable func tellOfCatalog(_ fault: AIError) {
        let fault = Self.advised(fault)
        output.warning("continuing without the catalog: \(fault.message)", advice: fault.recoverySuggestion)
    }

    /// A fault of the catalog with advice about it: the cache is not concerned.
    static func advised(_ fault: AIError) -> AIError {
        var fault = fault
        if fault.code != .catalogUnusable { fault.specificAdvice = "set HUB_HOME to use another folder" }
        return fault
    }

    /// A reference as it was typed; a single word is an alias first.
    func reference(_ text: String) throws(AIError) -> ModelReference {
        var reference = try ModelReference(parsing: text, endpoint: try hubEndpoint())
        if reference.repository.kind == .model, let id = aliases[reference.repository.id.name] {
            reference.repository.id = id
        }
        return reference
    }
}

extension String {
    /// Whether a word means a folder: names alone are models'.
    var namesFolder: Bool { self == "." || self == ".." || ["./", "../", "/", "~"].contains { hasPrefix($0) } }

    /// Whether a word means a folder or a GGUF file of this machine. A file of a repository has a colon before it:
    /// `org/name:x.gguf`, and so have addresses.
    var namesModelHere: Bool {
        namesFolder || hasSuffix(".gguf") && (!contains(":") || FileSystem.exists(self))
    }
}

/// What ls, rm, pin and verify take: a reference, or a glob over repositories' names.
enum CacheSelector: Sendable {
    case reference(ModelReference)
    case glob(GlobPattern)

    init(_ text: String, _ context: Context) throws(AIError) {
        let name = text.prefix { $0 != ":" }
        guard GlobPattern.isPattern(name.description) else {
            self = .reference(try context.reference(text))
            return
        }
        guard name.endIndex == text.endIndex, !name.contains("@") else {
            throw AIError(
                .invalidInput, "\"\(text.printable)\" is a glob over names; it cannot have a revision or files",
                advice: "write it like 'org/*'")
        }
        self = .glob(GlobPattern(text))
    }

    /// Whether a cached repository is meant, whole or in part.
    func matches(_ repository: CachedRepository) -> Bool { matches(repository.repository) }

    /// Whether a repository is meant, whole or in part.
    func matches(_ repository: Repository) -> Bool {
        switch self {
        case .reference(let reference): reference.repository == repository
        case .glob(let glob): glob.matches(repository.description)
        }
    }

    /// Whether a listed revision is meant.
    func matches(_ revision: RepositoryOverview.Revision, of repository: RepositoryOverview) -> Bool {
        switch self {
        case .reference(let reference):
            reference.names(revision.commit, refs: revision.refs, of: repository.repository)
        case .glob: matches(repository.repository)
        }
    }

    /// Whether a listed repository holds something that is meant.
    func names(_ repository: RepositoryOverview) -> Bool {
        matches(repository.repository)
            && (!namesRevision || repository.revisions.contains { matches($0, of: repository) })
    }

    /// Whether a cached revision is meant.
    func matches(_ revision: CachedRevision, of repository: CachedRepository) -> Bool {
        switch self {
        case .reference(let reference): reference.names(revision, of: repository)
        case .glob: matches(repository)
        }
    }

    /// Whether something that need not be cached any more is meant: refs by name, commits by seven digits at least.
    func matches(_ repository: Repository, commit: Commit?, refs: [String]) -> Bool {
        switch self {
        case .glob(let glob): return glob.matches(repository.description)
        case .reference(let reference):
            guard reference.repository == repository, let revision = reference.revision else {
                return reference.repository == repository
            }
            return refs.contains(revision)
                || (revision.utf8.count >= 7 && commit?.hash.hasPrefix(revision) == true)
        }
    }

    /// Whether a cached repository holds something that is meant.
    func names(_ repository: CachedRepository) -> Bool {
        matches(repository) && (!namesRevision || repository.revisions.contains { matches($0, of: repository) })
    }

    /// The files that are meant, as they were typed; nil for all of them.
    var files: String? {
        if case .reference(let reference) = self { reference.files } else { nil }
    }

    /// What is meant of the files that are in a repository's cache; nothing of them if they lack the quantization that is
    /// named.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` for a quantization of several models.
    func files(among paths: [String], of repository: Repository) throws(AIError) -> NamedFiles? {
        guard let files else { return nil }
        do throws(AIError) { return try NamedFiles(files, amongPaths: paths, of: repository) } catch {
            guard error.code == .nothingMatches else { throw error }
            return .glob(GlobPattern(files))
        }
    }

    /// What it names as a value of --keep. A typing error must not cost what it should protect.
    ///
    /// - Parameter undone: what has not happened, in a clause.
    /// - Throws: ``ErrorCode/notCached`` if that is nothing.
    func kept(_ text: String, in state: CacheState, undone: String) throws(AIError) -> [ModelReference] {
        let found: [ModelReference] =
            switch self {
            case .reference(let reference): state.holds(reference) ? [reference] : []
            case .glob: state.repositories.filter { matches($0) }.map { ModelReference($0.repository) }
            }
        guard !found.isEmpty else {
            throw AIError(
                .notCached, "--keep \(text.printable): not in the cache",
                advice: "\(undone); hub ls --revisions lists what is cached")
        }
        return found
    }

    /// Whether a revision was named, so that only that one is meant.
    var namesRevision: Bool {
        if case .reference(let reference) = self { reference.revision != nil } else { false }
    }
}
