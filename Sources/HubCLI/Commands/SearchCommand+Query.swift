import Catalog
import Fetcher
import HubCore
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
            throw AIError(.invalidInput, "no model has \(least) parameters or more and \(most) or fewer")
        }
        try query.take(terms: arguments.operands.joined(separator: " "))
        return query
    }

    /// Adds what only this machine can tell: what is cached, and what there is room for.
    static func narrow(
        _ query: ModelQuery, _ arguments: ParsedArguments, _ workspace: Workspace, cached: Set<String>,
        curated: Set<String>
    ) async throws -> ModelQuery {
        var query = query
        if arguments[Self.cached] {
            query.ids = cached.compactMap(Repository.init(folderName:)).filter { $0.kind == query.kind }.map(
                \.id.name
            )
            .sorted()
        }
        if arguments[Self.curated] {
            query.ids = query.ids.map { $0.filter(curated.contains) } ?? curated.sorted()
        }
        if arguments[fits] {
            let memory = try Machine.memory().total
            let room = WeightChoice.Target(memoryBytes: memory, runsMLX: Machine.runsMLX).weightBytes
            // What is here already takes no more of the disk.
            let disk = try await Offload.run { [isHere = arguments[Self.cached], root = workspace.layout.root] in
                isHere ? Int64.max : try FileSystem.diskSpace(root).available
            }
            query.maximumWeightBytes = min(room, disk)
        }
        return query
    }
}
