import Catalog
import Fetcher
import HubCore

extension RegistryCommand {
    /// What is to be done, and to which entries.
    struct Request {
        var action: Action
        /// The words after the action.
        var words: [String]
        /// `--all` of an export.
        var all: Bool
        var replace: Bool
        var recommended: Bool
        var capabilities: Set<ModelCapability>
        /// What an entry gets that is added; nil if only an alias and a model were given.
        var fields: Fields?

        init(_ action: Action, _ arguments: ParsedArguments) {
            self.action = action
            words = arguments.operands
            all = arguments[RegistryCommand.all]
            replace = arguments[RegistryCommand.replace]
            recommended = arguments[RegistryCommand.recommended]
            capabilities = Set(arguments.all(capability))
            fields = RegistryCommand.fields.contains { arguments.has($0.name) } ? Fields(arguments) : nil
        }
    }

    /// What flags say of an entry.
    struct Fields {
        var name: String?
        var description: String?
        var size: ModelSize?
        var contextLength: Int?
        var capabilities: Set<ModelCapability>
        var parameters: Int?
        var quantization: String?
        var memory: ByteCount?
        var isMLX: Bool
        var isPick: Bool

        init(_ arguments: ParsedArguments) {
            name = arguments[RegistryCommand.name]
            description = arguments[RegistryCommand.description]
            size = arguments[RegistryCommand.size]
            contextLength = arguments[RegistryCommand.contextLength]
            capabilities = Set(arguments.all(capability))
            parameters = arguments[RegistryCommand.parameters]
            quantization = arguments[RegistryCommand.quantization]
            memory = arguments[RegistryCommand.memory]
            isMLX = arguments[format] == .mlx
            isPick = arguments[pick]
        }

        func fill(_ entry: inout RegistryEntry) {
            if isMLX { entry.provider = .mlx }
            entry.name = name ?? entry.name
            entry.description = description
            entry.size = size
            entry.contextLength = contextLength
            entry.capabilities = capabilities
            entry.parameters = parameters.map { Int64($0) }
            entry.quantization = quantization
            entry.memory = memory
            entry.isPick = isPick
        }
    }

    static func run(_ context: Context, _ request: Request) async throws {
        switch request.action {
        case .ls: try await list(context, request)
        case .add: try await add(request, context)
        case .rm: try await remove(request.words, context)
        case .importing: try await importing(request.words[0], context)
        case .export: try await export(context, isWhole: request.all)
        }
    }

    // MARK: Changes

    private static func add(_ request: Request, _ context: Context) async throws {
        let (alias, words) = (request.words[0], request.words)
        try RegistryEntry.checkAlias(alias)
        let entry = words.count > 1 ? try entry(alias, words[1], context, request.fields) : nil
        let isBare = request.fields == nil
        guard entry != nil || isBare else { throw needsRepository(alias) }
        let replaces = request.replace
        let (added, isBack) = try await change(context) { registry in
            // Adding a hidden shipped entry again without changes restores it.
            if isBare, let back = registry.restore(alias, naming: entry?.repository) { return (back, true) }
            guard let entry else { throw needsRepository(alias) }
            try registry.add(entry, replaces: replaces)
            return (entry, false)
        }
        context.output.render(json: ["models": .array([.object(added.json)])], quiet: [alias]) {
            context.output.line(
                Styled(isBack ? "restored alias " : "added alias ") + Styled(alias, .name)
                    + Styled(" for \(added.repository)"))
        }
    }

    private static func needsRepository(_ alias: String) -> AIError {
        AIError(
            .invalidInput, "missing REPO: \(alias) is not a hidden entry of the shipped list",
            advice: "usage: hub registry add ALIAS REPO")
    }

