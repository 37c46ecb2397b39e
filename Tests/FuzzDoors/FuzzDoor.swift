import HubCore
import Libc
import Support

/// A reader of what others wrote. Whatever comes, it is read or refused, and soon.
package struct FuzzDoor: Sendable {
    /// As scripts/fuzz names it; its stored inputs are in Tests/Fixtures/fuzz under that name.
    package let name: String
    /// What other fixtures give to begin with.
    private let seeds: @Sendable () throws -> [[UInt8]]
    /// Reads an input. What it throws is a fault: what refuses an input does not get out.
    package let read: @Sendable ([UInt8]) throws -> Void

    init(
        _ name: String, seeds: @escaping @Sendable () throws -> [[UInt8]] = { [] },
        read: @escaping @Sendable ([UInt8]) throws -> Void
    ) {
        (self.name, self.seeds, self.read) = (name, seeds, read)
    }

    package static let all: [FuzzDoor] = [
        .configuration, .tokenizer, .gguf, .safetensors, .pickle, .template, .grammar, .archive, .request,
    ]

    /// The inputs to begin with: those kept in Tests/Fixtures/fuzz, among them what was once hard to read, and other fixtures.
    package func inputs() throws -> [(name: String, bytes: [UInt8])] {
        let folder = Path.join(Fixtures.path, "fuzz/\(name)")
        let kept = try (FileSystem.entries(folder) ?? []).sorted().map { entry in
            (entry, try FileSystem.contents(Path.join(folder, entry)) ?? [])
        }
        return kept + (try seeds().enumerated().map { ("fixture-\($0.offset)", $0.element) })
    }
}

extension AIError {
    /// Throws the error again unless it refuses an input.
    func mustRefuse(_ codes: ErrorCode...) throws(AIError) {
        guard codes.contains(code) else { throw self }
    }
}

/// A file that doors write their inputs to, in memory where the system has such a folder.
final class ScratchFile: Sendable {
    private let folder: TemporaryFolder
    let path: String

    init(_ name: String) throws {
        folder = try TemporaryFolder("fuzz", in: FileSystem.exists("/dev/shm") ? "/dev/shm" : nil)
        path = folder(name)
    }

    /// - Parameter size: how long the file is made; what is behind the bytes is zero.
    func write(_ bytes: [UInt8], size: Int? = nil) throws {
        try FileSystem.replace(path, with: bytes)
        if let size, size > bytes.count, truncate(path, off_t(size)) != 0 {
            throw AIError(.ioError, "\(path) cannot be made longer")
        }
    }
}
