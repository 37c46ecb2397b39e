import Fetcher
import HubChatTemplates
import HubCore
import InferenceKit
import Support
import Testing

@testable import RemoteKit

/// A stand-in of the Hub and its router in one, and providers that ask it.
final class RemotePlace: Sendable {
    /// Tokens that nothing else looks like.
    static let hubToken = "hf_NeverSeenOutside0123456789abcdefgh"
    static let foreignKey = "gsk-NeverSeenOutside0123456789"

    let server: InferenceStandIn
    let context: RemoteContext
    private let folder: TemporaryFolder
    private let heard = Monitor<[String]>([])

    /// - Parameters:
    ///   - variables: beside those that lead to the server.
    ///   - hosts: of providers by name; nil for the server itself.
    init(
        _ variables: [String: String] = [:], token: String? = RemotePlace.hubToken, isOffline: Bool = false,
        foreignProviders: [String] = [],
        _ answer: @escaping @Sendable (InferenceStandIn.Request) -> InferenceStandIn.Reply
    ) throws {
        server = try InferenceStandIn(answer)
        folder = try TemporaryFolder("remote")
        context = Self.context(
            server, folder, variables, token, isOffline, foreignProviders, heard)
    }

    private static func context(
        _ server: InferenceStandIn, _ folder: TemporaryFolder, _ variables: [String: String], _ token: String?,
        _ isOffline: Bool, _ foreignProviders: [String], _ heard: Monitor<[String]>
    ) -> RemoteContext {
        let address = server.address
        var all = [
            "HF_ENDPOINT": address, "HUB_INFERENCE_ENDPOINT": address, "HF_HOME": folder("hf"),
            "HUB_HOME": folder("state"), "HOME": folder.path,
        ]
        if let token { all["HF_TOKEN"] = token }
        let environment = HubEnvironment.test(all.merging(variables) { $1 })
        // The server and the folder are there as long as anybody asks.
        let hear: @Sendable (String) -> Void = { [server, folder] text in
            withExtendedLifetime((server, folder)) { heard.update { $0.append(text) } }
        }
        let workspace = Workspace(
            environment: environment, configuration: .default.maxRetries(0), isOffline: isOffline, log: hear,
            notice: hear)
        return RemoteContext(
            workspace: workspace, hosts: Dictionary(uniqueKeysWithValues: foreignProviders.map { ($0, address) }),
            log: hear, notice: hear)
    }

    /// The same place with the network switched off.
    func offline() -> RemoteContext {
        Self.context(server, folder, [:], Self.hubToken, true, [], heard)
    }

    /// Everything that was logged or noticed.
    var said: String { heard.update { $0.joined(separator: "\n") } }

    /// Limits that no test waits for, but where it is about them.
    static func limits(_ change: (inout RemoteLimits) -> Void = { _ in }) -> RemoteLimits {
        var limits = RemoteLimits()
        (limits.total, limits.firstByte, limits.idle, limits.connect) = (3000, 3000, 3000, 3000)
        (limits.retryBaseDelay, limits.pollInterval) = (0, 0.001)
        change(&limits)
        return limits
    }

    func hub(
        _ model: String = HonestRouter.chatModel, limits: RemoteLimits = limits(), billTo: String? = nil,
        token: HFTokenProvider = .auto, context: RemoteContext? = nil
    ) throws -> HuggingFaceProvider {
        var settings = HuggingFaceProvider.Settings()
        (settings.limits, settings.billTo, settings.token) = (limits, billTo, token)
        return try HuggingFaceProvider(
            model: RemoteModelName(model), settings: settings, context: context ?? self.context)
    }

    func compatible(
        _ path: String = "/v1", key: String? = nil, limits: RemoteLimits = limits(),
        dialect: OpenAICompatibleProvider.Dialect = .openAI
    ) throws -> OpenAICompatibleProvider {
        var settings = OpenAICompatibleProvider.Settings()
        (settings.limits, settings.dialect, settings.key) = (limits, dialect, key.flatMap { AccessToken($0) })
        return try OpenAICompatibleProvider(
            address: server.address + path, model: "m", settings: settings, context: context)
    }

    /// What comes of one turn as a stream.
    func answer(limits: RemoteLimits = limits(), config: GenerateConfig = .default) async throws -> GenerationResult
    {
        try await compatible(limits: limits).stream(messages: [.user("Hello")], config: config)
            .collectWithMetadata()
    }
}

/// The error that a call ends with.
func fault<Value>(_ body: () async throws -> Value) async -> AIError? {
    do {
        _ = try await body()
        return nil
    } catch { return AIError.wrapping(error) }
}

/// A piece of a streamed answer as JSON.
func delta(_ members: String, reason: String? = nil, usage: String? = nil) -> String {
    let end = reason.map { "\"\($0)\"" } ?? "null"
    return
        #"{"choices":[{"index":0,"delta":{\#(members)},"finish_reason":\#(end)}]\#(usage.map { ",\"usage\":" + $0 } ?? "")}"#
}

/// A piece of text.
func said(_ text: String) -> String { delta("\"content\":\(JSON.string(text).text())") }
