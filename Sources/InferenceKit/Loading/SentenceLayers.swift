import CKernels
import HubCore
import ModelFormats

/// What a sentence model does with a pooled vector.
struct SentenceLayers: Sendable {
    private enum Layer: Sendable {
        case dense(Linear, ModelDescription.Activation?, Residual)
        case norm(weight: FloatBuffer, bias: FloatBuffer)
        case unit
    }

    /// What is added to a dense layer's output.
    private enum Residual: Sendable {
        case none
        case input
        case projected(Linear)
    }

    private var layers: [Layer] = []
    /// The mapped files of the weights.
    private var files: [MappedFile] = []
    /// Bytes of the tensors that they were made of.
    private(set) var weightsBytes: Int64 = 0
    /// The length of the vectors.
    private(set) var width: Int

    /// torch's default.
    private static let epsilon: Float = 1e-5

    /// Maps the weights of the layers.
    ///
    /// - Parameter width: The length of a model's rows.
    /// - Throws: ``ErrorCode/malformedModel`` for weights that do not fit, ``ErrorCode/unsupportedModel``.
    init(_ modules: SentenceModules, width: Int) throws(AIError) {
        self.width = width * modules.poolings.count
        for layer in modules.layers {
            switch layer {
            case .unit: layers.append(.unit)
            case .norm(let folder):
                let source = try Self.weights(folder)
                files += source.files
                layers.append(
                    .norm(
                        weight: try source.vector("norm.weight", self.width),
                        bias: try source.vector("norm.bias", self.width)))
                weightsBytes += source.readBytes
            case .dense(let folder, let outputs, let hasBias, let activation, let isResidual):
                let source = try Self.weights(folder)
                files += source.files
                let columns = self.width
                func linear(_ name: String, hasBias: Bool) throws(AIError) -> Linear {
                    Linear(
                        matrix: try source.matrix("\(name).weight", rows: outputs, columns: columns),
                        bias: hasBias ? try source.vector("\(name).bias", outputs) : nil)
                }
                var residual = Residual.none
                if isResidual {
                    residual = outputs == columns ? .input : .projected(try linear("residual", hasBias: false))
                }
                layers.append(.dense(try linear("linear", hasBias: hasBias), activation, residual))
                weightsBytes += source.readBytes
                self.width = outputs
            }
        }
        // Some weights were copied.
        try files.checkIntact()
    }

    private static func weights(_ folder: String) throws(AIError) -> TensorSource {
        try TensorSource(file: try file(folder))
    }

    /// The file with a layer's weights.
    static func file(_ folder: String) throws(AIError) -> String {
        let path = Path.join(folder, SafetensorsFolder.singleName)
        return try FileSystem.linkStatus(path) == nil ? Path.join(folder, TorchFolder.singleName) : path
    }

    /// Bytes of the weights of layers, by their headers.
    ///
    /// - Throws: ``ErrorCode/malformedModel`` for a broken file, or the error of the failed system call.
    static func weightsBytes(_ modules: SentenceModules) throws(AIError) -> Int64 {
        var bytes: Int64 = 0
        for layer in modules.layers {
            guard let folder = layer.folder else { continue }
            let stems = ["linear.", "residual.", "norm."]
            for tensor in try StoredWeights(file: try file(folder)).tensors
            where stems.contains(where: tensor.name.hasPrefix) {
                bytes = bytes.addedClamped(Int64(tensor.byteCount))
            }
        }
        return bytes
    }

    /// - Throws: ``ErrorCode/fileChanged`` if weights could not be read. Vectors computed since then may be wrong.
    func checkIntact() throws(AIError) { try files.checkIntact() }

    /// A pooled vector after all layers.
    func apply(_ pooled: [Float], _ team: ComputeTeam) -> [Float] {
        var vector = pooled
        for layer in layers {
            switch layer {
            case .unit: vector = Self.unit(vector)
            case .norm(let weight, let bias):
                let row = FloatBuffer(vector)
                hub_layer_norm(
                    team.team, row.start, row.count, 1, row.count, weight.start, bias.start, Self.epsilon,
                    row.start,
                    row.count)
                vector = row.array
            case .dense(let linear, let activation, let residual):
                let input = FloatBuffer(vector)
                let output = team.multiply(input, linear)
                if let activation {
                    hub_activate(
                        team.team, activation.kernel, output.start, nil, output.count, 1, output.count, output.start
                    )
                }
                let residual: FloatBuffer? =
                    switch residual {
                    case .none: nil
                    case .input: input
                    case .projected(let linear): team.multiply(input, linear)
                    }
                if let residual {
                    withExtendedLifetime(residual) {
                        hub_add(team.team, output.start, residual.start, 1, output.count)
                    }
                }
                vector = output.array
            }
        }
        return vector
    }

    /// A vector of the same direction and length 1.
    static func unit(_ vector: [Float]) -> [Float] {
        let length = vector.reduce(0.0) { $0 + Double($1) * Double($1) }.squareRoot()
        // As torch's normalize, which never divides by less.
        return vector.map { Float(Double($0) / max(length, 1e-12)) }
    }
}
