import HubCore
import Support
import Testing

@testable import Catalog

@Suite struct SyncTests {
    private let catalog: Catalog
    private let place: Place
    private let scope = MirrorScope(endpoint: "https://hub.example")

    init() throws {
        place = try Place()
        catalog = try place.open()
    }

    private func records(_ numbers: Range<Int>, downloads: Int64 = 1) throws -> [ModelRecord] {
        try numbers.map { try record("org/m\($0)", downloads: downloads) }
    }

    private func writes() throws -> Int64 {
        try catalog.read { try $0.first("SELECT total_changes()", map: { $0.int(0) }) ?? 0 }
    }

    @Test func aWalkGoesOnWhereItsLastPageSays() throws {
        let walk = MirrorWalk(.whole, cursor: "first", newest: 7, at: 5)
        let step = try catalog.take(try records(0..<3), of: walk, next: "second", in: scope, at: 5)
        #expect(step.changes.added == 3 && step.walk.cursor == "second" && step.walk.models == 3)
        #expect(try place.open().interruptedWalk(.whole, scope) == step.walk)
        #expect(try catalog.interruptedWalk(.recent, scope) == nil)
        #expect(try catalog.interruptedWalk(.whole, MirrorScope(endpoint: scope.endpoint, author: "org")) == nil)
        #expect(try catalog.interruptedWalk(.whole, MirrorScope(endpoint: "https://other.example")) == nil)
        #expect(try catalog.knownUntil(scope) == nil)
        _ = try catalog.take(try records(3..<5), of: step.walk, next: nil, in: scope, at: 6)
        #expect(try catalog.interruptedWalk(.whole, scope) == nil && catalog.knownUntil(scope) == 7)
    }

    /// A walk over a million models that changed in nothing must not write a million rows.
    @Test func aPageWithoutNewsWritesThreeRows() throws {
        try catalog.remember(try records(0..<200), at: 1)
        var walk = MirrorWalk(.whole, cursor: "0", at: 2)
        for page in 0..<4 {
            let before = try writes()
            let step = try catalog.take(
                try records(page * 50..<page * 50 + 50), of: walk, next: "\(page)", in: scope, at: 2)
            #expect(step.changes.unchanged == 50)
            // The place, the models met, when the Hub was heard, and the mirror's own row the first time.
            #expect(try writes() - before <= (page == 0 ? 4 : 3))
            walk = step.walk
        }
        let before = try writes()
        let last = try catalog.take([], of: walk, next: nil, in: scope, at: 3)
        #expect(last.vanished == 0)
        #expect(try writes() - before <= 10)
    }

    @Test func whatIsKnownOnlyGrows() throws {
        for (newest, known) in [(nil, nil), (5, 5), (nil, 5), (3, 5), (8, 8)] as [(Double?, Double?)] {
            let walk = MirrorWalk(.recent, cursor: "", newest: newest, at: 1)
            _ = try catalog.take([], of: walk, next: nil, in: scope, at: 1)
            #expect(try catalog.knownUntil(scope) == known)
        }
        let author = MirrorScope(endpoint: scope.endpoint, author: "org")
        #expect(try catalog.knownUntil(author) == 8)
        _ = try catalog.take(
            [], of: MirrorWalk(.recent, cursor: "", newest: 9, at: 1), next: nil, in: author, at: 1)
        #expect(try catalog.knownUntil(author) == 9 && catalog.knownUntil(scope) == 8)
        #expect(try catalog.knownUntil(MirrorScope(endpoint: "https://other.example")) == nil)
    }

    @Test(arguments: [(4.0, true), (6.0, false)])
    func aWalkOverEverythingEndsOlderShortOnes(newest: Double, isEnded: Bool) throws {
        _ = try catalog.take(
            [], of: MirrorWalk(.recent, cursor: "", newest: newest, at: 1), next: "x", in: scope, at: 1)
        _ = try catalog.take(
            try records(0..<1), of: MirrorWalk(.whole, cursor: "", newest: 5, at: 2), next: nil, in: scope, at: 3)
        #expect(try (catalog.interruptedWalk(.recent, scope) == nil) == isEnded)
    }

    @Test func onlyModelsVanish() throws {
        try catalog.remember([ModelRecord(try repository("org/data", .dataset)), try record("org/gone")], at: 1)
        let walk = MirrorWalk(.whole, cursor: "", at: 2)
        #expect(try catalog.take(try records(0..<2), of: walk, next: nil, in: scope, at: 2).vanished == 1)
        var query = ModelQuery()
        query.kind = .dataset
        #expect(try catalog.ids(query) == ["org/data"])
    }

