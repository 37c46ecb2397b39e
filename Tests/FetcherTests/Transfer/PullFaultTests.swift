import HubCore
import HubServer
import Support
import Testing

@testable import Fetcher

/// What goes wrong on the way, and the right end of it.
@Suite struct PullFaultTests {
    private let bench = try! PullBench()
    private let size = 5 << 16

    private func repository() throws -> (RepositoryFolder, weights: [UInt8], text: [UInt8]) {
        let repository = try ModelRepository("org/m", in: bench.served)
        let text = try repository.write("notes.txt", String(repeating: "some words\n", count: 300))
        let weights = try repository.noise("w.safetensors", size: size, seed: 11)
        return (try bench.folder("org/m"), weights, text)
    }

    @discardableResult
    private func pull(
        connections: Int = 8, variables: [String: String] = [:], record: PullBench.Record = .init(),
        limits change: (inout PullSession.Limits) -> Void = { _ in }
    ) async throws -> Puller.Result {
        var puller = try bench.puller(variables: variables, record: record).quick()
        change(&puller.limits)
        var options = Puller.Options()
        options.control = PullControl(connections: connections)
        let plan = try await puller.plan(ModelReference(parsing: "org/m"), options)
        return try await puller.pull(plan, options) { record.hear($0) }
    }

    // MARK: Once: it ends well

    static let once: [(name: String, kind: Fault.Kind)] = [
        ("drop", .drop(after: 1000)), ("drop at once", .drop(after: 0)), ("truncate", .truncate(by: 5)),
        ("500", .status(500)), ("502", .status(502)), ("503", .status(503)), ("504", .status(504)),
        ("408", .status(408)), ("503 with Retry-After", .status(503, headers: ["Retry-After": "0"])),
        ("429", .status(429, headers: ["Retry-After": "0"])),
        ("noRange", .noRange), ("wrongContentRange", .wrongContentRange), ("corrupt", .corrupt(at: 77)),
        ("expire", .expire), ("garbage", .garbage), ("gzip", .gzip), ("html", .html),
        ("changedEtag", .changedEtag(String(repeating: "0", count: 64))), ("redirectLoop", .redirectLoop),
    ]

    @Test(arguments: once.indices) func aFaultOfTheCDNThatPassesIsOvercome(_ index: Int) async throws {
        let (folder, weights, _) = try repository()
        bench.hub.fail("^GET", Self.once[index].kind, on: .cdn)
        let result = try await pull()
        #expect(result.error == nil, "\(Self.once[index].name)")
        try expectContent(bench.place("w.safetensors", result), weights)
        #expect(try PullBench.leftovers(folder).isEmpty)
    }

    @Test(arguments: once.indices.filter { ![10, 11, 13].contains($0) })
    func aFaultOfASmallFileThatPassesIsOvercome(_ index: Int) async throws {
        let (folder, _, text) = try repository()
        var kind = Self.once[index].kind
        if case .changedEtag = kind { kind = .changedEtag(String(repeating: "0", count: 40)) }
        bench.hub.fail("resolve-cache/.*notes", kind, on: .hub)
        let result = try await pull()
        #expect(result.error == nil, "\(Self.once[index].name)")
        try expectContent(bench.place("notes.txt", result), text)
        #expect(try PullBench.leftovers(folder).isEmpty)
    }

    /// Silence of two fifths of the time that is set ends a request; its range is asked for again, from where it stopped.
    @Test func aStallIsAskedForAgain() async throws {
        let (_, weights, _) = try repository()
        bench.hub.fail("^GET", .stall(after: 100_000, seconds: 3600), on: .cdn)
        let record = PullBench.Record()
        let result = try await pull(
            connections: 1, variables: ["HF_HUB_DOWNLOAD_TIMEOUT": "25"], record: record)
        #expect(result.error == nil)
        try expectContent(bench.place("w.safetensors", result), weights)
        #expect(record.retries.contains { $0.hasPrefix("no data for") })
        let asked = try PullBench.asked(bench.hub.requests("^GET", on: .cdn))
        #expect(asked.contains { $0.lowerBound == 100_000 })
    }

    // MARK: For ever: the right error

