import HubCore

/// Finds the tensors in the result of a pickle.
struct TorchWalk {
    private(set) var tensors: [TorchFile.Tensor] = []
    /// The first tensor with impossible properties.
    private(set) var fault: String?

    private let machine: PickleMachine
    private let storages: [String: TorchStorage]?
    private let fileSize: Int
    private var visited: Set<Int> = []
    private var open: [Frame] = []
    private var nameBytes = 0

    /// Maximum length of a name, and of all names together, in bytes.
    private static let (nameLimit, namesLimit) = (4096, 64 << 20)
    /// More than the largest checkpoints have.
    private static let tensorLimit = 250_000
    /// Torch's maximum number of dimensions.
    private static let dimensionLimit = 64

    /// The next component of a child's name.
    private enum Key {
        case none
        case text(Int)
        case number(Int64)
    }

    /// A node and the index of its next child.
    private struct Frame {
        let node: Int
        let key: Key
        /// Bytes of its name and the separator.
        let nameBytes: Int
        var next = 0
    }

    /// - Parameters:
    ///   - fileSize: bytes of the whole file, which no tensor can exceed.
    ///   - storages: by their names in lower case; nil if the file has none.
    init(_ machine: PickleMachine, fileSize: Int, storages: [String: TorchStorage]?) {
        self.machine = machine
        self.fileSize = fileSize
        self.storages = storages
    }

    /// Walks dictionaries, lists and objects from a node; names are joined by dots. Each is visited once, so cycles
    /// end.
    mutating func collect(_ root: Int) {
        visit(root, .none)
        while var frame = open.popLast() {
            guard let (node, key) = child(of: &frame) else { continue }
            open.append(frame)
            guard visit(node, key) else { return }
        }
    }

    /// - Returns: whether there is room for more.
    @discardableResult
    private mutating func visit(_ node: Int, _ key: Key) -> Bool {
        switch machine.nodes[node] {
        case .call:
            guard let parts = tensorParts(node) else { break }
            let name = name(key)
            nameBytes += name.utf8.count
            guard tensors.count < Self.tensorLimit, nameBytes <= Self.namesLimit else {
                fault = fault ?? "it has more than \(tensors.count) tensors, or their names are too long"
                return false
            }
            if let tensor = built(parts.arguments, isTyped: parts.isTyped, name) { tensors.append(tensor) }
            return true
        case .dictionary, .list, .tuple: break
        default: return true
        }
        let length = (open.last?.nameBytes ?? 0) + 1 + length(key)
        guard length <= Self.nameLimit, visited.insert(node).inserted else { return true }
        open.append(Frame(node: node, key: key, nameBytes: length))
        return true
    }

    /// The next child of a node; its state comes last.
    private func child(of frame: inout Frame) -> (node: Int, key: Key)? {
        let count: Int
        switch machine.nodes[frame.node] {
        case .dictionary(let number):
            let pairs = machine.dictionaries[number]
            while frame.next < pairs.count {
                let (key, value) = pairs[frame.next]
                frame.next += 1
                switch machine.nodes[key] {
                case .text: return (value, isTable(key) ? .none : .text(key))
                case .int(let number): return (value, .number(number))
                default: continue
                }
            }
            count = pairs.count
        case .list(let number):
            count = machine.lists[number].count
            if frame.next < count { return element(&frame, machine.lists[number][frame.next]) }
        case .tuple(let parts):
            count = parts.count
            if frame.next < count { return element(&frame, parts[frame.next]) }
        default: count = 0
        }
        guard frame.next == count, let state = machine.states[frame.node] else { return nil }
        frame.next += 1
        return (state, .none)
    }

    private func element(_ frame: inout Frame, _ node: Int) -> (node: Int, key: Key) {
        defer { frame.next += 1 }
        return (node, .number(Int64(frame.next)))
    }

    /// A module's own table of tensors is not part of their names.
    private func isTable(_ key: Int) -> Bool {
        guard case .text(let range) = machine.nodes[key], range.count <= 12, let text = machine.text(key) else {
            return false
        }
        return ["_parameters", "_buffers", "_modules"].contains(text)
    }

