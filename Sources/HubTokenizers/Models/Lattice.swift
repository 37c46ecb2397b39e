/// The working memory of the Viterbi search: the best path to each offset.
struct Lattice {
    var scores: [Double] = []
    var starts: [Int32] = []
    var ids: [Int32] = []
    var path: [(id: Int32, start: Int, end: Int)] = []

    mutating func clear(_ count: Int) {
        scores.removeAll(keepingCapacity: true)
        starts.removeAll(keepingCapacity: true)
        ids.removeAll(keepingCapacity: true)
        path.removeAll(keepingCapacity: true)
        scores.append(contentsOf: repeatElement(0, count: count + 1))
        starts.append(contentsOf: repeatElement(-1, count: count + 1))
        ids.append(contentsOf: repeatElement(-1, count: count + 1))
    }
}
