import Catalog
import Fetcher
import HubCore

extension DoctorCommand {
    /// Seconds that the Hub has to answer.
    private static let patience = 10

    /// Whether the Hub answers a question of its API. No token goes along: who is asked may be anybody.
    @Sendable static func networkFindings(_ context: Context, _ workspace: Workspace) async throws
        -> [DoctorFinding]
    {
        func finding(_ level: DoctorFinding.Level, _ text: String, _ advice: String? = nil) -> DoctorFinding {
            DoctorFinding(section: "network", name: "reach", level: level, text: text, advice: advice)
        }
        guard !context.isOffline else { return [finding(.note, "not looked at: the network is switched off")] }
        let endpoint = workspace.configuration.endpoint
        let asking = Workspace(
            environment: context.environment,
            configuration: .endpoint(endpoint).token(.none).timeout(patience).maxRetries(0), isOffline: false,
            opensCatalog: false, log: { context.output.debug($0) }, notice: { context.output.warning($0) })
        var query = ModelQuery()
        query.limit = 1
        let began = Clock.seconds
        do {
            _ = try await asking.client().search(query)
            return [finding(.good, "\(endpoint) answers in \(Humanize.duration(Clock.seconds - began))")]
        } catch {
            let error = AIError.wrapping(error)
            guard error.code != .cancelled else { throw error }
            return [finding(.bad, error.message, error.recoverySuggestion)]
        }
    }
}
