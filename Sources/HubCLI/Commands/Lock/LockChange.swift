import Fetcher
import HubCore

/// What a lock says of a model before and after.
struct LockChange {
    let from: ModelLock.Entry?
    let to: ModelLock.Entry

    var isChange: Bool { from != to }

    /// A file that is new, gone or different; sorted by path.
    struct File {
        enum Change: String { case added, removed, changed }

        var change: Change
        var path: String
        var before: Int64?
        var after: Int64?
    }

    var files: [File] {
        let old = Dictionary((from?.files ?? []).map { (ExactText($0.path), $0) }) { $1 }
        let new = Dictionary(to.files.map { (ExactText($0.path), $0) }) { $1 }
        var out = to.files.compactMap { file -> File? in
            guard let before = old[ExactText(file.path)] else {
                return File(change: .added, path: file.path, after: file.size)
            }
            guard before != file else { return nil }
            return File(change: .changed, path: file.path, before: before.size, after: file.size)
        }
        out += (from?.files ?? []).filter { new[ExactText($0.path)] == nil }.map {
            File(change: .removed, path: $0.path, before: $0.size)
        }
        return out.sorted { ExactText.precedes($0.path, $1.path) }
    }
}

extension LockCommand {
    /// Shows what was written.
    static func show(_ changes: [LockChange], _ lock: ModelLock, _ path: String, _ context: Context) {
        let output = context.output
        let changed = changes.filter(\.isChange)
        output.render(json: json(changes, lock), quiet: changed.map { "\($0.to.reference)" }) {
            for change in changed { show(change, output) }
        }
        guard changed.isEmpty, !changes.isEmpty else { return }
        output.note("\(path.printable) is up to date")
    }

    private static func show(_ change: LockChange, _ output: Output) {
        let entry = change.to
        let name = Styled("\(entry.reference.shortCommit)", .name)
        guard let from = change.from else {
            let size = ByteCount(entry.totalBytes)
            return output.line(
                name
                    + Styled(
                        " locked at \(entry.commit.short): \(Humanize.plural(entry.files.count, "file")), \(size)"))
        }
        let commits =
            from.commit == entry.commit ? entry.commit.short : "\(from.commit.short) -> \(entry.commit.short)"
        let sizes = "\(ByteCount(from.totalBytes)) -> \(ByteCount(entry.totalBytes))"
        output.line(name + Styled(": \(commits), \(sizes)"))
        for file in change.files {
            switch file.change {
            case .added: output.line(Styled("  + \(file.path), \(ByteCount(file.after ?? 0))", .good))
            case .removed: output.line(Styled("  - \(file.path), \(ByteCount(file.before ?? 0))", .bad))
            case .changed:
                let (before, after) = (ByteCount(file.before ?? 0), ByteCount(file.after ?? 0))
                output.line(
                    Styled("  ~ \(file.path), \(before == after ? "\(after)" : "\(before) -> \(after)")", .caution))
            }
        }
        if change.files.isEmpty { output.line(Styled("  the files are the same", .faint)) }
    }

    private static func json(_ changes: [LockChange], _ lock: ModelLock) -> JSONObject {
        var document = json(lock, changes.map { ($0.to, nil) })
        document["models"] = .array(
            zip(changes, document["models"]?.array ?? []).map { change, model in
                guard var object = model.object else { return model }
                object["from_commit"] = change.from.map { .string($0.commit.hash) }
                object["changes"] = .array(
                    change.files.map {
                        .object([
                            "path": .string($0.path), "change": .string($0.change.rawValue),
                            "bytes": .int($0.after ?? $0.before ?? 0),
                        ])
                    })
                return .object(object)
            })
        return document
    }
}