    /// The entry that the words and flags make.
    private static func entry(
        _ alias: String, _ text: String, _ context: Context, _ fields: Fields?
    ) throws(AIError) -> RegistryEntry {
        let reference = try context.reference(text)
        guard reference.repository.kind == .model, reference.revision == nil, reference.files == nil else {
            throw AIError(
                .invalidInput, "\"\(text.printable)\" is not a whole model",
                advice: "add the revision or files to the alias when you use it: \(alias)@main:config.json")
        }
        var entry = try RegistryEntry(alias: alias, repository: reference.repository.id)
        fields?.fill(&entry)
        return entry
    }

    private static func remove(_ aliases: [String], _ context: Context) async throws {
        var failures = Failures()
        var removed: [UserRegistry.Removal] = []
        for alias in aliases {
            try await failures.attempt(context.output) {
                let removal = try await change(context) { $0.remove(alias) }
                guard let removal else {
                    throw AIError(
                        .nothingMatches, "\"\(alias.printable)\" is not in the registry",
                        advice: "hub registry ls lists the aliases")
                }
                removed.append(removal)
            }
        }
        context.output.render(json: ["removed": .array(removed.map(json))], quiet: removed.map(\.entry.alias)) {
            for removal in removed { context.output.line(sentence(removal)) }
        }
        try failures.finish()
    }

    private static func sentence(_ removal: UserRegistry.Removal) -> Styled {
        let alias = Styled(removal.entry.alias, .name)
        return switch removal {
        case .removed: Styled("removed alias ") + alias
        case .uncovered(_, let shipped):
            Styled("removed your alias ") + alias + Styled("; it is the shipped one again: \(shipped.repository)")
        case .hidden(let entry):
            Styled("hid alias ") + alias + Styled("; hub registry add \(entry.alias) restores it")
        }
    }

    private static func json(_ removal: UserRegistry.Removal) -> JSON {
        var source = ModelRegistry.Source.user
        if case .hidden = removal { source = .shipped }
        return .object([
            "alias": .string(removal.entry.alias), "id": .string(removal.entry.repository.name),
            "source": .string(source.rawValue),
        ])
    }

    // MARK: import, export

    private static let importLimit = 4 << 20

    private static func importing(_ file: String, _ context: Context) async throws {
        let (bytes, source) = try await context.input(file, limit: importLimit)
        let document = try RegistryDocument(bytes, source: source)
        let report = try await change(context) { $0.take(document) }
        let parts = [
            ("added", report.added), ("replaced", report.replaced), ("hidden", report.hidden),
            ("unchanged", report.unchanged),
        ]
        let changed = report.added + report.replaced + report.hidden
        context.output.render(
            json: JSONObject(parts.map { ($0.0, .array($0.1.map { .string($0) })) }), quiet: changed
        ) {
            let said = parts.filter { !$0.1.isEmpty }.map { "\($0.1.count) \($0.0)" }
            context.output.line(Styled(said.isEmpty ? "nothing to import" : said.joined(separator: ", ")))
        }
    }

    private static func export(_ context: Context, isWhole: Bool) async throws {
        let user = try await userRegistry(context)
        var document = user.document
        if isWhole { document.entries = user.all }
        context.output.document(document.json)
        context.output.stream(JSON.object(document.json).text(.pretty) + "\n")
    }

    // MARK: The catalog

    private static func change<Value: Sendable>(
        _ context: Context, _ body: @escaping @Sendable (inout UserRegistry) throws -> Value
    ) async throws -> Value {
        let catalog = try await context.workspace(needsCatalog: true).catalog
        guard let catalog else { throw AIError(.catalogUnusable, "there is no catalog") }
        return try await Blocking.run { try catalog.changeRegistry(body) }
    }

    private static func userRegistry(_ context: Context) async throws -> UserRegistry {
        // Without the catalog nothing could be told from an empty list.
        let catalog = try await context.workspace(needsCatalog: true).catalog
        return try await Blocking.run { try catalog?.userRegistry() ?? UserRegistry() }
    }
}

extension UserRegistry.Removal {
    /// What was taken out.
    var entry: RegistryEntry {
        switch self {
        case .removed(let entry), .uncovered(let entry, _), .hidden(let entry): entry
        }
    }
}