    static let forEver: [(name: String, kind: Fault.Kind, code: ErrorCode)] = [
        ("500", .status(500), .serverError), ("503", .status(503), .serverError), ("408", .status(408), .timedOut),
        ("drop at once", .drop(after: 0), .connectionLost),
        ("garbage", .garbage, .protocolViolation), ("html", .html, .protocolViolation),
        ("redirectLoop", .redirectLoop, .protocolViolation),
        ("no address", .redirect(to: "file:///etc/passwd"), .protocolViolation),
        ("changedEtag", .changedEtag(String(repeating: "0", count: 64)), .protocolViolation),
    ]

    @Test(arguments: forEver.indices) func aFaultThatStaysIsTheErrorOfItsFileAlone(_ index: Int) async throws {
        let (folder, _, text) = try repository()
        bench.hub.fail("^GET", Self.forEver[index].kind, times: nil, on: .cdn)
        let result = try await pull()
        let failed = try #require(result.files.first { $0.path == "w.safetensors" })
        #expect(failed.status == .failed)
        #expect(failed.error?.code == Self.forEver[index].code, "\(failed.error?.message ?? "")")
        // The other file is there, nothing is promoted, and the ref is not written.
        try expectContent(bench.place("notes.txt", result), text)
        #expect(!FileSystem.exists(folder.blob(failed.error == nil ? "" : result.plan.files[1].file.digest.hex)))
        #expect(try FileSystem.entries(folder.refs) == nil)

        bench.hub.clearFaults()
        let before = bench.hub.requests("notes").count
        let again = try await pull()
        #expect(again.error == nil)
        #expect(bench.hub.requests("notes").count == before)
        #expect(try FileSystem.text(folder.ref("main")) == again.plan.commit.hash)
    }

    @Test func aMissingFileFailsAloneAndAtOnce() async throws {
        let (folder, weights, _) = try repository()
        bench.hub.fail("resolve/.*notes", .status(404, headers: ["X-Error-Code": "EntryNotFound"]), times: nil)
        let result = try await pull()
        #expect(result.error?.code == .fileNotFound)
        #expect(result.error?.message.range(of: "notes.txt") != nil)
        #expect(bench.hub.requests("resolve/.*notes").count == 1)
        try expectContent(bench.place("w.safetensors", result), weights)
        #expect(try FileSystem.entries(folder.refs) == nil)
    }

    /// Invariant 1: nothing that is not what it is called is ever promoted or kept.
    @Test func whatIsCorruptForEverIsFetchedThreeTimesAndNeverKept() async throws {
        let (folder, _, _) = try repository()
        bench.hub.fail("^GET", .corruptFile(at: 250_000), times: nil, on: .cdn)
        let record = PullBench.Record()
        let result = try await pull(record: record)
        let error = try #require(result.error)
        #expect(error.code == .digestMismatch)
        #expect(error.exitStatus == 7)
        let digest = result.plan.files[1].file.digest.hex
        #expect(error.message.range(of: digest) != nil)
        let others = error.message.split { !$0.isHexDigit }.filter { $0.utf8.count == 64 && $0 != digest }
        #expect(others.count == 1)
        #expect(!FileSystem.exists(folder.blob(digest)))
        #expect(try PullBench.leftovers(folder).isEmpty)
        #expect(FileSystem.linkText(bench.place("w.safetensors", result)) == nil)
        let sum = try PullBench.asked(bench.hub.requests("^GET", on: .cdn)).reduce(0) { $0 + $1.count }
        #expect(sum == 3 * size)
        #expect(record.retries.count == 2)
    }

    /// Trap 14: a regular file's etag is git's hash of it, and is compared before the blob has its name.
    @Test func aCorruptSmallFileIsFoundByGitsHash() async throws {
        let (folder, _, _) = try repository()
        bench.hub.fail("resolve-cache/.*notes", .corrupt(at: 3), times: nil)
        let result = try await pull()
        #expect(result.error?.code == .digestMismatch)
        #expect(!FileSystem.exists(folder.blob(result.plan.files[0].file.digest.hex)))
        #expect(try PullBench.leftovers(folder).isEmpty)
    }

    // MARK: Many at once

    /// A line that breaks takes all requests with it. That is one failure, not eight.
    @Test func aBreakOfAllConnectionsIsOneFailure() async throws {
        let bytes = try ModelRepository("org/m", in: bench.served).noise("w.safetensors", size: 20 << 16)
        bench.hub.fail("^GET", .drop(after: 0), times: 8, on: .cdn)
        let result = try await pull()
        #expect(result.error == nil)
        try expectContent(bench.place("w.safetensors", result), bytes)
    }

