/// Splits streamed text at markers, and holds back what may be the beginning of one.
struct MarkerScanner {
    /// A piece of the text.
    enum Piece: Equatable {
        case text(String)
        case marker(String)
    }

    private let markers: [(text: String, bytes: [UInt8])]
    private var pending: [UInt8] = []

    /// - Parameter markers: none is the beginning of another.
    init(_ markers: [String]) { self.markers = markers.map { ($0, Array($0.utf8)) } }

    /// What is certain now.
    ///
    /// Matching is by bytes: a marker begins with the first byte of a character, so no cut splits one.
    mutating func add(_ text: String) -> [Piece] {
        pending += text.utf8
        var pieces: [Piece] = []
        var (start, at) = (0, 0)
        while at < pending.count {
            let tail = pending[at...]
            if let marker = markers.first(where: { tail.starts(with: $0.bytes) }) {
                if at > start { pieces.append(.text(String(decoding: pending[start..<at], as: UTF8.self))) }
                pieces.append(.marker(marker.text))
                at += marker.bytes.count
                start = at
            } else if markers.contains(where: { $0.bytes.starts(with: tail) }) {
                break
            } else {
                at += 1
            }
        }
        if at > start { pieces.append(.text(String(decoding: pending[start..<at], as: UTF8.self))) }
        pending.removeFirst(at)
        return pieces
    }

    /// The text that was held back, at the end.
    mutating func finish() -> String {
        defer { pending = [] }
        return String(decoding: pending, as: UTF8.self)
    }
}
