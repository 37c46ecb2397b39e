import Catalog
package import HubCore

extension Puller {
    /// Why the files of a plan that are missing cannot be fetched, though they are listed: the Hub shows those of gated
    /// models to everyone. One byte of the smallest is asked for, and of what is open nothing.
    package func refusal(of plan: PullPlan) async throws -> AIError? {
        guard !isOffline, plan.needsNetwork,
            try await record(of: plan.repository, at: plan.commit)?.gating != .open
        else { return nil }
        let missing = plan.files.lazy.filter { $0.state.isMissing && $0.file.size > 0 }.map(\.file)
        guard let file = missing.min(by: { $0.size < $1.size }) else { return nil }
        do {
            _ = try await client.beginning(of: file, 1, in: plan.repository, at: plan.commit, isPatient: false)
            return nil
        } catch let error as AIError where [.gated, .unauthorized].contains(error.code) {
            return error
        }
    }
}