    /// Trap 21: signed addresses that expire under many ranges are asked for again, once for all of them.
    @Test func anAddressThatExpiresUnderManyRangesIsAskedForAgain() async throws {
        let bytes = try ModelRepository("org/m", in: bench.served).noise("w.safetensors", size: 20 << 16)
        bench.hub.fail("^GET", .expire, times: 8, on: .cdn)
        let result = try await pull()
        #expect(result.error == nil)
        try expectContent(bench.place("w.safetensors", result), bytes)
        // Not once for each: how many refusals hit the new address already is up to who comes first.
        #expect(bench.hub.requests("/resolve/").count < 8)
    }

    @Test func anAddressThatExpiresInTheMiddleIsAskedForAgain() async throws {
        let bytes = try ModelRepository("org/m", in: bench.served).noise("w.safetensors", size: 20 << 16)
        let gate = bench.hub.hold("^GET", after: 100_000, times: 1, on: .cdn)
        var options = Puller.Options()
        options.control = PullControl(connections: 1)
        let asked = options
        let work = Task { try await bench.pull("org/m", asked) }
        try await gate.reached()
        bench.hub.expireSignedAddresses()
        gate.release()
        let result = try await work.value
        #expect(result.error == nil)
        try expectContent(bench.place("w.safetensors", result), bytes)
        #expect(bench.hub.requests("/resolve/").count == 2)
        #expect(bench.hub.requests("^GET", on: .cdn).filter { $0.status == 403 }.count == 1)
    }

    @Test func anAddressThatIsRefusedForEverEnds() async throws {
        _ = try repository()
        bench.hub.fail("^GET", .expire, times: nil, on: .cdn)
        let result = try await pull()
        #expect(result.error?.code == .connectionLost)
        #expect(result.error?.message.range(of: "expired") != nil)
        #expect(bench.hub.requests("resolve/.*safetensors").count <= 8)
    }

    // MARK: Boxes that spoil ranges

    /// What clients that ask for no range never notice. It ends well with any number of connections, and whatever is safe
    /// already stays.
    static let spoiling: [(name: String, kind: Fault.Kind, mostRequests: Int)] = [
        ("shifted", .shiftedRange(by: 1000), 3), ("short", .shortRange(100_000), 2),
        ("no Content-Range", .noContentRange, 2), ("200 with a range", .rangeWithStatus200, 2),
        ("a range that lies", .wrongContentRange, 4), ("gzip", .gzip, 2),
    ]

    @Test(arguments: spoiling.indices, [1, 8])
    func afterASpoiledRangeTheFileComesInOnePiece(_ index: Int, _ connections: Int) async throws {
        let bytes = try ModelRepository("org/m", in: bench.served).noise("w.safetensors", size: 6 << 20)
        let (name, kind, mostRequests) = Self.spoiling[index]
        bench.hub.fail("^GET", kind, times: nil, on: .cdn)
        let result = try await pull(connections: connections)
        #expect(result.error == nil, "\(name): \(result.error?.message ?? "")")
        try expectContent(bench.place("w.safetensors", result), bytes)
        let asked = bench.hub.requests("^GET", on: .cdn)
        let wholes = asked.filter { $0.range == nil }
        #expect(wholes.count <= 2, "\(name)")
        #expect(connections > 1 || asked.count <= mostRequests, "\(name): \(asked.map(\.range))")
        #expect(try PullBench.leftovers(bench.folder("org/m")).isEmpty)
    }

    /// What came of a shifted range is not fetched again, and what was safe before is not either.
    @Test func bytesThatASpoiledRangeNamesAreUsed() async throws {
        let bytes = try ModelRepository("org/m", in: bench.served).noise("w.safetensors", size: 20 << 16)
        bench.hub.fail("^GET", .shortRange(100_000), times: 1, on: .cdn)
        bench.hub.fail("^GET", .corruptFile(at: 50_000), times: nil, on: .cdn)
        let record = PullBench.Record()
        let result = try await pull(connections: 1, record: record)
        #expect(result.error == nil && record.retries.isEmpty)
        try expectContent(bench.place("w.safetensors", result), bytes)
    }

    // MARK: Servers without ranges

    /// Trap 20: 200 for 206.
    @Test func aServerWithoutRangesSendsTheWholeOnce() async throws {
        let bytes = try ModelRepository("org/m", in: bench.served).noise("w.safetensors", size: 20 << 16)
        bench.hub.fail("^GET", .noRange, times: nil, on: .cdn)
        let result = try await pull()
        #expect(result.error == nil)
        try expectContent(bench.place("w.safetensors", result), bytes)
        let whole = bench.hub.requests("^GET", on: .cdn).filter { $0.range == nil }
        #expect(whole.count == 1)
    }

