extension Jinja.Run {
    /// Values in stable order with their original indices.
    func sorted(_ values: [Value], isReversed: Bool = false) throws(Fault) -> [(place: Int, value: Value)] {
        try spend(cells: values.count)
        var rows = values.enumerated().map { (place: $0, value: $1) }
        var width = 1
        while width < rows.count {
            var merged: [(place: Int, value: Value)] = []
            merged.reserveCapacity(rows.count)
            for start in stride(from: 0, to: rows.count, by: 2 * width) {
                let middle = min(start + width, rows.count)
                try merge(rows[start..<middle], rows[middle..<min(middle + width, rows.count)], isReversed, &merged)
            }
            rows = merged
            width *= 2
        }
        return rows
    }

    private func merge(
        _ left: ArraySlice<(place: Int, value: Value)>, _ right: ArraySlice<(place: Int, value: Value)>,
        _ isReversed: Bool, _ result: inout [(place: Int, value: Value)]
    ) throws(Fault) {
        var (left, right) = (left, right)
        while let one = left.first, let two = right.first {
            let isSecondFirst =
                isReversed ? try precedes(one.value, two.value) : try precedes(two.value, one.value)
            result.append(isSecondFirst ? right.removeFirst() : left.removeFirst())
        }
        result += left
        result += right
    }
}
