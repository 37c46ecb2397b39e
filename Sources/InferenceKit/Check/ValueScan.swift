import CKernels
import Dispatch
package import HubCore
package import ModelFormats
import Synchronization

/// Looks for numbers that are none, and for tensors that say nothing, in the weights of one file.
package struct ValueScan {
    /// Raised whenever a file could be judged otherwise than before.
    static let version = 1

    /// Bytes of a tensor that are looked at in one place, and in how many places of it, where not all are.
    private static let (sampleBytes, samples) = (4096, 64)

    let file: MappedFile
    let tensors: [StoredTensor]
    let isWhole: Bool

    /// - Parameter isWhole: whether every number is looked at; else samples of each tensor.
    package init(file: MappedFile, tensors: [StoredTensor], isWhole: Bool) {
        self.file = file
        self.tensors = tensors
        self.isWhole = isWhole
    }

    package func findings() -> [CheckFinding] {
        let found = Mutex<[Int: CheckFinding]>([:])
        // The largest first, so that none is left over at the end for one thread alone.
        let order = tensors.indices.sorted { tensors[$0].byteCount > tensors[$1].byteCount }
        DispatchQueue.concurrentPerform(iterations: order.count) { step in
            guard let finding = finding(tensors[order[step]]) else { return }
            found.withLock { $0[order[step]] = finding }
        }
        return found.withLock { $0.sorted { $0.key < $1.key }.map(\.value) }
    }

    private var name: String { Path.name(file.path) }

    private func finding(_ tensor: StoredTensor) -> CheckFinding? {
        guard let offset = tensor.offset, tensor.byteCount > 0, let base = file.bytes.baseAddress,
            offset + tensor.byteCount <= file.bytes.count
        else { return nil }
        let start = base + offset
        guard let layout = Layout(tensor) else { return nil }
        if let element = firstBad(tensor, layout, start) {
            return CheckFinding(
                "values", .fail, "tensor \"\(tensor.name)\" has a number that is none, at element \(element)",
                file: name, tensor: tensor.name, expected: "finite numbers",
                found: layout.shown(start, element: element))
        }
        // Norms and biases of one value are common in models that are young.
        guard tensor.shape.count(where: { $0 > 1 }) >= 2, layout.isPlain, isConstant(tensor, layout, start) else {
            return nil
        }
        let value = layout.shown(start, element: 0)
        return CheckFinding(
            "values", .warn, "every number of tensor \"\(tensor.name)\" is \(value)", file: name,
            tensor: tensor.name,
            expected: "numbers that differ", found: value)
    }

    /// The first element that is not finite among those looked at.
    private func firstBad(_ tensor: StoredTensor, _ layout: Layout, _ start: UnsafeRawPointer) -> Int? {
        let units = tensor.byteCount / layout.unitBytes
        for range in ranges(units, layout.unitBytes) {
            let at = layout.firstBad(start + range.lowerBound * layout.unitBytes, range.count)
            if at < range.count { return (range.lowerBound + at) * layout.unitElements }
        }
        return nil
    }

    /// All of it, or pieces that are spread over it evenly, the first and the last among them.
    private func ranges(_ units: Int, _ unitBytes: Int) -> [Range<Int>] {
        let piece = max(1, Self.sampleBytes / unitBytes)
        guard !isWhole, units > piece * Self.samples else { return [0..<units] }
        return (0..<Self.samples).map { number in
            let begin = (units - piece) / (Self.samples - 1) * number
            let start = number == Self.samples - 1 ? units - piece : begin
            return start..<start + piece
        }
    }

    /// The samples tell most that differ; what they do not is compared to its end.
    private func isConstant(_ tensor: StoredTensor, _ layout: Layout, _ start: UnsafeRawPointer) -> Bool {
        let units = tensor.byteCount / layout.unitBytes
        return hub_scan_constant(start, units, layout.unitBytes) != 0
    }
}

extension ValueScan {
    /// How the numbers of one type lie, as far as they can be something else than finite.
    struct Layout {
        /// A number, or a block of them.
        let unitBytes: Int
        let unitElements: Int
        private let kind: hub_scan_kind?
        private let halves: [Int]
        private let typeName: String

        /// Whether a unit is one number.
        var isPlain: Bool { unitElements == 1 }

        /// nil for a type that is only whole numbers, or has no rule here.
        init?(_ tensor: StoredTensor) {
            typeName = tensor.type
            if let kind = Self.kinds[tensor.type] {
                guard tensor.elementCount > 0 else { return nil }
                (self.kind, halves, unitElements) = (kind, [], 1)
                unitBytes = tensor.byteCount / tensor.elementCount
            } else if let type = GGUFTensorType.known.values.first(where: { $0.name == tensor.type }),
                !type.halfOffsets.isEmpty
            {
                (kind, halves) = (nil, type.halfOffsets)
                (unitBytes, unitElements) = (type.blockBytes, type.blockElements)
            } else {
                return nil
            }
        }

        private static let kinds: [String: hub_scan_kind] = [
            "F16": HUB_SCAN_F16, "BF16": HUB_SCAN_BF16, "F32": HUB_SCAN_F32, "F64": HUB_SCAN_F64,
            "F8_E4M3": HUB_SCAN_F8_E4M3, "F8_E5M2": HUB_SCAN_F8_E5M2,
        ]

        /// Which of `count` units is the first that is not finite; `count` where none is.
        func firstBad(_ start: UnsafeRawPointer, _ count: Int) -> Int {
            if let kind { return hub_scan_finite(kind, start, count) }
            return halves.map { hub_scan_finite_halves(start + $0, count, unitBytes) }.min() ?? count
        }

        /// A number as text; the type of a block.
        func shown(_ start: UnsafeRawPointer, element: Int) -> String {
            let place = start + element * unitBytes
            switch typeName {
            case "F32": return "\(place.loadUnaligned(as: Float.self))"
            case "F64": return "\(place.loadUnaligned(as: Double.self))"
            case "BF16": return "\(Float(bitPattern: UInt32(place.loadUnaligned(as: UInt16.self)) << 16))"
            case "F16":
                var out: Float = 0
                hub_widen(HUB_F16, place, 1, &out)
                return "\(out)"
            case "F8_E4M3", "F8_E5M2": return place.loadUnaligned(as: UInt8.self) == 0 ? "0" : "nan or inf"
            default: return "a scale of a block of \(typeName) that is nan or inf"
            }
        }
    }
}
