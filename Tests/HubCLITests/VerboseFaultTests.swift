import HubCore
import HubServer
import Support
import Testing

/// A temporary error: the pull succeeds, and `--verbose` reports the error and the retry.
@Suite struct VerboseFaultTests {
    private let stage: Stage
    private let weights: [UInt8]
    private let text: [UInt8]
    private static let token = "hf_loopback"

    init() throws {
        stage = try Stage()
        let repository = try ModelRepository("org/m", in: stage.root)
        text = try repository.write("notes.txt", String(repeating: "some words\n", count: 20_000))
        // Two ranges at least, so that one answered with the whole is seen.
        weights = try repository.random("w.safetensors", size: 5 << 20, seed: 8)
    }

    struct Row: Sendable, CustomTestStringConvertible {
        var name: String
        var kind: Fault.Kind
        /// What is said of the file.
        var says: String
        /// An alternative message, if it depends on another running file.
        var or: String?
        var times = 1
        var variables: [String: String] = [:]
        var testDescription: String { name }
    }

    static let rows: [Row] = [
        Row(name: "a short body", kind: .truncate(by: 5), says: "the connection to http://127.0.0.1:"),
        Row(name: "a dropped connection", kind: .drop(after: 1000), says: "the connection to http://127.0.0.1:"),
        Row(
            name: "a stall", kind: .stall(after: 1000, seconds: 3600), says: "no data for ",
            or: "did not answer in time",
            variables: ["HF_HUB_DOWNLOAD_TIMEOUT": "25"]),
        Row(name: "408", kind: .status(408), says: "gave up waiting (408)"),
        Row(
            name: "429 with Retry-After", kind: .status(429, headers: ["Retry-After": "0"]),
            says: "limits the rate of requests"),
        Row(
            name: "429 with RateLimit", kind: .status(429, headers: ["RateLimit": "\"api\";r=0;t=0"]),
            says: "limits the rate of requests"),
        Row(name: "500", kind: .status(500), says: "returned HTTP 500"),
        Row(name: "502", kind: .status(502, body: "<html>"), says: "returned HTTP 502"),
        Row(
            name: "503 with Retry-After", kind: .status(503, headers: ["Retry-After": "0"]),
            says: "returned HTTP 503"),
        Row(
            name: "a changed etag", kind: .changedEtag(String(repeating: "0", count: 64)),
            says: "has the digest 000"),
        Row(name: "a page with 200", kind: .html, says: ", a web page, not the "),
        Row(
            name: "a name that nobody knows", kind: .redirect(to: "http://cdn.invalid/x?Signature=s3cret"),
            says: "http://cdn.invalid cannot be reached: its host name cannot be resolved"),
    ]
    /// Of a small file: several ranges would share the circle.
    static let ofWholes: [Row] = [
        Row(
            name: "redirects in a circle", kind: .redirectLoop, says: "is redirected more than ten times", times: 11
        )
    ]
    static let ofRanges: [Row] = [
        Row(name: "200 for 206", kind: .noRange, says: "ignores or spoils ranges; fetching it in one piece"),
        Row(
            name: "no Content-Range", kind: .noContentRange,
            says: "ignores or spoils ranges; fetching it in one piece"),
        Row(
            name: "an address that has expired", kind: .expire,
            says: "the address of w.safetensors has expired (403)"),
    ]

