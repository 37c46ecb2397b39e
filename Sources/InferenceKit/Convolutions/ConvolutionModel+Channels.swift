import CKernels
import Libc

extension ConvolutionModel.Step {
    /// Shares of the channels, each convolved after what was made of the one before it is added; the last stays.
    static func shares(
        _ convolutions: [ConvolutionWeights], _ plane: ConvolutionPlane, _ space: ConvolutionSpace
    ) -> ConvolutionPlane {
        let (size, width) = (plane.size, convolutions[0].convolution.inputs)
        let out = space.plane(size)
        out.start.update(from: plane.start, count: size.count)
        var share = space.plane(size.with(channels: width))
        share.start.update(repeating: 0, count: share.size.count)
        for (number, convolution) in convolutions.enumerated() {
            for place in 0..<size.places {
                let (numbers, more) = (share.start + place * width, plane.start + place * size.channels)
                for channel in 0..<width { numbers[channel] += more[number * width + channel] }
            }
            let made = convolution.apply(share, space)
            space.give(back: share)
            for place in 0..<size.places {
                (out.start + place * size.channels + number * width)
                    .update(from: made.start + place * width, count: width)
            }
            share = made
        }
        space.give(back: share)
        return out
    }

    /// Of each place the sines and cosines of its row, then those of its column, counted from 1 and measured so that the
    /// last is a whole turn (https://arxiv.org/abs/2005.12872).
    static func places(
        _ channels: Int, _ size: ConvolutionNet.Plane, _ space: ConvolutionSpace
    ) -> ConvolutionPlane {
        let out = space.plane(size.with(channels: 2 * channels))
        let periods = (0..<channels).map { Float(pow(10_000, Double($0 / 2 * 2) / Double(channels))) }
        func waves(_ count: Int) -> [[Float]] {
            (1...count).map { number in
                let turn = Float(number) / (Float(count) + 1e-6) * Float(2 * Double.pi)
                return periods.enumerated().map { index, period in
                    let angle = Double(turn / period)
                    return Float(index % 2 == 0 ? sin(angle) : cos(angle))
                }
            }
        }
        let (rows, columns) = (waves(size.height), waves(size.width))
        for place in 0..<size.places {
            let numbers = rows[place / size.width] + columns[place % size.width]
            numbers.withUnsafeBufferPointer {
                (out.start + place * 2 * channels).update(from: $0.baseAddress!, count: 2 * channels)
            }
        }
        return out
    }
}

extension ConvolutionNet.ChannelAttention {
    /// - Parameter factors: of scores, one for each head.
    func apply(_ plane: ConvolutionPlane, _ factors: FloatBuffer, _ space: ConvolutionSpace) -> ConvolutionPlane {
        let out = space.plane(plane.size.with(channels: channels))
        for head in 0..<heads { attend(plane, head, factors.start[head], out) }
        return out
    }

    private func attend(_ plane: ConvolutionPlane, _ head: Int, _ factor: Float, _ out: ConvolutionPlane) {
        let (size, places, all) = (channels / heads, plane.size.places, plane.size.channels)
        let queries = plane.start + head * size
        let (keys, values) = (queries + channels, queries + 2 * channels)
        var scores = [Float](repeating: 0, count: size * size)
        var lengths = [Float](repeating: 0, count: 2 * size)
        for place in 0..<places {
            let (query, key) = (queries + place * all, keys + place * all)
            for i in 0..<size {
                for j in 0..<size { scores[i * size + j] += query[i] * key[j] }
                lengths[i] += query[i] * query[i]
                lengths[size + i] += key[i] * key[i]
            }
        }
        // A channel without any length has no direction.
        lengths = lengths.map { max($0.squareRoot(), 1e-12) }
        for i in 0..<size {
            for j in 0..<size { scores[i * size + j] *= factor / (lengths[i] * lengths[size + j]) }
            let row = scores[i * size..<(i + 1) * size]
            let largest = row.max() ?? 0
            let weights = row.map { exp(Double($0 - largest)) }
            let sum = weights.reduce(0, +)
            for j in 0..<size { scores[i * size + j] = Float(weights[j] / sum) }
        }
        for place in 0..<places {
            let (value, made) = (values + place * all, out.start + place * channels + head * size)
            for i in 0..<size {
                var sum: Float = 0
                for j in 0..<size { sum += scores[i * size + j] * value[j] }
                made[i] = sum
            }
        }
    }
}
