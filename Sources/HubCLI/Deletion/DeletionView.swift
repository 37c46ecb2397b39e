import Fetcher
import HubCore

/// Shows a deletion plan, asks, and carries it out: what rm and gc have in common.
struct DeletionView {
    let context: Context
    let workspace: Workspace
    let plan: DeletionPlan
    /// What an error has said already of what stays.
    var told: Set<DeletionPlan.Protected> = []
    /// Whether a person named what goes: then pins that cannot be read stop nothing.
    var isNamed = false

    /// Whether there is anything to show or to do.
    var hasSomethingToSay: Bool { !plan.isEmpty || !plan.protected.isEmpty }

    /// - Parameters:
    ///   - isDryRun: ends after the plan.
    ///   - isAgreed: `--yes`.
    ///   - isTrash: moves instead of deleting.
    ///   - failures: has what failed of it.
    /// - Returns: what came of it; nil if nothing was to be done.
    @discardableResult
    func run(isDryRun: Bool, isAgreed: Bool, isTrash: Bool, _ failures: inout Failures) async throws
        -> Deletion.Outcome?
    {
        // A dry run says what the real one would do.
        try refuseUnknownPins(plan.pinsFault)
        context.output.document(json(nil, isTrash: isTrash))
        showPlan(isTrash: isTrash)
        for use in await workspace.sharedUses(of: plan) { context.output.note(use) }
        if isDryRun, !plan.isEmpty { context.output.line("dry run: nothing was deleted") }
        if isDryRun || plan.isEmpty { return nil }
        var hasYes = false
        try await failures.attempt(context.output) {
            try await requireYes(isAgreed, isTrash: isTrash)
            hasYes = true
        }
        guard hasYes else { return nil }
        // Minutes may have passed at the question.
        let protection = try await currentProtection()
        try refuseUnknownPins(protection.pinsFault)
        let outcome = try await isTrash ? moveIntoTrash(protection) : delete(protection)
        context.output.document(json(outcome, isTrash: isTrash))
        showProtected(outcome.spared)
        for (_, error) in outcome.failed { try await failures.attempt(context.output) { throw error } }
        let (workspace, plan) = (workspace, plan)
        await Blocking.run { workspace.leaveOut(plan, outcome) }
        // Brings the catalog up to date, so that the next list is quick.
        _ = try await workspace.state()
        await workspace.forgetVerified(after: plan)
        return outcome
    }

    /// What programs are told of a plan that is not carried out, and people of what is in its way.
    func showRefused(isTrash: Bool) {
        context.output.document(json(nil, isTrash: isTrash))
        if context.output.mode == .human { showProtected(plan.protected) }
    }

    private func refuseUnknownPins(_ fault: AIError?) throws(AIError) {
        if let fault, plan.concernsPins, !isNamed { throw Protection.refusal(fault) }
    }

    /// Asks for confirmation. Interrupting the question reports that nothing was deleted.
    private func requireYes(_ isAgreed: Bool, isTrash: Bool) async throws {
        let kept = context.interruption.kept
        context.interruption.kept = "nothing was deleted"
        try await context.requireYes(
            isTrash ? "Move this into the trash?" : "Delete this?", isGiven: isAgreed,
            otherwise: "refusing to \(isTrash ? "move to the trash" : "delete") without confirmation",
            undone: "nothing was deleted")
        context.interruption.kept = kept
    }

    private func delete(_ protection: Protection) async -> Deletion.Outcome {
        let (plan, layout) = (plan, workspace.layout)
        let outcome = await Blocking.run {
            Deletion(plan, layout: layout, protection: protection).carryOut()
        }
        context.output.line(Styled(Self.amount(outcome.freed.size, outcome.freed.allocated) + " freed", .strong))
        if outcome.failed.isEmpty, outcome.freedBytes != plan.freedBytes {
            context.output.warning(
                "the plan said \(ByteCount(plan.freedBytes)): the cache changed while it was cleaned",
                advice: "hub ls shows what is there now")
        }
        return outcome
    }

