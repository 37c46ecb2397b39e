import HubCore
import Support
import Testing

@testable import Catalog

/// Files of SQLite beside the catalog.
@Suite struct StateFileTests {
    private static let kind = StateFile.Kind(
        name: .init("the file of this test", code: .ioError), application: 0x7465_7374,
        isPrecious: false,
        versions: ["CREATE TABLE a (x); CREATE TABLE b (x)", "CREATE TABLE c (x)"])

    /// Whoever comes while the tables are made sees none or all of them.
    @Test func severalMayMakeItAtOnce() async throws {
        let folder = try TemporaryFolder("state-file")
        for number in 0..<50 {
            let path = folder("\(number).sqlite3")
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<6 {
                    group.addTask {
                        try await Thread.run {
                            try StateFile(path, Self.kind).read { connection in
                                try connection.first("SELECT count(*) FROM c", map: { Int($0.int(0)) }) ?? -1
                            }
                        }
                    }
                }
                for try await rows in group { #expect(rows == 0) }
            }
        }
    }
}
