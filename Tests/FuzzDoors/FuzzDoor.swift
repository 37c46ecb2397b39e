import HubCore
import Libc
import Support

/// A reader of untrusted input. It must read or refuse every input, and quickly.
package struct FuzzDoor: Sendable {
    /// As scripts/fuzz names it; its stored inputs are in Tests/Fixtures/fuzz under that name.
    package let name: String
    /// Inputs to begin with that are made of other fixtures.
    private let seeds: @Sendable () throws -> [[UInt8]]
    /// Reads an input. Throws only for a fault of the reader; an error that refuses the input is caught.
    package let read: @Sendable ([UInt8]) throws -> Void

    init(
        _ name: String, seeds: @escaping @Sendable () throws -> [[UInt8]] = { [] },
        read: @escaping @Sendable ([UInt8]) throws -> Void
    ) {
        (self.name, self.seeds, self.read) = (name, seeds, read)
    }

    package static let all: [FuzzDoor] = [
        .configuration, .tokenizer, .gguf, .safetensors, .pickle, .template, .grammar, .archive, .request,
        .picture, .processor,
    ]

    /// The inputs to begin with: those kept in Tests/Fixtures/fuzz, of which some were once hard to read, and the seeds.
    package func inputs() throws -> [(name: String, bytes: [UInt8])] {
        let folder = Path.join(Fixtures.path, "fuzz/\(name)")
        let kept = try (FileSystem.entries(folder) ?? []).sorted().map { entry in
            (entry, try FileSystem.contents(Path.join(folder, entry)) ?? [])
        }
        return kept + (try seeds().enumerated().map { ("fixture-\($0.offset)", $0.element) })
    }
}

extension AIError {
    /// Throws the error again unless its code is one of those that refuse an input.
    func mustRefuse(_ codes: ErrorCode...) throws(AIError) {
        guard codes.contains(code) else { throw self }
    }
}

/// A file for an input, in memory where the system has a folder for that.
final class ScratchFile: Sendable {
    private let folder: TemporaryFolder
    let path: String

    init(_ name: String) throws {
        folder = try TemporaryFolder("fuzz", in: FileSystem.exists("/dev/shm") ? "/dev/shm" : nil)
        path = folder(name)
    }

    /// - Parameter size: the file's length, if longer than the bytes; zeros follow them.
    func write(_ bytes: [UInt8], size: Int? = nil) throws {
        try FileSystem.replace(path, with: bytes)
        if let size, size > bytes.count, truncate(path, off_t(size)) != 0 {
            throw AIError(.ioError, "\(path) cannot be made longer")
        }
    }
}
