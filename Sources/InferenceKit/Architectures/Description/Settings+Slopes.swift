import HubCore
import Libc
import ModelFormats

extension Settings {
    /// More positions than any model with slopes has: a list for each head is kept.
    private static let mostPositions = 1 << 17

    /// Lets heads lower scores by the distance (ALiBi, https://arxiv.org/abs/2108.12409). The slopes of a power of two heads
    /// are a geometric series down to 2^-most; what more heads there are have every second one of twice as many.
    ///
    /// - Parameter change: of a slope, where a family rounds or scales it.
    /// - Throws: ``ErrorCode/malformedModel`` for more positions than any model has.
    func slope(_ model: inout ModelDescription, most: Double = 8, _ change: (Float) -> Float = { $0 })
        throws(AIError)
    {
        guard model.maxPositions <= Self.mostPositions else {
            throw .malformed(path, "\(model.maxPositions) positions are more than \(Self.mostPositions)")
        }
        let heads = model.layers.first?.attention?.heads ?? 0
        let even = 1 << max(0, Int.bitWidth - 1 - heads.leadingZeroBitCount)
        let slopes = (1...even).map { pow(2, -most * Double($0) / Double(even)) }
        let more = (1...even).map { pow(2, -most * Double(2 * $0 - 1) / Double(2 * even)) }
        model.distances = ModelDescription.Distances(
            rows: 0, buckets: .slopes((slopes + more).prefix(heads).map { change(Float($0)) }))
    }
}
