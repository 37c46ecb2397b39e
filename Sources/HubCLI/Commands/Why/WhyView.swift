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
                        "tool": .string(line.store.tool.rawValue), "path": .string(line.store.path),
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
                suggestions.map { .object(["command": .string($0.command), "frees_bytes": .int($0.frees)]) }),
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
        var table = Table([.init("COMMAND", least: 16, cut: .middle), .init("FREES", .right)])
        for line in suggestions { table.add([Styled(line.command, .name), size(line.frees)]) }
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
            table.add([
                Styled(line.store.tool.rawValue), size(line.bytes), Styled(bar(share), .faint),
                Styled(Humanize.grouped(line.models)), Styled(line.store.path, .faint),
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
