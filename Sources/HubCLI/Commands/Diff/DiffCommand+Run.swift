import Fetcher
import HubCore

extension DiffCommand {
    /// What is compared, and how closely.
    struct Request {
        var words: [String]
        var depth: ModelDiff.Depth
        var listsSame: Bool
        var decidesStatus: Bool

        init(_ arguments: ParsedArguments) {
            words = arguments.operands
            depth =
                arguments[sample].map { .samples($0) } ?? (arguments[tensors] ? .everything : .headers)
            listsSame = arguments[all]
            decidesStatus = arguments[exitCode]
        }
    }

    static func run(_ context: Context, _ request: Request) async throws {
        let workspace = try await context.workspace()
        let a = try await side(request.words[0], workspace, context)
        let b = try await side(request.words[1], workspace, context)
        let renderer = context.progress()
        let read = Lock(Int64(0))
        let diff: ModelDiff
        do {
            defer { renderer.finish() }
            diff = try await ModelDiff(a, b, depth: request.depth, listsSame: request.listsSame) { bytes in
                var snapshot = ProgressSnapshot(title: "\(a.name) and \(b.name)", phase: "comparing tensors")
                snapshot.doneBytes = read.withLock { total in
                    total += bytes
                    return total
                }
                renderer.update(snapshot)
            }
        }
        DiffView(diff: diff, output: context.output).show()
        if request.decidesStatus, diff.isDifferent { throw AnswerIsNo() }
    }

    private static func side(_ word: String, _ workspace: Workspace, _ context: Context) async throws -> DiffSide {
        if word.namesFolder {
            return try await Blocking.run { try DiffSide(folder: context.environment.expand(word)) }
        }
        let reference = try context.reference(word)
        return try await DiffSide(reference, workspace.puller())
    }
}

/// The forms of `hub diff`.
private struct DiffView {
    let diff: ModelDiff
    let output: Output

    func show() {
        output.render(json: json, quiet: diff.files.filter { $0.change != .same }.map(\.path)) {
            for file in diff.files { line(file.change, file.path, note(file)) }
            if !diff.files.isEmpty, !diff.tensors.isEmpty || !diff.settings.isEmpty { output.line() }
            for tensor in diff.tensors { line(tensor.change, tensor.name, note(tensor)) }
            if !diff.tensors.isEmpty, !diff.settings.isEmpty { output.line() }
            for setting in diff.settings { show(setting) }
        }
        if diff.uncompared > 0 {
            output.note(
                "\(Humanize.plural(diff.uncompared, "tensor")) of equal shape not compared; --sample 8 reads a little of each, --tensors all"
            )
        }
        if !diff.isDifferent { output.note("no differences") }
    }

    private func note(_ file: ModelDiff.FileRow) -> String {
        guard file.hasMoved else { return "\(ByteCount(file.bytes))" }
        let what = diff.uncompared == 0 ? "the same tensors" : "tensors of the same names and shapes"
        return "\(ByteCount(file.bytes)), \(what) in other files"
    }

    private func note(_ tensor: ModelDiff.TensorRow) -> String {
        switch tensor.change {
        case .reshaped: "\(tensor.from ?? "") -> \(tensor.to ?? "")"
        case .added: tensor.to ?? ""
        case .removed: tensor.from ?? ""
        case .changed: tensor.relative.map(Self.number) ?? ""
        case .same: ""
        }
    }

    /// Three significant digits.
    private static func number(_ value: Double) -> String {
        guard value > 0 else { return "0" }
        var (scaled, exponent) = (value, 0)
        while scaled < 1 { (scaled, exponent) = (scaled * 10, exponent - 1) }
        while scaled >= 10 { (scaled, exponent) = (scaled / 10, exponent + 1) }
        let digits = (scaled * 100).rounded() / 100
        guard exponent < -3 || exponent > 3 else { return "\((value * 10_000).rounded() / 10_000)" }
        return "\(digits)e\(exponent)"
    }

    private func line(_ change: ModelDiff.Change, _ name: String, _ note: String) {
        let (mark, style): (String, Styled.Style) =
            switch change {
            case .added: ("+", .good)
            case .removed: ("-", .bad)
            case .reshaped: ("!", .caution)
            case .changed: ("~", .caution)
            case .same: ("=", .faint)
            }
        output.line(
            Styled("\(mark) ", style) + Styled(name, style) + Styled(note.isEmpty ? "" : "  \(note)", .faint))
    }

    private func show(_ setting: ModelDiff.Setting) {
        func text(_ value: JSON?) -> String { value.map { $0.text() } ?? "nothing" }
        output.cutLine(
            Styled(setting.key, .name) + Styled(": \(text(setting.from)) -> \(text(setting.to))"))
    }

    private var json: JSONObject {
        [
            "files": .array(
                diff.files.map {
                    .object([
                        "path": .string($0.path), "change": .string($0.change.rawValue), "bytes": .int($0.bytes),
                        "moved": $0.hasMoved ? true : nil,
                    ])
                }),
            "tensors": .array(
                diff.tensors.map { tensor in
                    .object([
                        "name": .string(tensor.name), "change": .string(tensor.change.rawValue),
                        "relative": tensor.relative.map { .double($0) }, "from": tensor.from.map { .string($0) },
                        "to": tensor.to.map { .string($0) },
                    ])
                }),
            "config": .array(
                diff.settings.map { .object(["key": .string($0.key), "from": $0.from, "to": $0.to]) }),
        ]
    }
}
