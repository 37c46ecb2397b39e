import Catalog
import Fetcher
import HubCore
import InferenceKit

extension RegistryCommand {
    /// An entry with what this machine adds to it.
    private struct Row {
        var entry: RegistryEntry
        var info: ModelInfo
        var size: EntrySize?
        var source: ModelRegistry.Source
        var isCached: Bool
        /// Whether hub runs it; nil if that is not known.
        var verdict: RunVerdict?
    }

    static func list(_ context: Context, _ request: Request) async throws {
        let workspace = try await context.workspace()
        let registry = try await context.registry(workspace)
        let cached = try await Blocking.run { try workspace.layout.heldFolders() }
        let wanted = request.capabilities
        let rows = zip(registry.entries, registry.allModels).filter { entry, info in
            wanted.isSubset(of: entry.capabilities) && (info.isRecommended || !request.recommended)
        }.map { entry, info in
            Row(
                entry: entry, info: info, size: registry.size(alias: entry.alias),
                source: registry.source(alias: entry.alias) ?? .shipped,
                isCached: cached.contains(Repository(.model, entry.repository).folderName),
                verdict: RunnableModels.supported.judge(entry.facts).map(RunVerdict.init))
        }
        context.output.render(
            json: ["models": .array(rows.map(json)), "memory_bytes": .int(registry.memory.bytes)],
            quiet: rows.map(\.entry.alias)
        ) {
            show(rows, registry.memory, context)
        }
    }

    private static func show(_ rows: [Row], _ memory: ByteCount, _ context: Context) {
        let marks = Marks(context)
        // A name is what is looked for: on 80 columns only two lose some letters, in the middle.
        let isNarrow = (context.output.settings.width ?? 80) < 80
        var table = Table([
            .init(""), .init("ALIAS"), .init("MODEL", least: isNarrow ? 16 : 44, cut: .middle),
            .init("PARAMS", .right, optional: true), .init("QUANT", optional: true),
            .init("SIZE", .right, optional: true), .init("MEMORY", .right, optional: true),
            .init("CONTEXT", .right, optional: true), .init("GOOD FOR", least: 10, optional: true),
            .init("", optional: true),
        ])
        for row in rows {
            let entry = row.entry
            table.add([
                marks.cell(
                    isCached: row.isCached, isRecommended: row.info.isRecommended,
                    runs: row.verdict?.isPossible == true), Styled(entry.alias, .name),
                Styled(entry.repository.name), Styled(entry.parameters.map(Humanize.count) ?? ""),
                Styled(entry.quantization ?? ""), Styled(text(row.size)),
                Styled(entry.memory.map { "\($0)" } ?? ""),
                Styled(entry.contextLength.map { Humanize.count(Int64($0)) } ?? ""),
                Styled(entry.orderedCapabilities.map(\.rawValue).joined(separator: ", "), .faint),
                row.source == .user ? Styled("yours", .faint) : "",
            ])
        }
        context.output.table(table)
        guard !rows.isEmpty else { return context.output.note("no entry of the registry matches") }
        let meanings = Marks.legend([
            (rows.contains(where: \.isCached), marks.cached, "cached"),
            (
                rows.contains(where: \.info.isRecommended), marks.recommended,
                "recommended for \(memory) of memory"
            ), (rows.contains { $0.verdict?.isPossible == true }, marks.runs, "runs in hub try"),
        ])
        let legend = [Humanize.plural(rows.count, "model"), meanings].filter { !$0.isEmpty }.joined(separator: "; ")
        context.output.line(Styled(legend, .faint))
    }

    private static func text(_ size: EntrySize?) -> String {
        switch size {
        case .listed(let bytes)?: "\(bytes)"
        case .estimated(let bytes)?: "~\(bytes)"
        case .atMost(let bytes)?: "<= \(bytes)"
        case nil: ""
        }
    }

    private static func source(of size: EntrySize) -> String {
        switch size {
        case .listed: "files"
        case .estimated: "parameters"
        case .atMost: "repository"
        }
    }

    private static func json(_ row: Row) -> JSON {
        var object = row.entry.json
        object["provider"] = .string(row.entry.provider.rawValue)
        object["pick"] = nil
        object["recommended"] = .bool(row.info.isRecommended)
        object["size_bytes"] = row.size.map { .int($0.bytes.bytes) }
        object["size_from"] = row.size.map { .string(source(of: $0)) }
        object["cached"] = .bool(row.isCached)
        object["source"] = .string(row.source.rawValue)
        object["runs"] = row.verdict?.json
        return .object(object)
    }
}
