import HubCore
import HubMedia
import ModelFormats

/// Pictures through a transformer: squares of pixels are rows, and as many pictures are computed at once as fit into a
/// step.
struct TowerEngine: ObjectEngine {
    let computation: Computation
    private let processor: PictureProcessor
    private let pixels: ModelDescription.Pixels
    // Used on the model's queue alone.
    nonisolated(unsafe) private let workspace: Workspace

    var team: ComputeTeam { computation.team }
    var similarity: SimilarityBlock? { computation.model.similarity }
    var detail: String { "pictures of \(computation.context.grouped) rows" }

    /// - Parameters:
    ///   - described: the whole model, which may have a side that reads texts.
    ///   - team: the threads of that side, where it is open.
    /// - Throws: what ``Computation/init(_:_:_:_:_:context:isTower:team:)`` throws.
    init(
        _ reading: FolderReading, _ described: ModelDescription, _ names: TensorNames, _ weights: StoredWeights,
        _ options: ModelOptions, team: ComputeTeam? = nil
    ) throws(AIError) {
        let tower = described.tower
        var d = tower ?? described
        guard let pixels = d.pixels else { throw .unsupported(reading.folder, "the model reads no pictures") }
        processor = try PictureProcessor(folder: reading.folder)
        // Boxes are shares of the picture, and not of what is added to it.
        if d.detection != nil, processor.padding != nil {
            throw .unsupported(reading.folder, [.setting("pad_size")])
        }
        let rows = pixels.firstCount + (try Self.squares(processor, pixels, in: reading.folder))
        d.maxPositions = rows
        var whole = described
        if tower == nil { whole = d } else { whole.towers = [d] }
        computation = try Computation(
            reading, whole, names, weights, options, context: rows, isTower: tower != nil, team: team)
        workspace = computation.workspace()
        self.pixels = pixels
    }

    /// The most squares of a picture that is at most twice as long as it is wide, as the processor makes it, or of one like
    /// those of training.
    private static func squares(
        _ processor: PictureProcessor, _ pixels: ModelDescription.Pixels, in folder: String
    ) throws(AIError) -> Int {
        if let side = processor.patchSide, side != pixels.patch {
            throw .malformed(
                folder, "its pictures are cut into squares of \(side); the model reads \(pixels.patch)")
        }
        var most = pixels.rows * pixels.columns
        // Other ratios than the usual ones may fill it better.
        if case .patches(_, let count) = processor.size { most = max(most, count) }
        for made in try processor.usualSides {
            let count = (made.height / pixels.patch) * (made.width / pixels.patch)
            guard count > 0 else {
                throw .malformed(
                    folder, "pictures of \(made.height) by \(made.width) pixels have no squares of \(pixels.patch)")
            }
            most = max(most, count)
        }
        return most
    }

    func outputs(_ pictures: [Picture], isCancelled: () -> Bool) throws(AIError) -> [[Float]] {
        if computation.model.detection != nil {
            return try objects(pictures, isCancelled: isCancelled).map { rows throws(AIError) in try rows.numbers()
            }
        }
        return try run(pictures, isCancelled) { run, inputs throws(AIError) in
            try run.outputs(inputs, isCancelled: isCancelled)
        }
    }

    /// In the space of the other side if there is one, else what labels are made of, or the first row after the last norm.
    func vectors(_ pictures: [Picture], isCancelled: () -> Bool) throws(AIError) -> [[Float]] {
        let d = computation.model.description
        return try run(pictures, isCancelled) { run, inputs throws(AIError) in
            if d.hasVectorHead || d.head?.takesVectors == true {
                return try run.outputs(inputs, asVectors: !d.hasVectorHead, isCancelled: isCancelled)
            }
            var vectors = [[Float]](repeating: [], count: inputs.count)
            try run.rows(inputs, isCancelled: isCancelled) { index, rows in
                vectors[index] = Array(UnsafeBufferPointer(start: rows, count: d.width))
            }
            return vectors
        }
    }

    /// By the rows between the first and those of squares.
    func objects(_ pictures: [Picture], isCancelled: () -> Bool) throws(AIError) -> [[ObjectRow]] {
        guard let detection = computation.model.detection, let queries = computation.model.description.detection
        else { return pictures.map { _ in [] } }
        let start = (pixels.firstCount - queries.queries) * computation.model.description.width
        let found = try run(pictures, isCancelled) { run, inputs throws(AIError) in
            var found = [[ObjectRow]](repeating: [], count: inputs.count)
            try run.rows(inputs, isCancelled: isCancelled) { index, rows in
                found[index] = detection.apply(rows + start, workspace)
            }
            return found
        }
        for rows in found { _ = try rows.numbers() }
        return found
    }

    /// A result of each picture.
    private func run<Result>(
        _ pictures: [Picture], _ isCancelled: () -> Bool,
        _ body: (inout EncoderRun, [EncoderInput]) throws(AIError) -> [Result]
    ) throws(AIError) -> [Result] {
        var run = EncoderRun(computation, workspace)
        var results: [Result] = []
        var (inputs, rows) = ([EncoderInput](), 0)
        for picture in pictures {
            if isCancelled() { throw AIError(.cancelled, "interrupted") }
            let next = try input(picture)
            if rows + next.count > workspace.rows, !inputs.isEmpty {
                results += try body(&run, inputs)
                (inputs, rows) = ([], 0)
            }
            inputs.append(next)
            rows += next.count
        }
        return inputs.isEmpty ? results : results + (try body(&run, inputs))
    }

    /// A picture as rows.
    func input(_ picture: Picture) throws(AIError) -> EncoderInput {
        let made = try processor.process(picture, layout: pixels.isMatrix ? .pixels : .planes)
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

extension PictureProcessor {
    /// The sides of what becomes of pictures of which no side is more than twice the other, those that become largest
    /// among them.
    ///
    /// - Throws: what ``process(_:layout:)`` throws.
    var usualSides: [(height: Int, width: Int)] {
        get throws(AIError) {
            var pictures = [(512, 512), (512, 1024), (1024, 512)]
            if let (shortest, longest) = size.edges, longest < 2 * shortest {
                pictures += [(shortest, longest), (longest, shortest)]
            }
            return try pictures.map { height, width throws(AIError) in try sides(height: height, width: width) }
        }
    }
}
