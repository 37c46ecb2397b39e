package import HubCore
package import HubServer

/// The tests' Hub: a folder served on this machine as the real Hub serves it, on two listeners (the Hub and its CDN),
/// with a log of all requests and faults on demand. Stopped when the last reference goes.
package final class LoopbackHub: Sendable {
    package struct Options: Sendable {
        /// The token that opens private and gated repositories.
        package var token: String? = "hf_loopback"
        /// The speed of each response; nil for as fast as it goes.
        package var bytesPerSecond: Int?
        /// How long a signed address of the CDN is good.
        package var signedSeconds = 3600
        package var pages = HubService.PageSizes()
        /// Models that only the list knows.
        package var listedModels: [JSONObject] = []
        /// The Xet hash of a file; files with one answer as the Hub's Xet-backed files do.
        package var xetHash: @Sendable (ServedFile) -> String? = { _ in nil }
        /// Files that git holds itself although they are large, by path, with git's hash of them.
        package var gitFiles: [String: ContentDigest] = [:]

        package init() {}
    }

    /// `http://127.0.0.1:PORT` of the Hub: HF_ENDPOINT.
    package let endpoint: String
    /// The same of the CDN.
    package let cdnAddress: String

    private let state: LoopbackState
    private let servers: [HubServer]
    /// Kept, so that the folder exists while it is served.
    private let folder: TemporaryFolder?

    /// Serves a folder of `org/name` folders, see ``FolderSource``.
    package convenience init(_ path: String, options: Options = Options()) throws {
        try self.init(path, nil, options)
    }

    /// Serves a folder that lives at least as long as this.
    package convenience init(_ folder: TemporaryFolder, options: Options = Options()) throws {
        try self.init(folder.path, folder, options)
    }

    private init(_ path: String, _ folder: TemporaryFolder?, _ options: Options) throws {
        // A fault of the machine is a fault of the test: it must be seen, and not as a bare 500.
        let report: @Sendable (AIError) -> Void = { print("LoopbackHub: \($0)") }
        let state = LoopbackState(bytesPerSecond: options.bytesPerSecond)
        state.monitor.update { $0.listedModels = options.listedModels }
        let source = LoopbackSource(
            base: try FolderSource(path, report: report), state: state, xetHash: options.xetHash,
            gitFiles: options.gitFiles)
        let limits = ServerLimits.patient
        let cdn = try HubServer(
            limits: limits, handler: FaultLayer(listener: .cdn, state: state, inner: CDNService(state: state)))
        let service = HubService(
            source, access: HubAccess(.loopback, token: options.token),
            delivery: RedirectingDelivery(state: state, cdn: cdn.address, signedSeconds: options.signedSeconds),
            pages: options.pages, report: report)
        let hub = try HubServer(limits: limits, handler: FaultLayer(listener: .hub, state: state, inner: service))
        self.state = state
        self.folder = folder
        servers = [hub, cdn]
        endpoint = hub.address
        cdnAddress = cdn.address
    }

    deinit { stop() }

    /// Opens every gate, cuts every response and stops listening: from then on connections are refused.
    package func stop() {
        state.stop()
        servers.forEach { $0.stop() }
    }

    /// Adds a fault; for a request the first that matches happens.
    package func add(_ fault: Fault) { state.monitor.update { $0.faults.append(fault) } }

    /// Adds a fault; see ``Fault``.
    package func fail(_ match: String, _ kind: Fault.Kind, times: Int? = 1, on listener: Fault.Listener? = nil) {
        add(Fault(match, kind, times: times, on: listener))
    }

    /// Sends so many bytes of the responses that match and then holds them; the gate tells and lets go.
    package func hold(
        _ match: String, after bytes: Int64, times: Int? = 1, on listener: Fault.Listener? = nil
    ) -> Gate {
        let gate = Gate()
        fail(match, .hold(after: bytes, gate), times: times, on: listener)
        return gate
    }

    /// Takes all faults away. What is held stays held.
    package func clearFaults() { state.monitor.update { $0.faults = [] } }

    /// Lists other models than before.
    package func list(_ models: [JSONObject]) { state.monitor.update { $0.listedModels = models } }

    /// Makes every signed address given out so far answer 403.
    package func expireSignedAddresses() { state.monitor.update { $0.period += 1 } }

    /// Every request so far.
    package var requests: [LoggedRequest] { state.monitor.update { $0.log } }

    /// The requests that match.
    package func requests(_ match: String, on listener: Fault.Listener? = nil) -> [LoggedRequest] {
        requests.filter { (listener == nil || $0.listener == listener) && $0.matches(match) }
    }

    /// How many requests there have been, and how many bytes of content the CDN has sent.
    package var traffic: (requests: Int, contentBytes: Int64) {
        state.monitor.update { contents in
            (contents.log.count, contents.log.reduce(0) { $0 + ($1.listener == .cdn ? $1.bytesSent : 0) })
        }
    }

    /// Waits until so many requests that match have come; the last of them.
    @discardableResult
    package func waitForRequest(
        matching match: String, count: Int = 1, seconds: Double = TestTimeout.seconds
    ) async throws -> LoggedRequest {
        try await state.monitor.value("request \(count) matching \(match)", seconds: seconds) { contents in
            let found = contents.log.filter { $0.matches(match) }
            return found.count >= count ? found[count - 1] : nil
        }
    }

    /// Waits until the log satisfies a condition; the log.
    @discardableResult
    package func waitForLog(
        _ what: String, seconds: Double = TestTimeout.seconds,
        _ isEnough: @escaping @Sendable ([LoggedRequest]) -> Bool
    ) async throws -> [LoggedRequest] {
        try await state.monitor.value(what, seconds: seconds) { isEnough($0.log) ? $0.log : nil }
    }
}

extension ServerLimits {
    /// Without deadlines: faults may hold a response as long as a test needs, and a client may be stopped meanwhile.
    package static var patient: ServerLimits {
        var limits = ServerLimits()
        limits.idleSeconds = 0
        limits.waiting = Int(limits.connections)
        limits.head = .seconds(86_400)
        limits.body = .seconds(86_400)
        return limits
    }
}
