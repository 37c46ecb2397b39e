import Catalog
import Fetcher
import HubCore

/// An answer to `hub search` as people and programs see it.
struct SearchView {
    let context: Context
    /// What was asked in the end.
    var query: ModelQuery
    /// The entries of the curated list by their repositories' ids.
    let curated: [String: RegistryEntry]
    let machine: MachineRunner
    /// The QUERY as it was typed.
    let typed: String
    /// Whether the Hub was asked and answered.
    let asksHub: Bool
    /// The text that was meant, perhaps, where nothing matches the one typed.
    var suggestion: String?
    /// Whether only the curated list is shown, with its aliases.
    var isCurated = false
    /// Whether the caller chose how many are shown.
    var isLimited = false
    /// What the cache tells of the models that are shown.
    var cachedWeights: [String: CachedWeights] = [:]
    /// When the catalog last heard of the Hub, in seconds since 1970; looked up where it answers alone.
    var newestSeen: Double?

    /// The addresses of other Hubs that have filled the catalog too.
    var otherHubs: [String] = []

    private var output: Output { context.output }

    /// After so many seconds the catalog is said to be old.
    private static let oldAge = 604_800.0

    func show(_ answer: SearchAnswer, seconds: Double) {
        let document: JSONObject = [
            "models": .array(answer.entries.map(json)), "suggestion": suggestion.map { .string($0) },
            "as_of": newestSeen.map { .string(Timestamp.iso8601($0)) },
            "left_out": answer.undecided > 0 ? .int(Int64(answer.undecided)) : nil,
            "elapsed_seconds": .double(seconds),
        ]
        if suggestion != nil || answer.entries.isEmpty { noteNoMatch() }
        output.render(json: document, quiet: answer.entries.map(\.record.repository.id.name)) {
            output.table(table(answer.entries))
            showLegend(answer.entries)
        }
        noteOrigins(answer)
        if answer.catalog != nil { noteAge() }
    }

    private func showLegend(_ entries: [SearchAnswer.Entry]) {
        let marks = Marks(context)
        let legend = Marks.legend([
            (entries.contains(where: \.isCached), marks.cached, "cached"),
            (marksRuns(entries), marks.runs, "runs in hub try"),
        ])
        if !legend.isEmpty { output.line(Styled(legend, .faint)) }
    }

    /// Whether a mark tells those that run from others.
    private func marksRuns(_ entries: [SearchAnswer.Entry]) -> Bool {
        query.runner == nil && entries.contains { verdict($0.record)?.isPossible == true }
    }

    // MARK: Notes

    private func noteNoMatch() {
        // Where the Hub did not answer, its silence says nothing.
        let place = asksHub ? "" : " in the catalog on this machine"
        let meant = suggestion.map { "; did you mean \"\($0)\"?" } ?? ""
        output.note(
            (typed.isEmpty ? "no model was found\(place)" : "no model\(place) matches \"\(typed)\"") + meant)
    }

    private func noteOrigins(_ answer: SearchAnswer) {
        let fromHub = answer.entries.count { $0.source == .hub }
        let others = answer.entries.count - fromHub
        // Without a Hub that answered there is but one origin.
        if !isLimited, answer.entries.count == query.limit {
            output.note("the first \(query.limit) are shown; --limit shows more")
        }
        if fromHub > 0, others > 0 { output.note("\(fromHub) from the Hub, \(others) more from the catalog") }
        if others > 0, !otherHubs.isEmpty {
            output.note(
                "some of these may be models of \(otherHubs.map(\.printable).joined(separator: ", ")), which filled the catalog too"
            )
        }
        if answer.undecided > 0 {
            output.note("\(Humanize.plural(answer.undecided, "model")) skipped: \(unknown) unknown")
        }
        if let room = query.maximumWeightBytes {
            output.note("only models with weights of at most \(ByteCount(room)) are shown, so that they fit")
        }
        // The curated list says enough of its models.
        guard !isCurated else { return }
        if answer.unasked > 0 {
            guard others > 0 else { return }
            output.note(
                "\(Humanize.plural(answer.unasked, "model")) not checked: the Hub answers for \(HubClient.mostIDs) at a time; narrow the search"
            )
        } else if !answer.isWhole {
            let checked = Humanize.grouped(answer.checked)
            output.note(
                query.sort == .size
                    ? "the Hub cannot sort by size: these are the largest of the \(checked) most downloaded models"
                    : "only the first \(checked) models were checked; narrow the search")
        }
    }

    /// What has to be known of a model to tell whether it matches.
    private var unknown: String {
        let byParameters = query.minimumParameters != nil || query.maximumParameters != nil
        return switch (byParameters, query.maximumSize != nil, query.maximumWeightBytes != nil) {
        case (true, false, false): "parameters"
        case (false, true, false): "size"
        case (false, false, true): "size and parameters"
        default: "size or parameters"
        }
    }

    private func noteAge() {
        guard !asksHub else { return }
        guard let newestSeen else {
            return output.note(
                "the catalog on this machine is empty: searches with the network fill it, and hub sync does")
        }
        if context.now - newestSeen > Self.oldAge {
            output.note("the catalog was last updated \(Humanize.age(of: newestSeen, now: context.now))")
        }
    }

