import Catalog
import HubCore
import Support
import Testing

/// Without the catalog everything that does not need it still works.
@Suite struct CatalogTroubleTests {
    let stage: Stage

    init() throws { stage = try Stage.withModel() }

    /// Commands that do their work all the same.
    ///
    /// - Parameter isThere: whether there is a catalog, which may hold pins.
    private func expectToGoOn(
        _ warning: String, with variables: [String: String] = [:], isThere: Bool = false
    ) async throws {
        for words in [
            ["pull", "org/tiny", "-q"], ["ls", "-q"], ["path", "org/tiny"], ["try", "org/tiny", "-q"],
            ["info", "org/tiny", "-q"], ["search", "-q"], ["gc", "--detached", "-q"],
            ["rm", "org/tiny", "--dry-run", "-q"],
        ] {
            let result = try await RunningProcess.run(
                BuiltProduct.path(), words, environment: stage.environment.merging(variables) { $1 })
            #expect(result.status == 0, "\(words)")
            let more = words[0] == "rm" && isThere ? "hub: warning: cannot read the pins (" : nil
            #expect(
                result.error == warning || more.map { result.error.hasPrefix(warning + $0) } == true, "\(words)")
        }
        let document = try await stage.run("ls", "--json", with: variables)
        #expect(document.status == 0)
        #expect(try document.document()["error"] == nil)
    }

    @Test func aDamagedCatalogIsWarnedOf() async throws {
        try FileSystem.createDirectories(Path.parent(stage.catalog))
        let garbage = Array("this is no database, whatever its name says".utf8)
        try FileSystem.replace(stage.catalog, with: garbage)
        try await expectToGoOn(
            """
            hub: warning: continuing without the catalog: the catalog \(stage.catalog) is damaged: file is not a database
                 hub doctor rebuild rebuilds it, keeping pins and times of use

            """, isThere: true)
        // It is left for the user to inspect, not overwritten.
        #expect(try FileSystem.contents(stage.catalog) == garbage)
    }

    @Test func aCatalogOfANewerHubIsLeftAlone() async throws {
        #expect(try await stage.run("search").status == 0)
        do { try Connection(stage.catalog).execute("PRAGMA user_version = 999; PRAGMA wal_checkpoint(TRUNCATE)") }
        let bytes = try #require(try FileSystem.contents(stage.catalog))
        let result = try await stage.run("ls")
        #expect(result.status == 0)
        #expect(
            result.error.hasPrefix(
                "hub: warning: continuing without the catalog: the catalog \(stage.catalog) has version "))
        #expect(
            result.error.contains("     a newer hub made it: use that one, or set HUB_HOME to another folder\n"))
        #expect(try FileSystem.contents(stage.catalog) == bytes)
    }

    /// The advice spoke of the cache folder, or there was none.
    @Test func aFolderThatCannotBeMadeIsWarnedOf() async throws {
        let file = stage.machine("file")
        try FileSystem.replace(file, with: [])
        try await expectToGoOn(
            """
            hub: warning: continuing without the catalog: cannot make the folder \(file)/state: Not a directory
                 set HUB_HOME to use another folder

            """, with: ["HUB_HOME": "\(file)/state"])
    }

    /// "continuing without the catalog" stood above the error that it cannot.
    @Test func whereNothingElseAnswersItIsExit6() async throws {
        try FileSystem.createDirectories(Path.parent(stage.catalog))
        try FileSystem.replace(stage.catalog, with: Array("garbage".utf8))
        let result = try await stage.run("search", "--offline")
        #expect(result.status == 6 && result.output.isEmpty)
        #expect(
            result.error == """
                hub: the catalog \(stage.catalog) is damaged: file is not a database
                     hub doctor rebuild rebuilds it, keeping pins and times of use

                """)
        #expect(try await stage.run("search", "--offline", "--json").errorCode() == "catalog_unusable")
    }
}
