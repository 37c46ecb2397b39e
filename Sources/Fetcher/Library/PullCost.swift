import Catalog
package import HubCore
package import ModelFormats

/// What pulls take: bytes to fetch, room on the disk, memory to run the models, time. Nothing is fetched for it.
package struct PullCost: Sendable {
    package let totals: PullTotals
    /// Bytes that are free on the disk.
    package let diskFree: Int64
    /// Bytes a second of the last pulls from this Hub, and of how many; nil if there were none.
    package let rate: (bytesPerSecond: Double, pulls: Int)?
    /// What running the set of weights takes that takes most, and of which plan it is; nil if there are none. Models of
    /// one pull are not run at once, so the largest counts.
    package let memory: (need: MemoryNeed, variant: ModelVariant, plan: Int)?

    /// Reads the disk and the catalog. Blocks.
    ///
    /// - Parameter plans: at least one, all for one disk.
    package init(_ plans: [PullPlan], _ workspace: Workspace) throws(AIError) {
        totals = PullTotals(plans)
        diskFree = try FileSystem.diskSpace(plans[0].root).available
        // The rate is optional.
        let origin = workspace.configuration.endpoint.origin.description
        rate =
            workspace.dispensable.use { catalog throws(AIError) in try catalog.bandwidth(origin: origin) } ?? nil
        var largest: (need: MemoryNeed, variant: ModelVariant, plan: Int)?
        for (index, plan) in plans.enumerated() {
            guard let variant = plan.largestVariant else { continue }
            let need = try plan.memoryNeed(of: variant, by: workspace.memoryRule)
            if need.bytes > largest?.need.bytes ?? -1 { largest = (need, variant, index) }
        }
        memory = largest
    }

    /// Bytes that are free afterwards; negative if they do not suffice.
    package var diskAfter: Int64 { diskFree - totals.neededBytes }
    /// Estimated seconds; nil if unknown.
    package var seconds: Double? { rate.map { Double(totals.downloadBytes) / $0.bytesPerSecond } }
}
