import HubCore
import HubMedia
import ModelFormats

/// Pictures through a convolutional net, whose map an encoder reads and a decoder looks for objects in, one after the other.
struct DetectorEngine: ObjectEngine {
    private let computation: Computation
    private let backbone: ConvolutionModel
    private let processor: PictureProcessor
    private let folder: String
    // Used on the model's queue alone.
    nonisolated(unsafe) private let workspace: Workspace
    nonisolated(unsafe) private let space: ConvolutionSpace

    var team: ComputeTeam { computation.team }
    var similarity: SimilarityBlock? { nil }
    let detail: String
    /// The most places of a map.
    private let places: Int

    /// - Throws: what ``Computation/init(_:_:_:_:_:context:isTower:)`` throws, and ``ErrorCode/malformedModel`` for pictures
    ///   that are too small for the net.
    init(
        _ reading: FolderReading, _ described: ModelDescription, _ names: TensorNames, _ weights: StoredWeights,
        _ options: ModelOptions
    ) throws(AIError) {
        folder = reading.folder
        let stored = Set(weights.tensors.map { TensorList.plain($0.name) })
        guard let configuration = reading.configuration,
            let net = try Backbones.of(configuration, stored: stored), var encoder = described.encoder
        else { throw .unsupported(folder, "the model finds no objects") }
        processor = try PictureProcessor(folder: folder)
        // Padding would need a mask, which nothing here reads.
        if processor.padding != nil { throw .unsupported(folder, [.setting("pad_size")]) }
        let extents = try processor.usualSides.map { ConvolutionExtent(net, height: $0.height, width: $0.width) }
        guard extents.allSatisfy({ $0.places > 0 }), let first = extents.first else {
            throw .malformed(folder, "its pictures are too small for its convolutions")
        }
        places = extents.map(\.map.places).max() ?? 1
        encoder.maxPositions = places
        var d = described
        d.encoders = [encoder]
        let context = max(places, d.maxPositions)
        computation = try Computation(reading, d, names, weights, options, context: context)
        backbone = try ConvolutionModel(
            net, try TensorSource(weights, configuration.quantization), isWhole: false)
        space = ConvolutionSpace(extents.reduce(first) { $0.union($1) }, computation.team)
        workspace = computation.workspace()
        detail = "maps of \(places.grouped) places"
    }

    func outputs(_ pictures: [Picture], isCancelled: () -> Bool) throws(AIError) -> [[Float]] {
        try objects(pictures, isCancelled: isCancelled).map { rows throws(AIError) in try rows.numbers() }
    }

    func vectors(_ pictures: [Picture], isCancelled: () -> Bool) throws(AIError) -> [[Float]] {
        throw .unsupported(folder, "the model finds objects; it gives pictures no vectors")
    }

    func objects(_ pictures: [Picture], isCancelled: () -> Bool) throws(AIError) -> [[ObjectRow]] {
        guard let detection = computation.model.detection else { return pictures.map { _ in [] } }
        var run = EncoderRun(computation, workspace)
        var found: [[ObjectRow]] = []
        for picture in pictures {
            if isCancelled() { throw AIError(.cancelled, "interrupted") }
            var rows: [ObjectRow] = []
            try run.rows([try input(picture)], isCancelled: isCancelled) { _, made in
                rows = detection.apply(made, workspace)
            }
            _ = try rows.numbers()
            found.append(rows)
        }
        return found
    }

    /// The rows that look for objects, and the map of the picture that they look at.
    private func input(_ picture: Picture) throws(AIError) -> EncoderInput {
        let made = try processor.process(picture, layout: .pixels)
        let extent = ConvolutionExtent(backbone.net, height: made.height, width: made.width)
        guard extent.places > 0, space.extent.holds(extent), extent.map.places <= places else {
            throw AIError(
                .invalidInput,
                "a picture of \(picture.width) by \(picture.height) pixels would become one of "
                    + "\(made.width) by \(made.height), which the model has no room for")
        }
        let (size, map) = backbone.places(made.values, height: made.height, width: made.width, space)
        return EncoderInput(
            [RowInput](tokens: 0..<computation.model.description.vocabulary),
            answering: map.map { .patch($0) },
            picture: computation.model.places(rows: size.height, columns: size.width))
    }
}
