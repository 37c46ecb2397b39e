import HubCore
import ModelFormats

/// A model's tensors by their role: the description says which there are, the architecture what they are called.
struct TensorTable: Sendable {
    let source: TensorSource
    let names: TensorNames
    let prefix: String
    private let shapes: [Key: [Int]]
    private var description: ModelDescription
    /// Whose the roles are.
    private var part = Part.whole

    private enum Part {
        case whole
        /// The encoder before a decoder.
        case encoder
        /// What reads pictures beside what reads texts.
        case tower
    }

    private struct Key: Hashable {
        let role: TensorRole
        let layer: Int?
        let isBias: Bool
    }

    init(_ description: ModelDescription, _ names: TensorNames, _ source: TensorSource) {
        self.description = description
        self.source = source
        self.names = names
        prefix = names.prefix(in: source.list.names)
        shapes = Dictionary(
            description.tensors.map { (Key(role: $0.role, layer: $0.layer, isBias: $0.isBias), $0.shape) },
            uniquingKeysWith: { first, _ in first })
    }

    /// That of the encoder before a decoder.
    func encoder(_ d: ModelDescription) -> TensorTable {
        var table = self
        (table.description, table.part) = (d, .encoder)
        return table
    }

    /// That of the model that reads pictures.
    func tower(_ d: ModelDescription) -> TensorTable {
        var table = self
        (table.description, table.part) = (d, .tower)
        return table
    }

    private func own(_ role: TensorRole) -> TensorRole {
        switch part {
        case .whole: role
        case .encoder: .encoder(role)
        case .tower: .tower(role)
        }
    }

    /// The names of this part.
    private var ownNames: TensorNames {
        switch part {
        case .whole: names
        case .encoder: names.encoders[0]
        case .tower: names.towers[0]
        }
    }

    /// The width of the model.
    var width: Int { description.width }

    /// The stored name of a tensor.
    private func name(_ role: TensorRole, _ layer: Int?, isBias: Bool = false) -> String {
        names.name(own(role), layer: layer, isBias: isBias, prefix: prefix)
    }

    func shape(_ role: TensorRole, _ layer: Int?, isBias: Bool = false) -> [Int]? {
        shapes[Key(role: own(role), layer: layer, isBias: isBias)]
    }

    private func members(_ role: TensorRole, isBias: Bool) -> [TensorRole] {
        ownNames.members(role, isBias: isBias)
    }

    func has(_ role: TensorRole, _ layer: Int?) -> Bool { shape(role, layer) != nil }

    /// A matrix that is in one piece.
    func matrix(_ role: TensorRole, _ layer: Int? = nil) throws(AIError) -> WeightMatrix {
        let (first, range, rows) = place(role, layer)
        return try whole(first, role, layer, rows: rows).rows(range)
    }

    /// The matrices of a tensor with three dimensions.
    func stack(_ role: TensorRole, _ layer: Int) throws(AIError) -> [WeightMatrix] {
        guard let shape = shape(role, layer) else { preconditionFailure("the description has no \(role)") }
        return try source.matrices(name(role, layer), count: shape[0], rows: shape[1], columns: shape[2])
    }

    /// A matrix, one part above the other.
    func parts(_ role: TensorRole, _ layer: Int? = nil) throws(AIError) -> [WeightMatrix] {
        let (first, range, rows) = place(role, layer)
        let pieces = pieces(range, of: rows, members(role, isBias: false), layer)
        guard pieces.count > 1 else { return [try matrix(role, layer)] }
        let whole = try whole(first, role, layer, rows: rows)
        var parts: [WeightMatrix] = []
        for piece in pieces { parts.append(try whole.rows(piece)) }
        return parts
    }

    /// Where the rows of a packed matrix are: `range` if each matrix is in one piece, otherwise some rows of each group
    /// of heads that share a key, or of each head where no keys are among the members.
    private func pieces(_ range: Range<Int>, of rows: Int, _ members: [TensorRole], _ layer: Int?) -> [Range<Int>] {
        guard ownNames.isPackedByHead, range.count < rows,
            let attention = layer.flatMap({ description.layers[$0].attention })
        else { return [range] }
        let hasKeys = members.contains { $0 == own(.key) }
        let groups = hasKeys ? attention.kvHeads : attention.heads
        return (0..<groups).map { group in
            let start = (group * rows + range.lowerBound) / groups
            return start..<start + range.count / groups
        }
    }

    /// The stored tensor that begins with a matrix of the role `first`.
    private func whole(_ first: TensorRole, _ role: TensorRole, _ layer: Int?, rows: Int) throws(AIError)
        -> WeightMatrix
    {
        guard let shape = shape(role, layer) else { preconditionFailure("the description has no \(role)") }
        return try source.matrix(
            name(first, layer), rows: rows, columns: shape[1], isTransposed: names.isTurned(own(role), layer: layer)
        )
    }

