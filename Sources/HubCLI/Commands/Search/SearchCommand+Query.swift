import Catalog
import Fetcher
import HubCore
import ModelFormats

extension SearchCommand {
    /// What is looked for.
    struct Request: Sendable {
        var query: ModelQuery
        /// The words of the QUERY, as they were typed.
        var typed: String
        /// Whether `--limit` was given.
        var isLimited: Bool
        var cached: Bool
        var curated: Bool
        /// Whether only models are shown that run here.
        var runs: Bool
        var fits: Fits?
        /// How a word was read, where it could be more than one thing.
        var note: String?

        /// What a model must fit in.
        enum Fits: Sendable {
            case thisMachine
            case memory(ByteCount)
        }

        /// - Throws: ``ErrorCode/invalidInput`` where flags and terms exclude each other.
        init(_ arguments: ParsedArguments) throws(AIError) {
            let words: [String]
            (fits, words) = try Self.fits(arguments)
            note = arguments.operands.first { !words.contains($0) }.map { "\($0) is read as --fits=\($0)" }
            typed = words.joined(separator: " ")
            isLimited = arguments[SearchCommand.limit] != nil
            cached = arguments[SearchCommand.cached]
            curated = arguments[SearchCommand.curated]
            runs = arguments[SearchCommand.runs]
            query = try Self.query(arguments, typed)
        }

        /// The flags, then the terms of the QUERY.
        private static func query(_ arguments: ParsedArguments, _ typed: String) throws(AIError) -> ModelQuery {
            var query = ModelQuery()
            query.task = arguments[SearchCommand.task]
            query.capability = arguments[SearchCommand.capability]
            query.library = arguments[SearchCommand.library]
            query.author = arguments[SearchCommand.author]
            query.license = arguments[SearchCommand.license]
            query.tags = arguments.all(tag)
            query.format = arguments[SearchCommand.format]?.rawValue
            query.minimumParameters = arguments[SearchCommand.minParams]?.number
            query.maximumParameters = arguments[SearchCommand.maxParams]?.number
            query.maximumSize = arguments[SearchCommand.smallerThan]?.bytes
            query.gated = arguments[SearchCommand.gated] ? true : arguments[SearchCommand.ungated] ? false : nil
            query.includesVanished = arguments[SearchCommand.vanished]
            query.sort = arguments[SearchCommand.sort] ?? .relevance
            query.limit = arguments[SearchCommand.limit] ?? query.limit
            if let least = query.minimumParameters, let most = query.maximumParameters, least > most {
                throw AIError(.invalidInput, "--min-params \(least) is more than --max-params \(most)")
            }
            try query.take(terms: typed)
            return query
        }

        /// The value of `--fits`, and the words of the QUERY. A size among them is the value of a `--fits` without one:
        /// `--fits 8GB` means `--fits=8GB`.
        private static func fits(_ arguments: ParsedArguments) throws(AIError) -> (Fits?, [String]) {
            guard arguments.has(SearchCommand.fits.flag.name) else { return (nil, arguments.operands) }
            if let size = arguments[SearchCommand.fits] { return (.memory(size), arguments.operands) }
            let sizes = arguments.operands.compactMap(memory)
            guard sizes.count < 2 else {
                throw AIError(
                    .invalidInput, "--fits takes one size, not \(sizes.count)", advice: "write it like --fits=8GB")
            }
            return (
                sizes.first.map(Fits.memory) ?? .thisMachine, arguments.operands.filter { memory(from: $0) == nil }
            )
        }

        /// A word such as `8GB`; nil for `7B`, which is a number of parameters, and for anything else.
        private static func memory(from word: String) -> ByteCount? {
            guard word.first?.isNumber == true,
                let unit = word.lowercased().split(whereSeparator: { !$0.isLetter }).last,
                ["g", "gb", "gib", "mb", "mib", "t", "tb", "tib"].contains(unit)
            else { return nil }
            return try? ByteCount(parsing: word)
        }
    }

    /// Adds what depends on this machine: what is cached, and what there is room for.
    static func narrow(
        _ query: ModelQuery, _ request: Request, _ workspace: Workspace, cached: Set<String>,
        curated: [String: RegistryEntry], _ machine: MachineRunner
    ) async throws -> ModelQuery {
        var query = query
        if request.runs { query.runner = machine.runner }
        if request.cached {
            query.ids = cached.compactMap(Repository.init(folderName:)).filter { $0.kind == query.kind }.map(
                \.id.name
            )
            .sorted()
        }
        if request.curated {
            query.ids = query.ids.map { $0.filter { curated[$0] != nil } } ?? curated.keys.sorted()
            query.knownWeightBytes = await Blocking.run {
                workspace.dispensable.use { catalog throws(AIError) in try catalog.weights(of: curated) } ?? [:]
            }
        }
        if let fits = request.fits {
            var (memory, countsDisk) = (try Machine.memory().total, false)
            switch fits {
            // What is cached takes no more of the disk, and of another machine's disk nothing is known.
            case .thisMachine: countsDisk = !request.cached
            case .memory(let asked): memory = asked.bytes
            }
            let room = Self.room(inMemory: memory)
            let disk = try await Blocking.run { [root = workspace.layout.root, countsDisk] in
                countsDisk ? try FileSystem.diskSpace(root).available : Int64.max
            }
            query.maximumWeightBytes = min(room, disk)
        }
        return query
    }

    /// Bytes that weights may take in a memory of so many.
    static func room(inMemory bytes: Int64) -> Int64 {
        WeightChoice.Target(memoryBytes: bytes, runsMLX: Machine.runsMLX).weightBytes
    }
}
