/// How much memory a decoder needs, from its headers alone.
package struct MemoryEstimate: Sendable, Hashable {
    /// The weights, as stored.
    package let weightsBytes: Int64
    /// Keys and values of one position in all layers, as float32.
    package let cacheBytesPerPosition: Int64
    /// Activations of one position that is being computed, as float32.
    package let activationBytesPerPosition: Int64
    /// How many positions are computed at a time at most.
    package let batch: Int

    package init(weightsBytes: Int64, configuration: ModelConfiguration?, batch: Int) {
        func product(_ factors: Int?...) -> Int64 {
            factors.reduce(Int64(1)) { left, right in
                let (value, overflow) = left.multipliedReportingOverflow(by: Int64(right ?? 0))
                return overflow ? .max : value
            }
        }
        let c = configuration
        self.weightsBytes = weightsBytes
        cacheBytesPerPosition = product(2, c?.layers, c?.kvHeads, c?.headSize, 4)
        let width = product(4, c?.hiddenSize).addingReportingOverflow(product(2, c?.intermediateSize)).partialValue
        activationBytesPerPosition =
            4 &* (width &+ product(2, c?.heads, c?.headSize) &+ product(2, c?.kvHeads, c?.headSize))
        self.batch = batch
    }

    /// Weights, keys and values of `context` positions, and activations, in bytes; at most `Int64.max`.
    package func bytes(context: Int) -> Int64 {
        func times(_ left: Int64, _ right: Int) -> Int64 {
            let (value, overflow) = left.multipliedReportingOverflow(by: Int64(right))
            return overflow || value < 0 ? .max : value
        }
        return [times(cacheBytesPerPosition, context), times(activationBytesPerPosition, min(batch, context))]
            .reduce(weightsBytes) { left, right in
                let (value, overflow) = left.addingReportingOverflow(right)
                return overflow ? .max : value
            }
    }
}
