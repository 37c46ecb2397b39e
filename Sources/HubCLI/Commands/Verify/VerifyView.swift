import Fetcher
import HubCore

/// The forms of `hub verify`.
struct VerifyView {
    let context: Context
    let isRepairing: Bool
    /// What to pull for what is missing of a cached revision, by its folder.
    var references: [String: ModelReference] = [:]
    private var output: Output { context.output }
    /// A folder of --local-dir may hold anything.
    private static let mostExtra = 10

    // MARK: For people

    func show(_ results: [Verification]) {
        var repaired: [String: String] = [:]
        for result in results {
            output.line(Styled(name(result), .name) + Styled(": ") + state(result))
            for problem in result.problems where problem.kind != .extra {
                // Revisions share files; what was repaired for one of them is right in the others.
                var remark = ""
                if problem.isRepaired, let expected = problem.expected, let id = result.repository?.description {
                    let key = "\(id) \(said(expected))"
                    if let first = repaired[key], first != name(result) {
                        remark = " with \(first), which shares it"
                    }
                    repaired[key] = repaired[key] ?? name(result)
                }
                output.line(line(problem) + Styled(remark, .good))
            }
            let extra = result.problems.filter { $0.kind == .extra }
            for problem in extra.prefix(Self.mostExtra) { output.line(line(problem)) }
            if extra.count > Self.mostExtra {
                output.line(
                    Styled(
                        "  and \(extra.count - Self.mostExtra) more files that do not belong to the model", .faint))
            }
        }
        if results.count > 1 { output.line(Styled(summary(results), .faint)) }
        advise(results)
    }

    private func name(_ result: Verification) -> String {
        let id = result.repository?.description
        return switch result.place {
        case .snapshot(_, let commit): "\(id ?? "")@\(commit.short)"
        case .orphans: "\(id ?? ""), files that no revision uses"
        case .local(let folder, _): folder.path
        }
    }

    private func state(_ result: Verification) -> Styled {
        var facts: [String] = []
        if result.checked > 0 { facts.append("\(Humanize.plural(result.checked, "file")) read") }
        if result.skipped > 0 {
            let skipped = facts.isEmpty ? Humanize.plural(result.skipped, "file") : "\(result.skipped)"
            facts.append("\(skipped) verified earlier")
        }
        if result.unknown > 0 { facts.append("\(result.unknown) without a digest") }
        if result.absent > 0 { facts.append("\(result.absent) not downloaded") }
        facts.append("\(ByteCount(result.bytes))")
        let rest = Styled(" (" + facts.joined(separator: ", ") + ")", .faint)
        let repaired = result.problems.filter(\.isRepaired).count
        if !result.damage.isEmpty {
            let missing = result.damage.count { $0.kind == .missing }
            let damaged = result.damage.count - missing
            let words = [
                damaged == 0 ? "incomplete" : "damaged, \(Humanize.plural(damaged, "file"))",
                missing == 0 ? nil : "\(Humanize.plural(missing, "file")) missing",
            ]
            let word = words.compactMap(\.self).joined(separator: ", ")
            return Styled(word, .bad) + fetched(result) + rest
        }
        if repaired > 0 {
            return Styled("repaired, \(Humanize.plural(repaired, "file"))", .good) + fetched(result) + rest
        }
        // Of files that nothing needs, "OK" would say too much.
        if result.isSound == true { return Styled(result.commit == nil ? "no damage" : "OK", .good) + rest }
        return Styled("no damage found, but not everything could be checked", .caution) + rest
    }

    private func fetched(_ result: Verification) -> Styled {
        isRepairing ? Styled(", \(ByteCount(result.fetchedBytes)) fetched") : ""
    }

    private func line(_ problem: VerificationProblem) -> Styled {
        var text = "  \(problem.path): "
        switch problem.kind {
        case .extra: text += "does not belong to the model"
        case .missing: text += problem.isUnheardOf ? "missing; the model has no such file" : "missing"
        case .brokenLink: text += "broken link" + (problem.actual.map { " to \(said($0))" } ?? "")
        case .mismatch, .truncated:
            text += problem.kind.rawValue
            if let expected = problem.expected { text += ": expected \(said(expected))" }
            if let actual = problem.actual { text += ", found \(said(actual))" }
        }
        if !problem.ranges.isEmpty {
            text +=
                "; damaged: bytes "
                + problem.ranges.map { "\($0.lowerBound)-\($0.upperBound - 1)" }.joined(separator: ", ")
        }
        if problem.isForeign { text += "; changed since it was fetched" }
        if problem.isRepaired { return Styled(text, .faint) + Styled("; repaired", .good) }
        return Styled(text, problem.kind == .extra ? .faint : .plain)
    }

    private func said(_ finding: VerificationProblem.Finding) -> String {
        switch finding {
        case .text(let text): text
        case .bytes(let count): "\(count) bytes"
        }
    }

