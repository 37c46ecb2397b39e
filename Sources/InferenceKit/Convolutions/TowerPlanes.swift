import CKernels
import HubCore
import ModelFormats

/// The vision transformer before a net: pictures to its rows after some layers. Used by one thread at a time.
final class TowerPlanes {
    let tower: ConvolutionNet.Tower
    private let model: Model
    private let workspace: Workspace
    private let cache: KeyValueCache
    /// Bytes of the tensors that it was made of.
    var weightsBytes: Int64 { model.weightsBytes }

    /// - Parameter rows: the most of a picture.
    /// - Throws: what ``Model/init(_:_:_:_:isTower:)`` throws.
    init(
        _ tower: ConvolutionNet.Tower, rows: Int, _ source: TensorSource, _ team: ComputeTeam, isExact: Bool,
        format: KeyValueFormat
    ) throws(AIError) {
        self.tower = tower
        var (d, names) = (tower.description, tower.names)
        d.maxPositions = rows
        // Those of the net beside it.
        names.heads += ["neck.", "head.", "auxiliary_head."]
        model = try Model(d, names, source, team)
        workspace = Workspace(d, team: team, isExact: isExact)
        cache = KeyValueCache(d.cacheShapes, format: format.kernel, capacity: rows)
    }

    /// A picture's rows after each of the layers that are asked for, `[rows][width]`, the learned ones first.
    ///
    /// - Precondition: the picture has at least one square, and no more rows than there is room for.
    /// - Throws: ``ErrorCode/fileChanged``.
    func rows(of pixels: PicturePixels, _ size: ConvolutionNet.Plane) throws(AIError) -> [FloatBuffer] {
        guard let block = model.pictures, let places = model.places(rows: size.height, columns: size.width) else {
            preconditionFailure("the tower reads no pictures")
        }
        let squares = pixels.squares(side: tower.patch, rows: size.height, columns: size.width)
        let inputs = block.inputs(squares)
        cache.truncate(to: 0, keepsPages: true)
        var step = Step()
        for (position, input) in inputs.enumerated() {
            step.append(
                StepRow(cache: cache, position: position, input: input, picture: places, length: inputs.count))
        }
        var taken: [FloatBuffer] = []
        try model.run(
            step, workspace,
            tap: { layers in
                guard tower.taps.contains(layers) else { return }
                let rows = FloatBuffer(inputs.count * tower.description.width)
                rows.start.update(from: workspace.hidden.start, count: rows.count)
                if tower.isNormed { model.normalize(rows, count: inputs.count, workspace.team) }
                taken.append(rows)
            })
        return taken
    }
}
