import HubCore
import Support
import Testing

@Suite struct PathCommandTests {
    let stage: Stage
    let snapshot: String

    init() throws {
        stage = try Stage()
        snapshot = try stage.plant("models--org--one", commit: commit("1"), files: ["a.bin": "aaaa"])
    }

    @Test func theFolderOrTheFileAlone() async throws {
        #expect(try await stage.run("path", "org/one").output == "\(snapshot)\n")
        #expect(try await stage.run("path", "org/one:a.bin", "-q").output == "\(snapshot)/a.bin\n")
        #expect(try await stage.run("path", "org/one@1111111").output == "\(snapshot)\n")
        let document = try await stage.run("path", "org/one", "--json").document()
        document.expectKeys("path")
        #expect(document["path"]?.string == snapshot)
        #expect(stage.hub.requests.isEmpty)
    }

    @Test func whatIsNotThereIsExit3WithTheCommandThatFetchesIt() async throws {
        let model = try await stage.run("path", "org/absent@v1")
        #expect(model.status == 3 && model.output.isEmpty)
        #expect(
            model.error == """
                hub: org/absent@v1 is not in the cache \(stage.cache)
                     hub pull org/absent@v1 downloads it

                """)
        let file = try await stage.run("path", "org/one:b.bin")
        #expect(file.status == 3)
        #expect(file.error.hasSuffix("     hub pull org/one --include b.bin downloads it\n"))
        #expect(try await stage.run("path", "org/one@v2", "--json").errorCode() == "not_cached")
    }

    @Test func besideAnotherNameThereIsNoOtherAdvice() async throws {
        let result = try await stage.run("path", "org/ome")
        #expect(result.status == 3)
        #expect(
            result.error == """
                hub: org/ome is not in the cache \(stage.cache)
                     did you mean org/one?

                """)
    }

    @Test func aGlobIsRefused() async throws {
        let result = try await stage.run("path", "org/one:*.bin")
        #expect(result.status == 2 && result.output.isEmpty)
        #expect(
            result.error == """
                hub: hub path takes one file, not a glob such as *.bin
                     hub path org/one prints the folder

                """)
        try stage.plant("models--org--odd", commit: commit("2"), files: ["a[1].bin": "a"])
        #expect(try await stage.run("path", "org/odd:a[1].bin").output.hasSuffix("/a[1].bin\n"))
    }

    @Test func aPathOutOfTheSnapshotIsRefused() async throws {
        for name in ["../../../../etc/passwd", "/etc/passwd", "a/../../b"] {
            let result = try await stage.run("path", "org/one:\(name)")
            #expect(result.status == 2 && result.output.isEmpty, "\(name)")
        }
    }
}
