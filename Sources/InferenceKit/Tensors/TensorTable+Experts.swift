import HubCore

/// A matrix of each expert of a layer, with their biases.
struct ExpertMatrices: Sendable {
    let matrices: [WeightMatrix]
    /// `[experts][outputs]`
    let biases: FloatBuffer?
}

extension TensorTable {
    /// Whether gates are in one tensor with the matrices beside them, and their outputs alternate.
    var gatesAlternate: Bool { names.experts[0].alternates }

    /// The matrices of a layer's experts.
    func experts(_ role: TensorRole, _ layer: Int) throws(AIError) -> ExpertMatrices {
        let members = names.members(role, isBias: false)
        let rows = size(role, layer)[1]
        let first = rows * members.firstIndex(of: role)!
        return try experts(role, layer, rows: rows * members.count, kept: first..<first + rows)
    }

    /// Gates and the matrices beside them as the file has them, each an output of one and then of the other.
    func alternatingExperts(_ layer: Int) throws(AIError) -> ExpertMatrices {
        let rows = 2 * size(.expertGate, layer)[1]
        return try experts(.expertGate, layer, rows: rows, kept: 0..<rows)
    }

    /// - Parameters:
    ///   - rows: of an expert's matrix as it is stored,
    ///   - kept: and those that are wanted.
    private func experts(_ role: TensorRole, _ layer: Int, rows: Int, kept: Range<Int>) throws(AIError)
        -> ExpertMatrices
    {
        let size = size(role, layer)
        func stored(isBias: Bool) -> [String] { names.stored(role, layer, isBias: isBias, size, prefix: prefix) }
        var matrices: [WeightMatrix] = []
        let found = stored(isBias: false)
        for name in found {
            matrices += try source.matrices(
                name, count: size[0] / found.count, rows: rows, columns: size[2],
                isTransposed: names.experts[0].isTransposed)
        }
        var biases: [Float] = []
        for name in shape(role, layer, isBias: true) == nil ? [] : stored(isBias: true) {
            let stack = try source.matrix(name, rows: size[0] / found.count, columns: rows).widened().array
            for start in stride(from: 0, to: stack.count, by: rows) {
                biases += stack[start + kept.lowerBound..<start + kept.upperBound]
            }
        }
        var parts: [WeightMatrix] = []
        for matrix in matrices { parts.append(try matrix.rows(kept)) }
        return ExpertMatrices(
            matrices: parts, biases: biases.isEmpty ? nil : FloatBuffer(biases))
    }

    /// `[experts, outputs, inputs]`
    private func size(_ role: TensorRole, _ layer: Int) -> [Int] {
        guard let shape = shape(role, layer) else { preconditionFailure("the description has no \(role)") }
        return shape
    }
}
