import Catalog
import Fetcher
import HubCore
import ModelFormats

/// What pulls would cost: bytes to fetch, room on the disk, time. Fetches nothing and writes nothing into the cache.
struct PullEstimate {
    let plans: [PullPlan]
    let totals: PullTotals
    let diskFree: Int64
    /// Bytes a second of earlier pulls, and of how many.
    let rate: (bytesPerSecond: Double, pulls: Int)?
    /// Memory that the weights take; nil where there are none that could be run.
    let memoryBytes: Int64?

    init(_ plans: [PullPlan], _ workspace: Workspace) async throws {
        self.plans = plans
        let root = plans[0].root
        diskFree = try await Offload.run { try FileSystem.diskSpace(root).available }
        rate = await Offload.run {
            let origin = workspace.configuration.endpoint.origin.description
            return workspace.dispensable.use { catalog throws(AIError) in try catalog.bandwidth(origin: origin) }
                ?? nil
        }
        totals = PullTotals(plans)
        let weights = plans.filter { $0.repository.kind == .model }
            .compactMap { plan in ModelFiles(plan.files.map(\.file)).variants.map(\.sizeBytes).max() }
        memoryBytes = weights.max()
    }

    private var diskAfter: Int64 { diskFree - totals.neededBytes }
    private var fits: Bool { diskAfter >= 0 }
    private var seconds: Double? { rate.map { Double(totals.downloadBytes) / $0.bytesPerSecond } }

    func show(_ context: Context) async throws {
        context.output.render(json: json, quiet: plans.map { "\($0.totals.downloadBytes)" }) {
            for plan in plans { show(plan, context) }
            show("to fetch", "\(ByteCount(totals.downloadBytes))" + (plans.count > 1 ? " in all" : ""), context)
            show(
                "disk",
                "\(ByteCount(diskFree)) free, \(fits ? "\(ByteCount(diskAfter)) after" : "\(ByteCount(-diskAfter)) too little")",
                context, fits ? .plain : .bad)
            if let memoryBytes { show("memory", "\(ByteCount(memoryBytes)) for the weights", context) }
            if totals.downloadBytes > 0 {
                show(
                    "time",
                    rate.map { rate in
                        "\(Humanize.duration(seconds ?? 0)) at \(Humanize.rate(rate.bytesPerSecond)), the rate of the last \(Humanize.plural(rate.pulls, "pull"))"
                    } ?? "not known: nothing was pulled from \(context.endpointText) before", context)
            }
        }
    }

    private func show(_ name: String, _ text: String, _ context: Context, _ style: Styled.Style = .plain) {
        let padding = String(repeating: " ", count: max(1, 12 - name.count))
        context.output.line(Styled("  \(name)\(padding)", .faint) + Styled(text, style))
    }

    private func show(_ plan: PullPlan, _ context: Context) {
        context.output.line(
            Styled("\(plan.repository)", .name)
                + Styled(" at \(plan.commit.short)" + (plan.ref.map { " (\($0))" } ?? "")))
        show("files", "\(plan.files.count), \(ByteCount(plan.totalBytes))", context)
        if plan.cachedBytes > 0 { show("cached", "\(ByteCount(plan.cachedBytes))", context) }
        if plan.reusableBytes > 0 {
            show("reusable", "\(ByteCount(plan.reusableBytes)) that other repositories hold", context)
        }
        if plan.totals.partialBytes > 0 {
            show("partial", "\(ByteCount(plan.totals.partialBytes)) from an earlier pull", context)
        }
        if plans.count > 1 { show("to fetch", "\(ByteCount(plan.totals.downloadBytes))", context) }
    }

    private var json: JSONObject {
        [
            "models": .array(
                plans.map { plan in
                    .object([
                        "id": .string(plan.repository.id.name), "commit": .string(plan.commit.hash),
                        "files": .array(
                            plan.files.map { entry in
                                .object([
                                    "path": .string(entry.file.path), "size_bytes": .int(entry.file.size),
                                    "status": .string(Self.status(entry.state)),
                                ])
                            }),
                        "total_bytes": .int(plan.totalBytes), "cached_bytes": .int(plan.cachedBytes),
                        "reusable_bytes": .int(plan.reusableBytes), "partial_bytes": .int(plan.totals.partialBytes),
                        "download_bytes": .int(plan.totals.downloadBytes),
                    ])
                }),
            "download_bytes": .int(totals.downloadBytes), "disk_free_bytes": .int(diskFree),
            "disk_after_bytes": .int(diskAfter),
            "fits": .bool(fits), "memory_bytes": memoryBytes.map { .int($0) },
            "estimated_seconds": seconds.map { .double($0) },
            "estimated_from": rate.map { .string("\($0.pulls) earlier pulls") },
        ]
    }

    private static func status(_ state: PullPlan.State) -> String {
        switch state {
        case .present, .blob: "cached"
        case .elsewhere: "reusable"
        case .foreign: "changed"
        case .missing(let safe): safe > 0 ? "partial" : "missing"
        }
    }
}

extension Context {
    /// The endpoint for a sentence; it has been read before wherever this is shown.
    var endpointText: String { (try? hubEndpoint())?.origin.description ?? "this Hub" }
}
