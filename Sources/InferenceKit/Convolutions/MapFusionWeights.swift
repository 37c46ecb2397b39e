import CKernels
import HubCore

/// The rows of a tower to a map (https://arxiv.org/abs/2103.13413, section 3.2).
struct MapFusionWeights: Sendable {
    private enum Resizing: Sendable {
        case none
        case enlarged(EnlargementWeights)
        case reduced(ConvolutionWeights)
    }

    private struct Stage: Sendable {
        let readout: ConvolutionWeights?
        let projection: ConvolutionWeights
        let resizing: Resizing
        let output: ConvolutionWeights
    }

    private struct Residual: Sendable {
        let first: ConvolutionWeights
        let second: ConvolutionWeights
    }

    private struct Join: Sendable {
        let side: Residual?
        let sum: Residual
        let projection: ConvolutionWeights
    }

    private let description: ConvolutionNet.MapFusion
    /// Pixels along a side of the tower's squares, and rows before them.
    private let patch: Int
    private let first: Int
    private let stages: [Stage]
    private let joins: [Join]
    private let before: [ConvolutionWeights]
    private let after: [ConvolutionWeights]

    init(_ d: ConvolutionNet.MapFusion, _ tower: ConvolutionNet.Tower, _ source: TensorSource) throws(AIError) {
        (description, patch, first) = (d, tower.patch, tower.first)
        func weights(_ convolution: ConvolutionNet.Convolution) throws(AIError) -> ConvolutionWeights {
            try ConvolutionWeights(convolution, prefix: "", source)
        }
        func residual(_ d: ConvolutionNet.MapFusion.Residual) throws(AIError) -> Residual {
            Residual(first: try weights(d.first), second: try weights(d.second))
        }
        stages = try d.stages.map { stage throws(AIError) in
            var readout: ConvolutionWeights?
            if case .projected(let made) = stage.readout { readout = try weights(made) }
            let resizing: Resizing
            switch stage.resizing {
            case .none: resizing = .none
            case .enlarged(let larger): resizing = .enlarged(try EnlargementWeights(larger, source))
            case .reduced(let smaller): resizing = .reduced(try weights(smaller))
            }
            return Stage(
                readout: readout, projection: try weights(stage.projection), resizing: resizing,
                output: try weights(stage.output))
        }
        joins = try d.joins.map { join throws(AIError) in
            Join(
                side: try join.side.map(residual), sum: try residual(join.sum),
                projection: try weights(join.projection))
        }
        before = try d.head.before.map(weights)
        after = try d.head.after.map(weights)
    }

    /// - Parameters:
    ///   - rows: of each layer, the learned ones first.
    ///   - size: of the tower's plane.
    func apply(
        _ rows: [FloatBuffer], _ size: ConvolutionNet.Plane, _ space: ConvolutionSpace
    ) -> ConvolutionPlane {
        for rows in rows { _ = space.held(rows.count) }
        var features: [ConvolutionPlane] = []
        for (index, stage) in stages.enumerated() {
            features.append(feature(stage, description.stages[index].readout, rows[index], size, space))
        }
        var sum = features.removeLast()
        for (index, join) in joins.enumerated() {
            if index > 0 { add(features.removeLast(), to: sum, join, space) }
            residual(sum, join.sum, space)
            // Enlarging is linear, as this is, which is less work before.
            let made = join.projection.apply(sum, space)
            space.give(back: sum)
            let next = description.fitsStages ? features.last?.size : nil
            sum = resized(
                made, height: next?.height ?? 2 * made.size.height, width: next?.width ?? 2 * made.size.width, space
            )
        }
        return head(sum, description.pixels(size, patch: patch), space)
    }

    private func head(
        _ sum: ConvolutionPlane, _ pixels: ConvolutionNet.Plane, _ space: ConvolutionSpace
    ) -> ConvolutionPlane {
        let (head, small) = (description.head, through(before, sum, space))
        let large =
            head.isOfPixels
            ? resized(small, height: pixels.height, width: pixels.width, space)
            : resized(small, height: 2 * small.size.height, width: 2 * small.size.width, space)
        let out = through(after, large, space)
        if head.factor != 1 { hub_scale(space.team.team, out.start, head.factor, out.size.count) }
        return out
    }

    /// - Parameter first: it is given back.
    private func through(
        _ convolutions: [ConvolutionWeights], _ first: ConvolutionPlane, _ space: ConvolutionSpace
    ) -> ConvolutionPlane {
        var plane = first
        for convolution in convolutions {
            let made = convolution.apply(plane, space)
            space.give(back: plane)
            plane = made
        }
        return plane
    }

    /// In another size, the outermost places where they were; the plane is given back.
    private func resized(
        _ plane: ConvolutionPlane, height: Int, width: Int, keepsCorners: Bool = true, _ space: ConvolutionSpace
    ) -> ConvolutionPlane {
        let out = space.plane(.init(height: height, width: width, channels: plane.size.channels))
        PlaneResizing.resize(plane, keepsCorners: keepsCorners, into: out, space.team)
        space.give(back: plane)
        return out
    }

    // MARK: Stages

    private func feature(
        _ stage: Stage, _ readout: ConvolutionNet.MapFusion.Readout, _ rows: FloatBuffer,
        _ size: ConvolutionNet.Plane, _ space: ConvolutionSpace
    ) -> ConvolutionPlane {
        var plane = squares(rows, readout, size, space)
        if let readout = stage.readout { plane = through([readout], plane, space) }
        plane = through([stage.projection], plane, space)
        switch stage.resizing {
        case .none: break
        case .enlarged(let weights):
            let made = weights.apply(plane, space)
            space.give(back: plane)
            plane = made
        case .reduced(let weights): plane = through([weights], plane, space)
        }
        return through([stage.output], plane, space)
    }

    /// The rows of squares as a plane, with what the first row does to them.
    private func squares(
        _ rows: FloatBuffer, _ readout: ConvolutionNet.MapFusion.Readout, _ size: ConvolutionNet.Plane,
        _ space: ConvolutionSpace
    ) -> ConvolutionPlane {
        let width = size.channels
        var made = size
        if case .projected = readout { made.channels = 2 * width }
        let plane = space.plane(made)
        for place in 0..<size.places {
            let (row, out) = (rows.start + (first + place) * width, plane.start + place * made.channels)
            out.update(from: row, count: width)
            switch readout {
            case .ignored: break
            case .added: for index in 0..<width { out[index] += rows.start[index] }
            case .projected: (out + width).update(from: rows.start, count: width)
            }
        }
        return plane
    }

    // MARK: Sums

    /// Adds a stage to a sum; the stage is given back.
    private func add(
        _ stage: ConvolutionPlane, to sum: ConvolutionPlane, _ join: Join, _ space: ConvolutionSpace
    ) {
        var side = stage
        if side.size != sum.size {
            side = resized(side, height: sum.size.height, width: sum.size.width, keepsCorners: false, space)
        }
        if let weights = join.side { residual(side, weights, space) }
        hub_add(space.team.team, sum.start, side.start, 1, sum.size.count)
        space.give(back: side)
    }

    /// Adds to a plane what two convolutions make of it.
    private func residual(_ plane: ConvolutionPlane, _ weights: Residual, _ space: ConvolutionSpace) {
        let (size, team) = (plane.size, space.team.team)
        let active = space.plane(size)
        hub_activate(team, HUB_RELU, plane.start, nil, size.channels, size.places, size.channels, active.start)
        let made = through([weights.first, weights.second], active, space)
        hub_add(team, plane.start, made.start, 1, size.count)
        space.give(back: made)
    }
}
