import Fetcher
import HubCore

/// A search engine of one's own: SearxNG's API. https://docs.searxng.org/dev/search_api.html
struct WebSearch: Sendable {
    /// Something that was found.
    struct Found: Sendable, Hashable {
        var address: String
        var title: String
        var text: String
    }

    private let context: RemoteContext
    private let address: String

    static let most = 8
    private static let seconds = 20

    /// nil if `HUB_SEARXNG_URL` is not set.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` if it is not an address.
    init?(_ context: RemoteContext) throws(AIError) {
        guard let text = context.environment["HUB_SEARXNG_URL"] else { return nil }
        do throws(AIError) { _ = try Endpoint(text) } catch {
            throw AIError(.invalidInput, "HUB_SEARXNG_URL: \(error.message)", advice: error.specificAdvice)
        }
        self.context = context
        address = text.hasSuffix("/") ? String(text.dropLast()) : text
    }

    /// What the engine finds, the best first.
    func search(_ query: String) async throws -> [Found] {
        try context.requireNetwork(for: "a search")
        guard let origin = Origin(address) else {
            throw AIError(.invalidInput, "HUB_SEARXNG_URL is not an address")
        }
        let client = HTTPClient(engine: try context.workspace.engine(), origin: origin, token: nil)
        let target = "\(address)/search?format=json&q=\(PercentEncoding.encode(query))"
        context.log("GET \(Secrets.address(target).printable)")
        let response = try await client.response(
            to: HTTPRequest(.get, target, deadline: Self.seconds, acceptsCompression: true), limit: 4 << 20)
        guard response.head.isSuccess else {
            let isForbidden = response.status == 403
            throw AIError(
                .requestRejected, "the search engine answers with status \(response.status)",
                advice: isForbidden ? "allow the format json in its settings.yml (search: formats)" : nil)
        }
        guard let document = try? JSON.parse(response.body), let results = document["results"]?.array else {
            throw AIError(.protocolViolation, "the search engine does not answer as SearxNG does")
        }
        return results.prefix(Self.most).compactMap { result in
            guard let address = result["url"]?.string, address.utf8.count <= WebText.addressBytes,
                Origin(address) != nil
            else { return nil }
            return Found(
                address: address, title: WebText.cut(result["title"]?.string ?? "", to: WebText.titleLength),
                text: WebText.cut(result["content"]?.string ?? "", to: WebText.extractLength))
        }
    }
}