    private func length(_ key: Key) -> Int {
        switch key {
        case .none: return 0
        case .text(let node):
            guard case .text(let range) = machine.nodes[node] else { return 0 }
            return range.count
        case .number(let number): return String(number).utf8.count
        }
    }

    private func name(_ last: Key) -> String {
        (open.map(\.key) + [last]).compactMap { key -> String? in
            switch key {
            case .none: nil
            case .text(let node): machine.text(node).flatMap { $0.isEmpty ? nil : $0 }
            case .number(let number): String(number)
            }
        }.joined(separator: ".")
    }

    /// The arguments of a call to a tensor builder.
    private func tensorParts(_ node: Int) -> (arguments: [Int], isTyped: Bool)? {
        var node = node
        // A parameter holds a tensor, and a subclass the call that builds one; neither is nested.
        for _ in 0..<4 {
            guard case .call(let function, let arguments) = machine.nodes[node],
                case .imported(let number) = machine.nodes[function],
                case .tuple(let parts) = machine.nodes[arguments]
            else { return nil }
            switch PickleImport.harmless[machine.imports[number].description] {
            case .parameter:
                guard let inner = parts.first else { return nil }
                node = inner
            case .wrapped:
                guard parts.count >= 3, case .imported(let inner) = machine.nodes[parts[0]],
                    case .tuple(let arguments) = machine.nodes[parts[2]]
                else { return nil }
                return (arguments, machine.imports[inner].name == "_rebuild_tensor_v3")
            case .tensor: return (parts, false)
            case .typedTensor: return (parts, true)
            default: return nil
            }
        }
        return nil
    }

    /// `(storage, offset, size, stride, ...)`; an explicit type is the seventh.
    private mutating func built(_ parts: [Int], isTyped: Bool, _ name: String) -> TorchFile.Tensor? {
        guard parts.count >= 3, case .persistent(let identifier) = machine.nodes[parts[0]],
            case .tuple(let storage) = machine.nodes[identifier], storage.count >= 5,
            case .imported(let kind) = machine.nodes[storage[1]], case .tuple(let sizes) = machine.nodes[parts[2]]
        else { return nil }
        guard sizes.count <= Self.dimensionLimit else { return fail(name, "has \(sizes.count) dimensions") }
        var shape: [Int] = []
        for size in sizes {
            guard case .int(let value) = machine.nodes[size], value >= 0 else {
                return fail(name, "has an invalid shape")
            }
            shape.append(Int(value))
        }
        guard let elements = TensorShape.elementCount(shape) else {
            return fail(name, "has a shape whose product overflows")
        }
        var type = TorchStorage.types[machine.imports[kind].name] ?? machine.imports[kind].name
        if isTyped, parts.count > 6, case .imported(let number) = machine.nodes[parts[6]] {
            type = PickleImport.torchTypes[machine.imports[number].name] ?? machine.imports[number].name
        }
        // Strides may repeat elements, but no more of them than fit the file.
        guard elements <= fileSize * 8 / (TensorDataType(rawValue: type)?.bits ?? 1) else {
            return fail(name, "has the shape \(shape), too large for the file's \(fileSize) bytes")
        }
        check(name, type, storage)
        let place = place(parts, storage, type, shape, elements, name)
        return TorchFile.Tensor(
            name: name, dataType: type, shape: shape, elementCount: elements, byteRange: place.range,
            isTransposed: place.isTransposed, obstacle: place.obstacle)
    }

    private mutating func check(_ name: String, _ type: String, _ storage: [Int]) {
        guard let key = machine.text(storage[2]), let bits = TensorDataType(rawValue: type)?.bits else { return }
        let bytes = storages?[key.lowercased()]?.size ?? fileSize
        // Strides may repeat elements, so a shape may exceed the storage; but the storage must have its declared size.
        guard case .int(let count) = machine.nodes[storage[4]], count >= 0,
            !count.multipliedReportingOverflow(by: Int64(bits / 8)).overflow
        else {
            _ = fail(name, "has a storage of invalid size")
            return
        }
        let isUntyped = type != TorchStorage.types[storageName(storage)]
        let needed = isUntyped ? count : count * Int64(bits / 8)
        if Int64(bytes) < needed { _ = fail(name, "needs \(needed) bytes; its storage has \(bytes)") }
    }

