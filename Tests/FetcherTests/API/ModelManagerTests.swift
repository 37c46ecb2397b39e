import Catalog
import Fetcher
import HubCore
import Support
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// The library's own two doors, from end to end against a Hub of this machine.
@Suite struct ModelManagerTests {
    private struct Place {
        let hub: LoopbackHub
        let folder: TemporaryFolder
        let home: TemporaryFolder
        let environment: HubEnvironment
        let configuration: HFConfiguration

        init(isOffline: Bool = false) throws {
            folder = try TemporaryFolder()
            try ModelRepository.tiny("org/tiny", in: folder, weights: 50_000)
            try ModelRepository("org/tiny", in: folder, revision: "pr1").write("config.json", "{}")
            hub = try LoopbackHub(folder)
            home = try TemporaryFolder("home")
            environment = HubEnvironment([
                "HF_HOME": home("hf"), "HUB_HOME": home("state"), "HF_HUB_OFFLINE": isOffline ? "1" : "",
            ])
            configuration = HFConfiguration.endpoint(try Endpoint(hub.endpoint)).retryBaseDelay(0)
        }

        var manager: ModelManager { ModelManager(configuration, environment: environment) }
    }

    private let tiny = ModelIdentifier.huggingFace("org/tiny")

    @Test func aModelIsFetchedFoundCountedMarkedAndDeleted() async throws {
        let place = try Place()
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

    @Test func aRevisionIsDeletedAloneAndWhatItSharesStays() async throws {
        let place = try Place()
        let manager = place.manager
        try await manager.download(tiny)
        try await manager.download(.huggingFace("org/tiny", revision: "refs/pr/1"))
        #expect(try await manager.cachedModels().count == 2)
        #expect(try await manager.delete(.huggingFace("org/tiny", revision: "refs/pr/1")).bytes == 2)
        #expect(try await manager.isCached(tiny))
        #expect(try await manager.cachedModels().count == 1)
    }

    @Test func aPartOfAModelIsThereAndNotWhole() async throws {
        let place = try Place()
        let manager = place.manager
        try await manager.download(tiny, patterns: ["*.json"])
        #expect(try await manager.localPath(for: tiny) != nil)
        #expect(try await manager.isCached(tiny) == false)
        #expect(try await manager.cachedModels().map(\.complete) == [false])
    }

    @Test func whatIsNotThereIsSaidSo() async throws {
        let manager = try Place().manager
        func code(_ body: () async throws -> Void) async -> ErrorCode? {
            do {
                try await body()
                return nil
            } catch { return AIError.wrapping(error).code }
        }
        #expect(await code { try await manager.delete(tiny) } == .notCached)
        #expect(await code { try await manager.markAccessed(tiny) } == .notCached)
        #expect(await code { try await manager.delete(.huggingFace("../x")) } == .invalidInput)
        #expect(await code { _ = try await manager.isCached(.local("/tmp")) } == .invalidInput)
        #expect(try await manager.localPath(for: .local("/no/such/model")) == nil)
    }

    @Test func aModelInUseIsNotDeleted() async throws {
        let place = try Place()
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

    // MARK: HFMetadataService

    @Test func theServiceSearchesDescribesListsAndEstimates() async throws {
        let place = try Place()
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
        let place = try Place(isOffline: true)
        let service = HFMetadataService(place.configuration, environment: place.environment)
        func code(_ body: () async throws -> Void) async -> ErrorCode? {
            do {
                try await body()
                return nil
            } catch { return AIError.wrapping(error).code }
        }
        #expect(await code { _ = try await service.search(ModelQuery()) } == .offline)
        #expect(await code { _ = try await service.fetchModelDetails(repoId: "org/tiny") } == .offline)
        #expect(await code { _ = try await service.fetchFileTree(repoId: "org/tiny") } == .offline)
        #expect(place.hub.requests.isEmpty)
    }

    @Test func anAnswerIsGivenThoughTheCatalogCannotBeWritten() async throws {
        let place = try Place()
        // The catalog's folder is a file: nothing can be opened there.
        try place.home.write("state", "in the way")
        let service = HFMetadataService(place.configuration, environment: place.environment)
        #expect(try await service.search(ModelQuery()).count == 1)
        #expect(try await service.fetchModelDetails(repoId: "org/tiny").record.repository == .model("org/tiny"))
    }
}
