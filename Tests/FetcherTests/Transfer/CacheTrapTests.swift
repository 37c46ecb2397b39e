import HubCore
import HubServer
import Support
import Testing

@testable import Fetcher

/// What a pull must not do to a cache that Python and others read and write at the same time.
@Suite struct CacheTrapTests {
    private let bench: PullBench
    private let folder: RepositoryFolder
    private let weights: [UInt8]
    private let text: [UInt8]
    private let digest: String
    private static let xet = String(repeating: "d", count: 64)

    init() throws {
        var options = LoopbackHub.Options()
        options.xetHash = { $0.lfs == nil ? nil : Self.xet }
        bench = try PullBench(options: options)
        let repository = try ModelRepository("org/m", in: bench.served)
        text = try repository.write("notes.txt", "some words\n")
        weights = try repository.noise("w.safetensors", size: 300_000, seed: 12)
        folder = try bench.folder("org/m")
        digest = PullBench.sha256(weights)
    }

    private var store: String { bench.layout.sharedStore }
    private var payload: String { Path.join(store, "dd/\(Self.xet)") }

    /// Moves a blob into the store that repositories share, as huggingface_hub 2 publishes it.
    private func publish(_ blob: String, of folder: RepositoryFolder) throws {
        try FileSystem.createDirectories(Path.parent(payload))
        try FileSystem.replace(Path.join(store, ".huggingface-shared-blobs"), with: Array("1\n".utf8), mode: 0o444)
        try FileSystem.rename(folder.blob(blob), to: payload)
        try FileDescriptor(payload).setMode(0o444)
        try FileSystem.replace(payload + ".lock", with: [])
        try FileSystem.replace(payload + ".refs", with: Array("\(folder.name)/blobs/\(blob)\n".utf8))
        try FileSystem.createSymlink("../../blobs/dd/\(Self.xet)", at: folder.blob(blob))
    }

    /// Nothing that makes `hf cache ls` warn, and nothing in the cache's root that is not Python's.
    private func expectClean(_ when: String, besides others: String...) throws {
        #expect(try PythonScan(bench.layout.root).warnings.isEmpty, "\(when)")
        let known = Set([".locks", "CACHEDIR.TAG", "models--org--m"] + others)
        #expect(Set(try FileSystem.entries(bench.layout.root) ?? []).isSubset(of: known), "\(when)")
    }

    // MARK: Refs, snapshots, trees

    /// Traps 3 and 4: a ref without its snapshot, a stray file or a broken link would hide the repository from Python, or
    /// make it warn: in the middle, after an interruption, after a failure, and at the end.
    @Test func pythonHasNothingToWarnOfAtAnyMoment() async throws {
        let gate = bench.hub.hold("^GET", after: 1000, on: .cdn)
        let record = PullBench.Record()
        try await bench.interrupted("org/m", record: record) {
            try await gate.reached()
            try await record.waitForEvent("the end of the small file") {
                if case .finished(let file) = $0 { file.path == "notes.txt" } else { false }
            }
            try expectClean("in the middle")
            #expect(try FileSystem.entries(folder.refs) == nil)
        }
        try expectClean("after an interruption")
        gate.release()
        bench.hub.fail("/resolve/", .status(404, headers: ["X-Error-Code": "EntryNotFound"]), times: nil)
        #expect(try await bench.pull("org/m").error?.code == .fileNotFound)
        try expectClean("after a failure")
        #expect(try FileSystem.entries(folder.refs) == nil)
        bench.hub.clearFaults()
        #expect(try await bench.pull("org/m").error == nil)
        try expectClean("at the end")
        #expect(try PythonScan(bench.layout.root).revisions["models--org--m"]?.count == 1)
    }

    /// Trap 3: a repository of which nothing was fetched is not listed either.
    @Test func ofARepositoryThatCannotBeHadNothingStays() async throws {
        bench.hub.fail("/resolve/", .status(403, headers: ["X-Error-Code": "GatedRepo"]), times: nil)
        let result = try await bench.pull("org/m")
        #expect(result.error?.code == .gated)
        try expectClean("after a refusal")
        #expect(!FileSystem.exists(folder.path))
    }

    /// Trap 26: Python locks a blob while it fetches and links it, and nothing else: what is whole is not waited for.
    @Test func refsAndTreesNeedNoLock() async throws {
        let first = try await bench.pull("org/m")
        let one = try FileDescriptor(folder.lock(digest), [.write])
        let two = try FileDescriptor(folder.lock(PullBench.git(text)), [.write])
        #expect(try one.tryLock() == true)
        #expect(try two.tryLock() == true)
        try FileSystem.remove(folder.ref("main"))
        let record = PullBench.Record()
        let again = try await bench.pull("org/m", record: record)
        #expect(again.error == nil)
        #expect(record.waits.isEmpty)
        #expect(try FileSystem.text(folder.ref("main")) == first.plan.commit.hash)
    }