    /// Pulls, and looks at everything but the line itself; what was said on stderr.
    private func pull(with variables: [String: String]) async throws -> [Substring] {
        let all = variables.merging(["HF_TOKEN": Self.token]) { $1 }
        let result = try await stage.run("pull", "-v", "--progress", "none", "org/m", with: all)
        #expect(result.status == 0, "\(result.error)")
        let path = result.lines.last ?? ""
        #expect(try FileSystem.contents(Path.join(path, "w.safetensors")) == weights ? true : false)
        #expect(try FileSystem.contents(Path.join(path, "notes.txt")) == text ? true : false)
        #expect(!result.error.contains(Self.token) && !result.error.contains("Signature"))
        let lines = result.error.split(separator: "\n")
        for line in lines { #expect(line.hasPrefix("hub: debug: "), "\(line)") }
        return lines
    }

    private func expectLine(_ lines: [Substring], _ file: String, _ row: Row) {
        let found = lines.filter { $0.contains(row.says) || $0.contains(row.or ?? row.says) }
        #expect(!found.isEmpty, "\(lines.joined(separator: "\n"))")
        #expect(found.allSatisfy { $0.contains(file) })
        #expect(lines.contains { $0.contains(file) && $0.contains("trying again in ") })
    }

    @Test(arguments: rows + ofRanges) func aFaultOfALargeFileIsSaid(row: Row) async throws {
        stage.hub.fail("^GET", row.kind, times: row.times, on: .cdn)
        expectLine(try await pull(with: row.variables), "w.safetensors", row)
    }

    @Test(arguments: rows + ofWholes) func aFaultOfASmallFileIsSaid(row: Row) async throws {
        var row = row
        if case .changedEtag(let etag) = row.kind { row.kind = .changedEtag(String(etag.prefix(40))) }
        stage.hub.fail("resolve-cache/.*notes", row.kind, times: row.times)
        expectLine(try await pull(with: row.variables), "notes.txt", row)
    }

    /// What comes is not what it is called.
    @Test func wrongBytesAreSaid() async throws {
        stage.hub.fail("^GET", .corruptFile(at: 4_000_000), on: .cdn)
        let lines = try await pull(with: [:])
        let digest = ContentHasher.digest(of: weights, like: .sha256("")).hex
        #expect(lines.contains { $0.contains("instead of \(digest)") && $0.hasSuffix("; fetching it again") })
    }

    /// A firewall that has forgotten the connection answers with a reset.
    @Test func aResetIsSaid() async throws {
        let relay = try ResettingRelay(to: stage.hub.endpoint, resettingAfter: 100_000)
        let lines = try await pull(with: ["HF_ENDPOINT": relay.address])
        #expect(relay.resets == 1)
        #expect(
            lines.contains {
                $0.contains("notes.txt: the connection to \(relay.address) broke: ") && $0.contains("reset by peer")
                    && $0.contains("trying again in ")
            }, "\(lines.joined(separator: "\n"))")
    }

    /// The Hub is this machine and asked directly; the CDN is not.
    @Test func aProxyThatRefusesIsSaid() async throws {
        stage.hub.fail("^GET /repos/", .redirect(to: "http://cdn.invalid/x?Signature=s3cret"), on: .cdn)
        let lines = try await pull(with: ["HTTP_PROXY": ClosedPort.address])
        let place = ClosedPort.address.dropFirst("http://".count)
        #expect(
            lines.contains {
                $0.contains("w.safetensors: the proxy \(place) cannot be reached: Connection refused; trying again")
            }, "\(lines.joined(separator: "\n"))")
    }

    @Test(arguments: [
        (
            407,
            "w.safetensors: a proxy on the way to http://cdn.invalid asks for a name and a password (407); trying"
        ),
        (502, "w.safetensors: http://cdn.invalid returned HTTP 502; trying again in "),
    ])
    func whatAProxyAnswersIsSaid(status: Int, says: String) async throws {
        stage.hub.fail("^GET /repos/", .redirect(to: "http://cdn.invalid/x?Signature=s3cret"), on: .cdn)
        stage.hub.fail("cdn.invalid", .status(status, body: "<html>proxy</html>"), on: .cdn)
        let lines = try await pull(with: ["HTTP_PROXY": stage.hub.cdnAddress])
        #expect(lines.contains { $0.contains(says) }, "\(lines.joined(separator: "\n"))")
    }

    /// Questions about the repository are asked again too, and that is said.
    @Test(arguments: ["/api/models/org/m$", "/tree/"]) func aFaultOfTheAPIIsSaid(path: String) async throws {
        stage.hub.fail(path, .status(503))
        let lines = try await pull(with: [:])
        #expect(lines.contains { $0.contains("returned HTTP 503; trying again in ") })
    }
}
