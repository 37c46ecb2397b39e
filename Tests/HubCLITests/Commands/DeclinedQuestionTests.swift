import HubCore
import Support
import Testing

/// A no is a yes that is missing: whoever asks, the exit code is 2, and nothing is done.
@Suite struct DeclinedQuestionTests {
    let stage: Stage
    let stores: ForeignStores

    init() throws {
        stage = try Stage { root in
            for (number, name) in ["one-GGUF", "two", "old", "three"].enumerated() {
                try ModelRepository("org/\(name)", in: root)
                    .write("one-Q4_K_M.gguf", ForeignStores.weights(UInt64(number + 1)))
            }
        }
        stores = ForeignStores(home: stage.machine("home"))
    }

    private func contents() throws -> [String] {
        try (stage.listing(stage.cache) + stage.listing(stage.cache + "-trash"))
            .filter { !$0.hasPrefix(".locks") }.sorted()
    }

    private func expectNothing(_ words: [String], _ question: String, _ message: String) async throws {
        for answer in ["n\n", "\n", "maybe\n"] {
            let before = try contents()
            let process = try stage.start(words, terminal: .init(columns: 200))
            try await process.wait(forText: question + " [y/N] ")
            process.write(answer)
            let result = try await process.wait()
            #expect(result.status == 2, "\(words): \(result.terminal)")
            #expect(result.terminal.contains(message), "\(words): \(result.terminal)")
            #expect(try contents() == before, "\(words)")
        }
    }

    @Test func aNoIsTheSameWhoeverAsks() async throws {
        for name in ["org/one-GGUF", "org/two", "org/old"] {
            #expect(try await stage.run("pull", name).status == 0)
        }
        #expect(try await stage.run("rm", "org/old", "--trash", "--yes").status == 0)
        try stores.addOllama("registry.ollama.ai/library/one/latest", ForeignStores.weights(1))
        let deleted = "nothing was deleted"
        try await expectNothing(["rm", "org/two"], "Delete this?", deleted)
        try await expectNothing(["rm", "org/two", "--trash"], "Move this into the trash?", deleted)
        try await expectNothing(["gc", "--unused-for", "0d"], "Delete this?", deleted)
        try await expectNothing(["trash", "empty"], "Delete this permanently?", deleted)
        let changed = "nothing was changed"
        try await expectNothing(["cache", "mv", stage.machine("moved")], "Move the cache?", changed)
        try await expectNothing(["cache", "adopt"], "Do this?", changed)
        #expect(try await stage.run("cache", "adopt", "--yes").status == 0)
        try await expectNothing(["cache", "unadopt"], "Make separate copies again?", changed)
        #expect(try await stage.run("cache", "unadopt", "--yes").status == 0)
        #expect(try await stage.run("trash", "empty", "--yes").status == 0)
        #expect(try await stage.run("cache", "budget", "2.5MB").status == 0)
        try await expectNothing(
            ["pull", "org/three"], "Delete this for the budget?", "nothing was deleted, and nothing was fetched")
        #expect(try await stage.run("cache", "budget", "1.5MB").status == 0)
        try await expectNothing(["cache", "budget"], "Delete this for the budget?", deleted)
    }

    /// Of several things the first that failed decides.
    @Test func anEarlierFailureDecidesTheExitCode() async throws {
        #expect(try await stage.run("pull", "org/two").status == 0)
        let process = try stage.start(["rm", "org/none", "org/two"], terminal: .init(columns: 200))
        try await process.wait(forText: "Delete this? [y/N] ")
        process.write("n\n")
        let result = try await process.wait()
        #expect(result.status == 3 && result.terminal.contains("nothing was deleted"))
    }
}
