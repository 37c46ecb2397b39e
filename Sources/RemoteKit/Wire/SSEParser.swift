package import HubCore

/// Cuts a stream of server-sent events into events, however its bytes are cut.
///
/// Source: https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
package struct SSEParser {
    /// One event.
    package struct Event: Sendable, Hashable {
        /// Its name; nil if it has none.
        package var name: String?
        /// Its data lines, joined by line feeds.
        package var data: String
    }

    private static let (lineFeed, carriageReturn) = (UInt8(ascii: "\n"), UInt8(ascii: "\r"))
    private let mostBytes: Int
    private var line: [UInt8] = []
    /// Whether the last byte ended a line as CR: a LF behind it belongs to the same end.
    private var endedByReturn = false
    private var isFirstLine = true
    private var name: String?
    private var data: [UInt8] = []
    private var hasData = false

    /// - Parameter mostBytes: a longer line or event is an error.
    package init(mostBytes: Int = 16 << 20) { self.mostBytes = mostBytes }

    /// Takes the next bytes; the events that they complete.
    ///
    /// - Throws: ``ErrorCode/protocolViolation`` for an event without end.
    package mutating func take(_ bytes: some Sequence<UInt8>) throws(AIError) -> [Event] {
        var events: [Event] = []
        for byte in bytes {
            let isRestOfEnd = endedByReturn && byte == Self.lineFeed
            endedByReturn = byte == Self.carriageReturn
            if isRestOfEnd { continue }
            if byte == Self.lineFeed || byte == Self.carriageReturn {
                if let event = endLine() { events.append(event) }
            } else {
                line.append(byte)
                guard line.count + data.count <= mostBytes else {
                    throw AIError(
                        .protocolViolation, "an event of the stream has more than \(ByteCount(Int64(mostBytes)))",
                        advice: "is this the address of an inference provider?")
                }
            }
        }
        return events
    }

    /// The data of a block that no empty line has closed. The standard drops it.
    package var unclosed: String? {
        var copy = self
        if !line.isEmpty { _ = copy.endLine() }
        return copy.hasData ? String(decoding: copy.data, as: UTF8.self) : nil
    }

    private mutating func endLine() -> Event? {
        defer { line.removeAll(keepingCapacity: true) }
        if isFirstLine {
            isFirstLine = false
            if line.starts(with: [0xEF, 0xBB, 0xBF]) { line.removeFirst(3) }
        }
        guard !line.isEmpty else { return dispatch() }
        let colon = line.firstIndex(of: UInt8(ascii: ":")) ?? line.endIndex
        var value = line[min(colon + 1, line.endIndex)...]
        if value.first == UInt8(ascii: " ") { value.removeFirst() }
        switch String(decoding: line[..<colon], as: UTF8.self) {
        case "data":
            if hasData { data.append(Self.lineFeed) }
            data += value
            hasData = true
        case "event": name = String(decoding: value, as: UTF8.self)
        // Comments have an empty name; `id` and `retry` are for clients that connect again.
        default: break
        }
        return nil
    }

    private mutating func dispatch() -> Event? {
        defer { (name, data, hasData) = (nil, [], false) }
        guard hasData else { return nil }
        return Event(name: name, data: String(decoding: data, as: UTF8.self))
    }
}
