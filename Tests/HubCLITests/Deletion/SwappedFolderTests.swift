#if os(Linux)
import HubCore
import Support
import Testing

@testable import HubCLI

/// Somebody who may write in the cache puts a link to another folder in the place of one that is just being deleted. A
/// library makes them win every time: whatever looks at the folder sees the folder, whatever is changed by its path is
/// changed behind the link. Nothing outside of the cache may change.
@Suite struct SwappedFolderTests {
    /// A way to delete, and the folders that are swapped for links while it does so, relative to `hf`.
    struct Way: Sendable, CustomTestStringConvertible {
        var words: [String]
        var folders: [String]
        /// What is done before, without anybody in the way.
        var first: [[String]] = []
        var testDescription: String { words.joined(separator: " ") }
    }

    private static let one = "hub/models--org--one"
    private static let all = [
        one, "\(one)/refs", "\(one)/snapshots", "\(one)/snapshots/\(commit("1"))",
        "\(one)/snapshots/\(commit("1"))/sub", "\(one)/blobs", "\(one)/.no_exist/\(commit("1"))",
    ]
    private static let toTrash = ["rm", "org/one@main", "--trash", "--yes"]
    static let ways = [
        Way(words: ["rm", "org/one", "--yes"], folders: all),
        Way(words: ["rm", "org/one@main", "--yes"], folders: all + ["\(one)/.no_exist", "\(one)/trees"]),
        Way(words: ["rm", "org/one:sub/*", "--yes"], folders: Array(all.dropLast())),
        Way(words: ["gc", "--unused-for", "0d", "--orphans", "--yes"], folders: all + ["hub/blobs/ab"]),
        Way(words: toTrash, folders: all),
        Way(
            words: ["trash", "restore", "org/one@main"],
            folders: [one, "\(one)/refs", "\(one)/snapshots", "\(one)/blobs", "hub-trash/ENTRY"], first: [toTrash]),
        Way(
            words: ["trash", "empty", "--yes"],
            folders: ["hub-trash/ENTRY", "hub-trash/ENTRY/SNAPSHOT", "hub-trash/ENTRY/SNAPSHOT/sub"],
            first: [toTrash]),
        Way(
            words: ["rm", "./hf/local", "--yes"],
            folders: [
                "local/sub", "local/.cache", "local/.cache/huggingface", "local/.cache/huggingface/download",
                "local/.cache/huggingface/download/sub",
            ], first: [["pull", "org/m", "--local-dir", "hf/local", "-q"]]),
        Way(
            words: ["doctor", "fix"],
            folders: ["\(one)/refs", "\(one)/blobs", "\(one)/trees", "xet/server", "xet/server/chunk_cache"]),
    ]

    @Test(arguments: ways) func nothingOutsideOfTheCacheChanges(way: Way) async throws {
        let library = try TemporaryFolder("library")
        let preload = try await FaultyDisk.library(in: library, source: "swapped_folder")
        var swaps = 0
        for folder in way.folders {
            let stage = try Self.stage()
            for words in way.first { try #require(try await stage.run(words).status == 0) }
            let place = stage.machine("hf/" + (try Self.resolve(folder, stage)))
            try #require(try FileSystem.linkStatus(place)?.kind == .directory, "\(folder)")
            // The same names, so that a deletion that is led there finds what it wants.
            let (victim, link) = (stage.machine("victim"), stage.machine("link"))
            try #require(try await RunningProcess.run("/bin/cp", ["-a", place, victim]).status == 0)
            try FileSystem.createSymlink(victim, at: link)
            let before = try Self.contents(victim, stage)
            let result = try await stage.run(
                way.words,
                with: [
                    "LD_PRELOAD": preload, "SWAP_ROOT": stage.machine("hf"), "SWAP_FOLDER": place,
                    "SWAP_LINK": link,
                    "SWAP_MARK": stage.machine("mark"),
                ])
            #expect(!result.wasKilled && result.status < 128, "\(folder): \(result.error)")
            #expect(try Self.contents(victim, stage) == before, "\(folder): \(result.output) \(result.error)")
            if FileSystem.exists(stage.machine("mark")) { swaps += 1 }
        }
        #expect(swaps == way.folders.count)
    }

    /// A cache with two revisions in a repository, one behind a ref, a store, and everything that doctor deletes.
    private static func stage() throws -> Stage {
        let stage = try Stage { root in
            let repository = try ModelRepository("org/m", in: root)
            try repository.write("config.json", "{}")
            try repository.write("sub/notes.txt", "some words\n")
        }
        try DeletionCrashTests.fill(stage)
        let folder = stage.machine("hf/" + one)
        func write(_ name: String, _ text: String = "x") throws {
            let path = name.hasPrefix("/") ? name : Path.join(folder, name)
            try FileSystem.createDirectories(Path.parent(path))
            try FileSystem.replace(path, with: Array(text.utf8))
            try FileSystem.setTimes(path, accessed: 1_600_000_000, modified: 1_600_000_000)
        }
        let snapshot = Path.join(folder, "snapshots/\(commit("1"))")
        try FileSystem.createDirectories(Path.join(snapshot, "sub"))
        for name in ["a.bin", "b.bin"] {
            let text = try #require(FileSystem.linkText(Path.join(snapshot, name)))
            try FileSystem.createSymlink("../" + text, at: Path.join(snapshot, "sub/\(name)"))
        }
        try write("refs/line", commit("2") + "\n")
        try write("refs/gone", commit("9"))
        try write("trees/\(commit("9")).json")
        try write("blobs/\(String(repeating: "7", count: 64)).hub.incomplete")
        for name in ["chunk_cache/a/b", "shard_cache/c", "staging/d"] {
            try write(stage.machine("hf/xet/server/\(name)"))
        }
        return stage
    }

    /// The path of a folder whose name the trash has chosen.
    private static func resolve(_ folder: String, _ stage: Stage) throws -> String {
        guard folder.contains("ENTRY") else { return folder }
        let entry = try #require(try FileSystem.entries(stage.cache + "-trash")?.first)
        let inside = Path.join(stage.cache + "-trash", entry)
        let snapshot = try FileSystem.entries(inside)?.first { FileSystem.exists(Path.join(inside, "\($0)/sub")) }
        return folder.replacing("ENTRY", with: entry).replacing("SNAPSHOT", with: snapshot ?? "")
    }

    private static func contents(_ folder: String, _ stage: Stage) throws -> [String: String] {
        var out: [String: String] = [:]
        for name in try stage.listing(folder) {
            let path = Path.join(folder, name)
            out[name] = try FileSystem.linkText(path) ?? FileSystem.text(path) ?? "folder"
        }
        return out
    }
}
#endif
