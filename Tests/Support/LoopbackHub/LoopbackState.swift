import HubCore
import HubServer

/// What both listeners of a ``LoopbackHub`` share.
final class LoopbackState: Sendable {
    struct Contents {
        var log: [LoggedRequest] = []
        var faults: [Fault] = []
        var isStopped = false
        /// Addresses signed in an earlier period are refused.
        var period = 0
        /// What the CDN has been told to hand out, by sha256.
        var files: [String: ServedFile] = [:]
        var listedModels: [JSONObject] = []
    }

    let monitor = Monitor(Contents())
    let bytesPerSecond: Int?
    private let secret = FileSystem.randomHex(16)

    init(bytesPerSecond: Int?) { self.bytesPerSecond = bytesPerSecond }

    /// Enters a request; its place in the log and the fault that hits it.
    func enter(_ request: HTTPRequest, _ listener: Fault.Listener) -> (index: Int, fault: Fault.Kind?) {
        var headers = request.headers
        let hasAuthorization = headers["Authorization"] != nil
        headers["Authorization"] = nil
        var entry = LoggedRequest(
            index: 0, listener: listener, method: request.method,
            path: PercentEncoding.decode(request.rawPath) ?? request.rawPath, query: request.rawQuery,
            headers: headers, hasAuthorization: hasAuthorization)
        return monitor.update { contents in
            entry.index = contents.log.count
            contents.log.append(entry)
            return (entry.index, Self.take(&contents.faults, for: entry))
        }
    }

    private static func take(_ faults: inout [Fault], for entry: LoggedRequest) -> Fault.Kind? {
        for (offset, fault) in faults.enumerated() where fault.times != 0 {
            guard fault.listener == nil || fault.listener == entry.listener, entry.matches(fault.match) else {
                continue
            }
            if case .corruptFile(let place) = fault.kind, !covers(entry.range, place) { continue }
            if let times = fault.times { faults[offset].times = times - 1 }
            return fault.kind
        }
        return nil
    }

    private static func covers(_ range: String?, _ place: Int64) -> Bool {
        // Longer than any file, so that an open end is one too.
        if case .part(let bytes) = ByteRange(header: range, length: .max) { return bytes.contains(place) }
        return true
    }

    func record(_ index: Int, _ change: (inout LoggedRequest) -> Void) {
        // The log may have been cleared since.
        monitor.update { if index < $0.log.count { change(&$0.log[index]) } }
    }

    /// Waits, unless the hub is stopped; whether the time passed.
    func pause(_ seconds: Double) -> Bool {
        monitor.wait(seconds: seconds) { $0.isStopped ? true : nil } == nil
    }

    func stop() {
        let faults = monitor.update { contents in
            contents.isStopped = true
            return contents.faults
        }
        for fault in faults {
            switch fault.kind {
            case .hold(_, let gate), .holdHead(let gate): gate.release()
            default: break
            }
        }
    }

    // Signed addresses.

    func signature(_ sha256: String, _ expires: String) -> String {
        let period = monitor.update { $0.period }
        let digest = ContentHasher.digest(
            of: Array("\(secret) \(sha256) \(expires) \(period)".utf8), like: .sha256(""))
        return String(digest.hex.prefix(32))
    }
}
