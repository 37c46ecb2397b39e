import Catalog
import HubCore
import Support
import Testing

@testable import Fetcher

/// What verifying reads, and what it makes of it.
@Suite struct VerifyTests {
    private let cache: HandmadeCache
    private let catalog: Catalog
    private let first = Commit(String(repeating: "1", count: 40))!

    init() throws {
        cache = try HandmadeCache()
        catalog = try Catalog(path: cache.folder("catalog.sqlite3"))
    }

    /// A revision of files by name and content, with its tree.
    private func plant(_ name: String, _ files: [(path: String, bytes: [UInt8])]) throws {
        let folder = cache.repository(name)
        var tree = RepositoryTree(commit: first, files: [])
        for (path, bytes) in files {
            let digest = PullBench.sha256(bytes)
            if !FileSystem.exists(folder.blob(digest)) { try cache.write(folder.blob(digest), bytes) }
            try FileSystem.setTimes(folder.blob(digest), accessed: 1e9, modified: 1e9)
            try cache.link(path, to: digest, at: first, in: folder)
            tree.files.append(
                RepositoryFile(path: path, size: Int64(bytes.count), oid: PullBench.git(bytes), sha256: digest))
        }
        try tree.write(to: folder.tree(first))
    }

    private func targets() throws -> [VerificationTarget] {
        try cache.scan().repositories.flatMap { repository in
            try repository.revisions.map {
                VerificationTarget(
                    $0, of: repository, tree: try repository.folder.readTree($0.commit), choice: .everything)
            } + [VerificationTarget(orphansOf: repository)].compactMap(\.self)
        }
    }

    private func verify(
        full: Bool = false, report: @escaping @Sendable (VerificationProgress) -> Void = { _ in }
    ) async throws -> [Verification] {
        try await Verifier(
            targets(), catalog: DispensableCatalog(catalog) { Issue.record("\($0)") }, isFull: full, report: report
        ).run()
    }

    private static func bytes(_ count: Int, _ seed: UInt64) -> [UInt8] {
        ModelRepository.randomBytes(count, seed: seed)
    }

    /// Two repositories and two paths of one: one file, read once, and known under all its names.
    @Test func aPhysicalFileIsReadOnce() async throws {
        let bytes = Self.bytes(300_000, 1)
        try plant("models--org--m", [("a.bin", bytes), ("b.bin", bytes)])
        let other = cache.repository("models--org--n")
        try FileSystem.createDirectories(other.blobs)
        let digest = PullBench.sha256(bytes)
        try FileSystem.createHardLink(cache.repository("models--org--m").blob(digest), at: other.blob(digest))
        try plant("models--org--n", [("c.bin", bytes)])
        let total = Lock<Int64>(0)
        let results = try await verify { progress in
            #expect(progress.totalBytes == 300_000 && progress.filesTotal == 1)
            total.withLock { $0 = max($0, progress.readBytes) }
        }
        #expect(total.withLock(\.self) == 300_000)
        #expect(results.map(\.checked) == [2, 1] && results.allSatisfy { $0.isSound == true })
        let again = try await verify { _ in Issue.record("nothing has changed") }
        #expect(again.map(\.skipped) == [2, 1] && again.allSatisfy { $0.isSound == true })
    }

