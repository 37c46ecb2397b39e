import HubCore
import Support
import Testing

@testable import Catalog

/// The age of the catalog's data.
@Suite struct AgeTests {
    private let catalog: Catalog
    private let scope = MirrorScope(endpoint: "https://hub.example")

    init() throws { catalog = try Place().open() }

    private func dated(_ id: String, change: (inout ModelRecord) -> Void = { _ in }) throws -> ModelRecord {
        try record(id, downloads: 1) {
            $0.updatedAt = 1
            change(&$0)
        }
    }

    private func sync(_ kind: MirrorWalk.Kind, _ scope: MirrorScope, newest: Double, at now: Double) throws {
        let records = try ["Org/a", "other/b", "org"].map { try dated($0) }
        let walk = MirrorWalk(kind, cursor: "", newest: newest, at: now)
        // A walk may take days; it says nothing of what came to pass behind it.
        _ = try catalog.take(records, of: walk, next: nil, in: scope, at: now + 1000)
    }

    /// The ages of the model and of its counts.
    private func age(_ id: String, _ endpoint: String? = nil) throws -> [Double] {
        let known = try #require(try catalog.model(repository(id)))
        let age = try catalog.mirrorAge(endpoint ?? scope.endpoint)
        return [age.asOf(known), age.countedAt(known)]
    }

    // MARK: The whole

    /// That a file lies in a cache was not heard of the Hub.
    @Test func aModelThatOnlyACacheNamesWasNotHeardOf() throws {
        #expect(try catalog.newestSeen(.model) == nil)
        try catalog.remember(
            RepositoryTree(commit: commit("a"), files: []), of: repository("org/cached"), at: 5)
        #expect(try catalog.newestSeen(.model) == nil)
    }

    // MARK: A model

    /// A sync leaves a model alone of which nothing is new.
    @Test func whatASyncFoundUnchangedIsAsOldAsTheSync() throws {
        try catalog.remember(try ["Org/a", "other/b", "org"].map { try dated($0) }, at: 10)
        #expect(try age("Org/a") == [10, 10])
        try sync(.whole, scope, newest: 90, at: 100)
        for id in ["Org/a", "other/b", "org"] { #expect(try age(id) == [100, 100]) }
        #expect(try catalog.model(repository("Org/a"))?.seenAt == 10)
        // Downloads and likes move without a date: the short way does not see it.
        try sync(.recent, scope, newest: 200, at: 210)
        #expect(try age("Org/a") == [200, 100])
        try catalog.remember([try dated("Org/a")], at: 300)
        #expect(try age("Org/a") == [300, 300] && age("other/b") == [200, 100])
    }

    @Test func anAuthorsSyncSaysNothingOfOthers() throws {
        try catalog.remember(try ["Org/a", "other/b", "org"].map { try dated($0) }, at: 10)
        try sync(.whole, MirrorScope(endpoint: scope.endpoint, author: "oRG"), newest: 90, at: 100)
        #expect(try age("Org/a") == [100, 100] && age("other/b") == [10, 10] && age("org") == [10, 10])
    }

    @Test func whatNoListShowsIsAsOldAsItsRow() throws {
        try catalog.remember(
            [
                try dated("org/private") { $0.isPrivate = true }, try record("org/undated"), try dated("org/gone"),
                ModelRecord(try repository("org/data", .dataset)),
            ], detailed: true, at: 10)
        try sync(.whole, scope, newest: 90, at: 100)
        for id in ["org/private", "org/undated", "org/gone"] { #expect(try age(id) == [10, 10], "\(id)") }
        let data = try #require(try catalog.model(repository("org/data", .dataset)))
        #expect(try catalog.mirrorAge(scope.endpoint).asOf(data) == 10)
    }

    /// Another Hub's sync does not count, and with two Hubs a model's origin is unknown.
    @Test func twoHubsVouchForNothing() throws {
        try catalog.remember([try dated("Org/a")], at: 10)
        try sync(.whole, scope, newest: 90, at: 100)
        #expect(try age("Org/a") == [100, 100] && age("Org/a", "https://other.example") == [10, 10])
        try catalog.noteEndpoint(try Endpoint("https://other.example"), at: 1)
        #expect(try age("Org/a") == [10, 10])
    }
}