    /// Trap 20, and the reason for not writing a byte twice: the beginning is safe and already in the digest when the
    /// whole comes again, with a bit of just that beginning flipped. The blob must not get that bit.
    @Test func whatIsThereIsNotOverwrittenByAServerWithoutRanges() async throws {
        let bytes = try ModelRepository("org/m", in: bench.served).noise("w.safetensors", size: 20 << 16)
        let folder = try bench.folder("org/m")
        let record = PullBench.Record()
        var options = Puller.Options()
        options.control = PullControl(connections: 1)
        let gate = bench.hub.hold("^GET", after: 200_000, on: .cdn)
        try await bench.interrupted("org/m", options, record: record) {
            try await gate.reached()
            try await record.waitForEvent("bytes") {
                if case .progress(let progress) = $0 { progress.completedBytes > 100 } else { false }
            }
        }
        gate.release()
        let map = try #require(RangeMap.read(folder.partialMap(PullBench.sha256(bytes))))
        #expect(map.safe.front > 100)

        bench.hub.fail("^GET", .noRange, on: .cdn)
        bench.hub.fail("^GET", .corrupt(at: 10), on: .cdn)
        let second = PullBench.Record()
        let result = try await pull(connections: 1, record: second)
        #expect(result.error == nil)
        try expectContent(folder.blob(PullBench.sha256(bytes)), bytes)
        // Nothing was wrong with what was kept, so nothing was fetched a third time.
        #expect(!second.retries.contains { $0.range(of: "digest") != nil })
        #expect(bench.hub.requests("^GET", on: .cdn).count == 3)
    }

    @Test func aServerWithoutRangesThatAlwaysBreaksOffIsGivenUp() async throws {
        let repository = try ModelRepository("org/m", in: bench.served)
        try repository.noise("w.safetensors", size: 20 << 16)
        bench.hub.fail("^GET", .noRange, times: 1, on: .cdn)
        bench.hub.fail("^GET", .drop(after: 50_000), times: nil, on: .cdn)
        let result = try await pull(connections: 1)
        #expect(result.error?.code == .connectionLost)
        #expect(bench.hub.requests("^GET", on: .cdn).filter { $0.range == nil }.count <= 8)
    }

    // MARK: Waiting

    /// A file that waits long does not hold up one that waits briefly.
    @Test func aLongWaitOfOneFileIsNotTheOthers() async throws {
        let repository = try ModelRepository("org/m", in: bench.served)
        try repository.noise("a.safetensors", size: 100_000, seed: 1)
        try repository.noise("b.safetensors", size: 100_001, seed: 2)
        let gate = Gate()
        bench.hub.fail("resolve/.*/a.safetensors", .status(503, headers: ["Retry-After": "300"]), times: nil)
        bench.hub.fail("resolve/.*/b.safetensors", .holdHead(gate))
        bench.hub.fail("^GET .*b.safetensors", .drop(after: 10), on: .cdn)
        let record = PullBench.Record()
        let result = try await bench.interrupted("org/m", record: record) {
            try await record.waitForEvent("the retry of a") {
                if case .retrying("a.safetensors", _, let seconds) = $0 { seconds > 100 } else { false }
            }
            gate.release()
            try await record.waitForEvent("the end of b") {
                if case .finished(let file) = $0 { file.path == "b.safetensors" } else { false }
            }
        }
        #expect(result.files.map(\.status) == [.failed, .downloaded])
        #expect(result.files[0].error?.code == .cancelled)
    }

    /// 429 applies to all requests, not to one file.
    @Test func aRateLimitStopsAllFiles() async throws {
        let repository = try ModelRepository("org/m", in: bench.served)
        for number in 0..<6 { try repository.write("\(number).txt", "\(number)") }
        bench.hub.fail("resolve/.*/0.txt", .status(429, headers: ["Retry-After": "250"]), times: nil)
        let record = PullBench.Record()
        var options = Puller.Options()
        options.control = PullControl(connections: 1)
        let result = try await bench.interrupted("org/m", options, record: record) {
            try await record.waitForEvent("the wait") {
                if case .retrying(_, _, let seconds) = $0 { seconds > 200 } else { false }
            }
        }
        #expect(result.error?.code == .cancelled)
        #expect(bench.hub.requests("/resolve/").last?.status == 429)
    }

