import HubCore
import Libc

/// The biases of scores by the distance of two positions, for every distance that a text can have.
struct DistanceBiasBlock: Sendable {
    /// `[heads][2 * positions - 1]`: of a distance, at the distance plus the largest one.
    private let values: FloatBuffer
    private let positions: Int

    /// Numbers of a head.
    var stride: Int { 2 * positions - 1 }

    init(_ d: ModelDescription.DistanceBias, positions: Int, _ table: TensorTable) throws(AIError) {
        self.positions = positions
        let matrix = try table.matrix(.distanceBias)
        let (heads, stored) = (matrix.columns, matrix.widened())
        values = FloatBuffer(heads * (2 * positions - 1))
        for distance in 1 - positions..<positions {
            let bucket = d.bucket(distance)
            for head in 0..<heads {
                values.start[head * (2 * positions - 1) + distance + positions - 1] =
                    stored.start[
                        bucket * heads + head]
            }
        }
    }

    /// The biases of a row at a position, as if from position 0 on.
    func start(_ position: Int) -> UnsafePointer<Float> { UnsafePointer(values.start + positions - 1 - position) }
}

extension ModelDescription.DistanceBias {
    /// The bucket of a key so many positions after the query.
    /// https://github.com/huggingface/transformers/blob/main/src/transformers/models/mpnet/modeling_mpnet.py
    fileprivate func bucket(_ distance: Int) -> Int {
        let half = buckets / 2
        let (single, away) = (half / 2, abs(distance))
        let side = distance > 0 ? half : 0
        guard away >= single else { return side + away }
        // In float32, as the reference.
        let share = logf(Float(away) / Float(single)) / Float(log(Double(farthest) / Double(single)))
        return side + min(half - 1, single + Int(share * Float(half - single)))
    }
}
