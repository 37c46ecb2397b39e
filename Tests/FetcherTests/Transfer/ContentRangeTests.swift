import HubCore
import Testing

@testable import Fetcher

@Suite struct ContentRangeTests {
    @Test func reads() throws {
        #expect(try #require(ContentRange("bytes 0-99/1000")).range == 0..<100)
        #expect(try #require(ContentRange("bytes 0-99/1000")).total == 1000)
        #expect(try #require(ContentRange("BYTES 5-5/*")).range == 5..<6)
        #expect(try #require(ContentRange("bytes 5-5/*")).total == nil)
        let last = Int64.max - 1
        #expect(try #require(ContentRange("bytes \(last)-\(last)/\(Int64.max)")).range == last..<Int64.max)
    }

    @Test(arguments: [
        "", "bytes", "bytes ", "bytes 0-99", "bytes 0-99/", "bytes /1000", "bytes */1000", "bytes 99-0/1000",
        "bytes -5-10/20", "bytes 0--10/20", "bytes 0-10-20/30", "bytes +0-10/20", "bytes 0-+10/20",
        "bytes 0-10/-20",
        "bytes 0-10/+20", "bytes 0-10/20/30", "bytes 1 0-2 0/30", "bytes a-b/c", "items 0-99/1000", "0-99/1000",
        "bytes 0-9223372036854775807/9223372036854775807", "bytes 0-9223372036854775808/1", "bytes 0-9/x",
    ])
    func refuses(_ field: String) {
        #expect(ContentRange(field) == nil)
    }
}

@Suite struct FileTransferTests {
    private func transfer(_ size: Int64) -> FileTransfer {
        let file = RepositoryFile(path: "a", size: size, oid: "", sha256: String(repeating: "0", count: 64))
        let repository = try! ModelReference(parsing: "org/a").repository
        let tree = RepositoryTree(commit: Commit(String(repeating: "0", count: 40))!, files: [file])
        let plan = try! PullPlan(
            repository, in: CacheLayout("/nowhere"), tree: tree, ref: nil, choice: .everything, force: false)
        return PullJob(plan, index: 0, symlinks: true).transfers()[0]
    }

    @Test func theFirstGapThatNobodyFetches() {
        let file = transfer(100)
        #expect(file.nextRange(length: 30) == 0..<30)
        file.parts = [FileTransfer.Part(0..<30)]
        #expect(file.nextRange(length: 30) == 30..<60)
        file.received = IntervalSet([40..<90])
        #expect(file.nextRange(length: 30) == 30..<40)
        file.parts.append(FileTransfer.Part(30..<40))
        #expect(file.nextRange(length: 30) == 90..<100)
        file.parts.append(FileTransfer.Part(90..<100))
        #expect(file.nextRange(length: 30) == nil)
    }

    @Test func whatAPartHasReceivedIsNotItsGapAnyMore() {
        let file = transfer(100)
        let part = FileTransfer.Part(0..<50)
        file.received = IntervalSet([0..<20])
        part.next = 20
        file.parts = [part]
        #expect(file.nextRange(length: 100) == 50..<100)
        // It failed: the rest of it is asked for again, and nothing of what came.
        file.parts = []
        #expect(file.nextRange(length: 10) == 20..<30)
    }

    @Test func aFinishedPartThatIsStillListedHidesNothing() {
        let file = transfer(10)
        let part = FileTransfer.Part(0..<5)
        part.next = 5
        file.parts = [part]
        file.received = IntervalSet([0..<5])
        #expect(file.nextRange(length: 100) == 5..<10)
    }

    @Test func aWholeOrEmptyFileNeedsNothing() {
        let file = transfer(10)
        file.received = IntervalSet([0..<10])
        #expect(file.nextRange(length: 1) == nil)
        #expect(transfer(0).nextRange(length: 1) == nil)
    }

    @Test func aSingleStreamIsOneRequestForTheWhole() {
        let file = transfer(10)
        file.received = IntervalSet([2..<4])
        file.isSingleStream = true
        #expect(file.nextRange(length: 1) == 0..<10)
        file.parts = [FileTransfer.Part(0..<10)]
        #expect(file.nextRange(length: 1) == nil)
    }

    @Test func theLargestSizes() {
        let file = transfer(.max)
        file.received = IntervalSet([0..<Int64.max - 5])
        #expect(file.nextRange(length: 16 << 20) == Int64.max - 5..<Int64.max)
    }
}
