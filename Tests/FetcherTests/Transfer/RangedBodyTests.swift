import HubCore
import Support
import Testing

@testable import Fetcher

/// Answers to requests for ranges, as boxes on the way leave them.
@Suite struct RangedBodyTests {
    @Test(
        arguments: [
            (206, ["Content-Range": "bytes 5-9/100"], RangedBody.range(5..<10)),
            (206, ["Content-Range": "bytes 5-9/*"], .range(5..<10)), (206, [:], .unknown),
            (206, ["Content-Range": "bytes 5-9/101"], .unknown),
            (206, ["Content-Range": "bytes 95-100/100"], .unknown),
            (206, ["Content-Range": "bytes 5-9/100", "Content-Encoding": "gzip"], .unknown),
            (206, ["Content-Range": "bytes 5-9/100", "Content-Encoding": "Identity"], .range(5..<10)),
            (200, ["Content-Length": "100"], .whole), (200, [:], .whole), (200, ["Content-Length": "5"], .other(5)),
            (200, ["Content-Length": "5", "Content-Range": "bytes 5-9/100"], .range(5..<10)),
            (200, ["Content-Length": "100", "Content-Range": "bytes 5-9/100"], .whole),
            (200, ["Content-Length": "7", "Content-Encoding": "gzip"], .whole), (416, [:], .status(416)),
        ] as [(Int, [String: String], RangedBody)])
    func bringsWhatItsHeadSays(_ status: Int, _ fields: [String: String], _ expected: RangedBody) {
        let head = HTTPHead(
            status: status, fields: HTTPFields(fields.map { ($0.key, $0.value) }), address: "https://hub/x")
        #expect(RangedBody(head, of: 100) == expected)
    }

    /// Reads of headers, deltas and comparisons: any range of a file's first megabytes.
    @Test(arguments: [
        Fault.Kind.shiftedRange(by: 1000), .shortRange(700), .noContentRange, .rangeWithStatus200, .gzip, .noRange,
    ])
    func rangesAreReadThroughAnyBox(_ kind: Fault.Kind) async throws {
        let folder = try TemporaryFolder()
        let repository = try ModelRepository("org/m", in: folder)
        let bytes = try repository.noise("w.safetensors", size: 300_000)
        let hub = try LoopbackHub(folder)
        let test = try TestClient(hub.endpoint)
        let commit = try await test.client.info(.model("org/m")).commit
        let tree = try await test.client.tree(.model("org/m"), at: commit)
        let file = try #require(tree.files.first { $0.path == "w.safetensors" })
        hub.fail("^GET", kind, times: nil, on: .cdn)
        for range in [0..<10, 5000..<9000, 100_000..<200_000, 299_000..<300_000] {
            let found = try await test.client.bytes(of: file, range, in: .model("org/m"), at: commit)
            #expect(found == Array(bytes[range]) ? true : false, "\(range)")
        }
    }
}
