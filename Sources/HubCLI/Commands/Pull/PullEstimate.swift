import Catalog
import Fetcher
import HubCore
import ModelFormats

/// What pulls would take: bytes to fetch, disk space, memory to run the model, time. Fetches nothing and writes nothing to
/// the cache.
struct PullEstimate {
    let plans: [PullPlan]
    let totals: PullTotals
    let diskFree: Int64
    /// Bytes a second of earlier pulls, and of how many.
    let rate: (bytesPerSecond: Double, pulls: Int)?
    /// What running the set of weights takes that takes most; nil if there are none.
    let memory: (need: MemoryNeed, subject: String?)?
    let memoryTotal: Int64

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
        memoryTotal = try Machine.memory().total
        memory = try await Offload.run { try Self.memory(plans) }
    }

    /// Models of one pull are not run at once, so that the largest counts.
    private static func memory(_ plans: [PullPlan]) throws(AIError) -> (MemoryNeed, String?)? {
        var largest: (need: MemoryNeed, subject: String?)?
        for plan in plans {
            guard let variant = plan.largestVariant else { continue }
            let need = try plan.memoryNeed(of: variant)
            guard need.bytes > largest?.need.bytes ?? -1 else { continue }
            let name = variant.name == variant.format.identifier ? "" : ", \(variant.name)"
            largest = (need, plans.count > 1 ? "\(plan.repository)\(name)" : name.isEmpty ? nil : variant.name)
        }
        return largest
    }

    private var diskAfter: Int64 { diskFree - totals.neededBytes }
    private var fits: Bool { diskAfter >= 0 }
    private var seconds: Double? { rate.map { Double(totals.downloadBytes) / $0.bytesPerSecond } }

    func show(_ context: Context) async throws {
        context.output.render(json: json, quiet: plans.map { "\($0.totals.downloadBytes)" }) {
            for plan in plans { show(plan, context.output) }
            let output = context.output
            output.fact("to fetch", "\(ByteCount(totals.downloadBytes))" + (plans.count > 1 ? " in all" : ""))
            output.fact(
                "disk",
                "\(ByteCount(diskFree)) free, \(fits ? "\(ByteCount(diskAfter)) after" : "\(ByteCount(-diskAfter)) more needed")",
                fits ? .plain : .bad)
            if let (need, subject) = memory {
                output.fact(
                    "memory", need.sentence(subject, of: memoryTotal), need.bytes <= memoryTotal ? .plain : .bad)
            }
            if totals.downloadBytes > 0 {
                output.fact(
                    "time",
                    rate.map { rate in
                        "\(Humanize.duration(seconds ?? 0)) at \(Humanize.rate(rate.bytesPerSecond)), the rate of the last \(rate.pulls == 1 ? "pull" : "\(rate.pulls) pulls")"
                    } ?? "unknown: nothing was pulled from \(context.endpointText) yet")
            }
        }
    }

    private func show(_ plan: PullPlan, _ output: Output) {
        output.cutLine(
            Styled("\(plan.repository)", .name)
                + Styled(" at \(plan.commit.short)" + (plan.ref.map { " (\($0))" } ?? "")))
        output.fact("files", "\(plan.files.count), \(ByteCount(plan.totalBytes))")
        if plan.cachedBytes > 0 { output.fact("cached", "\(ByteCount(plan.cachedBytes))") }
        if plan.reusableBytes > 0 {
            output.fact("reusable", "\(ByteCount(plan.reusableBytes)) that other repositories hold")
        }
        if plan.totals.partialBytes > 0 {
            output.fact("partial", "\(ByteCount(plan.totals.partialBytes)) from an earlier pull")
        }
        if plans.count > 1 { output.fact("to fetch", "\(ByteCount(plan.totals.downloadBytes))") }
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
            "fits": .bool(fits), "memory_bytes": memory.map { .int($0.need.bytes) },
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
