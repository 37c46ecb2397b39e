package import HubCore
import ModelFormats

/// How two models differ: files by their digests, tensors by headers and, if asked for, values, settings by keys.
package struct ModelDiff: Sendable {
    /// What became of something from A to B.
    package enum Change: String, Sendable { case added, removed, reshaped, changed, same }

    package struct FileRow: Sendable {
        package var path: String
        package var change: Change
        /// Bytes in B; of a removed file, in A.
        package var bytes: Int64
        /// Whether its tensors are in other files on the other side, none missing and none known to differ.
        package var hasMoved = false
    }

    package struct TensorRow: Sendable {
        package var name: String
        package var change: Change
        /// The norm of the difference over the norm of A; nil if unknown.
        package var relative: Double?
        /// Type and shape, where they differ.
        package var from: String?
        package var to: String?
    }

    package struct Setting: Sendable {
        package var key: String
        package var from: JSON?
        package var to: JSON?
    }

    package var files: [FileRow] = []
    package var tensors: [TensorRow] = []
    package var settings: [Setting] = []
    /// Tensors alike whose values were not compared.
    package var uncompared = 0

    package var isDifferent: Bool {
        files.contains { $0.change != .same } || tensors.contains { $0.change != .same } || !settings.isEmpty
    }

    /// How much of the tensors' values is read.
    package enum Depth: Sendable, Hashable {
        case headers
        /// So many places of each tensor.
        case samples(Int)
        case everything
    }

    /// - Parameters:
    ///   - lists: whether what is the same is listed too.
    ///   - report: called with bytes of values that were compared.
    package init(
        _ a: DiffSide, _ b: DiffSide, depth: Depth, listsSame lists: Bool,
        report: @escaping @Sendable (Int64) -> Void = { _ in }
    ) async throws {
        let pairs = try await compareFiles(a, b)
        settings = try await SettingsDiff(a, b, changed: Set(pairs.filter { $0.change != .same }.map(\.path)))
            .settings()
        try await compareTensors(pairs, a, b, depth, lists, report)
        if !lists {
            files.removeAll { $0.change == .same }
            tensors.removeAll { $0.change == .same }
        }
    }

    /// A path on both sides.
    private struct Pair {
        var path: String
        var a: DiffSide.File?
        var b: DiffSide.File?
        var change: Change
    }

    private mutating func compareFiles(_ a: DiffSide, _ b: DiffSide) async throws -> [Pair] {
        let left = Dictionary(a.files.map { (ExactText($0.path), $0) }) { $1 }
        let right = Dictionary(b.files.map { (ExactText($0.path), $0) }) { $1 }
        var pairs: [Pair] = []
        for path in Set(left.keys).union(right.keys).map(\.text).sorted(by: ExactText.precedes) {
            let (one, two) = (left[ExactText(path)], right[ExactText(path)])
            var change = Change.changed
            if let one, let two {
                if one.size == two.size, try await a.holds(one, sameAs: two, of: b) { change = .same }
            } else {
                change = one == nil ? .added : .removed
            }
            pairs.append(Pair(path: path, a: one, b: two, change: change))
            files.append(FileRow(path: path, change: change, bytes: two?.size ?? one?.size ?? 0))
        }
        return pairs
    }

    // MARK: Tensors

    private mutating func compareTensors(
        _ pairs: [Pair], _ a: DiffSide, _ b: DiffSide, _ depth: Depth, _ lists: Bool,
        _ report: @escaping @Sendable (Int64) -> Void
    ) async throws {
        var compared: [TensorPair] = []
        // Files with one name are compared with each other; the tensors of the others may have moved.
        var (loose, looseB): ([String: TensorPair.Place], [String: TensorPair.Place]) = ([:], [:])
        var loosePaths: Set<String> = []
        for pair in pairs where TensorSpans.knows(pair.path) && (lists || pair.change != .same) {
            let spans = try await (pair.a.mapped(a.spans), pair.b.mapped(b.spans))
            if let fileA = pair.a, let fileB = pair.b, let one = spans.0, let two = spans.1 {
                compared += TensorPair.pairs(
                    one.places(fileA), two.places(fileB), isSame: pair.change == .same)
                if pair.change != .same { settings += SettingsDiff.metadata(one, two) }
                continue
            }
            if spans.0 != nil || spans.1 != nil { loosePaths.insert(pair.path) }
            if let file = pair.a, let one = spans.0 { loose.merge(one.places(file)) { first, _ in first } }
            if let file = pair.b, let two = spans.1 { looseB.merge(two.places(file)) { first, _ in first } }
        }
        compared += TensorPair.pairs(loose, looseB, isSame: false)
        compared.sort { $0.name < $1.name }
        try await judge(compared, a, b, depth, report)
        guard !loose.isEmpty, loose.count == looseB.count, loose.keys.allSatisfy({ looseB[$0] != nil }),
            tensors.allSatisfy({ $0.change == .same || loose[$0.name] == nil })
        else { return }
        for index in files.indices { files[index].hasMoved = loosePaths.contains(files[index].path) }
    }

    /// Values are compared four tensors at a time.
    private mutating func judge(
        _ pairs: [TensorPair], _ a: DiffSide, _ b: DiffSide, _ depth: Depth,
        _ report: @escaping @Sendable (Int64) -> Void
    ) async throws {
        let rows = try await withThrowingTaskGroup(of: (Int, TensorRow?).self) { group in
            var rows: [Int: TensorRow?] = [:]
            for (index, pair) in pairs.enumerated() {
                if index >= 4, let (done, row) = try await group.next() { rows[done] = row }
                group.addTask { (index, try await pair.row(a, b, depth, report)) }
            }
            for try await (done, row) in group { rows[done] = row }
            return rows
        }
        for index in pairs.indices {
            if let row = rows[index] ?? nil { tensors.append(row) } else { uncompared += 1 }
        }
    }
}

extension Optional where Wrapped: Sendable {
    fileprivate func mapped<Value: Sendable>(_ body: (Wrapped) async throws -> Value) async throws -> Value? {
        guard let self else { return nil }
        return try await body(self)
    }
}

extension TensorSpans {
    fileprivate func places(_ file: DiffSide.File) -> [String: TensorPair.Place] {
        Dictionary(spans.map { ($0.name, TensorPair.Place(file: file, span: $0)) }) { first, _ in first }
    }
}
