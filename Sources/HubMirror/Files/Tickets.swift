import HubCore
import HubServer

/// Addresses of very large files on a second server. Whoever was given one needs no token there: Python's client sends none
/// to another origin.
final class Tickets: Sendable {
    private struct State {
        var port: UInt16?
        var wanted: [String: (file: WantedFile, until: Double)] = [:]
    }

    private let state = Lock(State())
    private static let seconds = 86_400.0
    private static let most = 10_000

    func setPort(_ port: UInt16) { state.withLock { $0.port = port } }

    /// The address for a file, on the host that the client uses; nil without a second server.
    func address(for file: WantedFile, host: String?) -> String? {
        guard let host, let name = Self.name(of: host) else { return nil }
        return state.withLock { state in
            guard let port = state.port else { return nil }
            let now = Timestamp.now
            if state.wanted.count >= Self.most { state.wanted = state.wanted.filter { $0.value.until > now } }
            guard state.wanted.count < Self.most else { return nil }
            let ticket = FileSystem.randomHex(16)
            state.wanted[ticket] = (file, now + Self.seconds)
            return "http://\(name):\(port)/\(ticket)"
        }
    }

    func file(_ ticket: String) -> WantedFile? {
        state.withLock { state in
            guard let found = state.wanted[ticket], found.until > Timestamp.now else { return nil }
            return found.file
        }
    }

    /// The host without its port.
    private static func name(of host: String) -> String? {
        if host.hasPrefix("[") { return host.firstIndex(of: "]").map { String(host[...$0]) } }
        return host.split(separator: ":").first.map(String.init)
    }
}

/// Answers on the second server.
struct LargeFileService: HTTPHandler {
    let files: MirrorFiles

    func respond(to request: ServedRequest) -> ServedResponse {
        guard ["GET", "HEAD"].contains(request.method),
            let wanted = files.tickets.file(String(request.rawPath.dropFirst())),
            let served = wanted.known.served.file(wanted.file.path)
        else { return HubFault.page.response }
        let asked = FileRequest(
            repository: wanted.repository, commit: wanted.commit.hash, file: served, request: request)
        do throws(HubFault) { return try files.deliver(asked, wanted, isTicket: true) } catch {
            return error.response
        }
    }
}
