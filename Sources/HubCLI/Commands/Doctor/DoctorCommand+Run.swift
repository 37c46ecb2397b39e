import Fetcher
import HubCore

extension DoctorCommand {
    /// One part of the machine and who looks at it.
    typealias Section = (name: String, look: @Sendable (Context, Workspace) async throws -> [DoctorFinding])

    /// Every section there is, in the order of the output. Each is a function in a file of its own.
    static let sections: [Section] = [
        ("libraries", libraryFindings), ("paths", pathFindings), ("catalog", catalogFindings),
        ("cache", cacheFindings), ("account", accountFindings), ("network", networkFindings),
    ]

    /// A finding and what became of it.
    struct Outcome: Sendable {
        var finding: DoctorFinding
        /// What fixing it did; nil if it was not fixed.
        var fixed: String?

        var isBad: Bool { finding.level == .bad && fixed == nil }
    }

    static func run(_ context: Context, _ action: Action) async throws {
        let workspace = try await context.workspace(tellsFault: false)
        var outcomes: [Outcome] = []
        if action == .rebuild {
            outcomes = try await rebuilt(context, workspace)
        } else {
            for section in sections {
                for finding in try await look(section, context, workspace) {
                    outcomes.append(try await outcome(of: finding, fixes: action == .fix, context))
                }
            }
        }
        DoctorReport(context: context, outcomes: outcomes, offersFix: action != .fix).show()
        if outcomes.contains(where: \.isBad) { throw AnswerIsNo() }
    }

    /// The findings of a section. One that fails is a finding itself, and the others run all the same.
    private static func look(_ section: Section, _ context: Context, _ workspace: Workspace) async throws
        -> [DoctorFinding]
    {
        do { return try await section.look(context, workspace) } catch {
            let error = AIError.wrapping(error)
            guard error.code != .cancelled else { throw error }
            return [
                DoctorFinding(
                    section: section.name, name: "check", level: .bad, text: error.message,
                    advice: error.recoverySuggestion)
            ]
        }
    }

    private static func outcome(of finding: DoctorFinding, fixes: Bool, _ context: Context) async throws -> Outcome
    {
        guard fixes, let fix = finding.fix else { return Outcome(finding: finding) }
        do {
            let done = try await fix()
            guard !done.isWhole else { return Outcome(finding: finding, fixed: done.text) }
            var rest = finding
            rest.text += "; \(done.text); the rest is in use or changed within the hour"
            return Outcome(finding: rest)
        } catch {
            let error = AIError.wrapping(error)
            guard error.code != .cancelled else { throw error }
            var failed = finding
            failed.level = .bad
            failed.text += "; fixing it failed: \(error.message)"
            failed.advice = error.recoverySuggestion ?? finding.advice
            return Outcome(finding: failed)
        }
    }
}
