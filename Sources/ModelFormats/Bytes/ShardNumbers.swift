import HubCore

/// The shards of a model's weights, by the numbers in their names: `model-00002-of-00003.safetensors`.
package enum ShardNumbers {
    /// The common parts of a set's names.
    private struct Name: Hashable {
        let stem: String
        let count: Int
        /// Digits of a number.
        let width: Int
        let ending: String

        func path(_ number: Int) -> String { "\(stem)-\(padded(number))-of-\(padded(count))\(ending)" }

        private func padded(_ number: Int) -> String {
            let digits = String(number)
            return String(repeating: "0", count: max(0, width - digits.count)) + digits
        }
    }

    /// Longer numbers are not shard numbers.
    private static let mostDigits = 5

    /// The missing names of incomplete sets, and each set's size. Lazy, because one name can imply 99,999 files.
    package static func missing(among paths: [String]) -> some Sequence<(path: String, count: Int)> {
        var sets: [Name: Set<Int>] = [:]
        for path in paths {
            if let (name, number) = parts(path) { sets[name, default: []].insert(number) }
        }
        let sorted = sets.sorted { ($0.key.path(1), $0.key.count) < ($1.key.path(1), $1.key.count) }
        return sorted.lazy.flatMap { name, found in
            (1...name.count).lazy.filter { !found.contains($0) }.map { (path: name.path($0), count: name.count) }
        }
    }

    private static func parts(_ path: String) -> (Name, Int)? {
        guard let dot = path.lastIndex(of: ".") else { return nil }
        let words = path[..<dot].split(separator: "-", omittingEmptySubsequences: false)
        guard words.count >= 4, words[words.count - 2] == "of", let last = words.last,
            last.count == words[words.count - 3].count, last.count <= mostDigits,
            let count = Int(last), let number = Int(words[words.count - 3]), number >= 1, number <= count
        else { return nil }
        let stem = words.dropLast(3).joined(separator: "-")
        return (Name(stem: stem, count: count, width: last.count, ending: String(path[dot...])), number)
    }
}