    private func moveIntoTrash(_ protection: Protection) async throws -> Deletion.Outcome {
        let (plan, trash) = (plan, Trash(workspace.layout))
        let outcome = try await Blocking.run { try trash.take(plan, protection: protection) }
        guard outcome.hasChanged else {
            context.output.line(Styled("nothing was moved", .strong))
            return outcome
        }
        context.output.line(
            Styled("moved into \(trash.path); ", .strong)
                + Styled("run hub trash empty to free the space; \(undoing(outcome))"))
        return outcome
    }

    /// How to get back what went into the trash: the command, where it fits into a line.
    private func undoing(_ outcome: Deletion.Outcome) -> String {
        // What went last comes back first: the blobs that earlier rows need went with it.
        let rows = outcome.done.sorted().reversed().map { plan.rows[$0] }
        var names: [String] = []
        for name in rows.map(Self.name) where !names.contains(name) { names.append(name) }
        guard names.count <= 3, rows.allSatisfy({ $0.repository != nil }) else {
            return "hub trash ls shows what can be restored"
        }
        return "hub trash restore \(names.joined(separator: " ")) undoes this"
    }

    private func currentProtection() async throws -> Protection {
        let workspace = workspace
        var files = try await workspace.state().files
        let folders = plan.rows.compactMap { row in
            if case .local(let folder, _) = row.subject { folder } else { nil }
        }
        files.formUnion(try await Blocking.run { try folders.flatMap { try $0.identities() } })
        return try await workspace.protection(for: files)
    }

    /// Bytes, and those on the disk where that is another matter: files with holes, compressing file systems.
    static func amount(_ bytes: Int64, _ allocated: Int64) -> String {
        differs(bytes, allocated)
            ? "\(ByteCount(bytes)) (\(ByteCount(allocated)) on the disk)" : "\(ByteCount(bytes))"
    }

    /// Small files always take more than their size; that is not worth a remark.
    static func differs(_ bytes: Int64, _ allocated: Int64) -> Bool {
        bytes - allocated > max(1 << 20, bytes / 10)
    }

    private func showPlan(isTrash: Bool) {
        if context.output.mode == .quiet {
            for row in plan.rows { context.output.value(Self.name(row)) }
            return
        }
        // A reason that all rows have is said once. The name is never cut: on a narrow terminal the rest goes.
        let reasons = Set(plan.rows.map(\.reason))
        let common = plan.rows.count > 1 && reasons.count == 1 ? reasons.first : nil
        if let common { context.output.line("\(isTrash ? "To move" : "To delete"): \(common)") }
        let isOfRevisions = plan.rows.allSatisfy { if case .revision = $0.subject { true } else { false } }
        var table = Table([
            .init(isTrash ? "MOVE" : "DELETE"), .init(isTrash ? "SIZE" : "FREES", .right),
            .init(common == nil ? "WHY" : "", optional: true), .init("REFS", least: 4, optional: true),
            .init(isOfRevisions ? "" : "WHAT", optional: true), .init("USED", optional: true),
        ])
        for row in plan.rows {
            table.add([
                Styled(Self.name(row), .name), Styled("\(ByteCount(row.freedBytes))"),
                Styled(common == nil ? row.reason : ""), Styled(row.refs.joined(separator: ", ")),
                Styled(isOfRevisions ? "" : Self.what(row)),
                Styled(row.lastUsedAt.map { Humanize.age(of: $0, now: context.now) } ?? "", .faint),
            ])
        }
        context.output.table(table)
        showProtected(plan.protected.filter { !told.contains($0) })
        if plan.isEmpty {
            if told.isEmpty { context.output.line("nothing to delete") }
        } else {
            let sum = Self.amount(plan.freedBytes, plan.allocatedBytes)
            context.output.line(Styled("\(Humanize.plural(plan.rows.count, "row")), \(sum) in all", .strong))
            for remark in plan.remarks { context.output.note(remark) }
            for detail in plan.details { context.output.debug(detail) }
        }
    }

