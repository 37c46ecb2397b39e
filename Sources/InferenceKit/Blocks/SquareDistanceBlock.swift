import CKernels
import HubCore
import HubMedia

/// What the places of a picture's squares add to scores, as the lists that the kernels read: of each head one for all
/// queries of a picture, one behind the other, of a number for each key.
struct SquareDistanceBlock: Sendable {
    private let description: ModelDescription.SquareDistances
    private let heads: Int
    /// `[distances][heads]`
    private let numbers: FloatBuffer

    init(_ d: ModelDescription.SquareDistances, heads: Int, _ layer: Int, _ table: TensorTable) throws(AIError) {
        (description, self.heads) = (d, heads)
        numbers = d.isShared ? try table.numbers(.distances) : try table.numbers(.squareDistances, layer)
    }

    /// Fills the workspace's lists for all sizes of pictures in a step.
    ///
    /// - Returns: them, and where those of a picture of so many squares down and across begin.
    func lists(_ step: Step, _ w: Workspace) -> (lists: hub_distances, starts: [[Int]: Int]) {
        var (starts, total) = ([[Int]: Int](), 0)
        var pictures: [PicturePlaces] = []
        for case let picture? in step.rows.map(\.picture) where starts[[picture.rows, picture.columns]] == nil {
            starts[[picture.rows, picture.columns]] = total
            pictures.append(picture)
            total += picture.distances.count
        }
        var lists = hub_distances()
        lists.stride = total + Int(HUB_BEHIND)
        lists.biases = UnsafePointer(w.squareLists.start)
        for picture in pictures {
            let numbers = numbers(rows: picture.rows, columns: picture.columns)
            let out = w.squareLists.start + (starts[[picture.rows, picture.columns]] ?? 0)
            picture.distances.withUnsafeBufferPointer {
                hub_list_distances(
                    w.team.team, numbers.start, heads, $0.baseAddress, $0.count, out, lists.stride)
            }
        }
        return (lists, starts)
    }

    /// The table for pictures of a size.
    private func numbers(rows: Int, columns: Int) -> FloatBuffer {
        let d = description
        guard rows != d.rows || columns != d.columns else { return numbers }
        let (height, width) = (2 * d.rows - 1, 2 * d.columns - 1)
        let all = numbers.array
        let grid = FloatGrid(
            height: height, width: width, channels: heads, values: Array(all[..<(height * width * heads)]))
        let resized = grid.resized(height: 2 * rows - 1, width: 2 * columns - 1, interpolation: .bilinear)
        return FloatBuffer(resized.values + all[(height * width * heads)...])
    }
}