    // MARK: Whose walk it is

    /// A walk in memory may meet a replaced catalog, or another process's walk.
    @Test func aWalkThatTheCatalogDoesNotHoldIsNotTaken() throws {
        let first = try catalog.take(
            try records(0..<2), of: MirrorWalk(.whole, cursor: "0", newest: 9, at: 2), next: "1", in: scope, at: 2)
        let other = try Place().open()
        try other.remember(try records(0..<2), at: 1)
        func expectLost(_ walk: MirrorWalk, _ catalog: Catalog) throws {
            let error = #expect(throws: AIError.self) {
                try catalog.take(try records(5..<7), of: walk, next: nil, in: scope, at: 3)
            }
            #expect(error?.cause is MirrorWalk.Lost && error?.code == .catalogUnusable)
            #expect(try catalog.knownUntil(scope) == nil && catalog.ids(query()).count == 2)
        }
        try expectLost(first.walk, other)
        var elsewhere = first.walk
        elsewhere.cursor = "2"
        try expectLost(elsewhere, catalog)
        // Nor is one begun where another stands.
        try expectLost(MirrorWalk(.whole, cursor: "0", newest: 9, at: 4), catalog)
        _ = try catalog.take(try records(2..<3), of: first.walk, next: nil, in: scope, at: 3)
        #expect(try catalog.knownUntil(scope) == 9)
        let again = #expect(throws: AIError.self) {
            try catalog.take([], of: first.walk, next: nil, in: scope, at: 5)
        }
        #expect(again?.cause is MirrorWalk.Lost)
    }

    /// The end of a short walk is only as good as the mark that it came down to.
    @Test func aWalkDownToAMarkThatIsNotThereIsNotTaken() throws {
        func walk(_ newest: Double) -> MirrorWalk { MirrorWalk(.recent, cursor: "", newest: newest, at: 1) }
        let error = #expect(throws: AIError.self) {
            try catalog.take([], of: walk(9), next: nil, downTo: 5, in: scope, at: 1)
        }
        #expect(try error?.cause is MirrorWalk.Lost && catalog.knownUntil(scope) == nil)
        _ = try catalog.take([], of: walk(6), next: nil, in: scope, at: 1)
        _ = try catalog.take([], of: walk(9), next: nil, downTo: 5, in: scope, at: 1)
        #expect(try catalog.knownUntil(scope) == 9)
    }

    @Test func notesOfAnotherWalkAreNoneOfThisOne() throws {
        try catalog.remember(try records(0..<4), at: 1)
        var walk = MirrorWalk(.whole, cursor: "0", at: 2)
        for page in 0..<3 {
            walk = try catalog.take(
                try records(page..<page + 1), of: walk, next: "\(page + 1)", in: scope, at: 2
            ).walk
        }
        try catalog.write { try $0.run("DELETE FROM walks") }
        let step = try catalog.take(
            try records(0..<1), of: MirrorWalk(.whole, cursor: "0", at: 3), next: nil, in: scope, at: 3)
        #expect(step.vanished == 3)
        #expect(try catalog.ids(query()) == ["org/m0"])
    }

    // MARK: More Hubs than one

    private func walkAll(_ numbers: Range<Int>, _ scope: MirrorScope, at now: Double = 2) throws -> MirrorStep {
        let walk = MirrorWalk(.whole, cursor: "", at: now)
        return try catalog.take(try records(numbers), of: walk, next: nil, in: scope, at: now)
    }

    /// A Hub asked for only one model counts as a source of the catalog too.
    @Test func whatMayBeAnotherHubsIsNotGone() throws {
        try catalog.noteEndpoint(try Endpoint("https://mirror.example"), at: 1)
        try catalog.remember(try records(0..<6), at: 1)
        let first = try walkAll(0..<5, scope)
        #expect(first.vanished == 0 && first.elsewhere == 1)
        // What this Hub itself has listed is gone when it does so no more.
        let second = try walkAll(0..<3, scope)
        #expect(second.vanished == 2 && second.elsewhere == 1)
        #expect(try Set(catalog.ids(query())) == ["org/m0", "org/m1", "org/m2", "org/m5"])
    }

    @Test func aHubOfAnAuthorsModelsIsAnotherHub() throws {
        #expect(try walkAll(0..<4, scope).vanished == 0)
        let other = MirrorScope(endpoint: "https://other.example", author: "org")
        #expect(try walkAll(2..<5, other).vanished == 0)
        let own = MirrorScope(endpoint: scope.endpoint, author: "org")
        let step = try walkAll(0..<1, own)
        // The second is this Hub's alone, the third and the fourth are the other's as well, the fifth is only that.
        #expect(step.vanished == 1 && step.elsewhere == 3)
        #expect(try Set(catalog.ids(query())) == ["org/m0", "org/m2", "org/m3", "org/m4"])
    }

    // MARK: Authors

    /// Two that differ by case are one to the Hub, and may be two to a server that is strict.
    @Test func anAuthorGoesByNoCase() throws {
        try catalog.remember(
            try ["Org/a", "Org/b", "org/c", "orgs/d"].map { try record($0) }, at: 1)
        let typed = MirrorScope(endpoint: scope.endpoint, author: "ORG")
        func walk(_ records: [ModelRecord], at now: Double) throws -> MirrorStep {
            let walk = MirrorWalk(.whole, cursor: "", newest: now, at: now)
            return try catalog.take(records, of: walk, next: nil, in: typed, at: now)
        }
        #expect(try walk([try record("Org/a")], at: 2).vanished == 1)
        #expect(try Set(catalog.ids(query())) == ["Org/a", "org/c", "orgs/d"])
        let written = MirrorScope(endpoint: scope.endpoint, author: "Org")
        #expect(try catalog.knownUntil(written) == 2)
        // A server that knows no such spelling lists nothing, and that says nothing of the others.
        #expect(try walk([], at: 3).vanished == 0)
        let step = try catalog.take(
            [], of: MirrorWalk(.whole, cursor: "", at: 4), next: nil, in: written, at: 4)
        #expect(step.vanished == 1)
    }

    @Test func rowsArePackedAndUnpacked() throws {
        var random = SeededRandom(number: 1)
        #expect(PackedRows.unpack(PackedRows.pack([])) == [])
        for size in 1..<60 {
            let rows = (0..<size).map { _ in Int64(random.next() >> (random.next() % 40 + 9)) }
            #expect(PackedRows.unpack(PackedRows.pack(rows)) == rows.sorted())
        }
        #expect(PackedRows.pack(Array(1...1000)).count == 1000)
        for damage in [[0x80], [UInt8](repeating: 0xFF, count: 9)] {
            #expect(PackedRows.unpack(damage) == nil)
        }
    }

    @Test func aRowSetHoldsWhatWasPutIn() {
        var random = SeededRandom(number: 2)
        var set = RowSet()
        var plain: Set<Int64> = []
        for _ in 0..<500 {
            let row = Int64(random.next() % 700)
            #expect(set.insert(row) == plain.insert(row).inserted)
        }
        for row in Int64(0)..<800 { #expect(set.contains(row) == plain.contains(row)) }
    }

    /// Then the unseen models are unknown; and the next walk is not affected.
    @Test func damagedNotesMarkNobodyAndStopNoWalk() throws {
        let catalog = try Place().open()
        let scope = MirrorScope(endpoint: "https://hub.example")
        try catalog.remember([try record("org/gone")], at: 1)
        for round in 0..<2 {
            let walk = MirrorWalk(.whole, cursor: "/1", at: 2)
            let first = try catalog.take([try record("org/a")], of: walk, next: "/2", in: scope, at: 3)
            if round == 0 { try catalog.write { try $0.run("UPDATE walk_pages SET rows = x'8080'") } }
            let last = try catalog.take([try record("org/b")], of: first.walk, next: nil, in: scope, at: 4)
            #expect(last.vanished == (round == 0 ? 0 : 1))
        }
        #expect(try catalog.model(repository("org/gone"))?.vanishedAt == 4)
    }

    @Test(arguments: ["step = 960", "step = -1", "step = 608", "model = -5", "model = 4294967296"])
    func impossibleNumbersOfARowAreDamage(_ change: String) throws {
        let catalog = try Place().open()
        try catalog.remember([try record("org/name", downloads: 5)], at: 1)
        try catalog.write { try $0.run("UPDATE models SET \(change)") }
        let error = #expect(throws: AIError.self) {
            try catalog.remember([try record("org/name", downloads: 900_000)], at: 2)
        }
        #expect(error?.code == .catalogUnusable)
    }
}
