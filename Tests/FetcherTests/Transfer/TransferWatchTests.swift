import HubCore
import Support
import Testing

@testable import Fetcher

/// What readers of a file find while it is fetched.
@Suite struct TransferWatchTests {
    private let folder = try! TemporaryFolder("watch")

    /// Whoever read of an attempt that was wrong has nothing of the one that was right, however late he asks again.
    @Test func aReaderOfAWrongAttemptIsCutEvenAfterTheRightOne() throws {
        let watch = TransferWatch(wantsAll: true)
        let (first, second) = (try folder.write("1", "wrong bytes"), try folder.write("2", "right bytes"))
        try watch.began(first, received: IntervalSet([0..<11]))
        guard case .bytes(let early, 0..<9) = watch.next(at: 0, below: 9, after: nil) else {
            Issue.record("nothing to read")
            return
        }
        watch.restarted()
        guard case .restarted = watch.next(at: 9, below: 9, after: early) else {
            Issue.record("not told of the restart")
            return
        }
        try watch.began(second, received: IntervalSet([0..<11]))
        guard case .bytes(let late, 0..<9) = watch.next(at: 0, below: 9, after: nil) else {
            Issue.record("nothing to read")
            return
        }
        watch.ended(nil)
        guard case .restarted = watch.next(at: 9, below: 9, after: early) else {
            Issue.record("the tail of another attempt")
            return
        }
        guard case .complete = watch.next(at: 9, below: 9, after: late) else {
            Issue.record("not complete")
            return
        }
        guard case .complete = watch.next(at: 0, below: 9, after: nil) else {
            Issue.record("not complete for a new reader")
            return
        }
    }

    @Test func aReaderWhoseClientLeftWaitsNoLonger() {
        guard case .gone = TransferWatch(wantsAll: true).next(at: 0, below: 9, after: nil, isGone: { true }) else {
            Issue.record("not gone")
            return
        }
    }
}
