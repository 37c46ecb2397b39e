import HubCore
import Support
import Testing

@testable import HubCLI

/// Exports and imports that are killed, run twice at once, or meet a full disk.
@Suite struct ArchiveTroubleTests {
    private static let size = 24 << 20

    /// Kills at random moments; then the same command ends with the same bytes.
    @Test func killsOnBothSides() async throws {
        let travel = try TravelStage(weights: Self.size)
        try await travel.here("pull", "-q", "org/tiny")
        try await travel.here("export", "org/tiny", "-o", "whole.tar")
        var random = SeededRandom(state: 7)
        for _ in 0..<8 {
            let export = try travel.stage.start("export", "org/tiny", "-o", "m.tar", "--split", "5MB")
            try await Task.sleep(for: .milliseconds(Int.random(in: 1...120, using: &random)))
            export.killHard()
            _ = try await export.wait()
        }
        // One of them may have come to its end.
        try await travel.here("export", "org/tiny", "-o", "m.tar", "--split", "5MB", "--force")
        let whole = try #require(try FileSystem.contents(travel.path("whole.tar"), limit: 1 << 30))
        var parts: [UInt8] = []
        for index in 1...6 where FileSystem.exists(travel.path("m.tar.00\(index)")) {
            parts += try #require(try FileSystem.contents(travel.path("m.tar.00\(index)")))
        }
        #expect(parts == whole ? true : false)

        for _ in 0..<8 {
            let process = try travel.stage.start("import", "m.tar.001", with: travel.there)
            try await Task.sleep(for: .milliseconds(Int.random(in: 1...150, using: &random)))
            process.killHard()
            _ = try await process.wait()
        }
        let result = try await travel.there("import", "m.tar.001")
        #expect(result.status == 0, "\(result.error)")
        try travel.expectSame()
    }

    /// What an interrupted export has left is checked, whatever it is.
    @Test func leftoversAreNotTrusted() async throws {
        let travel = try TravelStage(weights: 3 << 20)
        try await travel.here("pull", "-q", "org/tiny")
        try await travel.here("export", "org/tiny", "-o", "whole.tar")
        let whole = try #require(try FileSystem.contents(travel.path("whole.tar")))
        var random = SeededRandom(state: 3)
        for round in 0..<6 {
            var left = Array(whole.prefix(Int.random(in: 1...whole.count, using: &random)))
            if round % 2 == 1 { left[Int.random(in: 0..<left.count, using: &random)] ^= 0xFF }
            try FileSystem.replace(travel.path("m.tar.incomplete"), with: left)
            try await travel.here("export", "org/tiny", "-o", "m.tar")
            #expect(try FileSystem.contents(travel.path("m.tar")) == whole ? true : false, "round \(round)")
        }
    }

    @Test func twoImportsAtOnce() async throws {
        let travel = try TravelStage(weights: Self.size)
        try await travel.here("pull", "-q", "org/tiny")
        try await travel.here("export", "org/tiny", "-o", "m.tar")
        let processes = try (0..<2).map { _ in try travel.stage.start("import", "m.tar", with: travel.there) }
        for process in processes {
            let result = try await process.wait()
            #expect(result.status == 0, "\(result.error)")
        }
        try travel.expectSame()
    }

    /// Two exports to one place would write into each other's bytes.
    @Test func twoExportsToOnePlace() async throws {
        let travel = try TravelStage(weights: 100_000)
        try await travel.here("pull", "-q", "org/tiny")
        let other = try FileDescriptor(travel.path("m.tar.incomplete"), [.write, .create])
        #expect(try other.tryLock() == true)
        let result = try await travel.stage.run("export", "org/tiny", "-o", "m.tar")
        #expect(result.status == 6 && result.error.contains("another process is exporting"), "\(result.error)")
        other.unlock()
        try await travel.here("export", "org/tiny", "-o", "m.tar")
    }

    #if os(Linux)
    /// The disk fills: status 6, nothing that programs find, and what was read is not read again in vain.
    @Test func aFullDisk() async throws {
        let travel = try TravelStage(weights: Self.size)
        try await travel.here("pull", "-q", "org/tiny")
        try await travel.here("export", "org/tiny", "-o", "m.tar")
        let library = try await FaultyDisk.library(in: travel.stage.machine)
        let full = ["LD_PRELOAD": library, "FAULTY_DISK": "full:8388608"]
        let result = try await travel.stage.run(["import", "m.tar"], with: travel.there.merging(full) { $1 })
        #expect(result.status == 6, "\(result.error)")
        #expect(try await travel.there("path", "org/tiny").status == 3)
        #expect(try await travel.there("import", "m.tar").status == 0)
        try travel.expectSame()
    }
    #endif
}
