import Catalog
import HubCore
import Support
import Testing

@testable import Fetcher

/// Files that change while adopting reads them are never lost.
@Suite struct AdoptionRunTests {
    private let folder: TemporaryFolder
    private let catalog: Catalog
    private let run: AdoptionRun
    private let bytes = ForeignStores.weights(1)
    private let other = ForeignStores.weights(2)
    private let (source, target): (String, String)

    init() throws {
        folder = try TemporaryFolder("adoption")
        catalog = try Catalog(path: folder("catalog.sqlite3"))
        run = AdoptionRun(CacheLayout(folder("hub")), catalog)
        source = try folder.write("one/m.gguf", bytes)
        target = try folder.write("two/m.gguf", bytes)
        try FileSystem.setTimes(target, accessed: 1e9, modified: 1.1e9)
    }

    private var row: AdoptionPlan.Row {
        AdoptionPlan.Row(
            path: source, tool: .ollama, sha256: ForeignStores.digest(bytes), size: Int64(bytes.count),
            action: .hardlink, saves: Int64(bytes.count), target: target)
    }

    private func inode(_ path: String) throws -> UInt64 { try #require(try FileSystem.status(path)).inode }

    /// Carries out the row; `change` comes with the first bytes read.
    private func adopt(changing change: () throws -> Void = {}) throws -> AdoptionRun.Outcome {
        var isFirst = true
        return try run.carryOut(row) { _ in
            if isFirst { try change() }
            isFirst = false
        }
    }

    private func expectKept(_ outcome: AdoptionRun.Outcome, _ code: ErrorCode) throws {
        guard case .kept(let fault) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(fault.code == code, "\(fault)")
        #expect(try catalog.adoptions().isEmpty)
        #expect(!FileSystem.exists(AdoptionRun.temporary(target)))
    }

    @Test func bothBecomeOneAndTwoAgain() throws {
        guard case .done(let freed) = try adopt() else {
            Issue.record("nothing was done")
            return
        }
        #expect(freed == bytes.count)
        #expect(try inode(source) == inode(target))
        let adoption = try #require(try catalog.adoptions().first)
        // Left by a run that was killed.
        try FileSystem.replace(AdoptionRun.temporary(target), with: bytes)
        _ = try run.undo(adoption) { _ in }
        #expect(try inode(source) != inode(target))
        #expect(try FileSystem.contents(target) == bytes && FileSystem.contents(source) == bytes)
        #expect(try FileSystem.status(target)?.modified == 1.1e9)
        #expect(!FileSystem.exists(AdoptionRun.temporary(target)))
        #expect(try catalog.adoptions().isEmpty)
    }

    @Test func aFileThatGotTheNameMeanwhileStays() throws {
        let outcome = try adopt { try FileSystem.replace(target, with: other) }
        try expectKept(outcome, .fileChanged)
        #expect(try FileSystem.contents(target) == other)
    }

    @Test func bytesThatAreOthersWithTheirTimeSetBackStay() throws {
        try FileDescriptor(target, [.write]).write(other)
        try FileSystem.setTimes(target, accessed: 1e9, modified: 1.1e9)
        try expectKept(try adopt(), .digestMismatch)
        #expect(try FileSystem.contents(target) == other)
    }

    @Test func aSourceThatIsRewrittenMeanwhileIsNotLinked() throws {
        let outcome = try adopt { try FileDescriptor(source, [.write]).write(other) }
        try expectKept(outcome, .fileChanged)
        #expect(try FileSystem.contents(target) == bytes)
    }

    @Test func anotherModeOrAFurtherNameIsKept() throws {
        try FileSystem.setMode(source, 0o600)
        try FileSystem.setMode(target, 0o664)
        try expectKept(try adopt(), .fileChanged)
        try FileSystem.setMode(source, 0o664)
        try FileSystem.createHardLink(target, at: folder("own"))
        try expectKept(try adopt(), .fileChanged)
        #expect(try inode(target) == inode(folder("own")))
    }

    @Test func stoppingLeavesBothAsTheyWere() throws {
        let before = try inode(target)
        #expect(throws: CancellationError.self) { try adopt { throw CancellationError() } }
        #expect(try inode(target) == before && catalog.adoptions().isEmpty)
    }

    @Test func undoingKeepsAFileThatGotTheNameMeanwhile() throws {
        _ = try adopt()
        let adoption = try #require(try catalog.adoptions().first)
        let outcome = try run.undo(adoption) { _ in try FileSystem.replace(target, with: other) }
        guard case .kept(let fault) = outcome else {
            Issue.record("\(outcome)")
            return
        }
        #expect(fault.code == .fileChanged)
        #expect(try FileSystem.contents(target) == other)
    }

    /// What a program wrote into both since has its own time.
    @Test func undoingKeepsTheTimeOfContentThatWasWrittenSince() throws {
        _ = try adopt()
        try FileDescriptor(source, [.write]).write(other)
        try FileSystem.setTimes(source, accessed: 1e9, modified: 1.2e9)
        _ = try run.undo(try #require(try catalog.adoptions().first)) { _ in }
        #expect(try FileSystem.contents(target) == other && inode(source) != inode(target))
        #expect(try FileSystem.status(target)?.modified == 1.2e9)
    }

    /// Killed after it was remembered and before the rename: the other link is the user's own.
    @Test func undoingLeavesALinkOfTheUser() throws {
        try FileSystem.createHardLink(target, at: folder("own"))
        let adoption = Adoption(
            path: target, source: source, sha256: row.sha256, size: row.size, action: "hardlink", modified: 1.1e9)
        try catalog.remember(adoption, at: 1e9)
        _ = try run.undo(adoption) { _ in }
        #expect(try inode(target) == inode(folder("own")))
        #expect(try catalog.adoptions().isEmpty)
    }
}
