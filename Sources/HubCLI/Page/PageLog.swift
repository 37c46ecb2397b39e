import HubCore
import HubServer

/// The last requests that were answered, for the page. Its own are left out: they would show nothing but themselves.
final class PageLog: Sendable {
    private static let most = 200

    private let lines = Lock<[String]>([])
    private let token: AccessToken?

    /// - Parameter token: shown in no line.
    init(hiding token: AccessToken?) { self.token = token }

    func add(_ request: AnsweredRequest) {
        guard !request.target.hasPrefix("/-/"), request.target.prefix(while: { $0 != "?" }) != "/" else { return }
        let line = request.line(at: Timestamp.now, hiding: token)
        lines.withLock { lines in
            lines.append(line)
            if lines.count > Self.most { lines.removeFirst(lines.count - Self.most) }
        }
    }

    /// The newest first.
    var newest: [String] { lines.withLock { $0.reversed() } }
}
