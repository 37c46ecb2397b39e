import Fetcher
import HubCore
import Support
import Testing

@testable import HubCLI

/// Doctor's report on a cache.
@Suite struct DoctorCacheTests {
    private let stage: Stage

    init() throws { stage = try Stage() }

    /// The findings, by name; with `fix` they are fixed, and the fixes are reported.
    private func look(fix: Bool = false) async throws -> (
        findings: [String: DoctorFinding], fixed: [String: String]
    ) {
        let found = Monitor<[DoctorFinding]>([])
        let fixed = Monitor<[String: String]>([:])
        let command = testCommand { context, _ in
            let findings = try await DoctorCommand.cacheFindings(context, try await context.workspace())
            found.update { $0 = findings }
            for finding in findings where fix {
                if let done = try await finding.fix?() { fixed.update { $0[finding.name] = done.text } }
            }
        }
        let result = await runInside("do", environment: stage.environment, commands: [command])
        #expect(result.status == 0, "\(result.error)")
        // They hold the command that would hold them.
        let findings = found.update { found in
            defer { found = [] }
            return found
        }
        #expect(findings.allSatisfy { $0.section == "cache" && !$0.text.isEmpty })
        #expect(Set(findings.map(\.name)).count == findings.count)
        return (Dictionary(uniqueKeysWithValues: findings.map { ($0.name, $0) }), fixed.update { $0 })
    }

    @Test func anEmptyCacheAndAWholeOneAreGood() async throws {
        #expect(try await look().findings["contents"]?.text == "nothing is cached in \(stage.cache)")
        try stage.plant("models--org--one", commit: commit("1"), files: ["a.bin": "aaaa"])
        let findings = try await look().findings
        #expect(findings["contents"]?.text == "1 repository in \(stage.cache), 4 B")
        #expect(findings["contents"]?.bytes == 4 && !findings.values.contains { $0.level == .bad })
    }

    @Test func eachFindingSaysHowManyWhereAndWhatToDo() async throws {
        let snapshot = try stage.plant("models--org--one", commit: commit("1"), files: ["a.bin": "aaaa"])
        let folder = Path.join(stage.cache, "models--org--one")
        try FileSystem.createSymlink("../../blobs/\(commit("9"))", at: Path.join(snapshot, "gone.bin"))
        try FileSystem.replace(Path.join(folder, "blobs/\(commit("8"))"), with: Array("12345".utf8))
        try FileSystem.replace(Path.join(folder, "refs/main"), with: Array((commit("1") + "\n").utf8))
        let (findings, fixed) = try await look(fix: true)
        let broken = try #require(findings["broken_links"])
        #expect(broken.level == .bad && broken.count == 1)
        #expect(broken.text == "1 broken link in a snapshot (\(snapshot)/gone.bin)")
        let orphan = try #require(findings["orphan_blobs"])
        #expect(orphan.level == .note && orphan.bytes == 5 && orphan.advice == "hub gc --orphans deletes it")
        #expect(findings["refs_with_line_end"]?.level == .bad)
        #expect(fixed == ["refs_with_line_end": "1 ref rewritten"])
        let again = try await look().findings
        #expect(again["refs_with_line_end"] == nil && again["broken_links"] != nil)
    }

    @Test func aLongListIsCut() async throws {
        try stage.plant("models--org--one", commit: commit("1"), files: ["a.bin": "aaaa"])
        for digit in "23456789" {
            let path = Path.join(stage.cache, "models--org--one/blobs/\(commit(digit))")
            try FileSystem.replace(path, with: Array("1".utf8))
        }
        let text = try #require(try await look().findings["orphan_blobs"]?.text)
        #expect(text.hasPrefix("8 blobs that no snapshot links to, 8 B (") && text.hasSuffix(" and 5 more)"))
    }

    @Test func aDiskThatNotesNoReadingIsSaid() async throws {
        guard let disk = try await SmallDisk(stage.machine, "4m") else {
            try Test.cancel("no disk can be mounted here")
        }
        let result: Result<Void, any Error>
        do { result = .success(try await expectNoReadingsNoted(disk)) } catch { result = .failure(error) }
        try await disk.unmount()
        try result.get()
    }

    private func expectNoReadingsNoted(_ disk: SmallDisk) async throws {
        let cache = Path.join(disk.path, "hub")
        try FileSystem.createDirectories(cache)
        for (options, isSaid) in [("strictatime", false), ("noatime", true)] {
            guard try await disk.remount(options) else { try Test.cancel("it cannot be mounted with \(options)") }
            #expect(FileSystem.keepsAccessTimes(cache) != isSaid)
        }
        let snapshot = Path.join(cache, "models--org--one/snapshots/\(commit("1"))")
        try FileSystem.createDirectories(snapshot)
        try FileSystem.replace(Path.join(snapshot, "a.bin"), with: [1, 2])
        let table = try await stage.run("ls", "--cache-dir", cache)
        #expect(settled(table.output).contains("org/one  2 B  2 B  unknown  11111111  AGE\n"))
        #expect(table.error.contains("noatime"))
        let model = try await stage.run("ls", "--json", "--cache-dir", cache).document().objects("models").first
        #expect(model?["id"]?.string == "org/one" && model?["last_used_at"] == nil)
        // What hub saw is known all the same.
        #expect(try await stage.run("path", "org/one", "--cache-dir", cache).status == 0)
        let seen = try await stage.run("ls", "--json", "--cache-dir", cache).document().objects("models").first
        #expect(seen?["last_used_at"]?.string != nil)
    }
}
