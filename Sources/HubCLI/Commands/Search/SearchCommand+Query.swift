import Catalog
import Fetcher
import HubCore
import InferenceKit
import ModelFormats

extension SearchCommand {
    /// What the command line asks for: the flags, then the terms of the QUERY.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` where they exclude each other.
    static func query(_ arguments: ParsedArguments) throws(AIError) -> ModelQuery {
        var query = ModelQuery()
        query.task = arguments[task]
        query.capability = arguments[capability]
        query.library = arguments[library]
        query.author = arguments[author]
        query.license = arguments[license]
        query.tags = arguments.all(tag)
        query.format = arguments[format]?.rawValue
        query.minimumParameters = arguments[minParams]?.number
        query.maximumParameters = arguments[maxParams]?.number
        query.maximumSize = arguments[maxSize]?.bytes
        query.gated = arguments[gated] ? true : arguments[open] ? false : nil
        query.includesVanished = arguments[vanished]
        query.sort = arguments[sort] ?? .relevance
        query.limit = arguments[limit] ?? query.limit
        if let least = query.minimumParameters, let most = query.maximumParameters, least > most {
            throw AIError(.invalidInput, "--min-params \(least) is more than --max-params \(most)")
        }
        if arguments[runs] { askForRunnable(&query) }
        try query.take(terms: try words(arguments).joined(separator: " "))
        return query
    }

    /// The words of the QUERY. A size among them is the value of a `--fits` without one: `--fits 8GB` means `--fits=8GB`.
    static func words(_ arguments: ParsedArguments) throws(AIError) -> [String] {
        guard arguments.has(fits.flag.name), arguments[fits] == nil else { return arguments.operands }
        return arguments.operands.filter { memory(from: $0) == nil }
    }

    /// The memory that `--fits` names; nil for that of this machine.
    private static func memoryAsked(_ arguments: ParsedArguments) throws(AIError) -> ByteCount? {
        if let size = arguments[fits] { return size }
        let sizes = arguments.operands.compactMap(memory)
        guard sizes.count < 2 else {
            throw AIError(
                .invalidInput, "--fits takes one size, not \(sizes.count)", advice: "write it like --fits=8GB")
        }
        return sizes.first
    }

    /// A word such as `8GB`; nil for `7B`, which is a number of parameters, and for anything else.
    private static func memory(from word: String) -> ByteCount? {
        guard word.first?.isNumber == true,
            let unit = word.lowercased().split(whereSeparator: { !$0.isLetter }).last,
            ["g", "gb", "gib", "mb", "mib", "t", "tb", "tib"].contains(unit)
        else { return nil }
        return try? ByteCount(parsing: word)
    }

    /// Narrows to what hub runs, as ``RunVerdict`` reads the Hub's tags.
    private static func askForRunnable(_ query: inout ModelQuery) {
        query.library = query.library ?? "transformers"
        query.task = query.task ?? "text-generation"
        query.tags.append("safetensors")
        query.anyTags = RunnableModels.architectures.sorted()
        query.withoutTags = RunVerdict.quantizations
    }

    /// Adds what depends on this machine: what is cached, and what there is room for.
    static func narrow(
        _ query: ModelQuery, _ arguments: ParsedArguments, _ workspace: Workspace, cached: Set<String>,
        curated: [String: RegistryEntry]
    ) async throws -> ModelQuery {
        var query = query
        if arguments[Self.cached] {
            query.ids = cached.compactMap(Repository.init(folderName:)).filter { $0.kind == query.kind }.map(
                \.id.name
            )
            .sorted()
        }
        if arguments[Self.curated] {
            query.ids = query.ids.map { $0.filter { curated[$0] != nil } } ?? curated.keys.sorted()
            query.knownWeightBytes = await Offload.run {
                workspace.dispensable.use { catalog throws(AIError) in try catalog.weights(of: curated) } ?? [:]
            }
        }
        if arguments.has(fits.flag.name) {
            let asked = try memoryAsked(arguments)
            let room = Self.room(inMemory: try asked?.bytes ?? Machine.memory().total)
            // What is cached takes no more of the disk, and of another machine's disk nothing is known.
            let countsDisk = asked == nil && !arguments[Self.cached]
            let disk = try await Offload.run { [root = workspace.layout.root] in
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
