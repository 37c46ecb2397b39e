import HubCore
import Support
import Testing

@testable import HubCLI

/// Archives that lie: status 7, a word on what is wrong, and nothing in the cache or outside it.
@Suite struct HostileArchiveTests {
    private let travel: TravelStage
    private let manifest: String
    private let contents: [(name: String, bytes: [UInt8])]

    init() async throws {
        travel = try TravelStage(weights: 20_000)
        try await travel.here("pull", "-q", "org/tiny")
        try await travel.here("export", "org/tiny", "-o", "good/")
        let place = travel.path("good")
        manifest = try #require(try FileSystem.text(Path.join(place, "hub-export.json")))
        // In the order of the archive: by path.
        let tree = try #require(try JSON.parse(Array(manifest.utf8))["models"]?.array?.first?["tree"]?.array)
        contents = try tree.map { file in
            let name =
                if let sha256 = file["sha256"]?.string { "blobs/\(sha256)" } else {
                    "blobs/0/\(try #require(file["oid"]?.string))"
                }
            return (name, try #require(try FileSystem.contents(Path.join(place, name))))
        }
    }

    private func archive(
        manifest changed: String? = nil, _ change: (inout [(name: String, bytes: [UInt8])]) -> Void = { _ in }
    ) -> [UInt8] {
        var contents = contents
        change(&contents)
        return TarBytes.entry("hub-export.json", Array((changed ?? manifest).utf8))
            + contents.flatMap { TarBytes.entry($0.name, $0.bytes) } + TarBytes.end
    }

    private func expectRefused(_ bytes: [UInt8], _ word: String, sourceLocation: SourceLocation = #_sourceLocation)
        async throws
    {
        try FileSystem.replace(travel.path("bad.tar"), with: bytes)
        let result = try await travel.there("import", "bad.tar")
        #expect(result.status == 7, "\(word): \(result.error)", sourceLocation: sourceLocation)
        #expect(result.error.contains(word), "\(word): \(result.error)", sourceLocation: sourceLocation)
        try travel.expectNothing(sourceLocation: sourceLocation)
        #expect(!FileSystem.exists(travel.path("evil")), sourceLocation: sourceLocation)
    }

    @Test func theRightOneIsTaken() async throws {
        try FileSystem.replace(travel.path("good.tar"), with: archive())
        #expect(try await travel.there("import", "good.tar").status == 0)
        try travel.expectSame()
    }

    @Test func pathsThatLeaveTheCache() async throws {
        for (path, word) in [
            ("../../evil", "climbs out"), ("/tmp/evil", "absolute"), ("a//b", "empty"), ("a/../b", "climbs out"),
            ("C:/evil", "drive"), ("a\\\\b", "backslash"), ("x\\u0000y", "control"), ("", "empty"),
        ] {
            let text = manifest.replacing("\"config.json\"", with: "\"\(path)\"")
            try await expectRefused(archive(manifest: text), word)
        }
        for (from, to, word) in [
            ("\"ref\":\"main\"", "\"ref\":\"../../evil\"", "branch"),
            ("\"id\":\"org/tiny\"", "\"id\":\"../tiny\"", "repository"),
            ("\"id\":\"org/tiny\"", "\"id\":\"org/tiny@x\"", "repository"),
            ("\"sub/dir/vocab.txt\"", "\"config.json/vocab.txt\"", "a file and a folder"),
            ("\"sub/dir/vocab.txt\"", "\"config.json\"", "twice"),
            ("\"size\":20000", "\"size\":-1", "no size"),
            ("\"size\":20000", "\"size\":9223372036854775807", "no size"),
            ("\"size\":20000", "\"size\":20001", "is due"), ("\"hub_export\":1", "\"hub_export\":2", "version 2"),
            ("\"commit\":\"", "\"commit\":\"x", "no commit"), ("\"models\"", "\"modles\"", "not one of hub export"),
        ] {
            #expect(manifest.contains(from), "\(from)")
            try await expectRefused(archive(manifest: manifest.replacing(from, with: to)), word)
        }
    }

    /// A short text that would be gigabytes of values.
    @Test func aManifestOfMillionsOfValues() async throws {
        let values = String(repeating: "{},", count: 3_000_000)
        try await expectRefused(
            TarBytes.entry("hub-export.json", Array("{\"hub_export\":1,\"models\":[],\"x\":[\(values){}]}".utf8)),
            "too many values")
        try await expectRefused(
            TarBytes.entry("hub-export.json", Array("{\"hub_export\":1,\"models\":[\(values){}]}".utf8)),
            "too many values")
        try FileSystem.replace(travel.path("held.json"), with: Array("{\"blobs\":[\(values){}]}".utf8))
        let since = try await travel.stage.run(["export", "org/tiny", "--since", "held.json", "-o", "since/"])
        #expect(since.status == 2 && since.error.contains("no sha256"), "\(since)")
    }

    /// The largest number in a name says nothing of how many parts there are.
    @Test func aPartWithAHugeNumber() async throws {
        try FileSystem.replace(travel.path("m.001"), with: archive())
        for (name, word) in [("m.999999999", "m.002 is missing"), ("m.003", "m.002 is missing")] {
            try FileSystem.replace(travel.path(name), with: [])
            let result = try await travel.there("import", "m.001")
            #expect(result.status == 3 && result.error.contains(word), "\(name): \(result.error)")
            try FileSystem.remove(travel.path(name))
        }
        // Names that are no part's.
        for name in ["m.-5", "m.+2", "m.000", "m.0002", "m.txt"] {
            try FileSystem.replace(travel.path(name), with: [])
        }
        #expect(try await travel.there("import", "m.001").status == 0)
        try travel.expectSame()
    }

    @Test func entriesThatAreNotDue() async throws {
        try await expectRefused(archive { $0[0].name = "../../evil" }, "is due")
        try await expectRefused(archive { $0.swapAt(0, 1) }, "is due")
        try await expectRefused(archive { $0.removeLast() }, "ends before")
        try await expectRefused(archive { $0.append(("blobs/more", [1])) }, "more than its manifest")
        try await expectRefused(archive { $0.append($0[0]) }, "more than its manifest")
        let start = TarBytes.entry("hub-export.json", Array(manifest.utf8))
        for type: Character in ["1", "2", "3", "5", "6", "L", "g"] {
            let link = TarBytes.entry(contents[0].name, [], type: type, link: "/etc/passwd")
            try await expectRefused(start + link + TarBytes.end, "is due")
        }
        try await expectRefused(TarBytes.entry("hub-export.json", [], size: 1 << 32), "manifest has")
        try await expectRefused(TarBytes.entry("other", []) + TarBytes.end, "does not begin with a manifest")
        try await expectRefused(TarBytes.end, "does not begin with a manifest")
        try await expectRefused([], "was cut off")
        try await expectRefused(Array("not an archive".utf8), "is not an archive of hub export")
        try await expectRefused([UInt8](repeating: 65, count: 2048), "")
    }

    /// Wrong bytes in the last content: the others were right and are gone again.
    @Test func wrongBytes() async throws {
        for index in contents.indices where !contents[index].bytes.isEmpty {
            try await expectRefused(archive { $0[index].bytes[0] ^= 1 }, "has the digest")
        }
        let whole = archive()
        for count in [600, 3000, whole.count - 3000] {
            try await expectRefused(Array(whole.prefix(count)), "ends")
        }
        // The same, of a folder.
        let place = Path.join(travel.path("good"), contents[0].name)
        try FileSystem.replace(place, with: contents[0].bytes + [1])
        let result = try await travel.there("import", "good")
        #expect(result.status == 7 && result.error.contains("bytes instead of"), "\(result.error)")
        try FileSystem.remove(place)
        #expect(try await travel.there("import", "good").status == 3)
        try travel.expectNothing()
    }

    /// What is known of a commit is not replaced by what an archive says.
    @Test func aKnownCommitKeepsItsFiles() async throws {
        try FileSystem.replace(travel.path("good.tar"), with: archive())
        #expect(try await travel.there("import", "good.tar").status == 0)
        let text = manifest.replacing("\"config.json\"", with: "\"Config.json\"")
        try FileSystem.replace(travel.path("bad.tar"), with: archive(manifest: text))
        let result = try await travel.there("import", "bad.tar")
        #expect(result.status == 7 && result.error.contains("not those known here"), "\(result.error)")
        try travel.expectSame()
    }
}
