import HubCore
import Support

@testable import Fetcher

/// A Hub with `org/tiny`, and an empty home whose cache a manager fills.
struct ManagerPlace {
    static let tiny = ModelIdentifier.huggingFace("org/tiny")

    let served: TemporaryFolder
    let hub: LoopbackHub
    let home: TemporaryFolder
    let environment: HubEnvironment
    let configuration: HFConfiguration

    init(isOffline: Bool = false) throws {
        served = try TemporaryFolder("served")
        try ModelRepository.tiny("org/tiny", in: served, weights: 50_000)
        try ModelRepository("org/tiny", in: served, revision: "pr1").write("config.json", "{}")
        hub = try LoopbackHub(served)
        home = try TemporaryFolder("home")
        let variables = [
            "HF_HOME": home("hf"), "HUB_HOME": home("state"), "HF_HUB_OFFLINE": isOffline ? "1" : "",
            "HF_TOKEN": "hf_loopback",
        ]
        environment = HubEnvironment.test(variables)
        configuration = HFConfiguration.endpoint(try Endpoint(hub.endpoint)).retryBaseDelay(0)
    }

    /// A separate manager, as in another program.
    var manager: ModelManager { ModelManager(configuration, environment: environment) }

    /// An offline manager of the same cache.
    var offline: ModelManager {
        var variables = ["HF_HUB_OFFLINE": "1"]
        for name in ["HF_HOME", "HUB_HOME"] { variables[name] = environment[name] }
        return ModelManager(configuration, environment: HubEnvironment(variables))
    }

    func folder(_ repository: String = "org/tiny") -> RepositoryFolder {
        CacheLayout(home("hf/hub")).repository(.model(repository))
    }

    /// What was asked for of files, the Hub's answers about models left out.
    var contentRequests: [LoggedRequest] { hub.requests.filter { !$0.path.hasPrefix("/api/models/") } }

    /// The ranges that were asked of the CDN.
    func ranges() throws -> [Range<Int64>] { try PullBench.asked(hub.requests("^GET", on: .cdn)) }

    /// Bytes that are safe in the partial of the weights.
    func safeBytes() -> Int64 {
        let maps = ((try? FileSystem.entries(folder().blobs)) ?? nil ?? []).filter {
            $0.hasSuffix(".hub.map.incomplete")
        }
        // A small file beside them may be unfinished, too.
        return maps.compactMap { RangeMap.read(Path.join(folder().blobs, $0))?.safe.count }.max() ?? 0
    }
}

/// What a call ends with.
func caught<Value>(_ body: () async throws -> Value) async -> AIError? {
    do {
        _ = try await body()
        return nil
    } catch { return AIError.wrapping(error) }
}

/// The code of what a call ends with.
func errorCode<Value>(_ body: () async throws -> Value) async -> ErrorCode? { await caught(body)?.code }