    private func storageName(_ storage: [Int]) -> String {
        guard case .imported(let kind) = machine.nodes[storage[1]] else { return "" }
        return machine.imports[kind].name
    }

    // MARK: Where the values are

    private struct Place {
        var range: Range<Int>?
        var isTransposed = false
        /// Why the values cannot be used where they are.
        var obstacle: String?
    }

    private mutating func place(
        _ parts: [Int], _ storage: [Int], _ type: String, _ shape: [Int], _ elements: Int, _ name: String
    ) -> Place {
        guard let key = machine.text(storage[2]), let storages else { return Place(obstacle: "has no storage") }
        guard let found = storages[key.lowercased()] else {
            _ = fail(name, "has no storage: the file has no \(key.printable)")
            return Place()
        }
        guard let bits = TensorDataType(rawValue: type)?.bits, bits % 8 == 0 else {
            return Place(obstacle: "has the type \(type.printable)")
        }
        guard parts.count >= 4, case .int(let offset) = machine.nodes[parts[1]], offset >= 0,
            case .tuple(let steps) = machine.nodes[parts[3]], steps.count == shape.count
        else {
            _ = fail(name, "has no valid offset and strides")
            return Place()
        }
        var strides: [Int] = []
        for step in steps {
            guard case .int(let value) = machine.nodes[step], value >= 0 else {
                _ = fail(name, "has no valid offset and strides")
                return Place()
            }
            strides.append(Int(value))
        }
        // An empty tensor has no values anywhere.
        guard elements > 0 else { return Place(range: 0..<0) }
        guard let end = Self.end(Int(offset), shape, strides), end <= found.size / (bits / 8) else {
            _ = fail(name, "goes past the end of its storage of \(found.size) bytes")
            return Place()
        }
        guard let bytes = found.byteRange else { return Place(obstacle: "has a compressed storage") }
        // A storage may also be a piece of another, which has its own place.
        guard storage.count < 6 || Self.isNone(machine.nodes[storage[5]]) else {
            return Place(obstacle: "has a storage that is a piece of another")
        }
        let isTransposed = !Self.isContiguous(shape, strides)
        guard !isTransposed || shape.count == 2 && Self.isContiguous(shape.reversed(), strides.reversed()) else {
            return Place(obstacle: "has the strides \(strides) with the shape \(shape)")
        }
        let start = bytes.lowerBound + Int(offset) * (bits / 8)
        return Place(range: start..<start + elements * (bits / 8), isTransposed: isTransposed)
    }

    private static func isNone(_ node: PickleMachine.Node) -> Bool {
        if case .none = node { return true }
        return false
    }

    /// The end of the last element, in elements; nil if it overflows.
    private static func end(_ offset: Int, _ shape: [Int], _ strides: [Int]) -> Int? {
        var end = Int64(offset).addedClamped(1)
        for (size, stride) in zip(shape, strides) {
            end = end.addedClamped(Int64(size - 1).multipliedClamped(by: Int64(stride)))
        }
        return end == .max ? nil : Int(end)
    }

    /// Whether the elements follow each other, the last dimension first.
    private static func isContiguous(_ shape: [Int], _ strides: [Int]) -> Bool {
        var expected = 1
        for (size, stride) in zip(shape, strides).reversed() where size != 1 {
            guard stride == expected else { return false }
            expected *= size
        }
        return true
    }

    private mutating func fail(_ name: String, _ what: String) -> TorchFile.Tensor? {
        fault = fault ?? "tensor \"\(name)\" \(what)"
        return nil
    }

    // MARK: State dictionaries

    /// What keeps the result of a pickle from being a dictionary of tensors by name; nil if it is one. To be called
    /// after ``collect(_:)``.
    func otherThanTensors(_ root: Int) -> String? {
        guard case .dictionary(let number) = machine.nodes[root] else { return "is not a dictionary of tensors" }
        for (key, value) in machine.dictionaries[number] {
            guard let name = machine.text(key) else { return "has a key that is not text" }
            guard tensorParts(value) != nil else { return "has \"\(name.printable)\", which is not a tensor" }
        }
        let isSame = tensors.count == machine.dictionaries[number].count
        return isSame && Set(tensors.map(\.name)).count == tensors.count
            ? nil : "has tensors outside its dictionary"
    }
}
