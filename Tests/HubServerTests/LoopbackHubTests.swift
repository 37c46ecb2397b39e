import HubCore
import HubServer
import Support
import Testing

/// The tests' own Hub answers as the real one: two hops, two listeners, signed addresses.
@Suite struct LoopbackHubTests {
    private func hub(_ options: LoopbackHub.Options = .init()) throws -> (hub: LoopbackHub, folder: TemporaryFolder)
    {
        let folder = try TemporaryFolder()
        try ModelRepository.tiny("org/tiny", in: folder)
        return (try LoopbackHub(folder, options: options), folder)
    }
    private let weights = ModelRepository.randomBytes(300_000, seed: 1)

    @Test func aSmallFileTakesTwoHops() async throws {
        let (hub, _) = try hub()
        let first = try await HTTPClient.get("\(hub.endpoint)/org/tiny/resolve/main/sub/dir/vocab.txt")
        #expect(first.status == 307)
        let sha = try #require(first.headers["X-Repo-Commit"])
        let location = try #require(first.headers["Location"])
        #expect(location.hasPrefix("/api/resolve-cache/models/org/tiny/\(sha)/sub%2Fdir%2Fvocab.txt?etag="))
        #expect(first.headers["X-Linked-Etag"] == "\"422c2b7ab3b3c668038da977e4e93a5fc623169c\"")
        #expect(first.headers["X-Linked-Size"] == "4")
        #expect(first.headers["ETag"]?.contains("422c") == false)
        let second = try await HTTPClient.get(hub.endpoint + location)
        #expect(second.status == 200)
        #expect(second.text == "a\nb\n")
        #expect(second.headers["ETag"] == "W/\"422c2b7ab3b3c668038da977e4e93a5fc623169c\"")
        #expect(second.headers["RateLimit"] != nil)
    }

    @Test func aLargeFileComesFromTheCDN() async throws {
        let (hub, _) = try hub()
        let first = try await HTTPClient.get("\(hub.endpoint)/org/tiny/resolve/main/model.safetensors")
        #expect(first.status == 302)
        #expect(first.headers["X-Linked-Size"] == "300000")
        let sha256 = ContentHasher.digest(of: weights, like: .sha256("")).hex
        #expect(first.headers["X-Linked-Etag"] == "\"\(sha256)\"")
        #expect(first.headers["X-Repo-Commit"]?.count == 40)
        let location = try #require(first.headers["Location"])
        #expect(location.hasPrefix(hub.cdnAddress + "/"))
        let whole = try await HTTPClient.get(location)
        #expect(whole.body == weights)
        #expect(whole.headers["RateLimit"] == nil)
        let part = try await HTTPClient.get(location, headers: ["Range": "bytes=100-199"])
        #expect(part.status == 206)
        #expect(part.body == Array(weights[100..<200]))
        #expect(try await HTTPClient.head(location).headers["Content-Length"] == "300000")
    }

    @Test func theCDNKeepsItsRules() async throws {
        let (hub, _) = try hub()
        func address() async throws -> String {
            try #require(
                try await HTTPClient.head("\(hub.endpoint)/org/tiny/resolve/main/model.safetensors").headers[
                    "Location"])
        }
        let location = try await address()
        #expect(try await HTTPClient.get(location, headers: ["Authorization": "Bearer x"]).status == 400)
        #expect(try await HTTPClient.get(location + "0").status == 403)
        #expect(try await HTTPClient.get(location.replacing("Expires=", with: "Expires=9")).status == 403)
        hub.expireSignedAddresses()
        #expect(try await HTTPClient.get(location).status == 403)
        #expect(try await HTTPClient.get(try await address()).status == 200)
        let (expiring, _) = try self.hub(
            {
                var options = LoopbackHub.Options(); options.signedSeconds = -1; return options
            }())
        let old = try #require(
            try await HTTPClient.head("\(expiring.endpoint)/org/tiny/resolve/main/model.safetensors").headers[
                "Location"])
        #expect(try await HTTPClient.get(old).status == 403)
    }

    @Test func theLogTellsWhatWasAsked() async throws {
        let (hub, _) = try hub()
        _ = try await HTTPClient.get(
            "\(hub.endpoint)/api/models/org/tiny?blobs=true",
            headers: ["Authorization": "Bearer hf_secret", "User-Agent": "test/1"])
        let location = try #require(
            try await HTTPClient.head("\(hub.endpoint)/org/tiny/resolve/main/model.safetensors").headers["Location"]
        )
        _ = try await HTTPClient.get(location, headers: ["Range": "bytes=0-9"])
        let log = try await hub.waitForLog("three finished requests") {
            $0.count == 3 && $0.allSatisfy(\.isFinished)
        }
        #expect(
            log.map(\.line) == [
                "GET /api/models/org/tiny", "HEAD /org/tiny/resolve/main/model.safetensors", log[2].line,
            ])
        #expect(log.map(\.listener) == [.hub, .hub, .cdn])
        #expect(log.map(\.status) == [200, 302, 206])
        #expect(log.map(\.hasAuthorization) == [true, false, false])
        #expect(log[0].query == "blobs=true")
        #expect(log[0].userAgent == "test/1")
        #expect(!"\(log[0])".contains("hf_secret"))
        #expect(log[2].range == "bytes=0-9")
        #expect(log[2].bytesSent == 10)
        #expect(log[1].bytesSent == 0)
        #expect(hub.requests("^GET ", on: .cdn).count == 1)
    }

    @Test func listsHoldMoreModelsThanTheFolder() async throws {
        var options = LoopbackHub.Options()
        options.listedModels = (0..<2500).map { ["id": .string("crawl/model-\($0)"), "downloads": .int($0)] }
        let (hub, _) = try hub(options)
        var next: String? = "\(hub.endpoint)/api/models?sort=downloads&limit=1000"
        var ids: [String] = []
        while let address = next {
            let reply = try await HTTPClient.get(address)
            ids += try reply.json().ids
            next = reply.next
        }
        #expect(ids.count == 2501)
        #expect(Set(ids).count == 2501)
        #expect(ids.first == "crawl/model-2499")
    }

    @Test func xetHashesAreToldWhereThereAreSome() async throws {
        let hash = String(repeating: "ab", count: 32)
        var options = LoopbackHub.Options()
        options.xetHash = { $0.lfs == nil ? nil : hash }
        let (hub, _) = try hub(options)
        let tree = try await HTTPClient.get("\(hub.endpoint)/api/models/org/tiny/tree/main").json()
        #expect(tree.array?.map { $0["xetHash"]?.string } == [nil, nil, hash, nil])
        let head = try await HTTPClient.head("\(hub.endpoint)/org/tiny/resolve/main/model.safetensors")
        #expect(head.headers["X-Xet-Hash"] == hash)
    }

    @Test func afterStopConnectionsAreRefused() async throws {
        let (hub, _) = try hub()
        hub.stop()
        await #expect(throws: AIError.self) { try await HTTPClient.get(hub.endpoint) }
    }
}
