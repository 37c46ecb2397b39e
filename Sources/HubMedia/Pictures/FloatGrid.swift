import CPictures
import Libc

/// A grid of vectors of floats, such as a model's embeddings of positions, or a picture in floats.
public struct FloatGrid: Sendable, Hashable {
    /// Rows.
    public let height: Int
    /// Vectors in a row.
    public let width: Int
    /// Numbers in a vector.
    public let channels: Int
    /// Vector after vector, row after row: `height * width * channels` numbers.
    public let values: [Float]

    /// A grid of these numbers.
    ///
    /// - Precondition: the sides are positive, and there are `height * width * channels` numbers.
    public init(height: Int, width: Int, channels: Int, values: [Float]) {
        precondition(height > 0 && width > 0 && channels > 0 && values.count == height * width * channels)
        (self.height, self.width, self.channels, self.values) = (height, width, channels, values)
    }

    /// How numbers between those of the grid are found.
    public enum Interpolation: Sendable, Hashable, CaseIterable {
        /// Linear between two.
        case bilinear
        /// Cubic between four, with a = −0.75; with antialiasing a = −0.5, as PyTorch has it.
        case bicubic
    }

    /// The grid in another size as PyTorch's `interpolate(size=…)` makes it, up to the rounding of sums.
    ///
    /// - Parameters:
    ///   - antialias: whether shrinking averages over all that is covered.
    ///   - alignCorners: whether the centres of the outermost vectors stay where they are, and not the edges of the grid.
    /// - Precondition: the sides are positive.
    public func resized(
        height: Int, width: Int, interpolation: Interpolation, antialias: Bool = false, alignCorners: Bool = false
    ) -> FloatGrid {
        precondition(height > 0 && width > 0)
        func plan(_ inputs: Int, _ outputs: Int) -> FloatPlan {
            antialias
                ? FloatPlan(averaging: inputs, outputs, interpolation, alignCorners: alignCorners)
                : FloatPlan(inputs, outputs, interpolation, alignCorners: alignCorners)
        }
        let across = plan(self.width, width)
            .applied(to: values, count: self.height, inputs: self.width, width: channels)
        let values = plan(self.height, height).applied(
            to: across, count: 1, inputs: self.height, width: width * channels)
        return FloatGrid(height: height, width: width, channels: channels, values: values)
    }

    /// The grid with zeros to the right and at the bottom.
    ///
    /// - Precondition: the new sides are not smaller.
    public func padded(height: Int, width: Int) -> FloatGrid {
        precondition(height >= self.height && width >= self.width)
        var result = [Float](repeating: 0, count: height * width * channels)
        let row = self.width * channels
        for y in 0..<self.height {
            result.replaceSubrange(
                y * width * channels..<y * width * channels + row, with: values[y * row..<(y + 1) * row])
        }
        return FloatGrid(height: height, width: width, channels: channels, values: result)
    }

    /// The grid blurred by a Gaussian over `2 * ceil(3 * sigma) + 1` vectors, its edges mirrored: torchvision's
    /// `gaussian_blur`.
    ///
    /// - Parameter sigma: the standard deviation in vectors.
    /// - Precondition: sigma is positive, and each side is longer than `ceil(3 * sigma)`.
    public func blurred(sigma: Float) -> FloatGrid {
        let across = FloatPlan(blurring: width, sigma: sigma)
            .applied(to: values, count: height, inputs: width, width: channels)
        let values = FloatPlan(blurring: height, sigma: sigma)
            .applied(to: across, count: 1, inputs: height, width: width * channels)
        return FloatGrid(height: height, width: width, channels: channels, values: values)
    }
}

/// What each output of a pass in floats takes.
private struct FloatPlan {
    private var indices: [Int32] = []
    private var weights: [Float] = []
    private let outputs: Int
    private let stride: Int