    /// The matrix of a convolution whose squares do not overlap: each row is a kernel.
    func kernel(_ role: TensorRole) throws(AIError) -> WeightMatrix {
        guard let shape = shape(role, nil) else { preconditionFailure("the description has no \(role)") }
        return try source.kernel(name(role, nil), shape)
    }

    /// A norm's weight.
    func vector(_ role: TensorRole, _ layer: Int? = nil) throws(AIError) -> FloatBuffer {
        guard let shape = shape(role, layer) else { preconditionFailure("the description has no \(role)") }
        return try source.vector(name(role, layer), shape[0])
    }

    /// All numbers of a tensor of any shape, row after row.
    func numbers(_ role: TensorRole, _ layer: Int? = nil) throws(AIError) -> FloatBuffer {
        guard let shape = shape(role, layer) else { preconditionFailure("the description has no \(role)") }
        return try source.numbers(name(role, layer), shape)
    }

    /// The bias of a matrix or a norm; nil if the description has none.
    func bias(_ role: TensorRole, _ layer: Int? = nil) throws(AIError) -> FloatBuffer? {
        guard shape(role, layer, isBias: true) != nil else { return nil }
        let (first, range, rows) = place(role, layer, isBias: true)
        let whole = try source.vector(name(first, layer, isBias: true), rows)
        guard range.count < rows else { return whole }
        return FloatBuffer(pieces(range, of: rows, members(role, isBias: true), layer).flatMap { whole.array[$0] })
    }

    /// A vector that only some files have; nil if this one does not.
    func optional(_ role: TensorRole, count: Int) throws(AIError) -> FloatBuffer? {
        let name = name(role, nil)
        return source.list.has(name) ? try source.vector(name, count) : nil
    }

    /// The tensor that holds a matrix, its rows there, and their number.
    private func place(_ role: TensorRole, _ layer: Int?, isBias: Bool = false) -> (
        first: TensorRole, range: Range<Int>, rows: Int
    ) {
        let members = members(role, isBias: isBias)
        var (start, range, rows) = (0, 0..<0, 0)
        for member in members {
            // A tied head has a bias alone.
            let count = (shape(member, layer) ?? shape(member, layer, isBias: true))?[0] ?? 0
            if member == role { range = start..<start + count }
            start += count
            rows += count
        }
        return (members[0], range, rows)
    }

    /// The names of the stored tensors that are not part of the model, sorted. Any other unused tensor means that the
    /// description is wrong, and so would be the output.
    ///
    /// - Throws: ``ErrorCode/unsupportedModel`` naming it.
    func tensorsBeside() throws(AIError) -> [String] {
        var left = Set(source.list.names)
        for (key, shape) in shapes {
            for name in names.stored(key.role, key.layer, isBias: key.isBias, shape, prefix: prefix) {
                for member in source.list.members(name) { left.remove(member) }
            }
        }
        if description.head?.isTied == true {
            for member in source.list.members(name(.head, nil)) { left.remove(member) }
        }
        // A model of texts may have parts that see and hear, which are not run.
        let unread: [TensorPart] = names.towers.isEmpty && names.firstRole == .embedding ? [.vision, .audio] : []
        left = left.filter { name in
            !names.isOptional(name) && !Packing.isOfCache(name) && !names.isOtherHead(name, prefix: prefix)
                && !([.buffer] + unread).contains(TensorPart(name))
                && (unread.isEmpty || !name.contains("multi_modal_projector"))
        }
        let used = Set(source.list.names).subtracting(left)
        left.subtract(source.list.tied(left, to: used))
        let beside = names.beside(left, prefix: prefix)
        left.subtract(beside)
        for name in left where try addsNothing(name) { left.remove(name) }
        guard let name = left.min() else { return beside.sorted() }
        let more = left.count > 1 ? " and \(left.count - 1) more" : ""
        throw .unsupported(source.path, "tensor \"\(name)\"\(more) is not part of this architecture")
    }

    /// Whether a tensor has no numbers, or is a bias of zeros, such as AutoGPTQ wrote for every matrix.
    private func addsNothing(_ name: String) throws(AIError) -> Bool {
        if source.list.has(name), try source.list.shape(name).contains(0) { return true }
        guard name.hasSuffix(".bias"), source.list.has(name.dropLast(4) + "weight") else { return false }
        return try source.numbers(name, source.list.shape(name)).array.allSatisfy { $0 == 0 }
    }
}

