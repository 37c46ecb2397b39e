/// The name someone probably meant.
enum NearestName {
    /// The nearest of the names, if it is near: at most one slip in a word of up to four letters, two up to eight, three beyond.
    /// Among equally near ones the first wins.
    static func of(_ typed: String, among names: [String]) -> String? {
        let allowed = typed.count <= 4 ? 1 : typed.count <= 8 ? 2 : 3
        let word = Array(typed.lowercased().utf8)
        var best: (name: String, distance: Int)?
        for name in names {
            let distance = distance(word, Array(name.lowercased().utf8))
            if distance <= allowed, distance < min(best?.distance ?? .max, name.utf8.count) {
                best = (name, distance)
            }
        }
        // A beginning of one name only is what people type who expect abbreviations.
        if best == nil, typed.count >= 2 {
            let longer = names.filter { $0.hasPrefix(typed) }
            if longer.count == 1 { return longer[0] }
        }
        return best?.name
    }

    /// Damerau-Levenshtein distance in its "optimal string alignment" form: insertions, deletions, substitutions and
    /// swaps of neighbours each count one.
    static func distance(_ left: [UInt8], _ right: [UInt8]) -> Int {
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
