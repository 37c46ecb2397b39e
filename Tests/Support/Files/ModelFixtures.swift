package import HubCore
import Testing

extension Fixtures {
    /// A fixture's JSON.
    package static func json(_ name: String) throws -> JSON { try JSON.parsePython(bytes(name)) }

    /// A fixture's text.
    package static func text(_ name: String) throws -> String { String(decoding: try bytes(name), as: UTF8.self) }
}

extension JSON {
    /// The numbers of an array of whole numbers.
    package var ids: [Int] { (array ?? []).compactMap { $0.int.map(Int.init) } }
}

extension TemporaryFolder {
    /// A folder that links to every file of a fixture, as a snapshot of the cache does.
    package convenience init(linking fixture: String, except: Set<String> = []) throws {
        try self.init()
        let source = try Fixtures.path(fixture)
        for name in try #require(try FileSystem.entries(source)) where !except.contains(name) {
            try FileSystem.createSymlink(Path.join(source, name), at: self(name))
        }
    }

    /// Writes a JSON file.
    package func write(_ name: String, _ json: JSON) throws { try write(name, Array(json.text().utf8)) }
}

/// The error that a call throws; the test fails where it throws none.
package func thrown<Value>(_ call: () async throws -> Value) async throws -> AIError {
    do {
        _ = try await call()
    } catch {
        return try #require(error as? AIError)
    }
    throw NothingThrown()
}

private struct NothingThrown: Error {}
