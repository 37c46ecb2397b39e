import Fetcher
import HubCore

/// The forms of what `hub cache du` found.
struct WhyView {
    let context: Context
    let report: StoreReport
    let suggestions: [StoreSuggestions.Line]
    private var output: Output { context.output }

    var json: JSONObject {
        [
            "stores": .array(
                report.stores.map { line in
                    .object([
                        "tool": .string(line.store.tool.rawValue), "part": line.store.part.map(JSON.string),
                        "path": .string(line.store.path),
                        "bytes": .int(line.bytes), "models": .int(Int64(line.models)),
                    ])
                }),
            "models": .array(
                report.models.map { line in
                    .object([
                        "id": .string(line.id), "bytes": .int(line.bytes),
                        "stores": .array(line.tools.map { .string($0.rawValue) }),
                        "duplicate_bytes": .int(line.duplicateBytes),
                    ])
                }),
            "duplicate_bytes": .int(report.duplicateBytes),
            "suggestions": .array(
                suggestions.map { line in
                    .object([
                        "command": .string(line.command), "frees_bytes": .int(line.frees),
                        "reason": .string(line.reason),
                        "last_used_at": line.lastUsedAt.map { .string(Timestamp.iso8601($0)) },
                    ])
                }),
        ]
    }

    func show() {
        guard !report.stores.isEmpty else { return output.line("no store of models was found") }
        showStores()
        showModels()
        let twice = report.duplicateBytes
        output.line()
        output.line(Styled(twice > 0 ? "\(ByteCount(twice)) are held more than once" : "nothing is held twice"))
        guard !suggestions.isEmpty else { return }
        output.line()
        output.line(Styled("To free space, the cheapest first:", .strong))
        // A command is never cut: it is there to be copied.
        let widest = suggestions.map { DisplayWidth.of($0.command) }.max() ?? 0
        if let width = output.settings.width, widest + 10 > width {
            for line in suggestions {
                output.row(Styled(line.command, .name))
                output.line(Styled("    \(ByteCount(line.frees)), \(line.reason)", .faint))
            }
            return
        }
        var table = Table([
            .init("COMMAND"), .init("FREES", .right), .init("USED", optional: true), .init("WHY", optional: true),
        ])
        for line in suggestions {
            table.add([
                Styled(line.command, .name), size(line.frees),
                Styled(line.lastUsedAt.map { Humanize.age(of: $0, now: context.now) } ?? "", .faint),
                Styled(line.reason),
            ])
        }
        output.table(table)
    }

    private func size(_ bytes: Int64) -> Styled { Styled(ByteCount(bytes).description) }

    private func showStores() {
        var table = Table([
            .init("STORE", least: 11), .init("SIZE", .right), .init("", optional: true), .init("MODELS", .right),
            .init("FOLDER", least: 12, cut: .middle),
        ])
        let bar = Bar(isUnicode: context.isUnicode)
        for line in report.stores {
            let share = report.bytes > 0 ? Double(line.bytes) / Double(report.bytes) : 0
            let isPart = line.store.part != nil && line.models == 0
            table.add([
                Styled(line.store.part ?? line.store.tool.rawValue), size(line.bytes), Styled(bar(share), .faint),
                Styled(isPart ? "" : Humanize.grouped(line.models)), Styled(line.store.path, .faint),
            ])
        }
        output.table(table)
        output.line(
            Styled("\(ByteCount(report.bytes)) in \(Humanize.plural(report.stores.count, "store"))", .strong))
    }

    /// Rows shown of the models; `--json` has all of them.
    private static let most = 20

    private func showModels() {
        guard !report.models.isEmpty else { return }
        output.line()
        var table = Table([
            .init("MODEL", least: 16, cut: .middle), .init("SIZE", .right),
            .init("HELD TWICE", .right, optional: true),
            .init("IN", least: 8),
        ])
        for line in report.models.prefix(Self.most) {
            table.add([
                Styled(line.id, .name), size(line.bytes), line.duplicateBytes > 0 ? size(line.duplicateBytes) : "",
                Styled(line.tools.map(\.rawValue).joined(separator: ", ")),
            ])
        }
        output.table(table)
        let more = report.models.count - Self.most
        if more > 0 { output.line(Styled("and \(Humanize.plural(more, "smaller model"))", .faint)) }
    }
}
