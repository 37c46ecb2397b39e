import Catalog
import HubCore
import Support
import Testing

@testable import Fetcher

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The library's own two doors, from end to end against a Hub of this machine.
@Suite struct ModelManagerTests {
    private let tiny = ManagerPlace.tiny

    @Test func aModelIsFetchedFoundCountedMarkedAndDeleted() async throws {
        let place = try ManagerPlace()
        let manager = place.manager
        #expect(try await manager.isCached(tiny) == false)
        #expect(try await manager.localPath(for: tiny) == nil)
        #expect(try await manager.cachedModels().isEmpty)
        let url = try await manager.download(tiny)
        let path = url.path
        #expect(try FileSystem.text(Path.join(path, "sub/dir/vocab.txt")) == "a\nb\n")
        #expect(try FileSystem.contents(Path.join(path, "model.safetensors"))?.count == 50_000)
        #expect(try await manager.isCached(tiny))
        #expect(try await manager.localPath(for: tiny)?.path == path)
        #expect(try await manager.cacheSize().bytes == 50_026)
        let cached = try #require(try await manager.cachedModels().first)
        #expect(cached.complete == true && cached.size.bytes == 50_026 && cached.path == path)
        #expect(cached.identifier == .huggingFace("org/tiny", revision: cached.revision.hash))
        #expect(try PythonScan(place.home("hf/hub")).warnings.isEmpty)

        let before = Timestamp.now
        try await manager.markAccessed(tiny)
        #expect(try await manager.cachedModels().first.map { $0.lastAccessedAt >= before } == true)
        #expect(try await manager.delete(tiny).bytes == 50_026)
        #expect(try await manager.isCached(tiny) == false)
        #expect(try await manager.cacheSize().bytes == 0)
        #expect(try PythonScan(place.home("hf/hub")).warnings.isEmpty)
    }

