import Catalog
import HubCore
import HubServer
import Support
import Testing

@testable import HubCLI

@Suite struct SyncCommandTests {
    /// Some of the Hub's models, three days apart.
    private static func models(_ name: String) throws -> [JSONObject] {
        try String(decoding: Fixtures.bytes("hub-metadata/\(name).ndjson"), as: UTF8.self).split(separator: "\n")
            .compactMap { try JSON.parse(String($0)).object }
    }

    private static func stage(_ name: String = "sync-t0", page: Int = 50) throws -> Stage {
        var options = LoopbackHub.Options()
        options.listedModels = try models(name)
        options.pages.models = page
        return try Stage(options: options)
    }

    private static let keys =
        "models_seen added changed unchanged vanished pages requests complete elapsed_seconds error"

    private func figures(_ result: ProcessResult) throws -> [Int64?] {
        let document = try result.document()
        document.expectKeys(Self.keys)
        #expect(document["elapsed_seconds"]?.double != nil)
        return ["models_seen", "added", "changed", "unchanged", "vanished", "pages"].map { document[$0]?.int }
    }

    @Test func threeDaysOfTheHub() async throws {
        let stage = try Self.stage()
        let first = try await stage.run("sync", "--all", "--json")
        #expect(first.status == 0 && first.error.isEmpty)
        #expect(try figures(first) == [192, 192, 0, 0, 0, 4])
        #expect(try first.document()["complete"]?.bool == true)
        stage.hub.list(try Self.models("sync-t1"))
        #expect(try figures(try await stage.run("sync", "--all", "--json")) == [233, 81, 111, 41, 40, 5])
        let found = try await stage.run("search", "--offline", "-q", "--limit", "1000")
        #expect(Set(found.lines) == Set(try Self.models("sync-t1").compactMap { $0["id"]?.string }))
        let again = try await stage.run("sync")
        #expect(again.status == 0 && again.error.isEmpty)
        #expect(
            again.output.contains("50 models seen in ")
                && again.output.hasSuffix(": 0 new, 0 changed, 50 unchanged\n"))
    }

    /// With a temporary HF_ENDPOINT the models of the earlier Hub are still found.
    @Test func anotherHubMarksNothingOfTheFirst() async throws {
        let stage = try Self.stage()
        #expect(try figures(try await stage.run("sync", "--all", "--json")) == [192, 192, 0, 0, 0, 4])
        let other = try Self.stage("sync-t1")
        let there = ["HF_ENDPOINT": other.hub.endpoint]
        let result = try await stage.run("sync", "--all", with: there)
        #expect(result.status == 0 && result.output.hasSuffix(": 81 new, 111 changed, 41 unchanged, 0 deleted\n"))
        #expect(
            result.error == """
                hub: 40 models not listed by this Hub may be on another one and are not marked as deleted: the \
                catalog was filled from several (see hub doctor)

                """)
        let doctor = try await stage.run("doctor", "--offline")
        for address in [stage.hub.endpoint, other.hub.endpoint] { #expect(doctor.output.contains(address)) }
        let found = try await stage.run("search", "--offline", "-q", "--limit", "1000")
        #expect(found.lines.count == 192 + 81)
    }

    /// A sync writes only what is new, and vouches for the rest.
    @Test(arguments: [["--all"], []] as [[String]])
    func whatASyncFoundUnchangedIsNotOld(words: [String]) async throws {
        let model = "org/tiny"
        var options = LoopbackHub.Options()
        options.listedModels = [
            [
                "id": .string(model), "downloads": .int(5),
                // The short way goes by the Hub's dates.
                "lastModified": .string(Timestamp.iso8601(Timestamp.now - 600)),
            ]
        ]
        let stage = try Stage(options: options)
        try stage.plant("models--org--tiny", commit: commit("a"), files: ["config.json": "{}"])
        #expect(try await stage.run("sync", "--all").status == 0)
        let month = 30 * 86_400.0
        try Connection(stage.catalog).execute(
            "UPDATE models SET seen_at = seen_at - \(month); UPDATE mirrors SET known_until = NULL, walked_at = walked_at - \(month)"
        )
        func asOf() async throws -> (all: Double, popularity: Double?) {
            let document = try await stage.run("info", model, "--offline", "--json").document()
            let time = try #require(document["as_of"]?.string.flatMap(Timestamp.parse))
            return (time, document["popularity_as_of"]?.string.flatMap(Timestamp.parse))
        }
        let before = try await asOf()
        #expect(before.all < Timestamp.now - month + 3600 && before.popularity == nil)
        let sync = try await RunningProcess.run(
            BuiltProduct.path(), ["sync", "--json"] + words, environment: stage.environment)
        #expect(try figures(sync) == [1, 0, 0, 1, 0, 1])
        let after = try await asOf()
        #expect(after.all > Timestamp.now - 3600)
        // Downloads move without a date.
        #expect((after.popularity != nil) == words.isEmpty)
        let shown = try await stage.run("info", model, "--offline").output
        #expect(settled(shown).contains("  as of  AGE\n"))
        #expect(shown.contains("  popularity  5 downloads a month\(words.isEmpty ? " (as of 4 weeks ago)" : "")\n"))
        // What was heard of today is not asked about again.
        let requests = stage.hub.requests.count
        #expect(try await stage.run("search", "--cached", "-q").lines == [model])
        #expect(stage.hub.requests.count == requests)
    }

    @Test func whatIsSaid() async throws {
        let stage = try Self.stage()
        let quiet = try await stage.run("sync", "-q")
        #expect(quiet.status == 0 && quiet.output.isEmpty && quiet.error.isEmpty)
        let part = try await stage.run("sync", "--all", "--limit", "60")
        #expect(part.output.contains("60 models seen in "))
        #expect(
            part.output.hasSuffix(
                "0 new, 0 changed, 60 unchanged, 0 deleted\nstopped at --limit; run again to continue\n"))
        let rest = try await stage.run("sync", "--all", "--json", "--progress", "json")
        #expect(try figures(rest)[0] == 132)
        let events = try rest.error.split(separator: "\n").map { try JSON.parse(String($0)) }
        let note = events.first { $0["event"]?.string == "note" }
        #expect(note?["message"]?.string?.hasPrefix("resuming after 60 models; the sync was started ") == true)
        let last = try #require(events.last { $0["event"]?.string == "progress" })
        #expect(last["done_models"]?.int == 132 && last["pages"]?.int == 3 && last["new"]?.int == 0)
        let nobody = try await stage.run("sync", "--author", "nobody")
        #expect(nobody.status == 0 && nobody.error == "hub: the Hub lists no models of nobody\n")
        let author = try await stage.run("sync", "--author", "Gautam6", "--json")
        #expect(try figures(author) == [1, 0, 0, 1, 0, 1])
        #expect(
            stage.hub.requests.last?.query.hasPrefix("author=Gautam6&sort=lastModified&limit=1000&expand=") == true)
    }

    @Test func badInputIsOneError() async throws {
        let stage = try Stage()
        for (words, status, error) in [
            (["--author", "a/b"], 2, "--author: \"a/b\" is not the name of a user or organisation"),
            (["--author", "a b"], 2, "--author: \"a b\" is not the name of a user or organisation"),
            (["--limit", "0"], 2, "--limit: 0 is out of bounds: it must be at least 1"),
            (["--offline"], 5, "hub sync needs the network, which is switched off"),
        ] as [([String], Int32, String)] {
            let result = try await RunningProcess.run(
                BuiltProduct.path(), ["sync"] + words, environment: stage.environment)
            #expect(result.status == status && result.output.isEmpty)
            #expect(result.error.hasPrefix("hub: \(error)\n"), "\(result.error)")
        }
        #expect(stage.hub.requests.isEmpty)
    }

    @Test func withoutACatalogThereIsNothingToSync() async throws {
        let stage = try Stage()
        try FileSystem.createDirectories(Path.parent(stage.catalog))
        try FileSystem.replace(stage.catalog, with: Array("garbage".utf8))
        let result = try await stage.run("sync", "--json")
        #expect(try result.status == 6 && result.errorCode() == "catalog_unusable")
        #expect(stage.hub.requests.isEmpty)
    }

    /// What a kill loses is the page under way.
    @Test(arguments: [[], ["--all"]] as [[String]])
    func afterAKillItGoesOn(words: [String]) async throws {
        let stage = try Self.stage()
        stage.hub.fail("GET /api/models", .delay(seconds: 0), times: words.isEmpty ? 2 : 3)
        let gate = stage.hub.hold("GET /api/models", after: 10)
        let first = try RunningProcess(
            BuiltProduct.path(), ["sync"] + words, environment: stage.environment, directory: stage.machine.path)
        try await gate.reached()
        // Others read meanwhile.
        #expect(try await stage.run("search", "--offline", "-q", "--limit", "1000").lines.count == 100)
        first.killHard()
        _ = try await first.wait()
        gate.release()
        let before = stage.hub.requests.count
        let next = try await RunningProcess.run(
            BuiltProduct.path(), ["sync", "--json"] + words, environment: stage.environment)
        #expect(next.status == 0)
        #expect(next.error.hasPrefix("hub: resuming after 100 models; the sync was started "))
        #expect(try next.document()["added"]?.int == 92)
        #expect(stage.hub.requests[before].query.contains("cursor=100"))
    }

    /// A resumed run walks from where the last one stopped, and then from the top again.
    @Test func aResumedRunCountsEachModelOnce() async throws {
        let stage = try Self.stage()
        #expect(try figures(try await stage.run("sync", "--limit", "10", "--json"))[0] == 10)
        let next = try figures(try await stage.run("sync", "--json"))
        #expect(next.prefix(5) == [192, 182, 0, 10, 0], "\(next)")
    }

    @Test func aFailureInTheMiddleKeepsWhatCame() async throws {
        let stage = try Self.stage()
        stage.hub.fail("GET /api/models", .delay(seconds: 0), times: 2)
        stage.hub.fail("GET /api/models", .garbage)
        let result = try await stage.run("sync", "--json")
        #expect(try result.status == 5 && result.errorCode() == "protocol_violation")
        #expect(try figures(result) == [100, 100, 0, 0, 0, 2])
        #expect(try result.document()["complete"]?.bool == false)
        #expect(result.error.hasSuffix("     kept 100 models of this run; run again to continue\n"))
        #expect(try figures(try await stage.run("sync", "--json"))[1] == 92)
    }

    /// The Hub's window is five minutes; a waiting program must be interruptible.
    @Test func ctrlCEndsAWaitForTheHubsLimit() async throws {
        let stage = try Self.stage()
        stage.hub.fail(
            "GET /api/models",
            .status(
                200,
                headers: [
                    "Content-Type": "application/json", "RateLimit": "\"api\";r=1;t=250",
                    "Link": "<\(stage.hub.endpoint)/api/models?sort=lastModified&cursor=50>; rel=\"next\"",
                ], body: "[{\"id\":\"org/first\"}]"))
        let process = try stage.start("sync", "-v")
        let said = try await process.wait(
            forText:
                "few requests are left before the Hub's rate limit; waiting 4 min 11 s (Ctrl-C keeps what was received)\n"
        )
        #expect(said.contains("1 requests are left; waiting 251 s for more"))
        process.interrupt()
        let result = try await process.wait()
        #expect(result.status == 130 && stage.hub.requests.count == 1)
        #expect(result.error.hasSuffix("     kept 1 model of this run; run again to continue\n"))
        #expect(try await stage.run("search", "--offline", "-q").lines == ["org/first"])
        #expect(try await stage.run("sync", "--json").document()["added"]?.int == 192)
    }

    @Test func twoAtOnceAskOnce() async throws {
        let stage = try Self.stage()
        let gate = stage.hub.hold("GET /api/models", after: 10)
        let first = try stage.start("sync")
        try await gate.reached()
        let second = try stage.start("sync")
        try await second.wait(forText: "waiting for another hub process that is syncing this catalog\n")
        #expect(stage.hub.requests.count == 1)
        gate.release()
        #expect(try await first.wait().output.contains("192 new"))
        let result = try await second.wait()
        #expect(result.status == 0 && result.output.contains("50 models seen") && result.output.contains("0 new"))
    }

    @Test func aBarThatFits() async throws {
        let stage = try Self.stage()
        let result = try await stage.run("sync", terminal: .init())
        #expect(result.status == 0 && result.terminal.contains("192 models seen"))
    }
}
