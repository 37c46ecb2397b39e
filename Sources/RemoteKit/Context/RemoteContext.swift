public import Fetcher
public import HubCore

/// What all calls to providers share: the network, the environment, and the catalog that remembers who serves what.
public final class RemoteContext: Sendable {
    package let workspace: Workspace
    /// Whether the network must not be used; providers are then unavailable.
    public let isOffline: Bool
    /// Hears what a person should know while waiting.
    let notice: @Sendable (String) -> Void
    /// Hears of every request and retry; never of a credential.
    let log: @Sendable (String) -> Void
    /// Other hosts of providers than their own, by name: for tests.
    let hosts: [String: String]

    /// The context of this process's environment. Opens the catalog, so it blocks for a moment.
    ///
    /// - Parameters:
    ///   - environment: gives the tokens, proxies, certificates, the Hub's address and the router's
    ///     (`HUB_INFERENCE_ENDPOINT`).
    ///   - configuration: of the Hub, which knows who serves a model.
    ///   - isOffline: nil for what the environment says.
    ///   - notice: hears why a call waits.
    public convenience init(
        environment: HubEnvironment = .process, configuration: HFConfiguration = .default, isOffline: Bool? = nil,
        notice: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.init(
            workspace: Workspace(
                environment: environment, configuration: configuration,
                isOffline: isOffline ?? environment.isOffline,
                notice: notice), notice: notice)
    }

    /// A context over an open workspace.
    package init(
        workspace: Workspace, hosts: [String: String] = [:], log: @escaping @Sendable (String) -> Void = { _ in },
        notice: @escaping @Sendable (String) -> Void = { _ in }
    ) {
        self.hosts = hosts
        self.workspace = workspace
        isOffline = workspace.isOffline
        self.log = log
        self.notice = notice
    }

    var environment: HubEnvironment { workspace.environment }

    /// - Throws: ``ErrorCode/offline``.
    func requireNetwork(for what: String) throws(AIError) {
        if isOffline { throw AIError(.offline, "\(what) needs the network, which is switched off") }
    }
}

extension HubEnvironment {
    /// `HUB_INFERENCE_ENDPOINT`, else the Hub's router.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` if the value is not an address.
    public func inferenceEndpoint() throws(AIError) -> Endpoint {
        guard let address = self["HUB_INFERENCE_ENDPOINT"] else { return .huggingFaceRouter }
        do throws(AIError) { return try Endpoint(address) } catch {
            throw AIError(
                .invalidInput, "HUB_INFERENCE_ENDPOINT: \(error.message)",
                advice: "write it like https://router.huggingface.co, without a name, a password or a query")
        }
    }
}

extension Endpoint {
    /// The Hub's router to inference providers.
    public static let huggingFaceRouter = try! Endpoint("https://router.huggingface.co")
}
