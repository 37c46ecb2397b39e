import HubCore
import HubServer
import Support
import Testing

@testable import HubMirror

/// Who gets what from a mirror that forwards its clients' tokens, whatever upstream answers.
@Suite struct MirrorAccessTests {
    private let folder: TemporaryFolder
    private let hub = ModelHub()
    private let server: HubServer
    private let bench: MirrorBench
    private static let (alice, bob) = ("hf_alice", "hf_bob")
    private static let secret = Array(String(repeating: "TOPSECRET", count: 20_000).utf8)
    private static let commit = String(repeating: "a", count: 40)

    init() throws {
        folder = try TemporaryFolder("mirror")
        server = try HubServer(limits: .patient, handler: hub)
        bench = try MirrorBench(of: server.address, .forward, home: folder("m"), ttl: 0)
        hub.change { state in
            state.tokens = [Self.alice, Self.bob]
            state.spared = [Self.alice]
            state.renamed = ["old/g": "gated/g", "old/p": "priv/p"]
            for name in ["open/a", "open/b", "priv/p", "gated/g", "bob/own"] {
                var repo = ModelHub.Repo(name: name)
                let weights = name.hasPrefix("open") ? Array(repeating: 7, count: 100_000) : Self.secret
                repo.commits = [Self.commit: ["config.json": Array("{\"is\":\"\(name)\"}".utf8), "w.bin": weights]]
                repo.main = Self.commit
                if name == "priv/p" { repo.readers = [Self.alice] }
                if name == "gated/g" { repo.granted = [Self.alice] }
                if name == "bob/own" { repo.lacking = ["w.bin"] }
                state.repos[name] = repo
            }
        }
    }

    /// What Alice has fetched is in the cache; nobody else gets any of it.
    private func expectNothing(_ when: String, ways: [(method: String, range: String?)] = [("GET", nil)])
        async throws
    {
        try await Thread.run { [bench] in
            for name in ["priv/p", "old/p", "gated/g", "old/g"] {
                var targets = ["/\(name)/resolve/main/config.json", "/\(name)/resolve/\(Self.commit)/w.bin"]
                if name.hasSuffix("p") {
                    targets += ["/api/models/\(name)/tree/\(Self.commit)", "/api/models/\(name)/refs"]
                }
                for (target, token) in targets.flatMap({ [($0, Self.bob), ($0, nil)] }) {
                    for (method, range) in ways {
                        let got = bench.ask(target, token, method: method, range: range)
                        #expect(
                            got.status >= 400 && got.status != 500, "\(when): \(method) \(target) is \(got.status)")
                    }
                }
            }
        }
    }

    private func fetchAsAlice() async throws {
        try await Thread.run { [bench] in
            for name in ["priv/p", "gated/g", "old/p", "old/g"] {
                let got = bench.ask("/\(name)/resolve/main/w.bin", Self.alice)
                #expect(got.status == 200 && got.body == Self.secret, "\(name): \(got.status)")
            }
        }
    }

    @Test func whatOneClientFetchedIsNotForOthers() async throws {
        try await fetchAsAlice()
        try await expectNothing("well", ways: [("GET", nil), ("HEAD", nil), ("GET", "bytes=1-40")])
        for trouble: ModelHub.Trouble in [
            .page, .nothing, .otherJSON, .plainNotFound, .redirect("/login"), .redirect(""), .status(500),
            .status(503),
            .status(408), .status(304), .cut(0.5),
        ] {
            for part: ModelHub.Part in [.all, .files] {
                hub.change { ($0.trouble, $0.part, $0.times) = (trouble, part, .max) }
                try await expectNothing("\(trouble), \(part)")
                hub.change { $0.trouble = nil }
                try await expectNothing("after \(trouble), \(part)")
            }
        }
        // Nor has any of it spoilt what the others may have.
        try await fetchAsAlice()
    }

    @Test func anAnswerThatIsNotTheHubsIsABadGateway() async throws {
        try await Thread.run { [bench, hub] in
            for trouble: ModelHub.Trouble in [
                .page, .nothing, .bomb, .redirect("file:///etc/passwd"), .redirect(""),
            ] {
                hub.change { ($0.trouble, $0.part, $0.times) = (trouble, .all, .max) }
                for target in [
                    "/api/models/open/a/revision/main", "/open/a/resolve/main/w.bin", "/api/models?search=x",
                ] {
                    let got = bench.ask(target, Self.bob)
                    // What was known before is served, and said to be old.
                    #expect(
                        got.status == 502 || got.headers["Warning"] != nil, "\(trouble): \(target) is \(got.status)"
                    )
                }
                hub.change { $0.trouble = nil }
                #expect(bench.ask("/api/models/open/a/revision/main", Self.bob).status == 200)
            }
            for trouble: ModelHub.Trouble in [.page, .nothing, .redirect("file:///etc/passwd"), .redirect("")] {
                hub.change { ($0.trouble, $0.part, $0.times) = (trouble, .files, .max) }
                for path in ["w.bin", "config.json"] {
                    let got = bench.ask("/open/a/resolve/main/\(path)", Self.bob)
                    #expect(got.status == 502, "\(trouble): \(path) is \(got.status)")
                }
            }
        }
    }

    /// As the Hub does, for another mirror behind this one.
    @Test func aFormerNameIsARedirect() async throws {
        let second = try MirrorBench(
            of: HubServer(limits: .patient, handler: Bare(mirror: bench.mirror)), folder("n"))
        try await Thread.run { [bench] in
            let got = bench.ask("/api/models/old/g/revision/main", Self.bob)
            #expect((got.status, got.headers["Location"]) == (307, "/api/models/gated/g/revision/main"))
            #expect(second.ask("/old/g/resolve/main/w.bin", Self.alice).body == Self.secret)
            #expect(second.ask("/old/g/resolve/main/w.bin", Self.bob).status == 403)
        }
    }

    private struct Bare: HTTPHandler {
        let mirror: Mirror
        func respond(to request: HTTPRequest) -> HTTPResponse { mirror.respond(to: request) }
    }

    /// A list may name any digest.
    @Test func aDigestAloneGivesNothing() async throws {
        try await fetchAsAlice()
        try await Thread.run { [bench, hub] in
            for token in [Self.bob, Self.alice, Self.bob] {
                let got = bench.ask("/bob/own/resolve/main/w.bin", token)
                #expect(got.status == 404, "\(got.status)")
            }
            // What is open to all still crosses the line once.
            #expect(bench.ask("/open/a/resolve/main/w.bin", Self.bob).status == 200)
            #expect(bench.ask("/open/b/resolve/main/w.bin", Self.bob).status == 200)
            #expect(hub.requests.filter { $0.hasPrefix("GET") && $0.contains("/open/b/resolve") } == [])
        }
    }

    @Test func oneFileThatBreaksDoesNotTakeUpstreamAway() async throws {
        try await Thread.run { [bench, hub] in
            hub.change { ($0.trouble, $0.part, $0.times) = (.cut(0.3), .files, .max) }
            #expect(bench.ask("/open/a/resolve/main/w.bin").isWhole == false)
            for number in 0..<20 { #expect(bench.ask("/api/models?search=\(number)").status == 200) }
            hub.change { $0.trouble = nil }
            #expect(bench.ask("/open/b/resolve/main/w.bin").isWhole)
        }
    }
}
