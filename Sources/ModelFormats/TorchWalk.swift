/// Finds the tensors in what a pickle would build.
struct TorchWalk {
    private(set) var tensors: [TorchFile.Tensor] = []
    /// The first tensor that cannot be what it says.
    private(set) var fault: String?

    private let machine: PickleMachine
    private let storageBytes: (String) -> Int?
    private var visited: Set<Int> = []

    /// - Parameter storageBytes: how many bytes a storage has; nil where that is not known.
    init(_ machine: PickleMachine, storageBytes: @escaping (String) -> Int?) {
        self.machine = machine
        self.storageBytes = storageBytes
    }

    /// Goes through dictionaries, lists and objects from a node; names are joined by dots. Each is gone through once, so a
    /// circle ends.
    mutating func collect(_ root: Int) {
        var open: [(node: Int, name: String)] = [(root, "")]
        while let (node, name) = open.popLast() {
            if let tensor = tensor(node, name) {
                tensors.append(tensor)
                continue
            }
            guard visited.insert(node).inserted, name.utf8.count < 4096 else { continue }
            var children: [(node: Int, name: String)] = []
            func child(_ node: Int, _ key: String) {
                children.append((node, name.isEmpty ? key : key.isEmpty ? name : "\(name).\(key)"))
            }
            switch machine.nodes[node] {
            case .dictionary(let number):
                for (key, value) in machine.dictionaries[number] {
                    switch machine.nodes[key] {
                    // A module's own table of tensors is not part of their names.
                    case .text("_parameters"), .text("_buffers"), .text("_modules"): child(value, "")
                    case .text(let text): child(value, text)
                    case .int(let number): child(value, String(number))
                    default: continue
                    }
                }
            case .list(let number):
                for (index, value) in machine.lists[number].enumerated() { child(value, String(index)) }
            case .tuple(let parts): for (index, value) in parts.enumerated() { child(value, String(index)) }
            default: break
            }
            if let state = machine.states[node] { child(state, "") }
            open += children.reversed()
        }
    }

    /// A tensor where a node is the call that would build one.
    private mutating func tensor(_ node: Int, _ name: String) -> TorchFile.Tensor? {
        var node = node
        // A parameter holds a tensor, and a subclass the call that builds one; neither holds a second of its kind.
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
                return built(
                    arguments, isTyped: machine.imports[inner].name == "_rebuild_tensor_v3", name)
            case .tensor: return built(parts, isTyped: false, name)
            case .typedTensor: return built(parts, isTyped: true, name)
            default: return nil
            }
        }
        return nil
    }

    /// `(storage, offset, size, stride, ...)`; with a type of its own, that is the seventh.
    private mutating func built(_ parts: [Int], isTyped: Bool, _ name: String) -> TorchFile.Tensor? {
        guard parts.count >= 3, case .persistent(let identifier) = machine.nodes[parts[0]],
            case .tuple(let storage) = machine.nodes[identifier], storage.count >= 5,
            case .imported(let kind) = machine.nodes[storage[1]], case .tuple(let sizes) = machine.nodes[parts[2]]
        else { return nil }
        var shape: [Int] = []
        var elements = 1
        for size in sizes {
            guard case .int(let value) = machine.nodes[size], value >= 0 else {
                return fail(name, "has no valid shape")
            }
            let (product, overflow) = elements.multipliedReportingOverflow(by: Int(value))
            guard !overflow else { return fail(name, "has a shape whose product overflows") }
            elements = product
            shape.append(Int(value))
        }
        var type = Self.storageTypes[machine.imports[kind].name] ?? machine.imports[kind].name
        if isTyped, parts.count > 6, case .imported(let number) = machine.nodes[parts[6]] {
            type = PickleImport.torchTypes[machine.imports[number].name] ?? machine.imports[number].name
        }
        check(name, type, elements, storage)
        return TorchFile.Tensor(name: name, dataType: type, shape: shape, elementCount: elements)
    }

    private mutating func check(_ name: String, _ type: String, _ elements: Int, _ storage: [Int]) {
        guard case .text(let key) = machine.nodes[storage[2]], let bytes = storageBytes(key),
            let bits = TensorDataType(rawValue: type)?.bits
        else { return }
        // Strides may repeat an element, so that a shape may have more than the storage; what the storage says it has, it
        // must have.
        guard case .int(let count) = machine.nodes[storage[4]], count >= 0,
            !count.multipliedReportingOverflow(by: Int64(bits / 8)).overflow
        else {
            _ = fail(name, "has a storage of no valid size")
            return
        }
        let isUntyped = type != Self.storageTypes[storageName(storage)]
        let needed = isUntyped ? count : count * Int64(bits / 8)
        if Int64(bytes) < needed { _ = fail(name, "needs \(needed) bytes, its storage has \(bytes)") }
    }

    private func storageName(_ storage: [Int]) -> String {
        guard case .imported(let kind) = machine.nodes[storage[1]] else { return "" }
        return machine.imports[kind].name
    }

    private mutating func fail(_ name: String, _ what: String) -> TorchFile.Tensor? {
        fault = fault ?? "tensor \"\(name)\" \(what)"
        return nil
    }

    /// The element types of torch's storages.
    private static let storageTypes = [
        "FloatStorage": "F32", "DoubleStorage": "F64", "HalfStorage": "F16", "BFloat16Storage": "BF16",
        "LongStorage": "I64", "IntStorage": "I32", "ShortStorage": "I16", "CharStorage": "I8", "ByteStorage": "U8",
        "BoolStorage": "BOOL", "ComplexFloatStorage": "C64",
    ]
}
