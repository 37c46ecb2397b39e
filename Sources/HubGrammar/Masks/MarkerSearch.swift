/// Finds markers in a text, byte by byte (Aho and Corasick, https://doi.org/10.1145/360825.360855).
struct MarkerSearch {
    /// After a byte: a place in the search, or a marker that is complete.
    enum Step: Hashable {
        case at(Int32)
        case found(Int)
    }

    private var steps: [[Step]] = []

    init(_ markers: [[UInt8]]) {
        // A place is a beginning of some marker.
        var places: [[UInt8]] = [[]]
        for marker in markers {
            for length in 1..<max(1, marker.count) where !places.contains(Array(marker.prefix(length))) {
                places.append(Array(marker.prefix(length)))
            }
        }
        for place in places {
            steps.append(
                (UInt8.min...UInt8.max).map { byte in
                    let text = place + [byte]
                    let suffixes = (0...text.count).lazy.map { text.dropFirst($0) }
                    for suffix in suffixes {
                        if let marker = markers.firstIndex(where: { suffix.elementsEqual($0) }) {
                            return .found(marker)
                        }
                        if let next = places.firstIndex(where: { suffix.elementsEqual($0) }) {
                            return .at(Int32(next))
                        }
                    }
                    return .at(0)
                })
        }
    }

    func step(_ place: Int32, _ byte: UInt8) -> Step { steps[Int(place)][Int(byte)] }
}
