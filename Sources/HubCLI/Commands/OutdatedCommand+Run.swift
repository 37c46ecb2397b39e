import Catalog
import Fetcher
import HubCore

extension OutdatedCommand {
    /// What is compared with the Hub.
    struct Request {
        /// References and globs; everything cached if there are none.
        var models: [String]

        init(_ arguments: ParsedArguments) { models = arguments.operands }
    }

    static func run(_ context: Context, _ request: Request) async throws {
        let selectors = try request.models.map { text throws(AIError) in
            (text: text, selector: try selector(text, context))
        }
        let workspace = try await context.workspace()
        guard !workspace.isOffline else {
            throw AIError(.offline, "hub outdated needs the network, which is switched off")
        }
        let state = try await workspace.state()
        var failures = Failures()
        var branches: [CachedBranch] = []
        if selectors.isEmpty {
            // The Hub's API lists only models, datasets and Spaces.
            branches = state.repositories.filter { $0.repository.kind != .kernel && !$0.hasForeignName }
                .flatMap(\.branches)
        }
        for (text, selector) in selectors {
            try await failures.attempt(context.output) {
                let found = try chosen(by: selector, text, state)
                branches += found.filter { !branches.contains($0) }
            }
        }
        branches.sort { ($0.repository.description, $0.name) < ($1.repository.description, $1.name) }
        let answers = try await BranchCheck(workspace.puller()).answers(branches)
        let view = OutdatedView(answers: answers, context: context)
        context.output.render(json: view.json, quiet: view.moved.map { "\($0.branch.reference)" }) { view.show() }
        view.remark(cache: state.layout.root, isEverything: selectors.isEmpty)
        // Many branches fail for one reason when the Hub is away.
        var told: Set<String> = []
        for error in view.failed.compactMap(\.error) where told.insert(error.message).inserted {
            try await failures.attempt(context.output) { throw error }
        }
        try failures.finish()
    }

    private static func selector(_ text: String, _ context: Context) throws(AIError) -> CacheSelector {
        let selector = try CacheSelector(text, context)
        guard case .reference(let reference) = selector else { return selector }
        guard reference.files == nil else {
            throw AIError(.invalidInput, "\"\(text.printable)\" names files; hub outdated looks at branches")
        }
        guard reference.revision.flatMap(Commit.init) == nil else {
            throw AIError(.invalidInput, "\"\(text.printable)\" is a commit, and commits do not move")
        }
        return selector
    }

    /// The cached branches that a word names.
    private static func chosen(by selector: CacheSelector, _ text: String, _ state: CacheState) throws(AIError)
        -> [CachedBranch]
    {
        let repositories = state.repositories.filter { selector.matches($0) && !$0.hasForeignName }
        guard !repositories.isEmpty else {
            throw AIError(
                .notCached, "nothing in \(state.layout.root) matches \(text.printable)",
                advice: "hub ls lists what is there")
        }
        let branches = repositories.flatMap(\.branches).filter { branch in
            guard case .reference(let reference) = selector, let revision = reference.revision else { return true }
            return branch.name == revision
        }
        guard !branches.isEmpty else {
            throw AIError(
                .notCached, "no branch in \(state.layout.root) matches \(text.printable)",
                advice:
                    "a model that was fetched by its commit has no branch; hub ls --revisions lists what is there")
        }
        return branches
    }
}

/// The forms of `hub outdated`.
private struct OutdatedView {
    let answers: [BranchAnswer]
    let context: Context

    var moved: [BranchAnswer] { answers.filter { $0.hasMoved && $0.error == nil } }
    /// What the Hub has not got any more.
    private var gone: [BranchAnswer] { answers.filter(\.isGone) }
    /// What could not be found out.
    var failed: [BranchAnswer] { answers.filter { $0.error != nil && !$0.isGone } }
    /// What pulling all of it would take, content that several want once.
    private var totals: PullTotals { PullTotals(moved.compactMap(\.plan)) }

    // MARK: For people

    func show() {
        var table = Table([
            .init("MODEL", least: 16, cut: .middle), .init("REF", least: 6, cut: .middle),
            .init("CACHED", optional: true), .init("UPDATED", optional: true), .init("TO FETCH", .right),
            .init("", least: 8),
        ])
        for answer in answers where answer.hasMoved || answer.isGone {
            let revision = answer.branch.revision
            let (state, style) = remark(on: answer)
            table.add([
                Styled(answer.branch.repository.description, .name), Styled(answer.branch.name),
                Styled(Humanize.age(of: revision.downloadedAt, now: context.now), .faint),
                Styled(
                    answer.info?.record.updatedAt.map { Humanize.age(of: $0, now: context.now) } ?? "", .faint),
                Styled(answer.plan.map { "\(ByteCount($0.totals.downloadBytes))" } ?? ""), Styled(state, style),
            ])
        }
        context.output.table(table)
        if moved.count > 1 {
            context.output.cutLine(
                Styled(
                    "\(moved.count) of \(Humanize.plural(answers.count, "branch", "branches")) have moved, \(ByteCount(totals.downloadBytes)) to fetch in all",
                    .faint))
        }
    }

    /// What there is to know of a branch besides its having moved.
    private func remark(on answer: BranchAnswer) -> (text: String, style: Styled.Style) {
        switch answer.error?.code {
        case .repositoryNotFound?: return ("gone, or private", .bad)
        case .revisionNotFound?: return ("the branch is gone", .bad)
        case .gated?: return ("gated", .caution)
        case .disabled?: return ("switched off", .bad)
        case .some: return ("unknown", .bad)
        case nil: break
        }
        if answer.choiceFault != nil { return ("what was chosen is gone", .bad) }
        if answer.branch.revision.isComplete == false { return ("partly cached", .caution) }
        return ("", .plain)
    }

    /// Remarks beside the list: that it is empty, and about names.
    func remark(cache: String, isEverything: Bool) {
        let output = context.output
        for answer in answers {
            if let name = answer.info?.newName {
                output.note("\(answer.branch.repository) is now called \(name.printable) on the Hub")
            }
            if answer.hasMoved, let gating = answer.info?.record.gating, gating != .open {
                output.note("\(answer.branch.repository) is gated: fetching it needs a token with access")
            }
        }
        if answers.isEmpty {
            if isEverything { output.note("no branch is cached in \(cache)") }
        } else if moved.isEmpty, gone.isEmpty, failed.isEmpty {
            let isOne = answers.count == 1
            output.note(
                "\(Humanize.plural(answers.count, "branch", "branches")) \(isOne ? "is" : "are") up to date")
        }
    }

    // MARK: For programs

    var json: JSONObject {
        [
            "models": .array(
                answers.filter { $0.hasMoved || $0.error != nil }.map { answer in
                    .object([
                        "id": .string(answer.branch.repository.id.name), "ref": .string(answer.branch.name),
                        "commit": .string(answer.branch.revision.commit.hash),
                        "latest_commit": answer.info.map { .string($0.commit.hash) },
                        "download_bytes": answer.plan.map { .int($0.totals.downloadBytes) },
                        "updated_at": answer.info?.record.updatedAt.map { .string(Timestamp.iso8601($0)) },
                        "error": (answer.error ?? answer.choiceFault).map { .object($0.json) },
                    ])
                })
        ]
    }
}
