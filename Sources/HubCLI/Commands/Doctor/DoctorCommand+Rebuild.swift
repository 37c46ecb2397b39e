import Catalog
import Fetcher
import HubCore

extension DoctorCommand {
    /// `hub doctor rebuild`: what was done, and how the new catalog looks.
    static func rebuilt(_ context: Context, _ workspace: Workspace) async throws -> [Outcome] {
        let rebuilt = try await workspace.rebuildCatalog()
        var findings = [
            DoctorFinding(section: "catalog", name: "rebuilt", level: .note, text: "the catalog was rebuilt")
        ]
        if let loss = loss(rebuilt.catalog) { findings.append(loss) }
        if let gap = gap(rebuilt, context) { findings.append(gap) }
        var outcomes = findings.map { Outcome(finding: $0) }
        outcomes[0].fixed = summary(of: rebuilt)
        // Missing data is reported even with --quiet.
        if context.output.mode == .quiet, let gap = gap(rebuilt, context) { context.output.warning(gap.text) }
        let opened = try await context.workspace(tellsFault: false)
        return outcomes + (try await catalogFindings(context, opened)).map { Outcome(finding: $0) }
    }

    /// The contents of the new catalog and the path of the old one, in a sentence.
    static func summary(of rebuilt: Workspace.Rebuilt) -> String {
        let rows = rebuilt.catalog.rows
        var parts = [
            "\(Humanize.plural(rebuilt.repositories, "cached repository", "cached repositories"))",
            Humanize.plural(rebuilt.trees, "file list"), Humanize.plural(rows["pins"] ?? 0, "pin"),
            Humanize.plural(rows["uses"] ?? 0, "last-use record"),
        ]
        if rebuilt.told > 0 { parts.append("what the Hub says of \(rebuilt.told) of them") }
        return "it has " + parts.joined(separator: ", ")
            + (rebuilt.catalog.aside.map { "; the old one is \($0)" } ?? "")
    }

    /// What the old file did not give.
    private static func loss(_ catalog: CatalogRebuild) -> DoctorFinding? {
        guard !catalog.damaged.isEmpty, catalog.aside != nil else { return nil }
        let tables = catalog.damaged.joined(separator: ", ")
        return DoctorFinding(
            section: "catalog", name: "salvage", level: .note,
            text: "the old catalog could not be read in full: \(tables)"
                + (catalog.backup.map { "; its backup \($0) was used" }
                    ?? ", and there is no backup of them"),
            count: catalog.damaged.count)
    }

    /// What the Hub would have added.
    private static func gap(_ rebuilt: Workspace.Rebuilt, _ context: Context) -> DoctorFinding? {
        guard rebuilt.told < rebuilt.repositories, context.isOffline || rebuilt.failure != nil else { return nil }
        let why = rebuilt.failure.map(\.message) ?? "the network is switched off"
        return DoctorFinding(
            section: "catalog", name: "not_asked", level: .note,
            text:
                "the Hub was not asked about \(rebuilt.repositories - rebuilt.told) of the cached repositories: \(why)",
            count: rebuilt.repositories - rebuilt.told,
            advice: "hub info and hub search ask when you use them")
    }
}