    private func showProtected(_ protected: [DeletionPlan.Protected]) {
        for entry in protected {
            context.output.line(Styled("stays: ", .caution) + Styled("\(entry.name): \(entry.reason)"))
        }
    }

    static func name(_ row: DeletionPlan.Row) -> String {
        switch row.subject {
        case .local(let folder, _): folder.path
        case .payload(let hash): "shared \(hash.prefix(12))"
        case .xet: "chunks kept by Xet"
        default: (row.repository?.description ?? "") + (row.subject.commit.map { "@\($0.short)" } ?? "")
        }
    }

    static func what(_ row: DeletionPlan.Row) -> String {
        switch row.subject {
        case .partial(let names): "partial \(names[0].prefix(8))"
        case .orphan(let name): "blob \(name.prefix(8))"
        default: row.subject.word
        }
    }

    /// Name, kind and refs.
    static func title(_ row: DeletionPlan.Row) -> String {
        let isPlain = if case .revision = row.subject { true } else { what(row).isEmpty }
        return name(row) + (isPlain ? "" : ", \(what(row))")
            + (row.refs.isEmpty ? "" : " (\(row.refs.joined(separator: ", ")))")
    }

    /// - Parameter outcome: nil before anything is done; what the plan says stands there then.
    private func json(_ outcome: Deletion.Outcome?, isTrash: Bool) -> JSONObject {
        let faults = Dictionary(outcome?.failed.map { ($0.row, $0.error) } ?? []) { first, _ in first }
        let (freed, allocated) =
            isTrash
            ? (0, 0) : outcome.map { ($0.freed.size, $0.freed.allocated) } ?? (plan.freedBytes, plan.allocatedBytes)
        return [
            "plan": .array(
                plan.rows.enumerated().map { index, row in
                    .object([
                        "id": row.repository.map { .string($0.id.name) },
                        "kind": row.repository.map { .string($0.kind.rawValue) },
                        "commit": row.subject.commit.map { .string($0.hash) },
                        "files": row.subject.files.map { .array($0.map { .string($0) }) },
                        "path": row.subject.path.map { .string($0) },
                        "refs": .array(row.refs.map { .string($0) }), "reason": .string(row.reason),
                        "freed_bytes": .int(row.freedBytes),
                        "last_used_at": row.lastUsedAt.map { .string(Timestamp.iso8601($0)) },
                        "error": faults[index].map { .object($0.json) },
                    ])
                }),
            "freed_bytes": .int(freed),
            "freed_disk_bytes": Self.differs(freed, allocated) ? .int(allocated) : nil,
            "trashed_bytes": isTrash ? .int(outcome?.trashedBytes ?? plan.freedBytes) : nil,
            "deleted": .bool(outcome?.hasChanged ?? false),
            "trashed": isTrash ? .bool(outcome?.hasChanged ?? false) : nil,
            "protected": .array(
                (plan.protected + (outcome?.spared ?? [])).map { entry in
                    .object([
                        "id": entry.repository.map { .string($0.id.name) },
                        "kind": entry.repository.map { .string($0.kind.rawValue) },
                        "commit": entry.commit.map { .string($0.hash) }, "path": entry.path.map { .string($0) },
                        "reason": .string(entry.obstacle.word),
                    ])
                }),
        ]
    }
}

extension Context {
    /// Finishes deletions and moves into the trash that a user agreed to and that were interrupted. Failures are reported
    /// and do not stop the rest.
    func finishDeletions(of workspace: Workspace) async {
        let (freed, faults) = await Blocking.run {
            let (freed, faults) = workspace.layout.finishDeletions()
            return (freed, faults + Trash(workspace.layout).finish())
        }
        if freed > 0 { output.note("finished a deletion that was cut off: \(ByteCount(freed)) freed") }
        for fault in faults { output.warning(fault.message, advice: fault.specificAdvice) }
    }
}
