/// Searches streamed text for stop sequences and holds back a possible beginning of one.
struct StopMatcher {
    private let stops: [[UInt8]]
    private var pending: [UInt8] = []

    init(_ stops: [String]) { self.stops = stops.map { Array($0.utf8) } }

    /// The text that is safe to show, and whether a stop sequence was found; then nothing more may be added.
    ///
    /// Matching is by bytes: a stop sequence begins with the first byte of a character, so no cut splits one.
    mutating func add(_ text: String) -> (text: String, stopped: Bool) {
        guard !stops.isEmpty else { return (text, false) }
        pending += text.utf8
        for start in pending.indices {
            let tail = pending[start...]
            if stops.contains(where: { tail.starts(with: $0) }) {
                let before = String(decoding: pending[..<start], as: UTF8.self)
                pending = []
                return (before, true)
            }
        }
        let hold = pending.indices.first { start in
            let tail = pending[start...]
            return stops.contains { $0.starts(with: tail) }
        }
        let safe = pending[..<(hold ?? pending.endIndex)]
        defer { pending.removeFirst(safe.count) }
        return (String(decoding: safe, as: UTF8.self), false)
    }

    /// The held-back text, at the end.
    mutating func finish() -> String {
        defer { pending = [] }
        return String(decoding: pending, as: UTF8.self)
    }
}
