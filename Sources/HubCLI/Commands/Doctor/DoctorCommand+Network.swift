import Catalog
import Fetcher
import HubCore

extension DoctorCommand {
    /// Whether the Hub answers a question of its API, and then whether it knows the token.
    @Sendable static func networkFindings(_ context: Context, _ workspace: Workspace) async throws
        -> [DoctorFinding]
    {
        guard !context.isOffline else { return [reach(.note, "skipped: the network is switched off")] }
        let endpoint = workspace.configuration.endpoint
        var query = ModelQuery()
        query.limit = 1
        let began = Clock.seconds
        do {
            // No token: what is asked for first may be anybody's server.
            _ = try await asking(context, endpoint, token: .none).client().search(query)
            let seconds = Clock.seconds - began
            // "in 0.0 s" says nothing.
            let time = seconds < 0.95 ? "\(Int((seconds * 1000).rounded(.up))) ms" : Humanize.duration(seconds)
            return [reach(.good, "\(endpoint) answers in \(time)")] + (try await tokenFindings(context, endpoint))
        } catch {
            let error = AIError.wrapping(error)
            guard error.code != .cancelled else { throw error }
            return [reach(.bad, error.message, error.recoverySuggestion)]
        }
    }

    private static func reach(_ level: DoctorFinding.Level, _ text: String, _ advice: String? = nil)
        -> DoctorFinding
    {
        DoctorFinding(section: "network", name: "reach", level: level, text: text, advice: advice)
    }

    /// The token's owner, in one request. Skipped without a token, or if it must not be sent.
    private static func tokenFindings(_ context: Context, _ endpoint: Endpoint) async throws -> [DoctorFinding] {
        func finding(_ level: DoctorFinding.Level, _ text: String, _ advice: String? = nil) -> DoctorFinding {
            DoctorFinding(section: "network", name: "token", level: level, text: text, advice: advice)
        }
        let client: HubClient
        do { client = try await asking(context, endpoint, token: .auto).client() } catch {
            let error = AIError.wrapping(error)
            guard error.code != .cancelled else { throw error }
            // The account section reports an unreadable token file.
            return error.code == .unauthorized ? [finding(.bad, error.message, error.recoverySuggestion)] : []
        }
        guard client.hasToken, let source = client.tokenSource else { return [] }
        do {
            let owner = try await client.whoami()
            return [finding(.good, "the token is that of \(owner.name)")]
        } catch let error as AIError where error.code == .unauthorized {
            return [finding(.bad, error.message, AuthCommand.advice(on: source))]
        } catch {
            let error = AIError.wrapping(error)
            guard error.code != .cancelled else { throw error }
            return [
                finding(.note, "the Hub does not say whose token it is: \(error.message)", error.recoverySuggestion)
            ]
        }
    }

    /// A way to the Hub that gives up early: what takes longer than commands would wait counts as away.
    private static func asking(_ context: Context, _ endpoint: Endpoint, token: HFTokenProvider) throws -> Workspace
    {
        let patience = try context.environment.etagTimeout()
        let configuration = HFConfiguration.endpoint(endpoint).token(token).timeout(patience).maxRetries(0)
        let output = context.output
        return Workspace(
            environment: context.environment, configuration: configuration, isOffline: false, opensCatalog: false,
            log: { output.debug($0) },
            // What is wrong with the token's file has a finding of its own.
            notice: { if token == .none { output.warning($0) } })
    }
}
