import Fetcher
import HubServer
import Libc

/// Bytes of a file while it is fetched. Used on one connection's thread.
final class GrowingBody: BodyProducer, @unchecked Sendable {
    private let reader: Fetches.Reader
    private let range: Range<Int64>
    /// From here on bytes wait for the digest.
    private let limit: Int64
    private let partial: PartialReader
    private let client: ClientConnection?
    /// Whoever has caught up waits so many microseconds for more bytes than these.
    private static let (pause, few): (UInt32, Int) = (10_000, 256 << 10)
    /// Bytes of the partial that are known to be here.
    private var here: Range<Int64>

    init(
        _ reader: Fetches.Reader, range: Range<Int64>, limit: Int64, partial: PartialReader, here: Range<Int64>,
        client: ClientConnection?
    ) {
        (self.reader, self.range, self.limit, self.partial, self.here) = (reader, range, limit, partial, here)
        self.client = client
    }

    func produce(into buffer: UnsafeMutableRawBufferPointer, at position: Int64) -> BodyStep {
        let at = range.lowerBound + position
        if !here.contains(at) {
            // Bytes arrive in small pieces, and many readers would wake for each.
            if here.count < Self.few { usleep(Self.pause) }
            switch reader.watch.next(at: at, below: limit, after: partial, isGone: { client?.isGone == true }) {
            case .bytes(_, let found): here = found
            // The open file has every byte, under its new name too.
            case .complete: here = at..<range.upperBound
            // The content was wrong, the rest does not come, or nobody reads it: the body ends short, which every client notices.
            case .restarted, .failed, .gone: return .abort
            }
        }
        let count = Int(min(Int64(buffer.count), here.upperBound - at))
        guard let read = try? partial.read(into: .init(rebasing: buffer[..<count]), at: at), read > 0 else {
            return .abort
        }
        return .bytes(read)
    }

    func finished() { reader.leave() }
}
