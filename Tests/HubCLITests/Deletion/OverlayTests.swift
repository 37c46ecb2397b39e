#if os(Linux)
import HubCore
import Libc
import Support
import Testing

/// A cache that came with a container's image: its folders are of a lower layer and cannot be renamed.
@Suite struct OverlayTests {
    private let stage: Stage
    private let place: TemporaryFolder

    init() throws {
        stage = try Stage()
        place = try TemporaryFolder("image")
        try stage.plant("models--org--one", commit: commit("1"), files: ["a.bin": "aaaa", "b.bin": "bbbbbb"])
        try stage.plant(
            "models--org--two", commit: commit("2"), ref: "old", files: ["c.bin": "cc", "e.bin": "eeeee"])
        try stage.plant("models--org--two", commit: commit("3"), files: ["c.bin": "cc", "d.bin": "dddddddd"])
    }

    /// Runs a body with the cache as the lower layer of an overlay.
    private func inContainer(
        _ body: (_ cache: String, _ run: ([String]) async throws -> ProcessResult) async throws -> Void
    )
        async throws
    {
        try FileSystem.rename(Path.parent(stage.cache), to: place("hf"))
        guard let disk = try await SmallDisk(place, over: place("hf")) else {
            try Test.cancel("an overlay cannot be mounted here")
        }
        do {
            try await body(Path.join(disk.path, "hub")) { words in
                try await stage.run(words, with: ["HF_HOME": disk.path])
            }
        } catch {
            try await disk.unmount()
            throw error
        }
        try await disk.unmount()
    }

    @Test func revisionsAndModelsOfTheImageCanBeDeleted() async throws {
        try await inContainer { cache, run in
            // What the kernel says of it: no overlay that renames such folders in another way.
            let folder = try OpenFolder.open(existing: cache)
            let fault = #expect(throws: AIError.self) { try folder.move("models--org--one", to: folder, as: "x") }
            #expect(fault?.errno == EXDEV)
            let old = try await run(["rm", "org/two@old", "--yes"])
            #expect(old.status == 0 && old.output.contains("5 B freed"), "\(old.output)\(old.error)")
            #expect(try stage.listing("\(cache)/models--org--two/snapshots").count == 3)
            #expect(try FileSystem.entries("\(cache)/models--org--two/blobs")?.count == 2)
            let all = try await run(["gc", "--unused-for", "0d", "--yes"])
            #expect(all.status == 0 && all.output.contains("20 B freed"), "\(all.output)\(all.error)")
            #expect(try FileSystem.entries(cache)?.filter { !$0.hasPrefix(".") } == [])
            #expect(try await run(["ls", "-q"]).output.isEmpty)
        }
    }

    @Test func theTrashTakesThemAndGivesThemBack() async throws {
        try await inContainer { cache, run in
            let before = try stage.listing(cache).filter { !$0.hasPrefix(".locks") }
            for words in [["org/one"], ["org/two@old"], ["org/one", "org/two"]] {
                let moved = try await run(["rm"] + words + ["--trash", "--yes"])
                #expect(moved.status == 0, "\(words): \(moved.error)")
                let names = words.map { String($0.prefix { $0 != "@" }) }
                let back = try await run(["trash", "restore"] + names)
                #expect(back.status == 0, "\(words): \(back.error)")
            }
            #expect(try stage.listing(cache).filter { !$0.hasPrefix(".locks") } == before)
            for name in before where name.contains("/snapshots/") {
                #expect(FileSystem.exists(Path.join(cache, name)), "\(name)")
            }
            #expect(try await run(["rm", "org/one", "--trash", "--yes"]).status == 0)
            let freed = try await run(["trash", "empty", "--yes"])
            #expect(freed.status == 0 && freed.output.contains("10 B freed"), "\(freed.output)\(freed.error)")
        }
    }
}
#endif
