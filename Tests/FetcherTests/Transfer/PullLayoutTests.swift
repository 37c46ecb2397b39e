import Catalog
import HubCore
import Support
import Testing

@testable import Fetcher

/// What a pull leaves on the disk, and how it asks for it.
@Suite struct PullLayoutTests {
    private let bench = try! PullBench()
    private let config = Array("{\"model_type\":\"tiny\"}\n".utf8)
    private let vocabulary = Array("a\nb\n".utf8)
    private let weights = ModelRepository.randomBytes(300_000, seed: 1)

    private func tiny() throws -> RepositoryFolder {
        let repository = try ModelRepository.tiny("org/tiny", in: bench.served)
        try repository.write("copy/of/config.json", config)
        try repository.write("twin/model.safetensors", weights)
        return try bench.folder("org/tiny")
    }

    /// Modes that the umask of the tests leaves.
    private func modes() throws -> (file: String, folder: String) {
        let probe = try TemporaryFolder("probe")
        try probe.write("file", "")
        let file = try #require(try FileSystem.status(probe("file"))).mode
        let folder = try #require(try FileSystem.status(probe.path)).mode
        return (String(file, radix: 8), String(folder, radix: 8))
    }

    @Test func theLayoutIsPythonsToTheByte() async throws {
        let folder = try tiny()
        let result = try await bench.pull("org/tiny")
        #expect(result.error == nil)
        let commit = result.plan.commit.hash
        let (file, directory) = try modes()
        let git = PullBench.git(config)
        #expect(git == "9ad7b74e4cba7355811a595a2e179963435b6384")
        let empty = "e69de29bb2d1d6434b8b29ae775ad8c2e48c5391"
        let vocab = "422c2b7ab3b3c668038da977e4e93a5fc623169c"
        let sha = PullBench.sha256(weights)

        var expected = ["CACHEDIR.TAG": "file 191 \(file)"]
        let root = "models--org--tiny"
        var folders = [".locks", ".locks/\(root)", root, "\(root)/refs", "\(root)/trees", "\(root)/blobs"]
        let snapshot = "\(root)/snapshots/\(commit)"
        folders += ["\(root)/snapshots", snapshot]
        for below in ["sub", "sub/dir", "copy", "copy/of", "twin"] { folders.append("\(snapshot)/\(below)") }
        for name in folders { expected[name] = "dir \(directory)" }
        expected["\(root)/refs/main"] = "file 40 \(file)"
        for (etag, size) in [(git, config.count), (empty, 0), (vocab, 4), (sha, weights.count)] {
            expected["\(root)/blobs/\(etag)"] = "file \(size) \(file)"
        }
        expected["\(snapshot)/config.json"] = "link ../../blobs/\(git)"
        expected["\(snapshot)/copy/of/config.json"] = "link ../../../../blobs/\(git)"
        expected["\(snapshot)/empty.txt"] = "link ../../blobs/\(empty)"
        expected["\(snapshot)/sub/dir/vocab.txt"] = "link ../../../../blobs/\(vocab)"
        expected["\(snapshot)/model.safetensors"] = "link ../../blobs/\(sha)"
        expected["\(snapshot)/twin/model.safetensors"] = "link ../../../blobs/\(sha)"

        var found = try PullBench.listing(bench.layout.root)
        // The tree's size is its own affair; locks are empty whatever their mode.
        let tree = found.removeValue(forKey: "\(root)/trees/\(commit).json")
        #expect(tree?.hasSuffix(" \(file)") == true)
        for etag in [git, empty, vocab, sha] {
            let lock = found.removeValue(forKey: ".locks/\(root)/\(etag).lock")
            #expect(lock?.hasPrefix("file 0 ") == true)
        }
        for (path, entry) in expected { #expect(found[path] == entry, "\(path)") }
        #expect(Set(found.keys) == Set(expected.keys))

        #expect(try FileSystem.text(folder.ref("main")) == commit)
        let json = try JSON.parse(try #require(try FileSystem.contents(folder.tree(result.plan.commit))))
        #expect(json["format_version"]?.int == 1)
        #expect(json["files"]?.object?.members.map(\.key).count == 6)
        #expect(json["files"]?["model.safetensors"]?["lfs_sha256"]?.string == sha)
        #expect(json["files"]?["model.safetensors"]?["lfs_size"]?.int == 300_000)
        #expect(json["files"]?["config.json"]?["blob_id"]?.string == git)
        #expect(json["files"]?["config.json"]?["lfs_sha256"] == nil)
        try expectContent(bench.place("twin/model.safetensors", result), weights)
        #expect(result.files.map(\.status.rawValue).filter { $0 == "failed" }.isEmpty)
    }

    /// Traps 22 and 49: info, tree, two for each regular file, one at the Hub and the ranges for each LFS file.
    @Test func requestsOfAColdAndOfAWarmPull() async throws {
        _ = try tiny()
        let catalog = try Catalog(path: bench.box("state/catalog.sqlite3"))
        let first = try await bench.pull("org/tiny", catalog: catalog)
        #expect(first.error == nil)
        let log = bench.hub.requests
        #expect(log.filter { $0.path.hasPrefix("/api/models/org/tiny") && $0.listener == .hub }.count == 2)
        let regular = log.filter { $0.matches("config.json|vocab.txt") }
        #expect(regular.count == 4)
        #expect(log.filter { $0.matches("empty") }.isEmpty)
        #expect(log.filter { $0.matches("^GET /org/tiny/resolve/.*model.safetensors") }.count == 1)
        let ranges = try PullBench.asked(log.filter { $0.listener == .cdn })
        #expect(ranges.reduce(0) { $0 + $1.count } == weights.count)
        #expect(log.allSatisfy { $0.method == "GET" })

        let again = try await bench.pull("org/tiny", catalog: catalog)
        #expect(again.error == nil)
        #expect(bench.hub.requests.count == log.count + 1)
        #expect(again.files.allSatisfy { $0.status == .cached })

        let byCommit = try await bench.pull("org/tiny@\(first.plan.commit)", catalog: catalog)
        #expect(byCommit.error == nil)
        #expect(bench.hub.requests.count == log.count + 1)
        // Not even a catalog is needed for that.
        #expect(try await bench.pull("org/tiny@\(first.plan.commit)").error == nil)
        #expect(bench.hub.requests.count == log.count + 1)
    }

    @Test func aWarmPullChangesNothingOnTheDisk() async throws {
        _ = try tiny()
        try await bench.pull("org/tiny")
        let before = try PullBench.listing(bench.layout.root)
        try await bench.pull("org/tiny")
        #expect(try PullBench.listing(bench.layout.root) == before)
    }

    @Test func aCommitGetsNoRef() async throws {
        let folder = try tiny()
        let commit = try await bench.pull("org/tiny").plan.commit
        try FileSystem.removeTree(bench.layout.root)
        try await bench.pull("org/tiny@\(commit)")
        #expect(try FileSystem.entries(folder.refs) == nil)
        #expect(try FileSystem.entries(folder.snapshots) == [commit.hash])
    }

    /// Trap 2: `refs/pr/1` is stored at `refs/refs/pr/1` and requested as one encoded segment.
    @Test func aPullRequestsRefIsNested() async throws {
        let other = try ModelRepository("org/tiny", in: bench.served, revision: "pr1")
        try other.write("a.txt", "pr")
        let folder = try tiny()
        let result = try await bench.pull("org/tiny@refs/pr/1")
        #expect(result.error == nil)
        #expect(try FileSystem.text(folder.ref("refs/pr/1")) == result.plan.commit.hash)
        #expect(try FileSystem.entries(Path.join(folder.refs, "refs/pr")) == ["1"])
    }

    /// Trap 17: kept along the Hub's own redirects, dropped with the origin.
    @Test func theTokenIsSentToTheHubAndDroppedAtTheCDN() async throws {
        _ = try tiny()
        #expect(try await bench.pull("org/tiny", token: PullBench.token).error == nil)
        let log = bench.hub.requests
        #expect(log.contains { $0.listener == .cdn })
        for request in log { #expect(request.hasAuthorization == (request.listener == .hub), "\(request.line)") }
    }

    @Test func aFailedFileIsNoWayToGetTheTokenElsewhere() async throws {
        _ = try tiny()
        // The Hub itself answers with a redirect to another origin for a small file.
        let target = "\(bench.hub.cdnAddress)/elsewhere"
        bench.hub.fail("resolve/.*/config.json", .redirect(to: target), times: nil)
        let puller = try bench.puller(token: PullBench.token).quick()
        let plan = try await puller.plan(ModelReference(parsing: "org/tiny"), .init())
        let result = try await puller.pull(plan, .init())
        #expect(result.error != nil)
        let there = bench.hub.requests("/elsewhere")
        #expect(!there.isEmpty)
        #expect(there.allSatisfy { !$0.hasAuthorization })
    }

    /// Trap 45: a filtered tree would make Python call the snapshot complete.
    @Test func aFilterTakesItsFilesAndTheTreeStaysWhole() async throws {
        let folder = try tiny()
        var options = Puller.Options()
        options.filter = FileFilter(include: ["*.txt"])
        let result = try await bench.pull("org/tiny", options)
        #expect(result.files.map(\.path) == ["empty.txt", "sub/dir/vocab.txt"])
        #expect(bench.hub.requests("config.json").isEmpty)
        #expect(try folder.readTree(result.plan.commit)?.files.count == 6)
    }

    @Test func severalRangesOfOneLargeFileAreInFlightAtOnce() async throws {
        let bytes = try ModelRepository("org/big", in: bench.served)
            .noise("big.safetensors", size: 20 << 16, seed: 3)
        let gate = bench.hub.hold("^GET /repos/", after: 1000, times: 8)
        let work = Task { try await bench.pull("org/big") }
        try await gate.reached(8)
        let ranges = try PullBench.asked(bench.hub.requests("^GET", on: .cdn))
        #expect(IntervalSet(ranges).count == ranges.reduce(0) { $0 + Int64($1.count) })
        gate.release()
        let result = try await work.value
        #expect(result.error == nil)
        try expectContent(bench.place("big.safetensors", result), bytes)
        // Each byte once, and the Hub was asked once where they are.
        let all = try PullBench.asked(bench.hub.requests("^GET", on: .cdn))
        #expect(all.reduce(0) { $0 + $1.count } == bytes.count)
        #expect(IntervalSet(all).ranges == [0..<Int64(bytes.count)])
        #expect(bench.hub.requests("/resolve/").count == 1)
        #expect(result.downloadedBytes == Int64(bytes.count))
    }

    @Test func neverMoreConnectionsThanAllowed() async throws {
        let repository = try ModelRepository("org/many", in: bench.served)
        for number in 0..<12 { try repository.write("\(number).txt", "file \(number)\n") }
        try repository.noise("a.safetensors", size: 9 << 16)
        let gate = Gate()
        bench.hub.fail("/org/many/resolve/", .holdHead(gate), times: nil)
        var options = Puller.Options()
        options.control = PullControl(connections: 3)
        let asked = options
        let work = Task { try await bench.pull("org/many", asked) }
        try await gate.reached(3)
        #expect(bench.hub.requests("/resolve/").count == 3)
        gate.release()
        let result = try await work.value
        #expect(result.error == nil)
        #expect(result.files.count == 13)
    }

    @Test func manyFilesMoreThanAreOpenAtOnce() async throws {
        let repository = try ModelRepository("org/many", in: bench.served)
        for number in 0..<150 { try repository.write("dir\(number % 7)/\(number).txt", "file \(number)\n") }
        for number in 0..<5 { try repository.noise("\(number).safetensors", size: 50_000, seed: UInt64(number)) }
        let result = try await bench.pull("org/many")
        #expect(result.error == nil)
        #expect(result.files.count == 155)
        #expect(result.files.map(\.path) == result.plan.files.map(\.file.path))
        for number in [0, 77, 149] {
            try expectContent(
                bench.place("dir\(number % 7)/\(number).txt", result), Array("file \(number)\n".utf8))
        }
        #expect(try PullBench.leftovers(try bench.folder("org/many")).isEmpty)
    }

    @Test func anEmptyRepositoryIsASnapshotToo() async throws {
        try ModelRepository("org/none", in: bench.served).card([:])
        let result = try await bench.pull("org/none")
        #expect(result.error == nil)
        #expect(result.files.isEmpty)
        #expect(try FileSystem.status(result.path)?.kind == .directory)
    }

    @Test func progressEndsAtTheTotal() async throws {
        _ = try tiny()
        let record = PullBench.Record()
        let result = try await bench.pull("org/tiny", record: record)
        let all = record.events.compactMap { if case .progress(let progress) = $0 { progress } else { nil } }
        let last = try #require(all.last)
        #expect(last.completedBytes == result.plan.totalBytes)
        #expect(last.totalBytes == result.plan.totalBytes)
        #expect(last.filesDone == 6)
        #expect(last.filesTotal == 6)
        #expect(zip(all, all.dropFirst()).allSatisfy { $0.completedBytes <= $1.completedBytes })
        #expect(all.allSatisfy { $0.completedBytes <= $0.totalBytes })
        let finished = record.events.filter { if case .finished = $0 { true } else { false } }
        #expect(finished.count == 6)
    }
}

extension Puller {
    /// With retries that do not make a test wait.
    func quick() -> Puller {
        var copy = self
        copy.limits.backoff = 0.002
        return copy
    }
}