    // MARK: Rows

    private func table(_ entries: [SearchAnswer.Entry]) -> Table {
        // The size of the repository matters only where it was asked about.
        let showsRepository = query.sort == .size || query.maximumSize != nil
        let byBirth = query.sort == .created
        let (marks, marksRuns) = (Marks(context), marksRuns(entries))
        var table = Table([
            .init("", .left), .init("MODEL", least: leastName, cut: .middle),
            .init(query.runner == nil ? "" : "TOKENS/S", .right, optional: true),
            .init(isCurated ? "ALIAS" : "", optional: true), .init("PARAMS", .right, optional: true),
            .init("SIZE", .right, optional: true),
            .init(showsRepository ? "REPOSITORY" : "", .right, optional: true),
            .init("TASK", least: 15, optional: true), .init("DOWNLOADS", .right, optional: true),
            .init("LIKES", .right, optional: true),
            .init(byBirth ? "CREATED" : "UPDATED", .left, optional: true),
            .init("LICENSE", least: 10, optional: true),
        ])
        for entry in entries {
            let record = entry.record
            let time = byBirth ? record.createdAt : record.updatedAt
            table.add([
                marks.cell(
                    isCached: entry.isCached, runs: marksRuns ? verdict(record)?.isPossible == true : nil),
                Styled(record.repository.id.name, .name), Styled(rate(record)),
                Styled(isCurated ? curated(record)?.alias ?? "" : ""),
                Styled(record.likelyParameters.map { Humanize.count($0.count) } ?? ""),
                Styled(size(of: record)),
                Styled(showsRepository ? record.sizeBytes.map { "\(ByteCount($0))" } ?? "" : ""),
                Styled(record.task ?? ""), Styled(record.downloads.map(Humanize.count) ?? ""),
                Styled(record.likes.map(Humanize.count) ?? ""),
                Styled(time.map { Humanize.age(of: $0, now: context.now) } ?? "", .faint),
                Styled(record.license ?? "", .faint),
            ])
        }
        return table
    }

    /// Of one set of weights; where only the repository's size is known, no more than that.
    private func size(of record: ModelRecord) -> String {
        guard let bytes = weightBytes(of: record) else { return "" }
        let isExact = query.runWeightBytes(of: record) != nil || cached(record) != nil
        return (isExact ? "" : "<= ") + "\(ByteCount(bytes))"
    }

    private func weightBytes(of record: ModelRecord) -> Int64? {
        query.runWeightBytes(of: record) ?? cached(record)?.bytes ?? query.weightBytes(of: record)
    }

    private func cached(_ record: ModelRecord) -> CachedWeights? {
        record.repository.kind == .model ? cachedWeights[record.repository.id.name] : nil
    }

    private func curated(_ record: ModelRecord) -> RegistryEntry? {
        record.repository.kind == .model ? curated[record.repository.id.name] : nil
    }

    /// Whether hub runs it; nil if that is not known.
    private func verdict(_ record: ModelRecord) -> RunVerdict? {
        let cached = cached(record)
        var verdict = machine.verdict(record, weightBytes: cached?.bytes ?? query.runWeightBytes(of: record))
        // What was measured says more than an estimate.
        if verdict?.isPossible == true, let rate = cached?.tokensPerSecond { verdict?.tokensPerSecond = rate }
        return verdict
    }

    /// How fast a model runs, in the column of a search for those that run.
    private func rate(_ record: ModelRecord) -> String {
        guard query.runner != nil else { return "" }
        return verdict(record)?.tokensPerSecond.map(RunVerdict.rounded) ?? ""
    }

    /// A name is what is typed next: on a narrow terminal other columns go before much of it is cut.
    private var leastName: Int { min(48, max(16, (output.settings.width ?? 0) * 9 / 20)) }

    private func json(_ entry: SearchAnswer.Entry) -> JSON {
        let record = entry.record
        return .object([
            "id": .string(record.repository.id.name),
            "author": (record.author ?? record.repository.id.owner).map { .string($0) },
            "task": record.task.map { .string($0) }, "library": record.library.map { .string($0) },
            "license": record.license.map { .string($0) }, "downloads": record.downloads.map { .int($0) },
            "likes": record.likes.map { .int($0) },
            "parameters": record.likelyParameters.map { .int($0.count) },
            "parameters_from": record.likelyParameters.map { .string($0.isFromName ? "name" : "hub") },
            "weights_bytes": weightBytes(of: record).map { .int($0) },
            "size_bytes": record.sizeBytes.map { .int($0) },
            "updated_at": record.updatedAt.map { .string(Timestamp.iso8601($0)) },
            "gated": record.gating.map { $0 == .open ? .bool(false) : .string($0.rawValue) },
            "tags": record.tags.map { .array($0.map { .string($0) }) }, "cached": .bool(entry.isCached),
            "source": .string(entry.source.rawValue),
            "curated": curated(record)?.curatedJSON, "runs": verdict(record)?.json,
        ])
    }
}