    // MARK: The store that repositories share

    /// Traps 5 and 6: a snapshot's link names the repository's own blob, even where that is a link into the store.
    @Test func aLinkNamesTheRepositorysOwnBlob() async throws {
        try await bench.pull("org/m")
        try publish(digest, of: folder)
        let before = try PullBench.listing(store)
        let next = try ModelRepository("org/m", in: bench.served, revision: "next")
        try next.write("sub/again.safetensors", weights)
        let result = try await bench.pull("org/m@next")
        #expect(result.error == nil)
        #expect(result.files.map(\.status) == [.linked])
        #expect(FileSystem.linkText(bench.place("sub/again.safetensors", result)) == "../../../blobs/\(digest)")
        #expect(FileSystem.linkText(folder.blob(digest)) == "../../blobs/dd/\(Self.xet)")
        try expectContent(bench.place("sub/again.safetensors", result), weights)
        #expect(bench.hub.requests("again").isEmpty)
        #expect(try PullBench.listing(store) == before)
        try expectClean("with a store", besides: "blobs")
    }

    /// Trap 9: what was not verified as Xet is not published, though the Hub has named its Xet hash.
    @Test func nothingIsPublishedInTheStore() async throws {
        try FileSystem.createDirectories(store)
        try FileSystem.replace(Path.join(store, ".huggingface-shared-blobs"), with: Array("1\n".utf8))
        let result = try await bench.pull("org/m")
        #expect(result.plan.files[1].file.xetHash == Self.xet)
        #expect(try FileSystem.entries(store) == [".huggingface-shared-blobs"])
        #expect(try FileSystem.linkStatus(folder.blob(digest))?.kind == .file)
    }

    /// Traps 8 and 10: content that is taken from the store becomes a file of the repository. It is in no manifest, so
    /// nothing may depend on the payload: Python deletes it with the last link that a manifest names.
    @Test func contentTakenFromTheStoreOutlivesThePayload() async throws {
        try await bench.pull("org/m")
        try publish(digest, of: folder)
        let before = try PullBench.listing(store)
        try ModelRepository("org/two", in: bench.served).write("renamed.safetensors", weights)
        let two = try await bench.pull("org/two")
        #expect(two.error == nil)
        #expect(bench.hub.requests("renamed").isEmpty)
        let blob = two.plan.folder.blob(digest)
        #expect(try FileSystem.linkStatus(blob)?.kind == .file)
        #expect(try PullBench.listing(store) == before)
        try expectClean("with content of the store", besides: "blobs", "models--org--two")
        // As Python's collection would.
        try FileSystem.remove(folder.blob(digest))
        for name in [payload, payload + ".refs"] { try FileSystem.remove(name) }
        try expectContent(blob, weights)
    }

    // MARK: What is in a snapshot already

    /// Trap 47: without links the files themselves are there. One of the right size is accepted, another is not.
    @Test func aPlainFileIsKeptWhereItsSizeIsRight() async throws {
        let result = try await bench.pull("org/m")
        let place = bench.place("w.safetensors", result)
        try FileSystem.replace(place, with: weights)
        #expect(try await bench.pull("org/m").downloadedBytes == 0)
        #expect(try FileSystem.linkStatus(place)?.kind == .file)
        try FileSystem.replace(place, with: Array(weights.dropLast()))
        #expect(try await bench.pull("org/m").error == nil)
        #expect(FileSystem.linkText(place) == "../../blobs/\(digest)")
        try expectContent(place, weights)
    }

    /// Trap 47: a redirected link is replaced, and its target is not written.
    @Test func aLinkOutOfTheCacheIsReplacedAndNotFollowed() async throws {
        let result = try await bench.pull("org/m")
        let place = bench.place("w.safetensors", result)
        let mine = try bench.box.write("mine", weights.reversed())
        try FileSystem.remove(place)
        try FileSystem.createSymlink(mine, at: place)
        #expect(try await bench.pull("org/m").error == nil)
        #expect(FileSystem.linkText(place) == "../../blobs/\(digest)")
        try expectContent(mine, weights.reversed())
    }

    #if os(Linux)
    /// Trap 33: names are bytes. Two that look alike are two, on a disk that can hold both.
    @Test func namesThatDifferOnlyByNormalisationAreTwoFiles() async throws {
        let repository = try ModelRepository("org/names", in: bench.served)
        let (one, two) = ("caf\u{E9}.txt", "cafe\u{301}.txt")
        let contents = [try repository.write(one, "composed"), try repository.write(two, "decomposed!")]
        let result = try await bench.pull("org/names")
        #expect(result.error == nil)
        let names = try (FileSystem.entries(result.path) ?? []).map { Array($0.utf8) }
        #expect(names == [Array(two.utf8), Array(one.utf8)])
        try expectContent(bench.place(one, result), contents[0])
        try expectContent(bench.place(two, result), contents[1])
    }
    #endif
}
