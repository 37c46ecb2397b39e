import Catalog
import Fetcher
import HubCore
import ModelFormats

/// What pulls would take, shown.
struct PullEstimate {
    let plans: [PullPlan]
    let cost: PullCost
    /// Bytes of this machine's memory.
    let memoryTotal: Int64
    /// What the cache's budget asks for first; nil without one.
    var budget: Budget?
    /// Bytes of the files of which an older revision is cached, by plan.
    private let olderBytes: [Int64]

    init(_ plans: [PullPlan], _ workspace: Workspace) async throws {
        self.plans = plans
        olderBytes = try await Blocking.run { try plans.map { plan throws(AIError) in try plan.olderBytes() } }
        cost = try await Blocking.run { try PullCost(plans, workspace) }
        memoryTotal = try Machine.memory().total
    }

    /// Bytes that are free afterwards; negative if they do not suffice. What the budget asks for goes first.
    private var diskAfter: Int64 { cost.diskAfter + (budget?.freedBytes ?? 0) }
    private var fits: Bool { diskAfter >= 0 }

    /// The set of weights that the memory is for; nil where there is only one.
    private func subject(_ variant: ModelVariant, of plan: PullPlan) -> String? {
        let name = variant.name == variant.format.identifier ? nil : variant.name
        guard plans.count > 1 else { return name }
        return "\(plan.repository)" + (name.map { ", \($0)" } ?? "")
    }

    func show(_ context: Context) async throws {
        context.output.render(json: json, quiet: plans.map { "\($0.totals.downloadBytes)" }) {
            for (plan, older) in zip(plans, olderBytes) { show(plan, older, context.output) }
            let output = context.output
            output.fact("to fetch", "\(ByteCount(cost.totals.downloadBytes))" + (plans.count > 1 ? " in all" : ""))
            output.fact(
                "disk",
                "\(ByteCount(cost.diskFree)) free, \(fits ? "\(ByteCount(diskAfter)) after" : "\(ByteCount(-diskAfter)) more needed")",
                fits ? .plain : .bad)
            if let budget {
                output.fact("budget", Self.sentence(budget), budget.missing > 0 ? .bad : .plain)
            }
            if let (need, variant, plan) = cost.memory {
                output.fact(
                    "memory", need.sentence(subject(variant, of: plans[plan]), of: memoryTotal),
                    need.bytes <= memoryTotal ? .plain : .bad)
            }
            if cost.totals.downloadBytes > 0 {
                output.fact(
                    "time",
                    cost.rate.map { rate in
                        "\(Humanize.duration(cost.seconds ?? 0)) at \(Humanize.rate(rate.bytesPerSecond)), the rate of the last \(rate.pulls == 1 ? "pull" : "\(rate.pulls) pulls")"
                    } ?? "unknown: nothing large was pulled from \(context.endpointText) yet")
            }
        }
    }

    private func show(_ plan: PullPlan, _ older: Int64, _ output: Output) {
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
        if older > 0 {
            output.fact("changed", "\(ByteCount(older)) have an older revision here; equal tensors are not fetched")
        }
        if plans.count > 1 { output.fact("to fetch", "\(ByteCount(plan.totals.downloadBytes))") }
    }

    private static func sentence(_ budget: Budget) -> String {
        let rule = "\(ByteCount(budget.used)) of \(ByteCount(budget.rule.bytes)) are used"
        if budget.missing > 0 { return rule + "; this pull cannot be made to fit" }
        return budget.isEmpty ? rule : rule + "; \(ByteCount(budget.freedBytes)) would be deleted first"
    }

    private var json: JSONObject {
        [
            "models": .array(
                zip(plans, olderBytes).map { plan, older in
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
                        "older_revision_bytes": older > 0 ? .int(older) : nil,
                    ])
                }),
            "download_bytes": .int(cost.totals.downloadBytes), "disk_free_bytes": .int(cost.diskFree),
            "disk_after_bytes": .int(diskAfter),
            "fits": .bool(fits), "memory_bytes": cost.memory.map { .int($0.need.bytes) },
            "budget": budget.map { .object(["plan": .array(BudgetView.plan($0))]) },
            "estimated_seconds": cost.seconds.map { .double($0) },
            "estimated_from": cost.rate.map { .string("\($0.pulls) earlier pulls") },
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
