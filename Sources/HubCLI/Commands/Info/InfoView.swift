import Catalog
import Fetcher
import HubCore
import InferenceKit
import ModelFormats

/// The forms of `hub info`.
struct InfoView {
    let facts: ModelFacts
    let context: Context
    private var output: Output { context.output }
    private var record: ModelRecord { facts.record }

    // MARK: For people

    func show() {
        output.cutLine(
            Styled("\(facts.reference.repository)", .name) + Styled(facts.commit.map { " at \($0.short)" } ?? ""))
        showSummary()
        if let seen = facts.seenAt { output.fact("as of", Humanize.age(of: seen, now: context.now), .caution) }
        showMetadata()
        showRevisions()
        output.fact("tags", (record.tags ?? []).filter { !$0.contains(":") }.prefix(10).joined(separator: ", "))
        if let plan = facts.plan { show(plan) }
        output.fact("damaged", facts.damaged, .bad)
        for tried in (facts.tried.map { [$0] } ?? []) + facts.triedRemotely {
            output.fact("tried", "\(tried.sentence), \(Humanize.age(of: tried.at, now: context.now))", tried.style)
        }
        if let pin = facts.pin { output.fact("pinned", pin.note ?? "yes") }
        if let sizes = facts.cachedFiles {
            output.fact(
                "cached",
                "\(Humanize.plural(sizes.count, "file")), \(ByteCount(sizes.reduce(0, +))); there may be more on the Hub"
            )
        }
        showWeights()
    }

    /// The first four lines of the README's text.
    private func showSummary() {
        guard let summary = facts.summary else { return }
        let most = 4
        var lines = TextWrap.cells(SafeText.line(summary), width: max(2, min(output.settings.width ?? 80, 100) - 2))
        if lines.count > most {
            lines = Array(lines[..<(most - 1)]) + [lines[(most - 1)...].joined(separator: " ")]
        }
        for line in lines {
            let room = max(2, min(output.settings.width ?? 80, 100) - 2)
            output.line(Styled("  " + DisplayWidth.fit(line, room, ellipsis: output.settings.ellipsis)))
        }
        output.line()
    }

    private func showMetadata() {
        output.fact("alias", facts.curated?.alias)
        output.fact("task", record.task)
        output.fact("library", record.library)
        output.fact("license", record.license)
        let gating: String? =
            switch record.gating {
            case .automatic?: "gated (auto): accept its terms on its page"
            case .manual?: "gated (manual)"
            case .open?, nil: nil
            }
        output.fact("access", record.isPrivate == true ? "private" : gating, .caution)
        let types = facts.parameters.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map(\.key)
        output.fact(
            "parameters",
            record.parameters.map { ([Humanize.count($0)] + types.prefix(3)).joined(separator: ", ") })
        let counts = [
            record.downloads.map { "\(Humanize.count($0)) downloads a month" },
            record.likes.map { "\(Humanize.count($0)) likes" },
        ].compactMap { $0 }.joined(separator: ", ")
        let countAge = facts.olderCount.map { " (as of \(Humanize.age(of: $0, now: context.now)))" } ?? ""
        output.fact("popularity", counts.isEmpty ? "" : counts + countAge)
        output.fact("updated", record.updatedAt.map { Humanize.age(of: $0, now: context.now) })
        output.fact("page", facts.page)
    }

    private func showRevisions() {
        guard !facts.revisions.isEmpty else { return }
        let names =
            facts.revisions.prefix(8).map(\.name).joined(separator: ", ")
            + (facts.revisions.count > 8 ? ", ..." : "")
        let age = facts.revisionsSeenAt.map { Humanize.age(of: $0, now: context.now) }
        output.fact("refs", names + (age.map { " (as of \($0))" } ?? ""))
    }

    private func show(_ plan: PullPlan) {
        output.fact("files", "\(Humanize.grouped(plan.files.count)), \(ByteCount(plan.totalBytes))")
        output.fact(
            "cached",
            plan.cachedBytes == plan.totalBytes
                ? "all of it" : plan.cachedBytes > 0 ? "\(ByteCount(plan.cachedBytes))" : "nothing")
        if plan.reusableBytes > 0 {
            output.fact("", "\(ByteCount(plan.reusableBytes)) of it are here, in other models")
        }
        output.fact("", facts.incomplete, .caution)
        let totals = plan.totals
        if totals.downloadBytes > 0 {
            let fits = totals.neededBytes <= facts.diskFree
            output.fact(
                "to fetch",
                "\(ByteCount(totals.downloadBytes)), \(fits ? "fits on the disk" : "does not fit on the disk"): \(ByteCount(facts.diskFree)) free",
                fits ? .plain : .bad)
        }
        if let inspection = facts.inspection {
            output.line()
            // The license stands above, as the Hub says it.
            for line in inspection.lines where line.name != "license" || facts.record.license == nil {
                output.fact(line.name, line.text, line.isBad ? .bad : .plain)
            }
        } else if let memory = facts.memory {
            output.fact(
                "memory",
                memory.sentence(facts.variants.count > 1 ? "the largest set" : nil, of: facts.memoryTotal),
                memory.bytes <= facts.memoryTotal ? .plain : .bad)
        }
        showVerdict()
    }

