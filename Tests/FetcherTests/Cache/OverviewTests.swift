import HubCore
import Support
import Testing

@testable import Fetcher

/// What lists count: links within a cache, folders that hold nothing, invalid sizes.
@Suite struct OverviewTests {
    /// A second name for a repository: its bytes are there once, and the link frees none.
    @Test func aLinkToARepositoryOfTheSameCacheCountsNothing() throws {
        let cache = try HandmadeCache()
        try cache.revision(.of("a"), [(sha256("1"), 500), (sha1("2"), 7)], refs: ["main"], in: cache.repository())
        try FileSystem.createSymlink(cache.repository().path, at: cache.repository("models--org--alias").path)
        let overview = try CacheScanner(cache.layout, catalog: nil).overview()
        #expect(overview.totalSize == 507 && overview.otherSize == 0)
        #expect(overview.repositories.map(\.size) == [507, 507])
        let link = try #require(overview.repositories.first { $0.isLink })
        #expect(link.freeable == 0 && link.revisions.map(\.freeable) == [0])
        #expect(try cache.scan().totalSize == 507)
    }

    @Test func aFolderWithoutASnapshotHoldsNothing() throws {
        let cache = try HandmadeCache()
        try cache.revision(.of("a"), [(sha256("1"), 500)], in: cache.repository())
        let other = cache.repository("models--org--begun")
        try cache.blob(sha256("2"), in: other)
        try cache.write(Path.join(other.snapshots, ".DS_Store"))
        #expect(try cache.layout.heldFolders() == [cache.repository().name])
    }

    /// Two sparse files of nearly 2^63 bytes have no sum.
    @Test func absurdSizesHaveASum() throws {
        let status = try FileSystem.status("/")
        var huge = try #require(status)
        huge.size = .max - 1
        let file = PhysicalFile(huge)
        #expect((0..<100).reduce(0) { sum, _ in sum + file.size } > 0)
    }
}
