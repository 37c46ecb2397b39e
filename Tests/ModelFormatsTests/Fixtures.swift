import HubCore
import Support
import Testing

/// The fixtures beside the tests.
enum Fixtures {
    static func path(_ name: String) -> String {
        Path.join(Path.join(Path.parent(Path.parent(#filePath)), "Fixtures"), name)
    }
}

/// A temporary folder, removed when the test ends.
final class TemporaryFolder {
    let path: String

    init() throws {
        path = "/tmp/hub-formats-tests.\(FileSystem.randomHex(8))"
        try FileSystem.createDirectories(path)
    }

    deinit { try? FileSystem.removeTree(path) }

    func file(_ name: String) -> String { Path.join(path, name) }
    func write(_ name: String, _ text: String) throws { try FileSystem.replace(file(name), with: Array(text.utf8)) }
    func link(_ fixture: String, as name: String) throws {
        try FileSystem.createSymlink(Fixtures.path(fixture), at: file(name))
    }
}
