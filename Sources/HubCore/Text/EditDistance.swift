/// The number of typos between two words.
package enum EditDistance {
    /// Damerau-Levenshtein distance in its "optimal string alignment" form: insertions, deletions, substitutions and
    /// swaps of neighbours each count one.
    package static func between<Element: Equatable>(_ left: [Element], _ right: [Element]) -> Int {
        if left.isEmpty || right.isEmpty { return max(left.count, right.count) }
        var beforeLast: [Int] = []
        var last = Array(0...right.count)
        for i in 1...left.count {
            var row = [i]
            for j in 1...right.count {
                let cost = left[i - 1] == right[j - 1] ? 0 : 1
                var value = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + cost)
                if i > 1, j > 1, left[i - 1] == right[j - 2], left[i - 2] == right[j - 1] {
                    value = min(value, beforeLast[j - 2] + 1)
                }
                row.append(value)
            }
            beforeLast = last
            last = row
        }
        return last[right.count]
    }
}