    /// Between the nearest inputs; PyTorch's `UpSampleKernel.cpp`.
    init(_ inputs: Int, _ outputs: Int, _ interpolation: FloatGrid.Interpolation, alignCorners: Bool) {
        let isCubic = interpolation == .bicubic
        self.outputs = outputs
        stride = isCubic ? 4 : 2
        let scale = Self.scale(inputs, outputs, alignCorners: alignCorners)
        for output in 0..<outputs {
            var place = alignCorners ? scale * Float(output) : scale * (Float(output) + 0.5) - 0.5
            if !isCubic { place = max(place, 0) }
            let floor = place.rounded(.down)
            let share = min(max(place - floor, 0), 1)
            for tap in 0..<stride {
                indices.append(Int32(min(max(Int(floor) + tap - (isCubic ? 1 : 0), 0), inputs - 1)))
                let distance = share - Float(tap - (isCubic ? 1 : 0))
                weights.append(isCubic ? Self.cubic(distance, -0.75) : 1 - abs(distance))
            }
        }
    }

    /// Over all that is covered; PyTorch's `_compute_indices_weights_aa`.
    init(averaging inputs: Int, _ outputs: Int, _ interpolation: FloatGrid.Interpolation, alignCorners: Bool) {
        let isCubic = interpolation == .bicubic
        let scale = Self.scale(inputs, outputs, alignCorners: alignCorners)
        let filterScale = max(scale, 1)
        let support = (isCubic ? 2 : 1) * filterScale
        self.outputs = outputs
        stride = Int(support.rounded(.up)) * 2 + 1
        for output in 0..<outputs {
            let center = scale * (Float(output) + 0.5)
            let start = max(Int(center - support + 0.5), 0)
            let count = min(max(min(Int(center + support + 0.5), inputs) - start, 0), stride)
            var row = (0..<stride).map { tap -> Float in
                guard tap < count else { return 0 }
                let distance = (Float(tap + start) - center + 0.5) * (1 / filterScale)
                return isCubic ? Self.cubic(distance, -0.5) : max(1 - abs(distance), 0)
            }
            let sum = row.reduce(0, +)
            if sum != 0 { for tap in row.indices { row[tap] /= sum } }
            weights += row
            indices += (0..<stride).map { Int32(min(start + $0, inputs - 1)) }
        }
    }

    /// A Gaussian around each input.
    init(blurring inputs: Int, sigma: Float) {
        let reach = Int((3 * sigma).rounded(.up))
        precondition(sigma > 0 && reach < inputs)
        (outputs, stride) = (inputs, 2 * reach + 1)
        let row = (-reach...reach).map { exp(-0.5 * (Float($0) / sigma) * (Float($0) / sigma)) }
        let sum = row.reduce(0, +)
        for output in 0..<inputs {
            weights += row.map { $0 / sum }
            for tap in -reach...reach {
                let place = abs(output + tap)
                indices.append(Int32(place < inputs ? place : 2 * (inputs - 1) - place))
            }
        }
    }

    private static func scale(_ inputs: Int, _ outputs: Int, alignCorners: Bool) -> Float {
        guard alignCorners else { return Float(inputs) / Float(outputs) }
        return outputs > 1 ? Float(inputs - 1) / Float(outputs - 1) : 0
    }

    private static func cubic(_ distance: Float, _ a: Float) -> Float {
        let x = abs(distance)
        if x <= 1 { return ((a + 2) * x - (a + 3)) * x * x + 1 }
        return x < 2 ? ((a * x - 5 * a) * x + 8 * a) * x - 4 * a : 0
    }

    /// A pass over `count` rows of `inputs` vectors.
    func applied(to source: [Float], count: Int, inputs: Int, width: Int) -> [Float] {
        [Float](unsafeUninitializedCapacity: count * outputs * width) { target, filled in
            hub_resize_floats(source, count, inputs, width, indices, weights, outputs, stride, target.baseAddress)
            filled = count * outputs * width
        }
    }
}
