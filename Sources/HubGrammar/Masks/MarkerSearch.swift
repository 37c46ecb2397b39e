/// Finds markers in a text, byte by byte (Aho and Corasick, https://doi.org/10.1145/360825.360855).
struct MarkerSearch {
    /// After a byte: a place in the search, or a marker that is complete.
    enum Step: Hashable {
        case at(Int32)
        case found(Int)
    }

    private let steps: [[Step]]

    init(_ markers: [[UInt8]]) {
        // A place is a beginning of some marker.
        var children: [[UInt8: Int]] = [[:]]
        var ends: [Int?] = [nil]
        for (number, marker) in markers.enumerated() where !marker.isEmpty {
            var place = 0
            for byte in marker {
                let child = children[place][byte] ?? children.count
                if child == children.count {
                    children[place][byte] = child
                    children.append([:])
                    ends.append(nil)
                }
                place = child
            }
            ends[place] = ends[place] ?? number
        }
        // From a place without such a child it goes on as from its longest end that is a place, too.
        var next = [[Int]](repeating: [Int](repeating: 0, count: 256), count: children.count)
        var ending = [Int](repeating: 0, count: children.count)
        var queue = [0]
        var at = 0
        while at < queue.count {
            let place = queue[at]
            at += 1
            for byte in UInt8.min...UInt8.max {
                let other = place == 0 ? 0 : next[ending[place]][Int(byte)]
                guard let child = children[place][byte] else {
                    next[place][Int(byte)] = other
                    continue
                }
                next[place][Int(byte)] = child
                ending[child] = other
                queue.append(child)
            }
        }
        steps = next.map { $0.map { place in ends[place].map { .found($0) } ?? .at(Int32(place)) } }
    }

    func step(_ place: Int32, _ byte: UInt8) -> Step { steps[Int(place)][Int(byte)] }
}
