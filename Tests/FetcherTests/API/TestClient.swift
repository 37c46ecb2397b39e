import Fetcher
import HubCore
import Support

/// A client of one Hub with its own engine, which records all messages.
final class TestClient: Sendable {
    /// A token that nothing else looks like.
    static let secret = "hf_Never-Seen-Outside-0123456789"

    let client: HubClient
    private let engine: HTTPEngine
    private let heard: Monitor<[String]>
    /// Kept, so that the server is there as long as its client.
    private let server: (any Sendable)?

    /// - Parameter variables: the environment; nothing of this process's own reaches the client.
    init(
        _ endpoint: String, token: String? = nil, variables: [String: String] = [:], retries: Int = 2,
        keeping server: (any Sendable)? = nil
    ) throws {
        self.server = server
        let environment = HubEnvironment.test(variables)
        let heard = Monitor<[String]>([])
        engine = try HTTPEngine(HTTPEngine.Settings(environment))
        let provider = token.flatMap { AccessToken($0) }.map { HFTokenProvider.static($0) } ?? .none
        client = try HubClient(
            HFConfiguration.endpoint(try Endpoint(endpoint)).token(provider).maxRetries(retries).retryBaseDelay(0),
            engine: engine, environment: environment, log: { text in heard.update { $0.append(text) } },
            notice: { text in heard.update { $0.append(text) } })
        self.heard = heard
    }

    deinit { engine.stop() }

    /// Everything the client has logged or noticed so far.
    var said: String { heard.update { $0.joined(separator: "\n") } }

    /// The error that a call ends with.
    func error<Value>(_ body: (HubClient) async throws -> Value) async -> AIError? {
        do {
            _ = try await body(client)
            return nil
        } catch {
            return AIError.wrapping(error)
        }
    }
}

extension Repository {
    /// The model of a name that is known to be right.
    static func model(_ name: String) -> Repository { Repository(.model, try! RepositoryID(name)) }
}

extension Commit {
    /// A commit of one digit, forty times.
    static func of(_ digit: Character) -> Commit { Commit(String(repeating: digit, count: 40))! }
}
