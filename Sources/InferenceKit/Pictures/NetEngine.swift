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
        var use = net.memory(weights: net.storedBytes(weights), height: size.height, width: size.width)
        use.scratch = extent.bytes
        try reading.checkMemory(options, needed: use.bytes, context: 1)
        team = try ComputeTeam(threads: options.threads, kernels: options.kernels)
        model = try ConvolutionModel(
            net, try TensorSource(weights, reading.configuration?.quantization))
        space = ConvolutionSpace(extent, team)
        detail = "pictures of \(size.height) by \(size.width) pixels"
    }

    func outputs(_ pictures: [Picture], isCancelled: () -> Bool) throws(AIError) -> [[Float]] {
        let outputs = try run(pictures, classifies: true, isCancelled)
        for outputs in outputs { _ = try outputs.checkedFinite() }
        return outputs
    }

    /// What the classifier reads.
    func vectors(_ pictures: [Picture], isCancelled: () -> Bool) throws(AIError) -> [[Float]] {
        try run(pictures, classifies: false, isCancelled)
    }

    private func run(
        _ pictures: [Picture], classifies: Bool, _ isCancelled: () -> Bool
    ) throws(AIError) -> [[Float]] {
        var results: [[Float]] = []
        for picture in pictures {
            if isCancelled() { throw AIError(.cancelled, "interrupted") }
            let made = try processor.process(picture, layout: .pixels)
            let extent = ConvolutionExtent(model.net, height: made.height, width: made.width)
            guard extent.places > 0, space.extent.holds(extent) else {
                throw AIError(
                    .invalidInput,
                    "a picture of \(picture.width) by \(picture.height) pixels would become one of "
                        + "\(made.width) by \(made.height), which the model has no room for")
            }
            results.append(
                model.run(
                    made.values, height: made.height, width: made.width, classifies: classifies, space))
        }
        return results
    }
}
