import Catalog
package import Fetcher
import HubCore
package import HubServer
import Synchronization

/// The Hub behind a mirror.
package final class Upstream: Sendable {
    let workspace: Workspace
    private let limits: PullSession.Limits
    private let metrics: ServerMetrics
    /// Called with messages for the operator.
    private let notice: @Sendable (String) -> Void
    /// Until when upstream counts as away, so that not every request waits for the same time-out; the clock's seconds.
    private let awayUntil = Lock(0.0)
    private let isProbing = Atomic(false)

    /// Seconds that a request waits because upstream limits the rate.
    static let longestWait = 10.0
    private static let pauseWhileAway = 5.0
    /// Seconds that upstream has to answer whether it is there.
    private static let probeSeconds = 5

    package init(
        _ workspace: Workspace, limits: PullSession.Limits, metrics: ServerMetrics,
        notice: @escaping @Sendable (String) -> Void
    ) {
        (self.workspace, self.limits, self.metrics, self.notice) = (workspace, limits, metrics, notice)
        metrics.declare("hub_upstream_bytes_total", type: "counter", "Bytes received from upstream.")
        metrics.declare("hub_upstream_errors_total", type: "counter", "Requests to upstream that failed.")
    }

    var isOffline: Bool { workspace.isOffline }
    var endpoint: Endpoint { workspace.configuration.endpoint }
    var isAway: Bool { isOffline || awayUntil.withLock { $0 > Clock.seconds } }

    /// - Throws: ``ErrorCode/offline``, or ``ErrorCode/unreachable`` shortly after upstream could not be reached.
    func client(_ credential: Credential) async throws -> HubClient {
        if isOffline { throw AIError(.offline, "this mirror is offline, and this is not in its cache") }
        if isAway {
            throw AIError(.unreachable, "\(endpoint.origin) cannot be reached, and this is not in the cache")
        }
        if credential == .machine { try await workspace.renewToken() }
        let workspace = workspace
        return try await Blocking.run {
            var client = try HubClient(
                workspace.configuration.token(credential.provider).maxRetries(1), engine: workspace.engine(),
                environment: workspace.environment)
            client.longestWait = Self.longestWait
            return client
        }
    }

    func puller(_ credential: Credential) async throws -> Puller {
        var puller = Puller(
            layout: workspace.layout, client: try await client(credential), catalog: workspace.dispensable,
            isOffline: isOffline, unflushed: workspace.unflushed)
        puller.limits = limits
        return puller
    }

    /// One answer of upstream's API, whatever its status.
    ///
    /// - Parameter target: path and query.
    /// - Throws: if there is no answer.
    func ask(
        _ target: String, _ credential: Credential, body: (type: String, bytes: [UInt8])? = nil
    ) async throws -> Answer {
        var request = Fetcher.HTTPRequest(
            body == nil ? .get : .post, endpoint.address + target, acceptsCompression: true)
        if let body {
            request.body = body.bytes
            request.fields["Content-Type"] = body.type
        }
        let response = try await send(request, by: try await client(credential))
        return Answer(response, isOfAPI: target.hasPrefix("/api/"))
    }

    /// The largest answer. A repository's page with the digests of 50,000 files has half of it.
    private static let longestAnswer = 32 << 20

    /// Sends a request and waits where upstream limits the rate for a moment.
    func send(
        _ question: Fetcher.HTTPRequest, by client: HubClient, followsRedirects: Bool = true
    ) async throws -> Fetcher.HTTPResponse {
        var request = question
        (request.deadline, request.connectTimeout, request.allowsHTTP2) = (60, 10, true)
        var waited = 0.0
        while true {
            let response = try await watching { [request] in
                try await client.http.response(
                    to: request, limit: Self.longestAnswer, followsRedirects: followsRedirects)
            }
            metrics.add("hub_upstream_bytes_total", Double(response.body.count))
            if response.status == 429, let wait = response.fields["Retry-After"].flatMap(Double.init),
                wait >= 0, waited + wait <= Self.longestWait
            {
                waited += max(1, wait)
                try await client.http.engine.sleep(max(1, wait))
                continue
            }
            if response.status >= 500 { metrics.add("hub_upstream_errors_total") }
            return response
        }
    }

    /// Notes errors of connections.
    func watching<Value>(_ body: () async throws -> Value) async throws -> Value {
        do { return try await body() } catch {
            note(AIError.wrapping(error))
            throw error
        }
    }

    // MARK: Away

    /// Notes an error. Upstream is away if it cannot be connected to. A connection that breaks, or one to another server,
    /// may be the fault of one file: then a question of its own decides.
    func note(_ error: AIError) {
        guard error.code != .offline, error.code != .cancelled else { return }
        metrics.add("hub_upstream_errors_total")
        guard [.unreachable, .timedOut, .connectionLost].contains(error.code), !isAway else { return }
        if error.code == .unreachable, error.context.address.flatMap(Origin.init) == endpoint.origin {
            setAway(error)
        } else if !isProbing.exchange(true, ordering: .relaxed) {
            Task { await probe() }
        }
    }

    private func probe() async {
        defer { isProbing.store(false, ordering: .relaxed) }
        var request = Fetcher.HTTPRequest(.head, endpoint.address + "/", deadline: Self.probeSeconds)
        request.connectTimeout = Double(Self.probeSeconds)
        // What is asked is whether it can be connected to.
        request.reusesConnection = false
        do {
            let http = HTTPClient(engine: try workspace.engine(), origin: endpoint.origin, token: nil)
            _ = try await http.response(to: request, limit: 1 << 16, cutsOff: true, followsRedirects: false)
        } catch { setAway(AIError.wrapping(error)) }
    }

    private func setAway(_ error: AIError) {
        let until = Clock.seconds + Self.pauseWhileAway
        let isNew = awayUntil.withLock { known in
            defer { known = until }
            return known < Clock.seconds - 60
        }
        if isNew { notice("upstream is away, serving what is known: \(error.message)") }
    }

    func received(_ bytes: Int64) { metrics.add("hub_upstream_bytes_total", Double(bytes)) }
}
