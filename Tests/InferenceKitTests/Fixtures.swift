import HubCore
import Support
import Testing

/// The fixtures and goldens beside the tests.
enum Fixtures {
    static let root = Path.join(Path.parent(Path.parent(#filePath)), "Fixtures")
    static func path(_ name: String) -> String { Path.join(root, name) }

    static func json(_ name: String) throws -> JSON {
        try JSON.parse(try #require(try FileSystem.contents(path(name))))
    }

    static func text(_ name: String) throws -> String {
        String(decoding: try #require(try FileSystem.contents(path(name))), as: UTF8.self)
    }
}

extension JSON {
    /// The numbers of an array of whole numbers.
    var ids: [Int] { (array ?? []).compactMap { $0.int.map(Int.init) } }
}

/// A temporary folder, removed when the test ends.
final class TemporaryFolder {
    let path: String

    init() throws {
        // $TMPDIR would need Foundation; /tmp is on every system the tests run on.
        path = "/tmp/hub-kit-tests.\(FileSystem.randomHex(8))"
        try FileSystem.createDirectories(path)
    }

    /// A folder that links to every file of a fixture, as a snapshot of the cache does.
    convenience init(linking fixture: String, except: Set<String> = []) throws {
        try self.init()
        for name in try #require(try FileSystem.entries(Fixtures.path(fixture))) where !except.contains(name) {
            try FileSystem.createSymlink(Path.join(Fixtures.path(fixture), name), at: file(name))
        }
    }

    deinit { try? FileSystem.removeTree(path) }

    func file(_ name: String) -> String { Path.join(path, name) }

    func write(_ name: String, _ bytes: [UInt8]) throws {
        try FileSystem.remove(file(name))
        try FileSystem.replace(file(name), with: bytes)
    }

    func write(_ name: String, _ json: JSON) throws { try write(name, Array(json.text().utf8)) }
}

/// The error that a call throws; the test fails if it throws none.
func thrown<Value>(_ call: () async throws -> Value) async throws -> AIError {
    do {
        _ = try await call()
    } catch {
        return try #require(error as? AIError)
    }
    throw NothingThrown()
}

private struct NothingThrown: Error {}
