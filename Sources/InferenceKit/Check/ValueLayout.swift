import CKernels
import ModelFormats

extension ValueScan {
    /// The layout of a type's numbers, for types with NaN or infinity.
    struct Layout {
        /// A number, a part of one, or a block of them.
        let unitBytes: Int
        private let unitElements: Int
        /// 2 for complex numbers.
        private let unitsPerElement: Int
        private let kind: hub_scan_kind?
        /// The scales of a block.
        private let scales: [(kind: hub_scan_kind, offset: Int)]
        private let typeName: String

        /// Whether a unit is one number.
        var isPlain: Bool { kind != nil }

        /// nil for a type that ``isAlwaysFinite(_:)``, and for an unknown one.
        init?(_ tensor: StoredTensor) {
            guard tensor.elementCount > 0 else { return nil }
            typeName = tensor.type
            unitsPerElement = tensor.type == "C64" ? 2 : 1
            if let (kind, bytes) = Self.kinds[tensor.type] {
                (self.kind, scales, unitElements, unitBytes) = (kind, [], 1, bytes)
                return
            }
            guard let type = GGUFTensorType.known.values.first(where: { $0.name == tensor.type }) else {
                return nil
            }
            scales = Self.scales[type.name] ?? type.halfOffsets.map { (HUB_SCAN_F16, $0) }
            guard !scales.isEmpty else { return nil }
            (kind, unitElements, unitBytes) = (nil, type.blockElements, type.blockBytes)
        }

        /// Integers, and floats too small for NaN.
        static func isAlwaysFinite(_ type: String) -> Bool {
            [
                "BOOL", "U8", "I8", "U16", "I16", "U32", "I32", "U64", "I64", "F4", "F6_E2M3", "F6_E3M2",
            ].contains(type)
        }

        private static let kinds: [String: (hub_scan_kind, bytes: Int)] = [
            "F16": (HUB_SCAN_F16, 2), "BF16": (HUB_SCAN_BF16, 2), "F32": (HUB_SCAN_F32, 4),
            "F64": (HUB_SCAN_F64, 8),
            "C64": (HUB_SCAN_F32, 4), "F8_E4M3": (HUB_SCAN_F8_E4M3, 1), "F8_E5M2": (HUB_SCAN_F8_E5M2, 1),
            "F8_E4M3FNUZ": (HUB_SCAN_F8_FNUZ, 1), "F8_E5M2FNUZ": (HUB_SCAN_F8_FNUZ, 1),
            "F8_E8M0": (HUB_SCAN_F8_E8M0, 1),
        ]

        /// The scales of GGUF block types. https://github.com/ggml-org/ggml/blob/master/src/ggml-common.h
        private static let scales: [String: [(kind: hub_scan_kind, offset: Int)]] = [
            "MXFP4": [(HUB_SCAN_F8_E8M0, 0)], "NVFP4": (0..<4).map { (HUB_SCAN_F8_E4M3, $0) },
            "IQ1_M": [(HUB_SCAN_IQ1_M, 48)], "Q8_1": [(HUB_SCAN_F32, 0), (HUB_SCAN_F32, 4)],
            "Q8_K": [(HUB_SCAN_F32, 0)],
        ]

        /// The index of a unit's first element.
        func element(_ unit: Int) -> Int { unit * unitElements / unitsPerElement }

        /// The index of the first of `count` units that is not finite; `count` if all are finite.
        func firstBad(_ start: UnsafeRawPointer, _ count: Int) -> Int {
            if let kind { return hub_scan_finite(kind, start, count) }
            return scales.map { hub_scan_finite_blocks($0.kind, start + $0.offset, count, unitBytes) }.min()
                ?? count
        }

        /// Describes a non-finite unit.
        func fault(_ unit: [UInt8]) -> String {
            guard isPlain else { return "a block whose scale is NaN or infinite," }
            let isInfinite = unit.withUnsafeBytes { place in
                switch typeName {
                case "F32", "C64": return place.loadUnaligned(as: Float.self).isInfinite
                case "F64": return place.loadUnaligned(as: Double.self).isInfinite
                case "BF16": return place.loadUnaligned(as: UInt16.self) & 0x7FFF == 0x7F80
                case "F16": return place.loadUnaligned(as: UInt16.self) & 0x7FFF == 0x7C00
                // The only 8-bit type with infinities.
                case "F8_E5M2": return unit[0] & 0x7F == 0x7C
                default: return false
                }
            }
            return isInfinite ? "an infinity" : "NaN"
        }

        /// A number as text; for a block its type.
        func shown(_ unit: [UInt8]) -> String {
            unit.withUnsafeBytes { place in
                switch typeName {
                case "F32", "C64": return "\(place.loadUnaligned(as: Float.self))"
                case "F64": return "\(place.loadUnaligned(as: Double.self))"
                case "BF16": return "\(Float(bitPattern: UInt32(place.loadUnaligned(as: UInt16.self)) << 16))"
                case "F16":
                    var out: Float = 0
                    hub_widen(HUB_F16, place.baseAddress, 1, &out)
                    return "\(out)"
                default:
                    if !isPlain { return "a scale of a block of \(typeName) that is nan or inf" }
                    return unit[0] == 0 && typeName != "F8_E8M0"
                        ? "0" : "0x\(String(unit[0], radix: 16)) of \(typeName)"
                }
            }
        }
    }
}