    private func summary(_ results: [Verification]) -> String {
        let damage = results.flatMap(\.damage)
        let missing = damage.count { $0.kind == .missing }
        let damaged = damage.count - missing
        let (checked, skipped) = results.reduce((0, 0)) { ($0.0 + $1.checked, $0.1 + $1.skipped) }
        return [
            Humanize.plural(results.count { $0.commit != nil }, "revision"),
            "\(ByteCount(results.reduce(0) { $0 + $1.bytes }))", "\(Humanize.plural(checked, "file")) read",
            "\(skipped) verified earlier",
            damaged == 0 ? "no damage" : "\(Humanize.plural(damaged, "file")) damaged",
        ].joined(separator: ", ") + (missing == 0 ? "" : ", \(Humanize.plural(missing, "file")) missing")
    }

    /// What can be done about the damage that is left.
    private func advise(_ results: [Verification]) {
        let damaged = results.filter { !$0.damage.isEmpty }
        if !isRepairing { adviseToFetch(damaged.filter { $0.commit != nil && !$0.lacksUnheardOf }) }
        for result in damaged where result.lacksUnheardOf && !isRepairing {
            output.note("hub info \(name(result)) --files lists its files")
        }
        if damaged.contains(where: { $0.commit == nil }) {
            output.note("hub gc --orphans deletes files that no revision uses")
        }
        for result in damaged where result.damage.contains(where: \.isForeign) {
            let reference = result.commit.flatMap { commit in result.repository.map { "\($0)@\(commit)" } } ?? "REF"
            let folder = ShellQuoting.word(result.path.printable)
            output.note(
                "files that may have been changed since the pull are kept; hub pull \(reference) --local-dir \(folder) --force replaces them"
            )
        }
    }

    /// A pull that was cut off is finished by another; damage needs a repair.
    private func adviseToFetch(_ damaged: [Verification]) {
        let incomplete = damaged.filter { $0.isIncomplete && references[$0.path] != nil }
        let most = 3
        if incomplete.count > most || damaged.contains(where: { references[$0.path] == nil || !$0.isIncomplete }) {
            guard damaged.contains(where: { $0.damage.contains { !$0.isForeign } }) else { return }
            output.note("repeat the command with --repair to fetch what is damaged or missing")
        } else if !incomplete.isEmpty {
            let names = incomplete.compactMap { references[$0.path]?.description }.joined(separator: " ")
            output.note("hub pull \(names) fetches what is missing")
        }
    }

    // MARK: For scripts

    /// The models with damage, each once, as words for `hub verify --repair`.
    func damaged(_ results: [Verification]) -> [String] {
        var names: [String] = []
        for result in results where !result.damage.isEmpty {
            let name =
                if case .local(let folder, _) = result.place { folder.path } else {
                    result.repository?.description ?? result.path
                }
            if !names.contains(name) { names.append(name) }
        }
        return names
    }

    func json(_ results: [Verification]) -> JSONObject { ["models": .array(results.map { .object(json($0)) })] }

    private func json(_ result: Verification) -> JSONObject {
        let isLocal = if case .local = result.place { true } else { false }
        return [
            "id": result.repository.map { .string($0.id.name) },
            "kind": result.repository.map { .string($0.kind.rawValue) },
            "commit": result.commit.map { .string($0.hash) },
            "path": isLocal ? .string(result.path) : nil,
            "checked": .int(Int64(result.checked)), "skipped": .int(Int64(result.skipped)),
            "absent": result.absent > 0 ? .int(Int64(result.absent)) : nil,
            "ok": result.isSound.map { .bool($0) }, "problems": .array(result.problems.map { .object(json($0)) }),
            "downloaded_bytes": isRepairing ? .int(result.fetchedBytes) : nil,
            "error": result.faults.first.map { .object($0.json) },
        ]
    }

    private func json(_ problem: VerificationProblem) -> JSONObject {
        func value(_ finding: VerificationProblem.Finding) -> JSON {
            switch finding {
            case .text(let text): .string(text)
            case .bytes(let count): .int(count)
            }
        }
        return [
            "path": .string(problem.path), "problem": .string(problem.kind.rawValue),
            "expected": problem.expected.map(value), "actual": problem.actual.map(value),
            "range": problem.ranges.isEmpty
                ? nil : .array(problem.ranges.map { .array([.int($0.lowerBound), .int($0.upperBound)]) }),
            "repaired": isRepairing && problem.kind != .extra ? .bool(problem.isRepaired) : nil,
        ]
    }
}

extension Verification {
    /// Whether all that is wrong is that the model does not have what was named.
    fileprivate var lacksUnheardOf: Bool { !damage.isEmpty && damage.allSatisfy(\.isUnheardOf) }
}