    /// The Hub's answer, then the catalog's where the Hub is away or is not to be asked.
    @Test func aSearchMergesTheHubAndTheCatalog() async throws {
        let place = try ManagerPlace()
        var query = ModelQuery()
        query.text = "tiny"
        let manager = place.manager
        let first = try await manager.search(query)
        #expect(first.entries.map(\.record.repository.id.name) == ["org/tiny"])
        #expect(
            first.entries.first?.source == .hub && first.entries.first?.isCached == false && first.failure == nil)
        try await manager.download(tiny)
        let requests = place.hub.requests.count
        let alone = try await manager.search(query, asksHub: false)
        #expect(alone.entries.map(\.source) == [.catalog] && alone.entries.first?.isCached == true)
        #expect(place.hub.requests.count == requests)
        place.hub.stop()
        let away = try await manager.search(query)
        #expect(away.entries.map(\.record.repository.id.name) == ["org/tiny"])
        #expect(away.failure?.code == .unreachable)
    }

    /// As the Python client and the command line have it.
    @Test func theEnvironmentNamesTheHubUnlessTheConfigurationDoes() async throws {
        let place = try ManagerPlace()
        func environment(_ endpoint: String) -> HubEnvironment {
            var variables = ["HF_ENDPOINT": endpoint]
            for name in ["HF_HOME", "HUB_HOME", "HF_TOKEN"] { variables[name] = place.environment[name] }
            return HubEnvironment.test(variables)
        }
        let hub = environment(place.hub.endpoint)
        try await ModelManager(environment: hub).download(tiny)
        #expect(
            try await HFMetadataService(.longRunning, environment: hub).fetchFileTree(repoId: "org/tiny").files
                .count == 4)
        let away = environment("http://127.0.0.1:1")
        try await ModelManager(place.configuration, environment: away).download(
            .huggingFace("org/tiny", revision: "refs/pr/1"))
        #expect(await errorCode { _ = try await ModelManager(environment: away).download(tiny) } == .unreachable)
        let wrong = ModelManager(environment: environment("not an address"))
        #expect(await errorCode { _ = try await wrong.download(tiny) } == .invalidInput)
        #expect(try await wrong.isCached(tiny), "what is here needs no Hub")
    }

    @Test func whatMLXNeedsIsAPartOfTheFiles() async throws {
        let place = try ManagerPlace()
        var variables = ["HF_ENDPOINT": place.hub.endpoint]
        for name in ["HF_HOME", "HUB_HOME", "HF_TOKEN"] { variables[name] = place.environment[name] }
        let service = HFMetadataService(
            .longRunning, environment: HubEnvironment.test(variables))
        let files = try await service.fetchFileTree(repoId: "org/tiny").files
        // vocab.txt and what is beside it, but not a file that is not read.
        let wanted = files.filter { file in [".safetensors", ".json", ".txt"].contains { file.path.hasSuffix($0) } }
        #expect(!wanted.isEmpty)
        let size = try await service.estimateTotalSize(
            repoId: "org/tiny", patterns: HFMetadataService.mlxFilePatterns)
        #expect(size.bytes == wanted.reduce(0) { $0 + $1.size })
    }

    @Test(
        arguments: [
            ("image-text-to-text", nil, true), ("any-to-any", nil, true),
            (nil, ["visual-question-answering"], true),
            ("text-generation", ["gguf"], false), (nil, nil, false),
        ] as [(String?, [String]?, Bool)])
    func modelsThatTakeImagesAreKnownByTaskAndTags(task: String?, tags: [String]?, isVLM: Bool) throws {
        var record = ModelRecord(Repository(.model, try RepositoryID("org/m")))
        record.task = task
        record.tags = tags
        #expect(HFMetadataService().isVLM(record) == isVLM)
    }

    @Test(arguments: [(5.0, "0:05"), (65, "1:05"), (7384, "2:03:04"), (1e9, "99:59:59"), (0.2, "0:01")])
    func theTimeLeftReadsAsAClock(seconds: Double, text: String) {
        let progress = DownloadProgress(
            PullProgress(
                totalBytes: 2_000_000_000, completedBytes: 1_000_000_000, filesDone: 0, filesTotal: 1, active: []),
            rate: 1e9 / seconds)
        #expect(progress.formattedETA == text)
        #expect(progress.formattedSpeed == "\(ByteCount(Int64(1e9 / seconds)))/s")
    }

    @Test func aRevisionIsDeletedAloneAndWhatItSharesStays() async throws {
        let place = try ManagerPlace()
        let manager = place.manager
        try await manager.download(tiny)
        try await manager.download(.huggingFace("org/tiny", revision: "refs/pr/1"))
        #expect(try await manager.cachedModels().count == 2)
        #expect(try await manager.delete(.huggingFace("org/tiny", revision: "refs/pr/1")).bytes == 2)
        #expect(try await manager.isCached(tiny))
        #expect(try await manager.cachedModels().count == 1)
    }

    @Test func aPartOfAModelIsCompleteAsFarAsItWasChosen() async throws {
        let place = try ManagerPlace()
        let manager = place.manager
        let folder = try await manager.download(tiny, patterns: ["*.json"])
        #expect(try await manager.localPath(for: tiny) != nil)
        #expect(try await manager.isCached(tiny) == false)
        #expect(try await manager.cachedModels().map(\.complete) == [true])
        try await manager.download(tiny, patterns: ["*.txt"])
        #expect(try await manager.cachedModels().map(\.complete) == [true])
        try FileSystem.remove(Path.join(folder.path(percentEncoded: false), "config.json"))
        #expect(try await manager.cachedModels().map(\.complete) == [false])
    }

    @Test func whatIsNotThereIsSaidSo() async throws {
        let place = try ManagerPlace()
        let manager = place.manager
        #expect(await errorCode { try await manager.delete(tiny) } == .notCached)
        #expect(await errorCode { try await manager.markAccessed(tiny) } == .notCached)
        #expect(await errorCode { try await manager.delete(.huggingFace("../x")) } == .invalidInput)
        #expect(await errorCode { _ = try await manager.isCached(.local("/tmp")) } == .invalidInput)
        #expect(try await manager.localPath(for: .local("/no/such/model")) == nil)
        #expect(place.hub.requests.isEmpty)
    }

    @Test func aModelInUseIsNotDeleted() async throws {
        let place = try ManagerPlace()
        let manager = place.manager
        try await manager.download(tiny)
        let folder = CacheLayout(place.home("hf/hub")).repository(.model("org/tiny"))
        let etag = try #require(try FileSystem.entries(folder.blobs)?.first)
        try FileSystem.createDirectories(folder.locks)
        let lock = try FileDescriptor(folder.lock(etag), [.write, .create])
        #expect(try lock.tryLock() == true)
        await #expect(throws: AIError.self) { try await manager.delete(tiny) }
        #expect(try await manager.isCached(tiny))
        lock.unlock()
        #expect(try await manager.delete(tiny).bytes == 50_026)
    }

    @Test func aRevisionThatWouldLeaveTheCacheIsRefused() async throws {
        let place = try ManagerPlace()
        let climbing = ModelIdentifier.huggingFace("org/tiny", revision: "../../../x")
        #expect(await errorCode { try await place.manager.download(climbing) } == .invalidInput)
        #expect(await errorCode { try await place.manager.isCached(climbing) } == .invalidInput)
        #expect(place.hub.requests.isEmpty)
    }

    // MARK: Clearing the cache

    @Test func clearingTheCacheTakesAllModelsAndWhatWasLeftOfThem() async throws {
        let place = try ManagerPlace()
        try ModelRepository("org/other", in: place.served).write("a.txt", "abc")
        try ModelRepository("org/data", in: place.served, kind: .dataset).write("d.txt", "four")
        let manager = place.manager
        try await manager.download(tiny)
        try await manager.download(.huggingFace("org/tiny", revision: "refs/pr/1"))
        try await manager.download(.huggingFace("org/other"))
        let puller = try await Workspace(
            environment: place.environment, configuration: place.configuration, isOffline: false
        ).puller()
        _ = try await puller.pull(
            try await puller.plan(ModelReference(parsing: "datasets/org/data"), .init()), .init())
        #expect(try await manager.cacheSize().bytes == 50_026 + 2 + 3, "the data set is no model")
        // A repository of which nothing but a partial is there.
        let folder = CacheLayout(place.home("hf/hub")).repository(.model("org/half"))
        try place.home.write("hf/hub/models--org--half/blobs/abc.incomplete", "12345")
        // Another program may still be writing what changed within the hour.
        try FileSystem.setTimes(folder.blob("abc.incomplete"), accessed: 1e9, modified: 1e9)
        #expect(try await manager.clearCache().bytes == 50_026 + 2 + 3 + 5)
        #expect(try await manager.cachedModels().isEmpty)
        #expect(!FileSystem.exists(folder.path))
        #expect(FileSystem.exists(place.home("hf/hub/datasets--org--data/snapshots")))
        #expect(try PythonScan(place.home("hf/hub")).warnings.isEmpty)
        #expect(try await manager.clearCache().bytes == 0)
    }

    @Test func clearingTheCacheDeletesNothingWhereAnythingIsInUse() async throws {
        let place = try ManagerPlace()
        try ModelRepository("org/other", in: place.served).write("a.txt", "abc")
        let manager = place.manager
        try await manager.download(tiny)
        try await manager.download(.huggingFace("org/other"))
        let folder = CacheLayout(place.home("hf/hub")).repository(.model("org/other"))
        let etag = try #require(try FileSystem.entries(folder.blobs)?.first)
        try FileSystem.createDirectories(folder.locks)
        let lock = try FileDescriptor(folder.lock(etag), [.write, .create])
        #expect(try lock.tryLock() == true)
        let error = await caught { try await manager.clearCache() }
        #expect(error?.code == .ioError && error?.message.contains("org/other") == true)
        #expect(try await manager.cachedModels().count == 2)
        lock.unlock()
        #expect(try await manager.clearCache().bytes == 50_029)
    }

    // MARK: HFMetadataService

    @Test func theServiceSearchesDescribesListsAndEstimates() async throws {
        let place = try ManagerPlace()
        let service = HFMetadataService(place.configuration, environment: place.environment)
        #expect(try await service.search(ModelQuery()).map(\.repository.id.name) == ["org/tiny"])
        let (record, commit) = try await service.fetchModelDetails(repoId: "org/tiny")
        #expect(record.repository == .model("org/tiny"))
        let tree = try await service.fetchFileTree(repoId: "org/tiny")
        #expect(tree.commit == commit && tree.files.count == 4)
        #expect(try await service.fetchFileTree(repoId: "org/tiny@refs/pr/1").files.map(\.path) == ["config.json"])
        #expect(try await service.estimateTotalSize(repoId: "org/tiny").bytes == 50_026)
        #expect(try await service.estimateTotalSize(repoId: "org/tiny", patterns: ["*.json", "*.txt"]).bytes == 26)
        let catalog = try Catalog(path: Catalog.path(in: place.home("state")))
        #expect(try catalog.tree(of: .model("org/tiny"), at: commit) == tree, "the catalog remembers")
        #expect(!FileSystem.exists(place.home("hf/hub/models--org--tiny")), "an estimate writes nothing")
    }

    @Test func offlineTheServiceAsksNobody() async throws {
        let place = try ManagerPlace(isOffline: true)
        let service = HFMetadataService(place.configuration, environment: place.environment)
        #expect(await errorCode { _ = try await service.search(ModelQuery()) } == .offline)
        #expect(await errorCode { _ = try await service.fetchModelDetails(repoId: "org/tiny") } == .offline)
        #expect(await errorCode { _ = try await service.fetchFileTree(repoId: "org/tiny") } == .offline)
        #expect(place.hub.requests.isEmpty)
    }

    @Test func anAnswerIsGivenThoughTheCatalogCannotBeWritten() async throws {
        let place = try ManagerPlace()
        // The catalog's folder is a file: nothing can be opened there.
        try place.home.write("state", "in the way")
        let service = HFMetadataService(place.configuration, environment: place.environment)
        #expect(try await service.search(ModelQuery()).count == 1)
        #expect(try await service.fetchModelDetails(repoId: "org/tiny").record.repository == .model("org/tiny"))
    }
}