    /// Whether hub runs it; of what the headers say nothing is left to say.
    private func showVerdict() {
        guard let verdict = facts.verdict else { return }
        if let inspection = facts.inspection, !inspection.facts.isSupported { return }
        output.fact("runs", verdict.sentence, verdict.isPossible ? .plain : .caution)
        for alternative in verdict.alternatives { output.fact("", alternative) }
    }

    /// The sets of weights, as `--quant` names them.
    private func showWeights() {
        var table = Table([
            .init("WEIGHTS", least: 8, cut: .middle), .init("FORMAT", optional: true),
            .init("FILES", .right, optional: true), .init("SIZE", .right), .init("CACHED", optional: true),
            .init("FITS"),
        ])
        for (variant, need) in zip(facts.variants, facts.needs) {
            let format = variant.format.identifier
            let fits = need.bytes <= facts.memoryTotal
            table.add([
                Styled(variant.name), variant.name == format ? "" : Styled(format),
                Styled(Humanize.grouped(variant.files.count)), Styled("\(ByteCount(variant.sizeBytes))"),
                facts.isCached(variant) ? Styled("yes", .good) : "",
                fits ? Styled("yes") : Styled("no, needs \(ByteCount(need.bytes))", .bad),
            ])
        }
        if !table.isEmpty { output.line() }
        output.table(table)
    }

    /// The files as a tree.
    func showFiles() {
        guard let plan = facts.plan else { return }
        output.line()
        output.table(FileTree(plan).table())
    }

    // MARK: For programs

    var json: JSONObject {
        func text(_ value: String?) -> JSON? { value.map { .string($0) } }
        func time(_ value: Double?) -> JSON? { value.map { .string(Timestamp.iso8601($0)) } }
        return [
            "id": .string(record.repository.id.name), "page": .string(facts.page),
            "commit": text(facts.commit?.hash),
            "refs": .array(facts.revisions.map(Self.json)),
            "task": text(record.task), "library": text(record.library), "license": text(record.license),
            "downloads": record.downloads.map { .int($0) }, "likes": record.likes.map { .int($0) },
            "parameters": record.parameters.map { .int($0) },
            "gated": record.gating.map { $0 == .open ? .bool(false) : .string($0.rawValue) },
            "private": record.isPrivate.map { .bool($0) }, "created_at": time(record.createdAt),
            "updated_at": time(record.updatedAt),
            "tags": record.tags.map { .array($0.map { .string($0) }) },
            "size_bytes": facts.plan.map { .int($0.totalBytes) },
            "files": facts.plan.map { .array($0.files.map(Self.json)) },
            "cached_bytes": (facts.plan?.cachedBytes ?? facts.cachedFiles?.reduce(0, +)).map { .int($0) },
            "pinned": .bool(facts.pin != nil), "damaged": facts.damaged == nil ? nil : .bool(true),
            "variants": facts.plan.map { _ in .array(facts.variants.map(Self.json)) },
            "inspection": facts.inspection?.json, "curated": facts.curated?.curatedJSON,
            "runs": facts.verdict?.json, "tried": (facts.tried ?? facts.triedRemotely.first)?.json,
            "tried_remotely": facts.triedRemotely.isEmpty ? nil : .array(facts.triedRemotely.map(\.json)),
            // Only where the Hub was not asked.
            "as_of": time(facts.seenAt), "popularity_as_of": time(facts.olderCount),
        ]
    }

    private static func json(_ revision: KnownRevision) -> JSON {
        .object([
            "name": .string(revision.name), "kind": .string(revision.kind.rawValue),
            "commit": .string(revision.commit.hash),
        ])
    }

    private static func json(_ entry: (file: RepositoryFile, state: PullPlan.State)) -> JSON {
        .object([
            "path": .string(entry.file.path), "size_bytes": .int(entry.file.size),
            "kind": .string(entry.file.isLFS ? "lfs" : "regular"), "digest": .string(entry.file.digest.hex),
            "cached": .bool(entry.state.isCached),
        ])
    }

    private static func json(_ variant: ModelVariant) -> JSON {
        .object([
            "name": .string(variant.name), "format": .string(variant.format.identifier),
            "quantization": variant.quantization.map { .string($0) },
            "files": .array(variant.files.map { .string($0) }), "size_bytes": .int(variant.sizeBytes),
        ])
    }
}
