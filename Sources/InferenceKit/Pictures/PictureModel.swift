public import HubCore
public import HubMedia
import ModelFormats

/// A model that sees, on the CPU: pictures become labels or vectors, where it has a side for texts too in one space with
/// them.
public final class PictureModel: Sendable {
    /// What the headers say.
    public let inspection: ModelInspection
    /// What it is for.
    public let task: ModelTask
    /// All that it can do, what it is for first.
    public var tasks: [ModelTask] { takesLabels ? [task, .imageEmbedding] : [task] }
    /// The labels of a classifier, in the order of its outputs; empty for another model.
    public let labels: [String]
    /// Seconds that opening took.
    public let loadSeconds: Double
    /// The side that turns texts into vectors of the same space; nil for a model of pictures alone.
    public let texts: LanguageModel?

    let computation: Computation
    private let processor: PictureProcessor
    private let pixels: ModelDescription.Pixels
    private let scores: LabelScores?
    // Used on the queue alone.
    nonisolated(unsafe) private let workspace: Workspace
    private let queue = ComputeQueue()

    init(_ reading: FolderReading, options: ModelOptions) throws(AIError) {
        let began = Clock.seconds
        let (_, described, names, weights) = try reading.runnable()
        let tower = described.tower
        var d = tower ?? described
        guard let pixels = d.pixels else { throw .unsupported(reading.folder, "the model reads no pictures") }
        processor = try PictureProcessor(folder: reading.folder)
        let rows = pixels.firstCount + (try Self.squares(processor, pixels, in: reading.folder))
        d.maxPositions = rows
        var whole = described
        if tower == nil { whole = d } else { whole.towers = [d] }
        computation = try Computation(
            reading, whole, names, weights, options, context: rows, isTower: tower != nil)
        workspace = computation.workspace()
        (self.pixels, task) = (pixels, described.task)
        (labels, scores) = (d.labels?.names ?? [], d.labels.map(LabelScores.init))
        inspection = ModelInspection(reading)
        texts =
            tower == nil
            ? nil : LanguageModel(try LoadedModel(reading, options: options), inspection, options)
        loadSeconds = Clock.seconds - began + reading.seconds
    }

    /// The most squares of a picture that is at most twice as long as it is wide, as the processor makes it, or of one like
    /// those of training.
    private static func squares(
        _ processor: PictureProcessor, _ pixels: ModelDescription.Pixels, in folder: String
    ) throws(AIError) -> Int {
        var most = pixels.rows * pixels.columns
        for (height, width) in [(512, 512), (512, 1024), (1024, 512)] {
            let blank = Picture(
                width: width, height: height, pixels: [UInt8](repeating: 0, count: 3 * width * height))
            let made = try processor.process(blank)
            let count = (made.height / pixels.patch) * (made.width / pixels.patch)
            guard count > 0 else {
                throw .malformed(
                    folder, "pictures of \(made.height) by \(made.width) pixels have no squares of \(pixels.patch)")
            }
            most = max(most, count)
        }
        return most
    }

    /// Opens a model folder.
    ///
    /// - Throws: ``ErrorCode/unsupportedModel`` for a model that sees nothing or that cannot be run,
    ///   ``ErrorCode/malformedModel`` for a broken file or a missing tensor, ``ErrorCode/insufficientMemory``.
    public static func open(folder: String, options: ModelOptions = ModelOptions()) async throws(AIError)
        -> PictureModel
    {
        try await ModelFolder.read(folder).openPictureModel(options)
    }

    /// The labels of pictures, of each all of them, best first.
    ///
    /// - Throws: ``ErrorCode/unsupportedModel`` for a model without labels, ``ErrorCode/invalidInput`` for a picture of
    ///   which no square of pixels is left, or more than the model has room for, ``ErrorCode/cancelled``.
    public func classify(_ pictures: [Picture]) async throws(AIError) -> [[TextLabel]] {
        guard let scores else {
            throw .unsupported(inspection.folder, "the model is for \(task.rawValue); it gives pictures no labels")
        }
        return try await outputs(pictures).map { outputs in
            LanguageModel.labels(labels, outputs.map(Double.init), scores)
        }
    }

