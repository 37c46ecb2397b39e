import Catalog
package import Fetcher
import HubCore
package import HubServer

/// The Hub behind a mirror.
package final class Upstream: Sendable {
    let workspace: Workspace
    private let metrics: ServerMetrics
    /// Called with messages for the operator.
    private let notice: @Sendable (String) -> Void
    /// Until when upstream counts as away, so that not every request waits for the same time-out; the clock's seconds.
    private let awayUntil = Lock(0.0)

    /// Seconds that a request waits because upstream limits the rate.
    static let longestWait = 10.0
    private static let pauseWhileAway = 5.0

    package init(_ workspace: Workspace, metrics: ServerMetrics, notice: @escaping @Sendable (String) -> Void) {
        (self.workspace, self.metrics, self.notice) = (workspace, metrics, notice)
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
            isOffline: isOffline)
        puller.limits.failures = 2
        puller.limits.mismatches = 2
        puller.limits.longestWait = Self.longestWait
        return puller
    }

    /// One answer of upstream's API, whatever its status.
    ///
    /// - Parameters:
    ///   - target: path and query.
    ///   - isHead: asks for the head alone and follows no redirect: whether a file may be had.
    /// - Throws: if there is no answer.
    func ask(
        _ target: String, _ credential: Credential, isHead: Bool = false,
        body: (type: String, bytes: [UInt8])? = nil
    ) async throws -> Answer {
        let client = try await client(credential)
        var request = Fetcher.HTTPRequest(
            isHead ? .head : body == nil ? .get : .post, endpoint.address + target, deadline: 60, allowsHTTP2: true,
            acceptsCompression: !isHead)
        request.connectTimeout = 10
        if let body {
            request.body = body.bytes
            request.fields["Content-Type"] = body.type
        }
        var waited = 0.0
        while true {
            let response = try await watching {
                try await client.http.response(to: request, limit: 64 << 20, followsRedirects: !isHead)
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
            return Answer(response)
        }
    }

    /// Notes errors of connections.
    func watching<Value>(_ body: () async throws -> Value) async throws -> Value {
        do { return try await body() } catch {
            note(AIError.wrapping(error))
            throw error
        }
    }

    func note(_ error: AIError) {
        guard error.code != .offline, error.code != .cancelled else { return }
        metrics.add("hub_upstream_errors_total")
        guard [.unreachable, .timedOut, .connectionLost].contains(error.code) else { return }
        let until = Clock.seconds + Self.pauseWhileAway
        let isNew = awayUntil.withLock { known in
            defer { known = until }
            return known < Clock.seconds - 60
        }
        if isNew { notice("upstream is away, serving what is known: \(error.message)") }
    }

    func received(_ bytes: Int64) { metrics.add("hub_upstream_bytes_total", Double(bytes)) }
}
