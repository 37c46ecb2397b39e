import Fetcher
import HubCore

/// Shows a deletion plan, asks, and carries it out: what rm and gc have in common.
struct DeletionView {
    let context: Context
    let workspace: Workspace
    let plan: DeletionPlan

    /// - Parameters:
    ///   - isDryRun: ends after the plan.
    ///   - isAgreed: `--yes`.
    func run(isDryRun: Bool, isAgreed: Bool) async throws {
        context.output.document(json(deleted: false))
        showPlan()
        if isDryRun || plan.isEmpty { return }
        guard try await context.confirm(
            "Delete this?", isGiven: isAgreed, otherwise: "deleting needs a yes; nothing was deleted")
        else {
            context.output.note("nothing was deleted")
            return
        }
        let (plan, layout) = (plan, workspace.layout)
        let freed = try await Offload.run { try Deletion(plan, layout: layout).run() }
        context.output.document(json(deleted: true))
        context.output.line(Styled("\(ByteCount(freed)) freed", .strong))
        if freed != plan.freedBytes {
            context.output.warning(
                "the plan said \(ByteCount(plan.freedBytes)): the cache changed while it was cleaned", advice: "hub ls shows what is there now")
        }
        // Brings the catalog up to date, so that the next list is quick.
        _ = try await workspace.state()
    }

    private func showPlan() {
        if context.output.mode == .quiet {
            for row in plan.rows { context.output.value(name(row)) }
            return
        }
        var table = Table([
            .init("DELETE", least: 16, cut: .middle), .init("WHAT", least: 8), .init("REFS", least: 4, optional: true),
            .init("FREES", .right), .init("USED", optional: true), .init("WHY", least: 12),
        ])
        for row in plan.rows {
            table.add([
                Styled(name(row), .name), Styled(what(row)), Styled(row.refs.joined(separator: ", ")),
                Styled("\(ByteCount(row.freedBytes))"),
                Styled(row.lastUsedAt.map { Humanize.age(of: $0, now: context.now) } ?? "", .faint), Styled(row.reason),
            ])
        }
        context.output.table(table)
        for entry in plan.protected {
            context.output.line(Styled("stays: ", .caution) + Styled("\(entry.repository)" + (entry.commit.map { "@\($0.short)" } ?? "") + ": \(entry.reason)"))
        }
        if plan.isEmpty {
            context.output.line("nothing to delete")
        } else {
            context.output.line(Styled("\(Humanize.plural(plan.rows.count, "row")), \(ByteCount(plan.freedBytes)) in all", .strong))
        }
    }

    private func name(_ row: DeletionPlan.Row) -> String {
        switch row.subject {
        case .revision(let commit): "\(row.repository.map(\.description) ?? "")@\(commit.short)"
        case .payload(let hash): "shared \(hash.prefix(12))"
        default: row.repository?.description ?? ""
        }
    }

    private func what(_ row: DeletionPlan.Row) -> String {
        switch row.subject {
        case .revision: "revision"
        case .partial(let names): "partial \(names[0].prefix(8))"
        case .orphan(let name): "blob \(name.prefix(8))"
        case .remains: "remains"
        case .payload: "payload"
        }
    }

    private func json(deleted: Bool) -> JSONObject {
        func commit(_ subject: DeletionPlan.Row.Subject) -> JSON? { if case .revision(let commit) = subject { .string(commit.hash) } else { nil } }
        return [
            "plan": .array(plan.rows.map { row in
                .object([
                    "id": row.repository.map { .string($0.id.name) }, "commit": commit(row.subject),
                    "refs": .array(row.refs.map { .string($0) }), "reason": .string(row.reason),
                    "freed_bytes": .int(row.freedBytes), "last_used_at": row.lastUsedAt.map { .string(Timestamp.iso8601($0)) },
                ])
            }),
            "freed_bytes": .int(plan.freedBytes), "deleted": .bool(deleted),
            "protected": .array(plan.protected.map { entry in
                .object([
                    "id": .string(entry.repository.id.name), "commit": entry.commit.map { .string($0.hash) },
                    "reason": .string(entry.reason.hasPrefix("in use") ? "in use" : entry.reason),
                ])
            }),
        ]
    }
}
