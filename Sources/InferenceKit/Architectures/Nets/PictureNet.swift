import HubCore
import ModelFormats

/// A model of pictures whose layers are no transformer's, as a value: what loading, the check of tensors and the estimate of
/// memory read.
enum PictureNet: Sendable, Hashable {
    case convolutions(ConvolutionNet)
    case windows(WindowNet)

    var stored: any StoredNet {
        switch self {
        case .convolutions(let net): net
        case .windows(let net): net
        }
    }

    var labels: LabelSettings? {
        switch self {
        case .convolutions(let net): net.labels
        case .windows(let net): net.labels
        }
    }

    /// What it is for.
    var task: ModelTask {
        switch self {
        case .convolutions(let net): net.task
        case .windows(let net): net.labels == nil ? .imageEmbedding : .imageClassification
        }
    }

    /// - Throws: ``ErrorCode/malformedModel`` for sizes that do not fit each other.
    func check(_ path: String) throws(AIError) {
        switch self {
        case .convolutions(let net): try net.check(path)
        case .windows(let net): try net.check(path)
        }
    }
}

/// What a net reads of its files.
protocol StoredNet: Sendable {
    /// All tensors that are read, but for those of ``tower``.
    var tensors: [ConvolutionNet.Tensor] { get }
    /// Whether a stored tensor may be there though none needs it: counters of training, and heads that are not run.
    func isBeside(_ name: String) -> Bool
    /// A transformer before it; nil for none.
    var tower: ConvolutionNet.Tower? { get }
}

extension StoredNet {
    var tower: ConvolutionNet.Tower? { nil }

    /// - Throws: ``ErrorCode/unsupportedModel`` naming a stored tensor that this is not the net of.
    func checkBeside(_ names: some Sequence<String>, _ path: String) throws(AIError) {
        let left = Set(names).subtracting(tensors.map(\.name)).filter { !isBeside($0) }
        guard let name = left.min() else { return }
        let more = left.count > 1 ? " and \(left.count - 1) more" : ""
        throw .unsupported(path, "tensor \"\(name)\"\(more) is not part of this architecture")
    }

    /// Makes sure that no tensor is too large to be counted.
    ///
    /// - Throws: ``ErrorCode/malformedModel``.
    func checkSizes(_ path: String) throws(AIError) {
        for tensor in tensors {
            let elements = tensor.shape.reduce(Int64(1)) { $0.multipliedClamped(by: Int64($1)) }
            guard tensor.shape.allSatisfy({ $0 > 0 }), elements <= 1 << 31 else {
                throw .malformed(path, "tensor \"\(tensor.name)\" would have the shape \(tensor.shape)")
            }
        }
    }
}

extension ConvolutionNet: StoredNet {}
