import HubCore
import ModelFormats
import Testing

@Suite struct GGUFPreambleTests {
    private func bytes(magic: String = "GGUF", version: UInt32 = 3, tensors: UInt64 = 2, pairs: UInt64 = 3)
        -> [UInt8]
    {
        func little(_ value: UInt64, _ count: Int) -> [UInt8] {
            (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) }
        }
        return Array(magic.utf8) + little(UInt64(version), 4) + little(tensors, 8) + little(pairs, 8)
    }

    private func preamble(_ bytes: [UInt8], fileSize: Int64 = 1000) throws(AIError) -> GGUFPreamble {
        let result = bytes.withUnsafeBytes { buffer in
            Result { () throws(AIError) in try GGUFPreamble(buffer, fileSize: fileSize, path: "/m/a.gguf") }
        }
        return try result.get()
    }

    @Test(arguments: [2, 3] as [UInt32])
    func whatTheFileHoldsIsRead(version: UInt32) throws {
        let read = try preamble(bytes(version: version))
        #expect((read.version, read.tensorCount, read.metadataCount) == (version, 2, 3))
    }

    @Test func aRealFileIsRead() throws {
        let file = try #require(try FileSystem.contents(Fixtures.path("tiny-shakespeare-gguf/model-q4_0.gguf")))
        let read = try preamble(file, fileSize: Int64(file.count))
        #expect(read.version == 3 && read.tensorCount > 10 && read.metadataCount > 10)
    }

    @Test func whatIsBrokenIsRefused() throws {
        let broken: [([UInt8], Int64, String)] = [
            (bytes(magic: "GGML"), 1000, "does not begin with GGUF"), (Array(bytes().dropLast()), 23, "too few"),
            (bytes(tensors: 42), 1000, "42 tensors"), (bytes(tensors: .max), 1000, "tensors"),
            (bytes(pairs: .max), .max, "pairs of metadata"), (bytes(pairs: 76), 1000, "76 pairs"),
        ]
        for (bytes, size, fault) in broken {
            let error = #expect(throws: AIError.self) { try preamble(bytes, fileSize: size) }
            #expect(error?.code == .malformedModel && error?.message.hasPrefix("/m/a.gguf: ") == true)
            #expect(error?.message.contains(fault) == true, "\(error?.message ?? "")")
        }
        #expect(throws: Never.self) { try preamble(bytes(tensors: 40, pairs: 75)) }
    }

    @Test(
        arguments: [(1, "version 1"), (4, "version 4"), (0x0300_0000, "big-endian"), (0, "version 0")]
            as [(UInt32, String)])
    func otherVersionsAreNamed(version: UInt32, name: String) throws {
        let error = #expect(throws: AIError.self) { try preamble(bytes(version: version)) }
        #expect(error?.code == .unsupportedModel && error?.message.contains(name) == true)
    }
}
