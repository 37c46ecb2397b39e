import HubCore
import HubMedia
import ModelFormats

/// Pictures through a convolutional net, one after the other on all threads.
struct NetEngine: PictureEngine {
    let team: ComputeTeam
    private let model: ConvolutionModel
    private let processor: PictureProcessor
    // Used on the model's queue alone.
    nonisolated(unsafe) private let space: ConvolutionSpace
    nonisolated(unsafe) private let tower: TowerPlanes?

    var similarity: SimilarityBlock? { nil }
    let detail: String

    /// - Throws: ``ErrorCode/insufficientMemory``, ``ErrorCode/malformedModel``, ``ErrorCode/unsupportedModel``.
    init(
        _ reading: FolderReading, _ net: ConvolutionNet, _ weights: StoredWeights, _ options: ModelOptions
    ) throws(AIError) {
        processor = try PictureProcessor(folder: reading.folder)
        let sizes = try processor.usualSides
        let extents = sizes.map { ConvolutionExtent(net, height: $0.height, width: $0.width) }
        guard extents.allSatisfy({ $0.places > 0 }), let first = extents.first, let size = sizes.first else {
            throw .malformed(reading.folder, "its pictures are too small for its convolutions")
        }
        let extent = extents.reduce(first) { $0.union($1) }
        let use = net.memory(weights: net.storedBytes(weights), extent, format: options.usedCacheFormat)
        try reading.checkMemory(options, needed: use.bytes, context: 1)
        team = try ComputeTeam(threads: options.threads, kernels: options.kernels)
        let source = try TensorSource(weights, reading.configuration?.quantization)
        tower =
            if let tower = net.tower {
                try TowerPlanes(
                    tower, rows: extent.rows, source, team, isExact: options.isExact,
                    format: options.usedCacheFormat)
            } else { nil }
        model = try ConvolutionModel(net, source)
        space = ConvolutionSpace(extent, team)
        detail = "pictures of \(size.height) by \(size.width) pixels"
    }

    func outputs(_ pictures: [Picture], isCancelled: () -> Bool) throws(AIError) -> [[Float]] {
        try run(pictures, classifies: true, isCancelled)
    }

    /// What the classifier reads.
    func vectors(_ pictures: [Picture], isCancelled: () -> Bool) throws(AIError) -> [[Float]] {
        try run(pictures, classifies: false, isCancelled)
    }

    private func run(
        _ pictures: [Picture], classifies: Bool, _ isCancelled: () -> Bool
    ) throws(AIError) -> [[Float]] {
        guard model.net.map == nil else {
            throw AIError(.unsupportedModel, "the model makes maps of pictures, and no vectors")
        }
        var results: [[Float]] = []
        for picture in pictures {
            if isCancelled() { throw AIError(.cancelled, "interrupted") }
            let made = try pixels(picture, .pixels)
            results.append(
                model.run(
                    made.values, height: made.height, width: made.width, classifies: classifies, space))
        }
        return results
    }

    /// A picture as the net takes it.
    ///
    /// - Throws: ``ErrorCode/invalidInput`` for one that it has no room for.
    private func pixels(_ picture: Picture, _ layout: PicturePixels.Layout) throws(AIError) -> PicturePixels {
        let made = try processor.process(picture, layout: layout)
        let extent = ConvolutionExtent(model.net, height: made.height, width: made.width)
        guard extent.places > 0, space.extent.holds(extent) else {
            throw AIError(
                .invalidInput,
                "a picture of \(picture.width) by \(picture.height) pixels would become one of "
                    + "\(made.width) by \(made.height), which the model has no room for")
        }
        return made
    }

    func map(_ picture: Picture, isCancelled: () -> Bool) throws(AIError) -> FloatGrid {
        guard model.net.map != nil else {
            throw AIError(.unsupportedModel, "the model makes no map of pictures")
        }
        if isCancelled() { throw AIError(.cancelled, "interrupted") }
        let plane: ConvolutionPlane
        if let tower {
            let made = try pixels(picture, .planes)
            let size = ConvolutionNet.Plane(
                height: made.height / tower.tower.patch, width: made.width / tower.tower.patch,
                channels: tower.tower.description.width)
            let rows = try tower.rows(of: made, size)
            if isCancelled() { throw AIError(.cancelled, "interrupted") }
            plane = model.map(rows, size, space)
        } else {
            let made = try pixels(picture, .pixels)
            plane = model.map(made.values, height: made.height, width: made.width, space)
        }
        let values = Array(UnsafeBufferPointer(start: plane.start, count: plane.size.count))
        return FloatGrid(
            height: plane.size.height, width: plane.size.width, channels: plane.size.channels,
            values: try values.checkedFinite())
    }
}
