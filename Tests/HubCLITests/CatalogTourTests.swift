import HubCore
import Support
import Testing

/// The library's example, run as after a fresh clone.
@Suite struct CatalogTourTests {
    let stage: Stage

    init() throws {
        stage = try Stage { root in
            for (name, downloads) in [("tiny", Int64(7)), ("small", 9), ("large", 5)] {
                let repository = try ModelRepository.tiny("org/\(name)-llama", in: root)
                try repository.card(["downloads": .int(downloads), "pipeline_tag": "text-generation"])
            }
            try ModelRepository.tiny("org/other", in: root)
        }
    }

    private func tour(_ words: String..., with variables: [String: String] = [:]) async throws -> String {
        let result = try await RunningProcess.run(
            BuiltProduct.path("CatalogTour"), words, environment: stage.environment.merging(variables) { $1 })
        #expect(result.status == 0 && result.error.isEmpty, "\(result.error)")
        return result.output
    }

    @Test func whatTheHubSaysIsRememberedAndTheCacheShown() async throws {
        #expect(
            try await tour("llama") == """
                the Hub knows 3
                org/small-llama has 4 files, 300 kB
                the catalog knows 3
                  org/small-llama  text-generation  9 downloads
                  org/tiny-llama  text-generation  7 downloads
                  org/large-llama  text-generation  5 downloads
                the cache holds 0, 0 B

                """)
        #expect(try await stage.run("pull", "-q", "org/tiny-llama").status == 0)
        let commit = Path.name(try await stage.path("org/tiny-llama"))
        #expect(
            try await tour("tiny", with: ["HF_HUB_OFFLINE": "1"]) == """
                offline: what is remembered has to do
                the catalog knows 1
                  org/tiny-llama  text-generation  7 downloads
                the cache holds 1, 300 kB
                  org/tiny-llama at \(commit.prefix(8)), 300 kB, whole

                """)
    }

    @Test func errorsSayWhatHappenedAndWhatToDo() async throws {
        let result = try await RunningProcess.run(
            BuiltProduct.path("CatalogTour"), ["llama"],
            environment: stage.environment.merging(Stage.away) { $1 })
        #expect(result.status == 1)
        #expect(result.error.hasPrefix("\(ClosedPort.address) cannot be reached"))
    }
}
