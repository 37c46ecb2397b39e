import Catalog
import HubCore

/// An answer to `hub search` as people and programs see it.
struct SearchView {
    let context: Context
    /// What was asked in the end.
    var query: ModelQuery
    /// The entries of the curated list by their repositories' ids.
    let curated: [String: RegistryEntry]
    /// The QUERY as it was typed.
    let typed: String
    /// Whether the Hub was asked and answered.
    let asksHub: Bool
    /// The text that was meant, perhaps, where nothing matches the one typed.
    var suggestion: String?
    /// When the catalog last heard of the Hub, in seconds since 1970; looked up where it answers alone.
    var newestSeen: Double?

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
        }
        noteOrigins(answer)
        if answer.catalog != nil { noteAge() }
    }

    // MARK: Notes

    private func noteNoMatch() {
        // Where the Hub did not answer, its silence says nothing.
        let place = asksHub ? "" : " in the catalog on this machine"
        if let task = query.task, !HubTasks.all.contains(task) {
            let near = NearestName.of(task, among: HubTasks.all).map { "; did you mean \($0)?" } ?? ""
            output.note("no known task is called \"\(task)\"\(near)")
        }
        let meant = suggestion.map { "; did you mean \"\($0)\"?" } ?? ""
        output.note(
            (typed.isEmpty ? "no model was found\(place)" : "no model\(place) matches \"\(typed)\"") + meant)
    }

    private func noteOrigins(_ answer: SearchAnswer) {
        let fromHub = answer.entries.count { $0.source == .hub }
        let others = answer.entries.count - fromHub
        // Without a Hub that answered there is but one origin.
        if fromHub > 0, others > 0 { output.note("\(fromHub) from the Hub, \(others) more from the catalog") }
        if answer.undecided > 0 {
            output.note("left out: \(Humanize.plural(answer.undecided, "model")) \(unknown)")
        }
        if !answer.isWhole {
            output.note(
                query.sort == .size
                    ? "the Hub does not sort by size: these are the largest of its most downloaded ones"
                    : "the Hub has more models than were looked at: narrow the search to see further")
        }
    }

    /// Why a model is neither in nor out.
    private var unknown: String {
        let byParameters = query.minimumParameters != nil || query.maximumParameters != nil
        return switch (byParameters, query.maximumSize != nil, query.maximumWeightBytes != nil) {
        case (true, false, false): "whose parameters are not known"
        case (false, true, false): "whose size is not known"
        case (false, false, true): "whose parameters and size are not known"
        default: "of which not every number asked about is known"
        }
    }

    private func noteAge() {
        guard !asksHub else { return }
        guard let newestSeen else {
            return output.note(
                "the catalog on this machine is empty: what a search with the network sees, it keeps")
        }
        if context.now - newestSeen > Self.oldAge {
            output.note("the catalog last heard of the Hub \(Humanize.age(of: newestSeen, now: context.now))")
        }
    }

    // MARK: Rows

    private func table(_ entries: [SearchAnswer.Entry]) -> Table {
        let showsSize = query.sort == .size || query.maximumSize != nil || query.maximumWeightBytes != nil
        let byBirth = query.sort == .created
        var table = Table([
            .init("", .left), .init("MODEL", least: leastName, cut: .middle),
            .init("TASK", least: 15, optional: true), .init("PARAMS", .right, optional: true),
            .init(showsSize ? "SIZE" : "", .right, optional: true), .init("DOWNLOADS", .right),
            .init("LIKES", .right, optional: true),
            .init(byBirth ? "CREATED" : "UPDATED", .left, optional: true),
            .init("LICENSE", least: 10, optional: true),
        ])
        for entry in entries {
            let record = entry.record
            let time = byBirth ? record.createdAt : record.updatedAt
            table.add([
                entry.isCached ? Styled(context.isUnicode ? "●" : "*", .good) : "",
                Styled(record.repository.id.name, .name), Styled(record.task ?? ""),
                Styled(record.parameters.map(Humanize.count) ?? ""),
                Styled(showsSize ? record.sizeBytes.map { "\(ByteCount($0))" } ?? "" : ""),
                Styled(record.downloads.map(Humanize.count) ?? ""),
                Styled(record.likes.map(Humanize.count) ?? ""),
                Styled(time.map { Humanize.age(of: $0, now: context.now) } ?? "", .faint),
                Styled(record.license ?? "", .faint),
            ])
        }
        return table
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
            "likes": record.likes.map { .int($0) }, "parameters": record.parameters.map { .int($0) },
            "size_bytes": record.sizeBytes.map { .int($0) },
            "updated_at": record.updatedAt.map { .string(Timestamp.iso8601($0)) },
            "gated": record.gating.map { $0 == .open ? .bool(false) : .string($0.rawValue) },
            "tags": record.tags.map { .array($0.map { .string($0) }) }, "cached": .bool(entry.isCached),
            "source": .string(entry.source.rawValue),
            "curated": record.repository.kind == .model ? curated[record.repository.id.name]?.curatedJSON : nil,
        ])
    }
}
