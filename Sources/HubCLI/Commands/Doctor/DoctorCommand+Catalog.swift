import Catalog
import Fetcher
import HubCore

extension DoctorCommand {
    /// The catalog: whether it can be used and is sound, what is in it and who filled it, and its backups.
    @Sendable static func catalogFindings(_ context: Context, _ workspace: Workspace) async throws
        -> [DoctorFinding]
    {
        let path = workspace.catalogPath
        return try await Blocking.run {
            var findings: [DoctorFinding] = []
            if let catalog = workspace.catalog {
                do throws(AIError) { findings = try inside(catalog, context, workspace) } catch {
                    findings = [unusable(error, context, workspace)]
                }
            } else if let fault = workspace.catalogFault {
                findings = [unusable(fault, context, workspace)]
            }
            let isUsable = workspace.catalog != nil && !findings.contains { $0.name == "usable" }
            return findings + (try backups(path, isUsable: isUsable, now: context.now)) + (try putAside(path))
        }
    }

    private static func fact(
        _ name: String, _ level: DoctorFinding.Level, _ text: String, count: Int? = nil, bytes: Int64? = nil,
        advice: String? = nil
    ) -> DoctorFinding {
        DoctorFinding(
            section: "catalog", name: name, level: level, text: text, count: count, bytes: bytes, advice: advice)
    }

    private static func unusable(_ fault: AIError, _ context: Context, _ workspace: Workspace) -> DoctorFinding {
        let fault = Context.advised(fault)
        var finding = fact("usable", .bad, fault.message, advice: fault.recoverySuggestion)
        if fault.isCatalogDamage { finding.fix = rebuilding(context, workspace) }
        return finding
    }

    private static func rebuilding(
        _ context: Context, _ workspace: Workspace
    ) -> @Sendable () async throws -> (text: String, isWhole: Bool) {
        { ("rebuilt: " + Self.summary(of: try await workspace.rebuildCatalog()), true) }
    }

    // MARK: The file

    private static func inside(_ catalog: Catalog, _ context: Context, _ workspace: Workspace) throws(AIError)
        -> [DoctorFinding]
    {
        let inspection = try CatalogInspection(catalog, cache: workspace.layout.root)
        let size = try CatalogInspection.size(catalog.path) ?? 0
        var findings = [
            fact("file", .good, "\(catalog.path), \(ByteCount(size)), version \(inspection.version)", bytes: size),
            integrity(inspection, context, workspace),
        ]
        if inspection.strayRows > 0 {
            findings.append(
                fact(
                    "references", .bad,
                    "\(Humanize.plural(inspection.strayRows, "row")) of the catalog \(inspection.strayRows == 1 ? "points" : "point") to rows that are missing",
                    count: inspection.strayRows, advice: rebuildAdvice))
        }
        let rows = inspection.rows.map { row in
            let (one, many) = nouns[row.table] ?? (row.table, row.table)
            return "\(Humanize.count(Int64(row.count))) \(row.count == 1 ? one : many)"
        }
        findings.append(fact("rows", .good, "the catalog lists " + rows.joined(separator: ", ")))
        findings += filling(try catalog.endpoints(), workspace.configuration.endpoint)
        return findings
    }

    /// What a row of a table is called.
    private static let nouns = [
        "models": ("model", "models"), "trees": ("file list", "file lists"),
        "repositories": ("cached repository", "cached repositories"), "pins": ("pin", "pins"),
        "uses": ("last-use record", "last-use records"),
    ]

    private static let rebuildAdvice = "hub doctor rebuild rebuilds it, keeping pins and times of use"

    private static func integrity(_ inspection: CatalogInspection, _ context: Context, _ workspace: Workspace)
        -> DoctorFinding
    {
        guard let first = inspection.problems.first else { return fact("integrity", .good, "the file is OK") }
        var finding = fact(
            "integrity", .bad, "the file is damaged: \(first.printable)", count: inspection.problems.count,
            advice: rebuildAdvice)
        finding.fix = rebuilding(context, workspace)
        return finding
    }

    /// The Hubs whose models are in the catalog.
    private static func filling(_ endpoints: [(address: String, day: String)], _ endpoint: Endpoint)
        -> [DoctorFinding]
    {
        guard !endpoints.isEmpty else { return [] }
        let told = endpoints.map { "\($0.address.printable) (last on \($0.day))" }.joined(
            separator: ", ")
        let isOther = !endpoints.contains { $0.address == endpoint.address }
        return [
            fact(
                "endpoint", isOther ? .note : .good, "filled by \(told)", count: endpoints.count,
                advice: isOther ? "the Hub in use, \(endpoint), has not been asked yet" : nil)
        ]
    }

    // MARK: Beside it

    private static func backups(_ path: String, isUsable: Bool, now: Double) throws(AIError) -> [DoctorFinding] {
        let all = try CatalogInspection.backups(path)
        guard let newest = all.first else {
            // The contents of an unreadable catalog are unknown.
            guard isUsable else { return [fact("backup", .note, "there is no backup")] }
            return [fact("backup", .good, "no backup yet: nothing to back up (no pins, no times of use)")]
        }
        let size = all.reduce(0) { $0 + $1.size }
        return [
            fact(
                "backup", .good,
                "\(Humanize.plural(all.count, "backup")) of pins and times of use, the newest \(Humanize.age(of: newest.time, now: now))",
                count: all.count, bytes: size)
        ]
    }

    private static func putAside(_ path: String) throws(AIError) -> [DoctorFinding] {
        let all = try CatalogInspection.putAside(path)
        guard !all.isEmpty else { return [] }
        let size = all.reduce(0) { $0 + $1.size }
        return [
            fact(
                "put_aside", .note,
                "\(Humanize.plural(all.count, "old catalog")) kept under another name, \(ByteCount(size)): \(all.map { Path.name($0.path) }.joined(separator: ", "))",
                count: all.count, bytes: size, advice: "delete what you no longer need in \(Path.parent(path))")
        ]
    }
}