    /// The file that was to be flushed cannot be; the other one, which was paused until then, continues.
    @Test func aPauseEndsWhenTheFlushItWaitedForFails() async throws {
        let repository = try ModelRepository("org/m", in: bench.served)
        let a = try repository.noise("a.safetensors", size: 2 << 20, seed: 1)
        let b = try repository.noise("b.safetensors", size: 2 << 20, seed: 2)
        let folder = try bench.folder("org/m")
        let gateA = bench.hub.hold("^GET .*a.safetensors", after: 200_000, on: .cdn)
        let gateB = bench.hub.hold("^GET .*b.safetensors", after: 0, on: .cdn)
        let record = PullBench.Record()
        let work = Task {
            try await pull(record: record) {
                $0.unflushedBytes = 230_000
                $0.flushBytes = 4 << 20
                // One request for each file.
                $0.smallestRange = 4 << 20
                $0.firstRange = 4 << 20
            }
        }
        try await gateA.reached()
        try await gateB.reached()
        // All that the server has sent of `a` is in its partial.
        let partial = folder.partial(PullBench.sha256(a))
        try await eventually("the bytes of a") {
            let file = try FileDescriptor(partial)
            var last = [UInt8](repeating: 0, count: 16)
            _ = try last.withUnsafeMutableBytes { try file.read(into: $0, at: 200_000 - 16) }
            return last == Array(a[(200_000 - 16)..<200_000])
        }
        // Where the map would be renamed to.
        try FileSystem.createDirectories(folder.partialMap(PullBench.sha256(a)))
        gateB.release()
        try await record.waitForEvent("the end of b") {
            if case .finished(let file) = $0 { file.path == "b.safetensors" } else { false }
        }
        gateA.release()
        let result = try await work.value
        #expect(result.files[0].error?.code == .ioError)
        #expect(result.files[1].status == .downloaded)
        try expectContent(bench.place("b.safetensors", result), b)
    }

    /// What a kill would lose is limited over all pulls beside each other: the second one has the first one's bytes flushed.
    @Test func pullsBesideEachOtherShareTheLimitOfUnflushedBytes() async throws {
        let a = try ModelRepository("org/a", in: bench.served).noise("a.safetensors", size: 2 << 20, seed: 1)
        let b = try ModelRepository("org/b", in: bench.served).noise("b.safetensors", size: 2 << 20, seed: 2)
        let gateA = bench.hub.hold("^GET .*a.safetensors", after: 200_000, on: .cdn)
        let gateB = bench.hub.hold("^GET .*b.safetensors", after: 200_000, on: .cdn)
        var puller = try bench.puller().quick()
        puller.limits.unflushedBytes = 300_000
        // Alone no file has enough, and each is asked for at once.
        puller.limits.flushBytes = 4 << 20
        puller.limits.smallestRange = 4 << 20
        puller.limits.firstRange = 4 << 20
        func pull(_ name: String) -> Task<Puller.Result, any Error> {
            Task { [puller] in
                let plan = try await puller.plan(ModelReference(parsing: name), .init())
                return try await puller.pull(plan, .init())
            }
        }
        let first = pull("org/a")
        try await gateA.reached()
        let second = pull("org/b")
        try await gateB.reached()
        let maps = [
            try bench.folder("org/a").partialMap(PullBench.sha256(a)),
            try bench.folder("org/b").partialMap(PullBench.sha256(b)),
        ]
        try await eventually("a map of what is flushed") {
            maps.contains { (RangeMap.read($0)?.safe.count ?? 0) > 0 }
        }
        gateA.release()
        gateB.release()
        for (work, bytes) in [(first, a), (second, b)] {
            let result = try await work.value
            #expect(result.error == nil)
            try expectContent(bench.place(result.files[0].path, result), bytes)
        }
    }

    /// With a limit far below what comes, everything still comes, a little at a time.
    @Test func aLowLimitOfUnflushedBytesOnlySlowsDown() async throws {
        let (_, weights, text) = try repository()
        let result = try await pull {
            $0.unflushedBytes = 100_000
            $0.flushBytes = 50_000
        }
        #expect(result.error == nil)
        try expectContent(bench.place("w.safetensors", result), weights)
        try expectContent(bench.place("notes.txt", result), text)
    }
}
