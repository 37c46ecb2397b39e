import HubCore
import Libc

/// A new empty folder, removed with all it holds when the last reference goes.
package final class TemporaryFolder: Sendable {
    /// Absolute, its links resolved.
    package let path: String

    /// - Parameter base: where; TMPDIR if nil.
    package init(_ label: String = "hub", in base: String? = nil) throws {
        let base = base ?? getenv("TMPDIR").map { String(cString: $0) } ?? "/tmp"
        let made = Path.join(base, "\(label)-test-\(FileSystem.randomHex(8))")
        try FileSystem.createDirectories(made)
        path = FileSystem.resolved(made) ?? made
    }

    deinit {
        // A test may have taken the right to write from a folder.
        do { try FileSystem.removeTree(path) } catch { print("cannot remove \(path): \(error)") }
    }

    /// The path of something in it.
    package func callAsFunction(_ name: String) -> String { Path.join(path, name) }

    /// Writes a file, its folders included.
    @discardableResult
    package func write(_ name: String, _ text: String) throws -> String { try write(name, Array(text.utf8)) }

    /// Writes a file, its folders included.
    @discardableResult
    package func write(_ name: String, _ bytes: [UInt8]) throws -> String {
        let place = self(name)
        try FileSystem.createDirectories(Path.parent(place))
        try FileSystem.replace(place, with: bytes)
        return place
    }
}
