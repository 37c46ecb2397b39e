/// What files under way are called in the rows of a bar, so that no two of them look the same.
struct FileLabels {
    /// What stands before the files of a model.
    private let prefixes: [String: String]

    init(_ files: [ProgressSnapshot.File]) {
        let models = Set(files.compactMap(\.model))
        let short = Dictionary(grouping: models) { $0.split(separator: "/").last.map(String.init) ?? $0 }
        prefixes = models.reduce(into: [:]) { prefixes, model in
            for (name, whole) in short where whole.contains(model) {
                prefixes[model] = (whole.count == 1 ? name : model) + ": "
            }
        }
    }

    func label(of file: ProgressSnapshot.File) -> String {
        (file.model.flatMap { prefixes[$0] } ?? "") + file.name
    }

    /// Names cut in the middle to `width` cells; those that would look the same are cut where they agree.
    static func fit(_ names: [String], _ width: Int, ellipsis: String) -> [String] {
        var fitted = names.map { DisplayWidth.fit($0, width, .middle, ellipsis: ellipsis) }
        for alike in Dictionary(grouping: names.indices, by: { fitted[$0] }).values {
            let group = alike.map { Array(names[$0]) }
            guard Set(group).count > 1 else { continue }
            let head = common(group)
            let tail = common(group.map { $0.dropFirst(head).reversed() })
            for index in alike { fitted[index] = cut(Array(names[index]), head, tail, width, ellipsis) }
        }
        return fitted
    }

    /// How many characters all of them begin with.
    private static func common(_ names: [[Character]]) -> Int {
        (0..<(names.map(\.count).min() ?? 0)).first { index in
            names.contains { $0[index] != names[0][index] }
        } ?? names.map(\.count).min() ?? 0
    }

    /// A name cut in its first `head` and its last `tail` characters alone, as far as that is enough.
    private static func cut(_ name: [Character], _ head: Int, _ tail: Int, _ width: Int, _ ellipsis: String)
        -> String
    {
        let own = String(name[head..<name.count - tail])
        let (start, end) = (String(name[..<head]), String(name[(name.count - tail)...]))
        let room = width - DisplayWidth.of(own) - 2 * DisplayWidth.of(ellipsis)
        guard room > 0 else { return DisplayWidth.fit(own, width, ellipsis: ellipsis) }
        // What stands before is worth more: a shard's number is read from its first digit.
        let before = DisplayWidth.fit(start, max(0, room - min(room / 3, tail)) + 1, ellipsis: ellipsis)
        let left = width - DisplayWidth.of(before) - DisplayWidth.of(own)
        if DisplayWidth.of(end) <= left { return before + own + end }
        return before + own + ellipsis + DisplayWidth.suffix(end, left - DisplayWidth.of(ellipsis))
    }
}