    @Test func aFileThatChangesWhileItIsReadIsReadAgain() async throws {
        let bytes = Self.bytes(600_000, 2)
        try plant("models--org--m", [("a.bin", bytes)])
        let path = cache.repository("models--org--m").blob(PullBench.sha256(bytes))
        let changes = Lock(0)
        let results = try await verify { _ in
            changes.withLock { count in
                count += 1
                guard count == 1 else { return }
                // The first step is past; the byte it read is another now, and the time tells.
                #expect(throws: Never.self) {
                    try FileSystem.setTimes(path, accessed: 1e9, modified: 1.1e9)
                }
            }
        }
        #expect(changes.withLock(\.self) > 3)
        #expect(results[0].isSound == true && results[0].checked == 1)
    }

    @Test func aFileThatAlwaysChangesIsNoVerdict() async throws {
        let bytes = Self.bytes(600_000, 2)
        try plant("models--org--m", [("a.bin", bytes)])
        let path = cache.repository("models--org--m").blob(PullBench.sha256(bytes))
        let time = Lock(1.1e9)
        let results = try await verify { _ in
            let next = time.withLock { time in
                time += 1
                return time
            }
            #expect(throws: Never.self) { try FileSystem.setTimes(path, accessed: 1e9, modified: next) }
        }
        #expect(results[0].problems.isEmpty && results[0].isSound == nil)
        #expect(results[0].faults.map(\.code) == [.ioError])
        #expect(results[0].faults[0].message.contains("changed each time"))
    }

    /// What took the place of a damaged file while that was read is what counts.
    @Test func damageIsThatOfWhatLiesThere() async throws {
        let bytes = Self.bytes(600_000, 3)
        try plant("models--org--m", [("a.bin", bytes)])
        let path = cache.repository("models--org--m").blob(PullBench.sha256(bytes))
        try cache.write(path, Self.bytes(600_000, 4))
        let isDone = Lock(false)
        let results = try await verify { _ in
            let isFirst = isDone.withLock { done in
                defer { done = true }
                return !done
            }
            if isFirst { #expect(throws: Never.self) { try FileSystem.replace(path, with: bytes) } }
        }
        #expect(results[0].isSound == true)
    }

    @Test func orphansAndNamesOfAnyKindAreCompared() async throws {
        let folder = cache.repository()
        let (good, text) = (Self.bytes(1000, 5), Array("hello\n".utf8))
        try plant("models--org--m", [("a.bin", good)])
        try cache.write(folder.blob(PullBench.git(text)), text)
        try cache.write(folder.blob(sha256("a")), text)
        // A name that is not a digest says nothing about the content.
        try cache.write(folder.blob("W-etag"), text)
        let results = try await verify()
        #expect(results.map(\.checked) == [1, 2])
        #expect(results[0].isSound == true && results[1].isSound == false)
        #expect(results[1].problems.map(\.path) == ["blobs/" + sha256("a")])
        #expect(results[1].problems[0].actual == .text(PullBench.sha256(text)))
    }

    @Test func aPayloadOfTheSharedStoreIsComparedWithTheBlobsName() async throws {
        let bytes = Self.bytes(5000, 5000)
        let folder = cache.repository()
        try cache.makeStore()
        try cache.payload(sha256("c"), size: 5000)
        let digest = PullBench.sha256(bytes)
        try cache.share(digest, sha256("c"), in: folder)
        try plant("models--org--m", [("a.bin", bytes)])
        #expect(try await verify().map(\.isSound) == [true])
        try cache.write(SharedStore(layout: cache.layout).payload(sha256("c")), Self.bytes(5000, 6))
        #expect(try await verify().map(\.isSound) == [false])
    }

    /// Range digests of what others fetched are kept as well, so that its damage can be placed later.
    @Test func damageIsPlacedInWhatWasVerifiedBefore() async throws {
        let size: Int64 = 33 << 20
        let folder = cache.repository()
        let source = cache.folder("source")
        let file = try FileDescriptor(source, [.write, .create])
        try file.truncate(to: size)
        let digest = try ContentHasher.digest(ofFile: source, like: .sha256("")).hex
        try FileSystem.createDirectories(folder.blobs)
        try FileSystem.rename(source, to: folder.blob(digest))
        try FileSystem.setTimes(folder.blob(digest), accessed: 1e9, modified: 1e9)
        try cache.link("w.bin", to: digest, at: first, in: folder)
        try RepositoryTree(
            commit: first, files: [RepositoryFile(path: "w.bin", size: size, oid: sha1("0"), sha256: digest)]
        ).write(to: folder.tree(first))
        #expect(try await verify().map(\.isSound) == [true])
        try [UInt8](repeating: 1, count: 1).withUnsafeBytes { try file.write($0, at: 17 << 20) }
        let results = try await verify()
        #expect(results[0].problems.map(\.ranges) == [[16 << 20..<32 << 20]])
        try file.truncate(to: 32 << 20)
        let short = try await verify()
        #expect(short[0].problems.map(\.kind) == [.truncated])
        #expect(short[0].problems[0].ranges == [16 << 20..<size])
    }

    @Test func anInterruptionEndsItAndKeepsWhatWasProven() async throws {
        try plant("models--org--m", [("a.bin", Self.bytes(3_000_000, 7))])
        let (targets, catalog) = (try targets(), catalog)
        let started = Monitor(false)
        let gate = Gate()
        let work = Task {
            try await Verifier(targets, catalog: DispensableCatalog(catalog) { _ in }, isFull: true) { _ in
                started.update { $0 = true }
                gate.pass()
            }.run()
        }
        _ = try await started.value("the first step") { $0 ? true : nil }
        work.cancel()
        gate.release()
        await #expect(throws: CancellationError.self) { try await work.value }
        #expect(try await verify().map(\.isSound) == [true])
    }

    @Test func theLibrarySaysSinceWhenAModelIsKnownToBeSound() async throws {
        let bench = try PullBench()
        try ModelRepository.tiny("org/tiny", in: bench.served)
        let variables = [
            "HOME": bench.box("home"), "HUB_HOME": bench.box("state"), "HF_ENDPOINT": bench.hub.endpoint,
        ]
        let environment = HubEnvironment.test(variables)
        let manager = ModelManager(
            .endpoint(try Endpoint(bench.hub.endpoint)), cacheDirectory: bench.box("cache"),
            environment: environment)
        let before = Timestamp.now
        try await bench.pull("org/tiny", catalog: Catalog(path: Catalog.path(in: environment.stateDirectory)))
        let model = try #require(try await manager.cachedModels().first)
        #expect(try #require(model.verifiedAt) >= before)
        let file = try #require(FileSystem.resolved(Path.join(model.path, "config.json")))
        try FileSystem.setTimes(file, accessed: 1e9, modified: 1e9)
        #expect(try await manager.cachedModels().first?.verifiedAt == nil)
    }
}
