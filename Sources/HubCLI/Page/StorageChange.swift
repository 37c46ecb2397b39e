import Fetcher
import HubCore

/// What the storage view changes: plans and deletions as `hub gc` makes them, the trash, pins.
struct StorageChange {
    let place: PagePlace
    private var workspace: Workspace { place.workspace }

    func run(_ verb: String, _ request: PageRequest) async throws -> JSON {
        switch verb {
        case "plan": return try await plan(request)
        case "delete": return try await delete(request)
        case "restore": return try await restore(request)
        case "empty": return .object(try await place.ask(["trash", "empty", "--yes"]).document)
        case "pin":
            let command = request.body?["pinned"]?.bool == true ? "pin" : "unpin"
            return .object(try await place.ask([command, "--", try request.text("model")]).document)
        default: throw AIError(.fileNotFound, "there is no such page")
        }
    }

    static func inventory(_ place: PagePlace) async throws -> CacheInventory {
        let workspace = place.workspace
        let state = try await workspace.state(fresh: true)
        let protection = try await workspace.protection(for: state)
        if let fault = protection.pinsFault { throw Protection.refusal(fault) }
        let verified = await workspace.damage()
        return try await Blocking.run { [now = place.context.now] in
            try CacheInventory(state, protection: protection, verified: verified, xet: workspace.xet, now: now)
        }
    }

    /// What names an item from one look at the cache to the next.
    static func key(_ item: CacheItem) -> String {
        let repository = item.repository.map { "\($0)" } ?? ""
        switch item.subject {
        case .revision: return "revision \(repository)@\(item.commit?.hash ?? "")"
        case .remains: return "remains \(repository)"
        case .partials: return "partials \(repository)"
        case .orphans: return "orphans \(repository)"
        case .payloads: return "payloads"
        case .xet: return "xet"
        }
    }

    // MARK: Deleting

    private func chosen(_ request: PageRequest) async throws -> (CacheInventory, DeletionPlan) {
        let keys = Set((request.body?["items"]?.array ?? []).compactMap(\.string))
        guard !keys.isEmpty else { throw AIError(.invalidInput, "nothing is marked") }
        let inventory = try await Self.inventory(place)
        let places = inventory.items.indices.filter { keys.contains(Self.key(inventory.items[$0])) }
        guard places.count == keys.count else {
            throw AIError(
                .nothingMatches, "some of it is gone: the cache has changed", advice: "load the page again")
        }
        let protection = try await workspace.protection(for: inventory.state)
        let plan = try await Blocking.run {
            try inventory.plan(places, protection: protection, now: Timestamp.now)
        }
        return (inventory, plan)
    }

    private func plan(_ request: PageRequest) async throws -> JSON {
        let (inventory, plan) = try await chosen(request)
        return .object([
            "rows": .array(
                plan.rows.map { row in
                    .object([
                        "name": .string(DeletionView.title(row)), "freed_bytes": .int(row.freedBytes),
                        "frees": .string("\(ByteCount(row.freedBytes))"),
                    ])
                }),
            "freed_bytes": .int(plan.freedBytes), "frees": .string("\(ByteCount(plan.freedBytes))"),
            "free_after": .string("\(ByteCount(inventory.diskFree + plan.freedBytes))"),
            "protected": .array(plan.protected.map { .string("\($0.name): \($0.reason)") }),
            "remarks": .array(plan.remarks.map { .string($0) }),
        ])
    }

    /// Carries out the plan that was shown; another one is shown first.
    private func delete(_ request: PageRequest) async throws -> JSON {
        let (_, plan) = try await chosen(request)
        guard plan.freedBytes == request.body?["freed_bytes"]?.int else {
            throw AIError(
                .invalidInput, "the plan has changed: the cache is another one now", advice: "review again")
        }
        let isTrash = request.body?["trash"]?.bool == true
        let trash = Trash(workspace.layout)
        let before = try await Blocking.run { Set(try trash.contents().entries.map(\.name)) }
        let (context, recorder) = place.context.recording()
        var failures = Failures()
        try await DeletionView(context: context, workspace: workspace, plan: plan).run(
            isDryRun: false, isAgreed: true, isTrash: isTrash, &failures)
        context.output.finish()
        var document = try recorder.answer(status: 0).document
        if isTrash {
            let moved = try await Blocking.run { try trash.contents().entries }.filter { !before.contains($0.name) }
            document["entries"] = .array(moved.map { .string($0.name) })
        }
        if let first = failures.first { document["error"] = .object(first.json) }
        return .object(document)
    }

    // MARK: The trash

    /// Entries of the trash by their names, the newest first: what older ones need went after them.
    private func restore(_ request: PageRequest) async throws -> JSON {
        let names = Set((request.body?["entries"]?.array ?? []).compactMap(\.string))
        let layout = workspace.layout
        let restored = try await Blocking.run {
            let trash = Trash(layout)
            let entries = try trash.contents().entries.filter { names.contains($0.name) }
            guard !entries.isEmpty else { throw AIError(.notCached, "it is not in the trash any more") }
            for entry in entries { try trash.restore(entry) }
            return entries.count
        }
        _ = try await workspace.state(fresh: true)
        return .object(["restored": .int(Int64(restored))])
    }
}
