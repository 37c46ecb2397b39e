import HubCore
import Support
import Testing

@testable import HubCLI

/// Caches with files removed, links broken, bytes flipped, folders replaced by files and odd names. Whatever is met,
/// nothing crashes, nothing is changed, and the sizes are those that a count of the disk gives. A few dozen in every run
/// of the tests, 500 by scripts/soak.
@Suite struct DamagedCacheTests {
    private static let seeds = HubEnvironment.process["HUB_SOAK"] == nil ? 0..<24 : 0..<500

    @Test(arguments: seeds)
    func whateverIsMetTheListIsTrueAndNothingChanges(seed: Int) async throws {
        let folder = try TemporaryFolder("damaged")
        let cache = try DamagedCache(folder("hub"), seed: seed)
        let comment = Comment(rawValue: "seed \(seed): \(cache.story.joined(separator: "; "))")
        let environment = [
            "HF_HUB_CACHE": cache.root, "HF_HOME": folder("hf"), "HUB_HOME": folder("state"), "HOME": folder.path,
        ]
        let before = try Self.everything(below: cache.root)
        let count = try NaiveCount(cache.root)
        // Read anew, and then as the catalog remembers it.
        var lists: [String] = []
        for _ in 0..<2 {
            let list = await runInside("ls", "--json", environment: environment)
            #expect(list.status == 0, "\(comment): \(list.error)")
            let document = try #require(try JSON.parse(list.output).object, comment)
            #expect(document["total_bytes"]?.int == count.total, comment)
            let sum = ["total_bytes", "partial_bytes", "other_bytes"].reduce(0) { $0 + (document[$1]?.int ?? 0) }
            #expect(sum == count.everything, comment)
            let sizes = document.objects("models").map {
                (Path.name($0["path"]?.string ?? ""), $0["size_bytes"]?.int ?? -1)
            }
            #expect(Dictionary(uniqueKeysWithValues: sizes) == count.sizes, comment)
            lists.append(document.objects("models").map { JSON.object($0).text() }.joined())
        }
        #expect(lists[0] == lists[1], comment)

        let plan = await runInside(
            "gc", "--detached", "--partials", "--orphans", "--unused-for", "0d", "--dry-run", "--json",
            environment: environment)
        #expect(plan.status == 0, "\(comment): \(plan.error)")
        let freed = try #require(try JSON.parse(plan.output)["freed_bytes"]?.int, comment)
        #expect(freed >= 0 && freed <= count.everything, comment)

        let findings = try await Self.findings(environment)
        #expect(findings.first { $0.name == "contents" }?.bytes == count.total, comment)
        #expect(findings.allSatisfy { ($0.bytes ?? 0) >= 0 && ($0.bytes ?? 0) <= count.everything }, comment)
        #expect(try Self.everything(below: cache.root) == before, comment)
    }

    private static func findings(_ environment: [String: String]) async throws -> [DoctorFinding] {
        let found = Monitor<[DoctorFinding]>([])
        let command = testCommand { context, _ in
            let findings = try await DoctorCommand.cacheFindings(context, try await context.workspace())
            found.update { $0 = findings }
        }
        let result = await runInside("do", environment: environment, commands: [command])
        #expect(result.status == 0, "\(result.error)")
        return found.update { $0 }
    }

    /// Every path with all that a change would change.
    private static func everything(below root: String) throws -> [String: String] {
        var out: [String: String] = [:]
        func visit(_ folder: String) throws {
            for name in try FileSystem.entries(folder) ?? [] {
                let path = Path.join(folder, name)
                guard let status = try FileSystem.linkStatus(path) else { continue }
                out[path] =
                    "\(status.kind) \(status.size) \(status.inode) \(status.links) \(status.mode) "
                    + "\(status.modifiedNanoseconds) \(FileSystem.linkText(path) ?? "")"
                if status.kind == .directory { try visit(path) }
            }
        }
        try visit(root)
        return out
    }
}
