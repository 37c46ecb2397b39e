import Catalog
import Fetcher
import HubCore

extension DoctorCommand {
    /// Whether the Hub answers a question of its API. No token goes along: who is asked may be anybody.
    @Sendable static func networkFindings(_ context: Context, _ workspace: Workspace) async throws
        -> [DoctorFinding]
    {
        func finding(_ level: DoctorFinding.Level, _ text: String, _ advice: String? = nil) -> DoctorFinding {
            DoctorFinding(section: "network", name: "reach", level: level, text: text, advice: advice)
        }
        guard !context.isOffline else { return [finding(.note, "not looked at: the network is switched off")] }
        let endpoint = workspace.configuration.endpoint
        var query = ModelQuery()
        query.limit = 1
        let began = Clock.seconds
        do {
            // Where it takes longer than that to be reached, commands would not wait for it either.
            let patience = try context.environment.etagTimeout()
            let asking = Workspace(
                environment: context.environment,
                configuration: .endpoint(endpoint).token(.none).timeout(patience).maxRetries(0), isOffline: false,
                opensCatalog: false, log: { context.output.debug($0) }, notice: { context.output.warning($0) })
            _ = try await asking.client().search(query)
            return [finding(.good, "\(endpoint) answers in \(Humanize.duration(Clock.seconds - began))")]
        } catch {
            let error = AIError.wrapping(error)
            guard error.code != .cancelled else { throw error }
            return [finding(.bad, error.message, error.recoverySuggestion)]
        }
    }
}
