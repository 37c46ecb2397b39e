package import HubCore

/// One file while it is fetched, for those who read it already and say what they need first. Safe from any thread.
package final class TransferWatch: Sendable {
    /// What a reader finds.
    package enum Step: Sendable {
        /// These bytes are in the partial.
        case bytes(PartialReader, Range<Int64>)
        /// The digest was right; the file is in its place.
        case complete
        /// Bytes read before are void: the content was wrong and is fetched again.
        case restarted
        case failed(AIError)
        /// The reader's client has left.
        case gone
    }

    private enum Outcome { case complete, failed(AIError) }

    private struct State {
        var reader: PartialReader?
        var received = IntervalSet()
        /// Whether readers may have seen wrong bytes.
        var wasWrong = false
        var outcome: Outcome?
        /// Whether the whole file is wanted, or only ``urgent``.
        var wantsAll: Bool
        /// Ranges that readers wait for, by reader.
        var urgent: [Int: Range<Int64>] = [:]
        var readers = 0
        var nextReader = 0
        var poke: (@Sendable () -> Void)?
    }

    private let state: Awaited<State>

    /// - Parameter wantsAll: false fetches nothing but what readers ask for.
    package init(wantsAll: Bool) { state = Awaited(State(wantsAll: wantsAll)) }

    // MARK: Readers

    /// Adds a reader; the number is for ``leave(_:)``.
    ///
    /// - Parameters:
    ///   - range: fetched before other bytes; nil for a reader who follows the front.
    ///   - wantsAll: from now on the whole file is wanted.
    package func join(urgent range: Range<Int64>?, wantsAll: Bool) -> Int {
        let (number, poke) = state.change { state in
            state.nextReader += 1
            state.readers += 1
            if let range { state.urgent[state.nextReader] = range }
            if wantsAll { state.wantsAll = true }
            return (state.nextReader, state.poke)
        }
        poke?()
        return number
    }

    /// Removes a reader.
    ///
    /// - Returns: whether nobody wants a further byte.
    package func leave(_ number: Int) -> Bool {
        state.withLock { state in
            state.urgent[number] = nil
            state.readers -= 1
            return state.readers == 0 && !state.wantsAll
        }
    }

    /// Whether nobody wants a further byte.
    package var isIdle: Bool { state.withLock { $0.readers == 0 && !$0.wantsAll } }
    /// Whether the content was wrong at least once, so that readers may have wrong bytes.
    package var wasWrong: Bool { state.withLock { $0.wasWrong } }
    package var hasFailed: Bool {
        state.withLock { state in if case .failed? = state.outcome { true } else { false } }
    }
    package var hasEnded: Bool { state.withLock { $0.outcome != nil } }

    /// Waits for bytes from `position` on. Blocks.
    ///
    /// - Parameters:
    ///   - limit: no byte from here on is returned before the digest is proven.
    ///   - reader: that of the bytes read before; nil for none.
    ///   - isGone: whether nobody wants them any more; asked now and then.
    package func next(
        at position: Int64, below limit: Int64, after reader: PartialReader?, isGone: () -> Bool = { false }
    ) -> Step {
        while true {
            let step = state.wait(seconds: Self.glance) { state in
                Self.step(state, at: position, below: limit, after: reader)
            }
            if let step { return step }
            if isGone() { return .gone }
        }
    }

    /// Seconds between two looks at whether a reader's client is still there.
    private static let glance = 0.5

    private static func step(
        _ state: State, at position: Int64, below limit: Int64, after reader: PartialReader?
    ) -> Step? {
        if case .failed(let error)? = state.outcome { return .failed(error) }
        // Also at the end: whoever read an earlier attempt has bytes that were never proven.
        if let reader, reader !== state.reader { return .restarted }
        if state.outcome != nil { return .complete }
        guard let current = state.reader, position < limit else { return nil }
        let gap = state.received.gaps(in: position..<limit).first?.lowerBound ?? limit
        return gap > position ? .bytes(current, position..<gap) : nil
    }

    // MARK: The transfer

    /// - Parameter poke: called when the wishes have changed.
    func attach(_ poke: @escaping @Sendable () -> Void) { state.withLock { $0.poke = poke } }

    /// The partial is open.
    func began(_ path: String, received: IntervalSet) throws(AIError) {
        let reader = try PartialReader(path)
        state.change { state in
            state.reader = reader
            state.received = received
        }
    }

    func received(_ range: Range<Int64>) { state.change { $0.received.insert(range) } }

    /// The content was wrong; it is fetched again.
    func restarted() {
        state.change { state in
            state.reader = nil
            state.received = IntervalSet()
            state.wasWrong = true
        }
    }

    /// The transfer is over; later calls change nothing.
    package func ended(_ error: AIError?) {
        state.change { state in
            guard state.outcome == nil else { return }
            state.outcome = error.map { .failed($0) } ?? .complete
            if error?.code == .digestMismatch { state.wasWrong = true }
            state.poke = nil
        }
    }

    /// The first gap that a reader waits for.
    func urgentGap(_ taken: IntervalSet) -> Range<Int64>? {
        state.withLock { state in
            for range in state.urgent.values {
                if let gap = taken.gaps(in: range).first { return gap }
            }
            return nil
        }
    }

    var wantsAll: Bool { state.withLock { $0.wantsAll } }
}

/// An open partial that several readers share; the last one closes it. It stays readable when it is renamed or deleted.
package final class PartialReader: Sendable {
    private let descriptor: FileDescriptor

    init(_ path: String) throws(AIError) { descriptor = try FileDescriptor(path, [.noFollow]) }

    /// Reads bytes at a position; returns their number, 0 at the end.
    package func read(into buffer: UnsafeMutableRawBufferPointer, at offset: Int64) throws(AIError) -> Int {
        try descriptor.read(into: buffer, at: offset)
    }
}