    /// Pictures as vectors, in their order: in the space of the other side if there is one, else what labels are made of,
    /// or the first row after the last norm.
    ///
    /// - Parameter normalizes: whether vectors get length 1.
    /// - Throws: ``ErrorCode/invalidInput`` for a picture of which no square of pixels is left, or more than the model has
    ///   room for, ``ErrorCode/cancelled``.
    public func embed(_ pictures: [Picture], normalizes: Bool = false) async throws(AIError) -> [EmbeddingResult] {
        let d = computation.model.description
        return try await run(pictures) { run, inputs, isCancelled throws(AIError) in
            var vectors = [[Float]](repeating: [], count: inputs.count)
            if d.hasVectorHead || d.head?.takesVectors == true {
                vectors = try run.outputs(inputs, asVectors: !d.hasVectorHead, isCancelled: isCancelled)
            } else {
                try run.rows(inputs, isCancelled: isCancelled) { index, rows in
                    vectors[index] = Array(UnsafeBufferPointer(start: rows, count: d.width))
                }
            }
            var results: [EmbeddingResult] = []
            for vector in vectors {
                results.append(
                    EmbeddingResult(
                        vector: normalizes
                            ? SentenceLayers.unit(try vector.checkedFinite())
                            : try vector.checkedFinite()))
            }
            return results
        }
    }

    /// What the head makes of pictures.
    func outputs(_ pictures: [Picture]) async throws(AIError) -> [[Float]] {
        try await run(pictures) { run, inputs, isCancelled throws(AIError) in
            try run.outputs(inputs, isCancelled: isCancelled)
        }
    }

    /// A result of each picture; as many are computed at once as fit into a step.
    private func run<Value: Sendable>(
        _ pictures: [Picture],
        _ body:
            @escaping @Sendable (inout EncoderRun, [EncoderInput], () -> Bool) throws(AIError) -> [Value]
    ) async throws(AIError) -> [Value] {
        try await queue.run { [self] isCancelled throws(AIError) in
            var run = EncoderRun(computation, workspace)
            var results: [Value] = []
            var (inputs, rows) = ([EncoderInput](), 0)
            for picture in pictures {
                if isCancelled() { throw AIError(.cancelled, "interrupted") }
                let next = try input(picture)
                if rows + next.count > workspace.rows, !inputs.isEmpty {
                    results += try body(&run, inputs, isCancelled)
                    (inputs, rows) = ([], 0)
                }
                inputs.append(next)
                rows += next.count
            }
            return inputs.isEmpty ? results : results + (try body(&run, inputs, isCancelled))
        }
    }

    /// A picture as rows.
    func input(_ picture: Picture) throws(AIError) -> EncoderInput {
        let made = try processor.process(picture)
        let (rows, columns) = (made.height / pixels.patch, made.width / pixels.patch)
        guard rows > 0, columns > 0 else {
            throw AIError(
                .invalidInput,
                "of a picture of \(picture.width) by \(picture.height) pixels no square of \(pixels.patch) is left")
        }
        guard pixels.firstCount + rows * columns <= workspace.rows, let block = computation.model.pictures,
            let places = computation.model.places(rows: rows, columns: columns)
        else {
            throw AIError(
                .invalidInput,
                "a picture of \(picture.width) by \(picture.height) pixels has \(rows * columns) squares; "
                    + "the model takes \(workspace.rows - pixels.firstCount)")
        }
        let squares = made.squares(side: pixels.patch, rows: rows, columns: columns)
        return EncoderInput(block.inputs(squares), picture: places)
    }
}

extension PicturePixels {
    /// The numbers of squares of pixels, row after row of them: of each the first colour, row by row, then the next, as a
    /// convolution's kernel has them.
    fileprivate func squares(side: Int, rows: Int, columns: Int) -> [[Float]] {
        precondition(layout == .planes)
        var all: [[Float]] = []
        all.reserveCapacity(rows * columns)
        for row in 0..<rows {
            for column in 0..<columns {
                var square: [Float] = []
                square.reserveCapacity(3 * side * side)
                for color in 0..<3 {
                    for y in row * side..<(row + 1) * side {
                        let start = (color * height + y) * width + column * side
                        square += values[start..<start + side]
                    }
                }
                all.append(square)
            }
        }
        return all
    }
}

extension ModelFolder {
    /// Opens a model that sees.
    ///
    /// - Throws: What ``PictureModel/open(folder:options:)`` throws.
    public func openPictureModel(_ options: ModelOptions = ModelOptions()) async throws(AIError) -> PictureModel {
        try await ComputeQueue().run { [self] isCancelled throws(AIError) in
            if isCancelled() { throw AIError(.cancelled, "interrupted") }
            return try PictureModel(reading, options: options)
        }
    }
}
