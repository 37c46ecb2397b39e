import CPictures

/// Which inputs a pass takes for each of its outputs, and with what weights: Pillow's `precompute_coeffs`.
struct ResizePlan {
    /// The first input of each output.
    var starts: [Int32]
    /// How many inputs each output takes.
    let taps: [Int32]
    /// `stride` weights for each output, in units of 2^-22, zeros after the last tap.
    let weights: [Int32]
    let stride: Int

    /// The inputs that all outputs take together.
    var inputs: Range<Int> {
        guard let first = starts.first, let last = starts.last, let taps = taps.last else { return 0..<0 }
        return Int(first)..<Int(last + taps)
    }

    /// A plan from a part of a row of `size` pixels to `outputs` pixels.
    init(size: Int, part: Range<Float>, outputs: Int, filter: ResizeFilter) {
        let scale = Double(part.upperBound - part.lowerBound) / Double(outputs)
        let filterScale = max(scale, 1)
        let support = filter.support * filterScale
        // Groups of four, which the kernels read.
        let stride = (Int(support.rounded(.up)) * 2 + 1 + 3) / 4 * 4
        var starts = [Int32](repeating: 0, count: outputs), taps = starts
        var weights = [Int32](repeating: 0, count: outputs * stride)
        var row = [Double](repeating: 0, count: stride)
        for output in 0..<outputs {
            let center = Double(part.lowerBound) + (Double(output) + 0.5) * scale
            let start = max(0, Int(center - support + 0.5))
            let count = min(size, Int(center + support + 0.5)) - start
            var sum = 0.0
            for tap in 0..<count {
                // As Pillow does: the difference is multiplied, not divided.
                row[tap] = filter.weight((Double(tap + start) - center + 0.5) * (1 / filterScale))
                sum += row[tap]
            }
            for tap in 0..<count {
                let weight = (sum == 0 ? row[tap] : row[tap] / sum) * Double(1 << 22)
                weights[output * stride + tap] = Int32(weight < 0 ? weight - 0.5 : weight + 0.5)
            }
            (starts[output], taps[output]) = (Int32(start), Int32(count))
        }
        (self.starts, self.taps, self.weights, self.stride) = (starts, taps, weights, stride)
    }

    /// The same plan for rows that begin at an input.
    func from(_ first: Int) -> ResizePlan {
        var plan = self
        for output in plan.starts.indices { plan.starts[output] -= Int32(first) }
        return plan
    }

    func withPlan<Result>(_ body: (inout hub_resize_plan) -> Result) -> Result {
        starts.withUnsafeBufferPointer { starts in
            taps.withUnsafeBufferPointer { taps in
                weights.withUnsafeBufferPointer { weights in
                    var plan = hub_resize_plan(
                        starts: starts.baseAddress, taps: taps.baseAddress, weights: weights.baseAddress,
                        outputs: starts.count, stride: stride)
                    return body(&plan)
                }
            }
        }
    }
}
