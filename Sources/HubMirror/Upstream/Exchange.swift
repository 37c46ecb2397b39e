import HubCore
import HubServer
import Synchronization

/// One request to a mirror.
final class Exchange: Sendable {
    let request: ServedRequest
    let query: HTTPQuery
    let credential: Credential
    private let stale = Atomic(false)

    init(_ request: ServedRequest, _ query: HTTPQuery, _ credential: Credential) {
        (self.request, self.query, self.credential) = (request, query, credential)
    }

    /// Whether the answer is older than it should be, because upstream is away.
    var isStale: Bool { stale.load(ordering: .relaxed) }
    func markStale() { stale.store(true, ordering: .relaxed) }

    /// This mirror's address as the client wrote it; the front door has checked it.
    var address: String { request.origin }

    /// The address that was asked for.
    var here: String { address + target }

    /// Path and query.
    var target: String { request.target }

    /// Whether a request for paths wants their last commits, which only upstream knows.
    var asksExpandedPaths: Bool {
        if request.headers["Content-Type"]?.lowercased().hasPrefix("application/json") == true {
            return (try? JSON.parse(request.body))?["expand"]?.bool == true
        }
        guard let text = String(validating: request.body, as: UTF8.self), let form = try? HTTPQuery(text) else {
            return false
        }
        return form.flag("expand")
    }
}
