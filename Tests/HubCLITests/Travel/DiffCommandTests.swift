import HubCore
import Support
import Testing

@testable import HubCLI

/// `hub diff`: files, tensors and settings of two revisions, repositories or folders.
@Suite struct DiffCommandTests {
    private let stage: Stage

    init() throws {
        stage = try Stage { root in
            let one = try ModelRepository("org/one", in: root)
            try one.write("config.json", "{\"hidden_size\":64,\"rope\":{\"theta\":1.0},\"only\":1}")
            try one.write("same.txt", "same")
            try one.write("gone.txt", "gone")
            try one.write(
                "model.safetensors", Self.weights([("a", [1, 2, 2]), ("b", [3, 4]), ("c", [1, 1]), ("d", [5])]))
            let two = try ModelRepository("org/two", in: root)
            try two.write("config.json", "{\"hidden_size\":128,\"rope\":{\"theta\":2.0}}")
            try two.write("same.txt", "same")
            try two.write("new.txt", "new!")
            try two.write(
                "model.safetensors",
                Self.weights([("a", [1, 2, 2]), ("b", [3, 1]), ("c", [1, 1, 1]), ("e", [5])]))
        }
    }

    /// A file of F32 vectors.
    private static func weights(_ tensors: [(String, [Float])]) -> [UInt8] {
        var entries: [(key: String, value: JSON)] = []
        var data: [UInt8] = []
        for (name, values) in tensors {
            let start = data.count
            for value in values { withUnsafeBytes(of: value.bitPattern.littleEndian) { data += $0 } }
            entries.append(
                (
                    name,
                    .object([
                        "dtype": "F32", "shape": .array([.int(Int64(values.count))]),
                        "data_offsets": .array([.int(Int64(start)), .int(Int64(data.count))]),
                    ])
                ))
        }
        let header = Array(JSON.object(JSONObject(entries)).text().utf8)
        return (0..<8).map { UInt8(truncatingIfNeeded: header.count >> (8 * $0)) } + header + data
    }

    private func rows(_ document: JSONObject, _ key: String, _ name: String) -> [String] {
        document.objects(key).map { "\($0[name]?.string ?? "") \($0["change"]?.string ?? "")" }
    }

    @Test(arguments: [false, true])
    func twoRepositories(_ cached: Bool) async throws {
        if cached { #expect(try await stage.run("pull", "-q", "org/one", "org/two").status == 0) }
        let before = stage.hub.requests.count
        let document = try await stage.run("diff", "org/one", "org/two", "--json").document()
        document.expectKeys("files tensors config")
        #expect(
            rows(document, "files", "path") == [
                "config.json changed", "gone.txt removed", "model.safetensors changed", "new.txt added",
            ])
        #expect(rows(document, "tensors", "name") == ["c reshaped", "d removed", "e added"])
        let settings = document.objects("config")
        #expect(settings.map { $0["key"]?.string } == ["hidden_size", "only", "rope.theta"])
        #expect(settings[0]["from"]?.int == 64 && settings[0]["to"]?.int == 128)
        #expect(settings[1]["to"] == nil)
        if cached {
            let files = stage.hub.requests.dropFirst(before).filter { $0.path.contains("/resolve/") }
            #expect(files.isEmpty)
        }
        // Nothing came into the cache.
        if !cached { #expect(try FileSystem.entries(stage.cache)?.contains("models--org--one") != true) }

        let full = try await stage.run("diff", "org/one", "org/two", "--json", "--tensors").document()
        #expect(rows(full, "tensors", "name") == ["b changed", "c reshaped", "d removed", "e added"])
        // |(0, 3)| / |(3, 4)|
        #expect(full.objects("tensors").first?["relative"]?.double == 0.6)
        let all = try await stage.run("diff", "org/one", "org/two", "--json", "--sample", "2", "--all").document()
        #expect(rows(all, "tensors", "name").first == "a same")
        #expect(rows(all, "files", "path").last == "same.txt same")
    }

    @Test func peopleReadIt() async throws {
        let result = try await stage.run("diff", "org/one", "org/two", "--tensors")
        #expect(
            result.output
                == """
                ~ config.json  40 B
                - gone.txt  4 B
                ~ model.safetensors  \(ByteCount(Int64(try weightBytes()))) 
                + new.txt  4 B

                ~ b  0.6
                ! c  F32 [2] -> F32 [3]
                - d  F32 [1]
                + e  F32 [1]

                hidden_size: 64 -> 128
                only: 1 -> nothing
                rope.theta: 1.0 -> 2.0

                """.replacing(" \n", with: "\n"))
        let plain = try await stage.run("diff", "org/one", "org/two")
        #expect(plain.status == 0 && plain.error.contains("2 tensors of equal shape not compared"))
        #expect(try await stage.run("diff", "org/one", "org/two", "--exit-code").status == 1)
        let same = try await stage.run("diff", "org/one", "org/one", "--exit-code")
        #expect(same.status == 0 && same.output.isEmpty && same.error == "hub: no differences\n")
    }

