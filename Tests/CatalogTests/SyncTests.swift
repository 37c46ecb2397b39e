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
        #expect(step.tally.added == 3 && step.walk.cursor == "second" && step.walk.models == 3)
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
            #expect(step.tally.unchanged == 50)
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

    /// All or nothing: where the end cannot be written, the page is not either.
    @Test func damagedNotesAreToldAndChangeNothing() throws {
        let step = try catalog.take(
            try records(0..<2), of: MirrorWalk(.whole, cursor: "", at: 2), next: "x", in: scope, at: 2)
        try catalog.write { try $0.run("UPDATE walk_pages SET rows = ?", [0x80] as [UInt8]) }
        let error = #expect(throws: AIError.self) {
            try catalog.take(try records(2..<4), of: step.walk, next: nil, in: scope, at: 3)
        }
        #expect(error?.code == .catalogUnusable)
        #expect(try catalog.model(repository("org/m3")) == nil)
        #expect(try catalog.interruptedWalk(.whole, scope) == step.walk)
    }

    @Test func rowsArePackedAndUnpacked() throws {
        var random = SeededRandom(number: 1)
        #expect(try PackedRows.unpack(PackedRows.pack([])) == [])
        for size in 1..<60 {
            let rows = (0..<size).map { _ in Int64(random.next() >> (random.next() % 40 + 9)) }
            #expect(try PackedRows.unpack(PackedRows.pack(rows)) == rows.sorted())
        }
        #expect(PackedRows.pack(Array(1...1000)).count == 1000)
        for damage in [[0x80], [UInt8](repeating: 0xFF, count: 9)] {
            #expect(throws: AIError.self) { try PackedRows.unpack(damage) }
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
}