extension TensorNames {
    /// The tensors that are stored as one with a tensor.
    func members(_ role: TensorRole, isBias: Bool) -> [TensorRole] {
        if case .encoder(let inner) = role {
            return encoders[0].members(inner, isBias: isBias).map(TensorRole.encoder)
        }
        if case .tower(let inner) = role {
            return towers[0].members(inner, isBias: isBias).map(TensorRole.tower)
        }
        guard !isBias || plainBiases[role] == nil else { return [role] }
        if ExpertNames.roles.contains(role) { return experts[0].members(role) }
        return packed.first { $0.contains(role) } ?? [role]
    }

    /// The stored name of a tensor.
    func name(_ role: TensorRole, layer number: Int?, isBias: Bool, prefix: String) -> String {
        if case .encoder(let inner) = role {
            return encoders[0].name(inner, layer: number, isBias: isBias, prefix: prefix + encoders[0].prefix)
        }
        if case .tower(let inner) = role {
            // What stands before the prefix of texts stands before that of pictures.
            let isInside = prefix.hasSuffix(self.prefix) && !towers[0].isAtRoot
            let before = isInside ? prefix.dropLast(self.prefix.count) : ""
            return towers[0].name(inner, layer: number, isBias: isBias, prefix: before + towers[0].prefix)
        }
        let plain = isBias ? plainBiases[role] : nil
        guard let stem = plain ?? (isBias ? biases[role] ?? stems[role] : stems[role]) else {
            preconditionFailure("the architecture has no name for \(role)")
        }
        let start = outside.contains(role) ? "" : prefix
        let place = number.map { "\(layer)\($0)." } ?? ""
        if plain != nil || !isBias && self.plain.contains(role) { return start + place + stem }
        return start + place + stem + (joined.contains(role) ? "" : ".") + (isBias ? "bias" : "weight")
    }

    /// The tensors of a description as they are stored, packed ones as one.
    func stored(_ d: ModelDescription, prefix: String) -> [(role: TensorRole, name: String, shape: [Int])] {
        var found: [(role: TensorRole, name: String, shape: [Int])] = []
        var places: [String: Int] = [:]
        for need in d.tensors {
            let first = members(need.role, isBias: need.isBias)[0]
            let isTurned = isTurned(need.role, layer: need.layer) && need.shape.count == 2
            // What is needed of one tensor, and the side of its outputs.
            var (shape, side) = (isTurned ? need.shape.reversed() : need.shape, isTurned ? 1 : 0)
            if ExpertNames.roles.contains(need.role) {
                if experts[0].areSeparate { shape.removeFirst() } else { side = 1 }
                if experts[0].isTransposed, !need.isBias {
                    shape.swapAt(shape.count - 1, shape.count - 2)
                    side += 1
                }
            }
            if vectors.contains(need.role) { shape.removeFirst() }
            for name in stored(need.role, need.layer, isBias: need.isBias, need.shape, prefix: prefix) {
                if let place = places[name] {
                    found[place].shape[side] += shape[side]
                } else {
                    places[name] = found.count
                    found.append((first, name, shape))
                }
            }
        }
        return found
    }

    /// The names of the stored tensors that hold one of a description: more than one where experts have their own.
    func stored(_ role: TensorRole, _ layer: Int?, isBias: Bool, _ shape: [Int], prefix: String) -> [String] {
        guard ExpertNames.roles.contains(role), let layer else {
            return [name(members(role, isBias: isBias)[0], layer: layer, isBias: isBias, prefix: prefix)]
        }
        let start = "\(prefix)\(self.layer)\(layer)."
        return (0..<(experts[0].areSeparate ? shape[0] : 1)).map {
            start + experts[0].name(role, $0, isBias: isBias)
        }
    }

    /// Whether a tensor may be there, though no description has it: masks, frequencies, a tied head.
    func isOptional(_ stored: String) -> Bool {
        ignored.contains(where: stored.hasSuffix)
            || [TensorRole.head, .rotaryFactors, .longFactors, .shortFactors].contains { role in
                stems[role].map { stored == $0 + ".weight" || stored.hasSuffix("." + $0 + ".weight") } ?? false
            }
    }

    /// Whether a tensor belongs to a head that is not run.
    func isOtherHead(_ stored: String, prefix: String) -> Bool {
        let inner = stored.hasPrefix(prefix) ? stored.dropFirst(prefix.count) : stored[...]
        return heads.contains { stored.hasPrefix($0) || inner.hasPrefix($0) }
    }

    /// What stands before the names in a checkpoint, by that of the embedding: the bare decoder has no prefix, and a
    /// model for images has a longer one.
    func prefix(in names: some Sequence<String>) -> String {
        let mark = name(firstRole, layer: nil, isBias: false, prefix: "")
        let found = names.filter {
            $0.hasSuffix(mark) && ($0.count == mark.count || $0.dropLast(mark.count).hasSuffix("."))
                && !isOtherHead($0, prefix: "")
        }
        return found.min { ($0.count, $0) < ($1.count, $1) }.map { String($0.dropLast(mark.count)) } ?? prefix
    }
}