    /// All weights were + and -, as if nothing of one were in the other.
    @Test func aReshardedCopyHasTheSameTensors() async throws {
        let copy = try ModelRepository("org/copy", in: stage.root)
        let one = try ModelRepository("org/one", in: stage.root)
        for repository in [one, copy] { try repository.write("config.json", "{}") }
        for name in ["same.txt", "gone.txt"] { try copy.write(name, String(name.prefix(4))) }
        try copy.write("model-1.safetensors", Self.weights([("c", [1, 1]), ("a", [1, 2, 2])]))
        try copy.write("model-2.safetensors", Self.weights([("d", [5]), ("b", [3, 4])]))
        let alike = try await stage.run("diff", "org/one", "org/copy").output
        let marks = alike.split(separator: "\n").filter { $0.contains("safetensors") }
        #expect(marks.map(\.first) == ["+", "+", "-"], "\(alike)")
        #expect(marks.allSatisfy { $0.hasSuffix("B, tensors of the same names and shapes in other files") })
        let equal = try await stage.run("diff", "org/one", "org/copy", "--tensors")
        #expect(equal.output.contains("B, the same tensors in other files\n") && equal.status == 0)
        let document = try await stage.run("diff", "org/one", "org/copy", "--tensors", "--json").document()
        #expect(document.objects("tensors").isEmpty)
        #expect(document.objects("files").map { $0["moved"]?.bool } == [true, true, true])
        try copy.write("model-2.safetensors", Self.weights([("d", [6]), ("b", [3, 4])]))
        let other = try await stage.run("diff", "org/one", "org/copy", "--tensors").output
        #expect(other.contains("\n~ d  ") && !other.contains("in other files"), "\(other)")
    }

    private func weightBytes() throws -> Int {
        try #require(try FileSystem.contents(stage.root("org/two/model.safetensors"))).count
    }

    /// A folder and what it was fetched from; a revision and an older one.
    @Test func foldersAndRevisions() async throws {
        #expect(try await stage.run("pull", "-q", "org/one", "--local-dir", "mine").status == 0)
        #expect(try await stage.run("diff", "org/one", "./mine", "--exit-code").status == 0)
        let old = try #require(try await stage.run("info", "org/one", "--json").document()["commit"]?.string)
        try FileSystem.replace(stage.machine("mine/same.txt"), with: Array("Same".utf8))
        let changed = try await stage.run("diff", "org/one", "./mine", "-q", "--exit-code")
        #expect(changed.status == 1 && changed.lines == ["same.txt"])
        #expect(try await stage.run("diff", "./mine", "./mine", "--exit-code").status == 0)
        try ModelRepository("org/one", in: stage.root).write("more.txt", "more")
        #expect(try await stage.run("diff", "org/one@\(old)", "org/one", "-q").lines == ["more.txt"])
        #expect(try await stage.run("diff", "org/one:*.json", "org/two:*.json", "-q").lines == ["config.json"])
        // The first digits of a commit that is cached, as hub shows it.
        #expect(try await stage.run("pull", "-q", "org/one", "org/one@\(old)").status == 0)
        let short = String(old.prefix(8))
        #expect(try await stage.run("diff", "org/one@\(short)", "org/one", "-q", "--offline").lines == ["more.txt"])
        for (words, status) in [
            (["diff", "org/one"], 2), (["diff", "org/one", "./none"], 3), (["diff", "org/one", "org/none"], 3),
            (["diff", "org/one", "org/two", "--sample", "0"], 2), (["diff", "org/one", "org/two", "--offline"], 5),
        ] as [([String], Int32)] {
            #expect(try await stage.run(words).status == status, "\(words)")
        }
    }

    /// A header that lies is an error that names the file, with status 7.
    @Test func malformedWeightsAreSaid() async throws {
        try ModelRepository("org/two", in: stage.root).write(
            "model.safetensors", [UInt8](repeating: 255, count: 64))
        let result = try await stage.run("diff", "org/one", "org/two")
        #expect(result.status == 7 && result.error.contains("model.safetensors"))
    }
}
