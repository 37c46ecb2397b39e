import Fetcher
import HubCore

extension ServeCommand {
    /// `hub serve status [URL]`: whether a server is well, and what it has done; without URL that of HF_ENDPOINT, else the one of this machine.
    static func status(_ context: Context, _ address: String?) async throws {
        let usual = try usualPort(context.environment)
        let named = address ?? context.environment["HF_ENDPOINT"] ?? "http://127.0.0.1:\(usual)"
        guard let endpoint = try? Endpoint(named) else {
            throw AIError(
                .invalidInput, "\"\(named.printable)\" is not the address of a server",
                advice: "write it like http://127.0.0.1:\(usual)")
        }
        let workspace = try await context.workspace(endpoint: endpoint, isOffline: false)
        let token = context.environment["HUB_SERVE_TOKEN"].flatMap { AccessToken($0) }
        let client = HTTPClient(engine: try workspace.engine(), origin: endpoint.origin, token: token)
        func get(_ path: String) async throws -> HTTPResponse {
            try await client.response(to: HTTPRequest(.get, endpoint.address + path, deadline: 10))
        }
        let health: HTTPResponse
        do { health = try await get("/health") } catch let error as AIError where error.code != .cancelled {
            var told = error
            told.specificAdvice = "is hub serve running there? it prints its address when it starts"
            throw told
        }
        let state = (try? JSON.parse(health.body))?["status"]?.string
        guard health.head.isSuccess, let state else {
            throw AIError(
                .protocolViolation, "\(endpoint) is not a server of hub serve: /health answers \(health.status)")
        }
        let metrics = try await get("/metrics")
        guard metrics.head.isSuccess else {
            throw AIError(
                .unauthorized, "\(endpoint) does not show its metrics (\(metrics.status))",
                advice: "set HUB_SERVE_TOKEN to its token")
        }
        let values = values(String(decoding: metrics.body, as: UTF8.self))
        context.output.document([
            "address": .string(endpoint.address), "status": .string(state),
            "metrics": .object(JSONObject(values.map { ($0.name, .double($0.value)) })),
        ])
        context.output.line("\(endpoint) answers: \(state)")
        let rows = values.compactMap { name, value -> (term: String, text: String)? in
            // The buckets of histograms are for programs.
            if name.hasSuffix("_bucket") { return nil }
            if name == "process_start_time_seconds" {
                return ("started", Humanize.age(of: value, now: context.now))
            }
            guard let term = terms[name] ?? (context.isVerbose ? name : nil) else { return nil }
            return (term, name.contains("_bytes") ? ByteCount(Int64(value)).description : number(value))
        }
        for line in TextWrap.definitions(rows, width: context.output.settings.width ?? 80, most: 48) {
            context.output.line(Styled(line))
        }
    }

    /// What people are shown without --verbose, and how it is called.
    private static let terms = [
        "hub_http_requests_total": "requests", "process_resident_memory_bytes": "memory",
        "hub_requests_running": "texts being generated", "hub_requests_queued": "requests waiting",
        "hub_prompt_tokens_total": "tokens read", "hub_generated_tokens_total": "tokens written",
        "hub_cache_hit_bytes_total": "sent from the cache", "hub_cache_miss_bytes_total": "sent while fetched",
        "hub_fetches_in_flight": "downloads under way", "hub_upstream_bytes_total": "fetched from the Hub",
        "hub_upstream_errors_total": "errors of the Hub", "hub_evicted_bytes_total": "deleted for --max-size",
    ]

    private static func number(_ value: Double) -> String {
        value == value.rounded() ? Humanize.grouped(Int(value)) : "\((value * 10).rounded() / 10)"
    }

    /// The values without labels, and the sums of those with.
    private static func values(_ text: String) -> [(name: String, value: Double)] {
        var sums: [String: Double] = [:]
        for line in text.split(separator: "\n") where !line.hasPrefix("#") {
            let parts = line.split(separator: " ")
            guard parts.count == 2, let value = Double(parts[1]) else { continue }
            sums[String(parts[0].prefix { $0 != "{" }), default: 0] += value
        }
        return sums.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
    }
}
