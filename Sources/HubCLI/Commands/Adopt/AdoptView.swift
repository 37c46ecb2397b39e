import Catalog
import Fetcher
import HubCore

/// The forms of a plan of `hub cache adopt`.
struct AdoptView {
    let context: Context

    func json(_ plan: AdoptionPlan, saved: Int64, isDone: Bool) -> JSONObject {
        [
            "plan": .array(
                plan.rows.map { row in
                    .object([
                        "path": .string(row.path), "target": row.target.map(JSON.string),
                        "tool": .string(row.tool.rawValue),
                        "sha256": .string(row.sha256),
                        "id": row.repository.map { .string($0.description) },
                        "commit": row.commit.map { .string($0.hash) }, "file": row.file.map(JSON.string),
                        "action": .string(row.action.rawValue), "saves_bytes": .int(row.saves),
                    ])
                }),
            "saved_bytes": .int(saved), "done": .bool(isDone),
        ]
    }

    /// What undoing takes is negative.
    func json(undoing adoptions: [Adoption], isDone: Bool) -> JSONObject {
        [
            "plan": .array(
                adoptions.map { adoption in
                    .object([
                        "path": .string(adoption.path), "sha256": .string(adoption.sha256),
                        "action": .string(adoption.action), "saves_bytes": .int(-Self.cost(adoption)),
                    ])
                }),
            "saved_bytes": .int(-adoptions.reduce(0) { $0 + Self.cost($1) }), "done": .bool(isDone),
        ]
    }

    /// The bytes that undoing takes.
    static func cost(_ adoption: Adoption) -> Int64 { adoption.action == "register" ? 0 : adoption.size }

    func show(_ plan: AdoptionPlan) {
        var table = Table([
            .init("FILE", least: 16, cut: .middle), .init("OF"), .init("SECOND COPY", least: 16, cut: .middle),
            .init("MODEL", least: 10, cut: .middle, optional: true),
            .init("ACTION"), .init("SAVES", .right),
        ])
        for row in plan.rows {
            table.add([
                Styled(row.path), Styled(row.tool.rawValue), Styled(row.target ?? ""),
                Styled(row.repository?.description ?? "", .name),
                Styled(row.action.rawValue), Styled(row.saves > 0 ? ByteCount(row.saves).description : ""),
            ])
        }
        context.output.table(table)
        if !plan.rows.isEmpty {
            context.output.line(Styled("\(ByteCount(plan.savedBytes)) would be saved", .strong))
        }
    }

    /// What is held twice all the same, and why.
    func show(_ copies: [SeparateCopy]) {
        guard !copies.isEmpty else { return }
        for reason in SeparateCopy.Reason.allCases {
            let found = copies.filter { $0.reason == reason }
            guard !found.isEmpty else { continue }
            let bytes = ByteCount(found.reduce(0) { $0 + $1.bytes })
            context.output.line()
            context.output.line("\(bytes) are held twice all the same: \(Self.text(reason))")
            var table = Table([
                .init("FILE", least: 16, cut: .middle), .init("SECOND COPY", least: 16, cut: .middle),
                .init("SIZE", .right),
            ])
            for copy in found {
                table.add([Styled(copy.path), Styled(copy.second), Styled(ByteCount(copy.bytes).description)])
            }
            context.output.table(table)
        }
        context.output.line()
        context.output.line("To free the space, delete one of two copies.")
    }

    private static func text(_ reason: SeparateCopy.Reason) -> String {
        switch reason {
        case .mayBeRewritten: "loose files and Jan's are linked only on btrfs and XFS with reflinks"
        case .notForeign: "the trash, folders of hub pull --local-dir and copies within the cache stay as they are"
        case .otherDisk: "the copies are on different file systems"
        case .unlike: "owner, group or mode of the copies differ"
        case .furtherNames: "one of the copies has further names"
        case .unwritable: "the folder of one of the copies cannot be changed"
        }
    }

    func show(undoing adoptions: [Adoption]) {
        var table = Table([
            .init("FILE", least: 16, cut: .middle), .init("ACTION"), .init("TAKES", .right),
        ])
        for adoption in adoptions {
            let cost = Self.cost(adoption)
            table.add([
                Styled(adoption.path), Styled(adoption.action), Styled(cost > 0 ? ByteCount(cost).description : ""),
            ])
        }
        context.output.table(table)
    }
}
