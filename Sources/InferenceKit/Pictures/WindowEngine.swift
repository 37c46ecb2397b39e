import HubCore
import HubMedia
import ModelFormats

/// Pictures through a transformer with windows, one after the other on all threads.
struct WindowEngine: PictureEngine {
    let team: ComputeTeam
    private let model: WindowModel
    private let processor: PictureProcessor
    // Used on the model's queue alone.
    nonisolated(unsafe) private let space: WindowSpace

    var similarity: SimilarityBlock? { nil }
    let detail: String

    /// - Throws: ``ErrorCode/insufficientMemory``, ``ErrorCode/malformedModel``, ``ErrorCode/unsupportedModel``.
    init(
        _ reading: FolderReading, _ net: WindowNet, _ weights: StoredWeights, _ options: ModelOptions
    ) throws(AIError) {
        processor = try PictureProcessor(folder: reading.folder)
        let sizes = try processor.usualSides
        var extent: WindowExtent?
        for size in sizes {
            guard let plan = WindowPlan(net, height: size.height, width: size.width) else { continue }
            let next = WindowExtent(net, plan)
            extent = extent?.union(next) ?? next
        }
        guard let extent, let size = sizes.first else {
            throw .malformed(reading.folder, "its pictures are too small for its windows")
        }
        var use = net.memory(weights: net.storedBytes(weights), height: size.height, width: size.width)
        use.scratch = extent.bytes
        try reading.checkMemory(options, needed: use.bytes, context: 1)
        team = try ComputeTeam(threads: options.threads, kernels: options.kernels)
        model = try WindowModel(net, try TensorSource(weights, reading.configuration?.quantization), team)
        space = WindowSpace(extent, team, isExact: options.isExact)
        detail = "pictures of \(size.height) by \(size.width) pixels"
    }

    func outputs(_ pictures: [Picture], isCancelled: () -> Bool) throws(AIError) -> [[Float]] {
        try run(pictures, classifies: true, isCancelled)
    }

    /// The mean of the last rows, which the classifier reads.
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
            let plan = try plan(made, of: picture)
            results.append(
                model.run(
                    made.values, height: made.height, width: made.width, plan, classifies: classifies, space))
        }
        return results
    }

    /// - Throws: ``ErrorCode/invalidInput`` for a picture of a size that the model does not take.
    private func plan(_ made: PicturePixels, of picture: Picture) throws(AIError) -> WindowPlan {
        let net = model.net
        func refused(_ why: String) -> AIError {
            AIError(
                .invalidInput,
                "a picture of \(picture.width) by \(picture.height) pixels would become one of \(made.width) by "
                    + "\(made.height), \(why)")
        }
        guard let plan = WindowPlan(net, height: made.height, width: made.width) else {
            throw refused("which is too small for the model's windows")
        }
        if net.takesOneSize, made.height != net.height || made.width != net.width {
            throw refused("and the model takes \(net.width) by \(net.height) alone")
        }
        guard space.extent.holds(WindowExtent(net, plan)) else {
            throw refused("which the model has no room for")
        }
        return plan
    }
}
