import HubCore
import HubServer

/// A body that is counted and goes wrong as told.
final class FaultyBody: BodyProducer {
    /// What happens at ``limit``.
    enum Ending: Sendable {
        case cut
        case stall(Double)
        case hold(Gate)
    }

    struct Plan: Sendable {
        /// Where the ending happens; nil sends everything.
        var limit: Int64?
        var ending = Ending.cut
        /// The byte that is flipped.
        var flip: Int64?
        var bytesPerSecond: Int?
    }

    private let content: HTTPBody
    private let plan: Plan
    private let state: LoopbackState
    private let index: Int
    private let isPastGate = Monitor(false)

    init(_ content: HTTPBody, _ plan: Plan, _ state: LoopbackState, _ index: Int) {
        self.content = content
        self.plan = plan
        self.state = state
        self.index = index
    }

    func produce(into buffer: UnsafeMutableRawBufferPointer, at position: Int64) -> BodyStep {
        var room = Int64(buffer.count)
        if let limit = plan.limit, !isPastGate.update({ $0 }) {
            if position >= limit {
                switch plan.ending {
                case .cut: return .abort
                case .stall(let seconds):
                    _ = state.pause(seconds)
                    return .abort
                case .hold(let gate):
                    gate.pass()
                    if state.monitor.update({ $0.isStopped }) { return .abort }
                    isPastGate.update { $0 = true }
                    return produce(into: buffer, at: position)
                }
            }
            room = min(room, limit - position)
        }
        // Twenty steps a second, so that a slow body is an even flow.
        if let rate = plan.bytesPerSecond { room = min(room, Int64(max(1, rate / 20))) }
        let step = read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[..<Int(room)]), at: position)
        guard case .bytes(let count) = step else { return step }
        if let flip = plan.flip, (position..<position + Int64(count)).contains(flip) {
            buffer[Int(flip - position)] ^= 1
        }
        state.record(index) { $0.bytesSent += Int64(count) }
        if let rate = plan.bytesPerSecond, !state.pause(Double(count) / Double(rate)) { return .abort }
        return step
    }

    private func read(into buffer: UnsafeMutableRawBufferPointer, at position: Int64) -> BodyStep {
        switch content {
        case .bytes(let bytes):
            let part = bytes.dropFirst(Int(position)).prefix(buffer.count)
            buffer.copyBytes(from: part)
            return part.isEmpty ? .end : .bytes(part.count)
        case .file(let file, let range):
            let count = min(Int64(buffer.count), range.upperBound - range.lowerBound - position)
            guard count > 0 else { return .end }
            let part = UnsafeMutableRawBufferPointer(rebasing: buffer[..<Int(count)])
            let read = try? file.descriptor.read(into: part, at: range.lowerBound + position)
            return read == Int(count) ? .bytes(Int(count)) : .abort
        case .stream(_, let producer): return producer.produce(into: buffer, at: position)
        }
    }

    func finished() {
        if case .stream(_, let producer) = content { producer.finished() }
        state.record(index) { $0.isFinished = true }
    }
}
