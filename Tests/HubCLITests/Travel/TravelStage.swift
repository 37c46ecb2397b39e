import HubCore
import Support
import Testing

@testable import HubCLI

/// A machine with models and one without a network, between which archives travel.
final class TravelStage: Sendable {
    let stage: Stage
    /// The variables of the machine that receives.
    let there: [String: String]

    /// - Parameter weights: bytes of the model's file.
    init(weights: Int = 300_000) throws {
        stage = try Stage { root in try ModelRepository.tiny("org/tiny", in: root, weights: weights) }
        there = [
            "HF_HOME": stage.machine("there/hf"), "HUB_HOME": stage.machine("there/state"),
            "HF_ENDPOINT": ClosedPort.address,
        ]
    }

    /// The cache of the machine that receives.
    var cache: String { stage.machine("there/hf/hub") }
    func path(_ name: String) -> String { stage.machine(name) }

    /// Runs a command where the models are.
    @discardableResult
    func here(_ words: String..., sourceLocation: SourceLocation = #_sourceLocation) async throws -> ProcessResult {
        let result = try await stage.run(words)
        try #require(result.status == 0, "\(words): \(result.error)", sourceLocation: sourceLocation)
        return result
    }

    /// Runs a command on the other machine.
    func there(_ words: String...) async throws -> ProcessResult { try await stage.run(words, with: there) }

    /// What both caches hold, but for locks and what only one of them needs: the text of links, the bytes of files.
    func contents(_ cache: String) throws -> [String: [UInt8]] {
        var out: [String: [UInt8]] = [:]
        for name in try stage.listing(cache) where !name.hasPrefix(".locks") {
            let path = Path.join(cache, name)
            if let link = FileSystem.linkText(path) {
                out[name] = Array("-> \(link)".utf8)
            } else if try FileSystem.status(path)?.kind == .file {
                out[name] = try FileSystem.contents(path) ?? []
            }
        }
        return out
    }

    /// The other machine's cache is the one that a pull would have made.
    func expectSame(sourceLocation: SourceLocation = #_sourceLocation) throws {
        let (here, there) = (try contents(stage.cache), try contents(cache))
        #expect(here.keys.sorted() == there.keys.sorted(), sourceLocation: sourceLocation)
        let differing = here.filter { there[$0.key] != $0.value }.keys.sorted()
        #expect(differing == [], sourceLocation: sourceLocation)
    }

    /// Nothing that a program could find is in the other machine's cache.
    func expectNothing(sourceLocation: SourceLocation = #_sourceLocation) throws {
        let names = try stage.listing(cache).filter { !$0.hasPrefix(".locks") && $0 != "CACHEDIR.TAG" }
        #expect(names == [], sourceLocation: sourceLocation)
    }
}

/// Puts a tar archive together, sound or not.
enum TarBytes {
    static func entry(
        _ name: String, _ content: [UInt8], type: Character = "0", link: String = "", size: Int? = nil
    )
        -> [UInt8]
    {
        var header = [UInt8](repeating: 0, count: 512)
        func put(_ text: String, _ at: Int) { header.replaceSubrange(at..<at + text.utf8.count, with: text.utf8) }
        func octal(_ number: Int, _ digits: Int) -> String {
            let text = String(number, radix: 8)
            return String(repeating: "0", count: digits - text.count) + text
        }
        put(name, 0)
        put("0000644\u{0}0000000\u{0}0000000\u{0}", 100)
        put(octal(size ?? content.count, 11), 124)
        put("00000000000", 136)
        put("        ", 148)
        put(String(type), 156)
        put(link, 157)
        put("ustar\u{0}00", 257)
        put(octal(header.reduce(0) { $0 + Int($1) }, 6) + "\u{0} ", 148)
        let padding = (512 - content.count % 512) % 512
        return header + content + [UInt8](repeating: 0, count: padding)
    }

    static let end = [UInt8](repeating: 0, count: 1024)
}

/// Safetensors files.
enum TensorFile {
    /// A file of equal tensors, each of bytes of its own seed, and a small one before the last.
    static func bytes(_ seeds: [UInt64], names: [String]? = nil, note: String = "one", length: Int) -> [UInt8] {
        var entries: [(key: String, value: JSON)] = [("__metadata__", .object(["note": .string(note)]))]
        var at: Int64 = 0
        var data: [UInt8] = []
        func add(_ name: String, _ bytes: [UInt8]) {
            let end = at + Int64(bytes.count)
            entries.append(
                (
                    name,
                    .object([
                        "dtype": "F32", "shape": .array([.int(Int64(bytes.count / 4))]),
                        "data_offsets": .array([.int(at), .int(end)]),
                    ])
                ))
            at = end
            data += bytes
        }
        for (index, seed) in seeds.enumerated() {
            if index == seeds.count - 1 { add("norm", ModelRepository.randomBytes(64, seed: seed)) }
            add(names?[index] ?? "t\(index)", ModelRepository.randomBytes(length, seed: seed))
        }
        let header = Array(JSON.object(JSONObject(entries)).text().utf8)
        return (0..<8).map { UInt8(truncatingIfNeeded: header.count >> (8 * $0)) } + header + data
    }
}
