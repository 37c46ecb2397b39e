/// The storage type of a GGUF tensor: weights per block, and bytes per block.
///
/// Names, numbers and sizes are those of `ggml_type`
/// (https://github.com/ggml-org/ggml/blob/master/include/ggml.h) and of the `gguf` package's `GGML_QUANT_SIZES`.
package struct GGUFTensorType: Sendable, Hashable {
    /// `F32`, `Q4_K`, …
    package let name: String
    /// Weights in a block.
    package let blockElements: Int
    /// Bytes of a block.
    package let blockBytes: Int
    /// Whether current llama.cpp reads it: some types were dropped.
    package let isCurrent: Bool
    /// Offsets of a block's float16 scales; empty if it has none.
    package let halfOffsets: [Int]

    private init(_ name: String, _ elements: Int, _ bytes: Int, halves: [Int] = [], isCurrent: Bool = true) {
        (self.name, blockElements, blockBytes) = (name, elements, bytes)
        (self.isCurrent, halfOffsets) = (isCurrent, halves)
    }

    /// Bits per weight, scales included.
    package var bits: Double { Double(blockBytes * 8) / Double(blockElements) }

    /// The type of a number; nil if unknown.
    package init?(_ number: UInt32) {
        guard let known = Self.known[number] else { return nil }
        self = known
    }

    /// By type number.
    package static let known: [UInt32: GGUFTensorType] = [
        0: .init("F32", 1, 4), 1: .init("F16", 1, 2), 30: .init("BF16", 1, 2), 28: .init("F64", 1, 8),
        24: .init("I8", 1, 1), 25: .init("I16", 1, 2), 26: .init("I32", 1, 4), 27: .init("I64", 1, 8),
        2: .init("Q4_0", 32, 18, halves: [0]), 3: .init("Q4_1", 32, 20, halves: [0, 2]),
        6: .init("Q5_0", 32, 22, halves: [0]), 7: .init("Q5_1", 32, 24, halves: [0, 2]),
        8: .init("Q8_0", 32, 34, halves: [0]), 9: .init("Q8_1", 32, 40),
        10: .init("Q2_K", 256, 84, halves: [80, 82]), 11: .init("Q3_K", 256, 110, halves: [108]),
        12: .init("Q4_K", 256, 144, halves: [0, 2]), 13: .init("Q5_K", 256, 176, halves: [0, 2]),
        14: .init("Q6_K", 256, 210, halves: [208]), 15: .init("Q8_K", 256, 292),
        16: .init("IQ2_XXS", 256, 66, halves: [0]), 17: .init("IQ2_XS", 256, 74, halves: [0]),
        18: .init("IQ3_XXS", 256, 98, halves: [0]), 19: .init("IQ1_S", 256, 50, halves: [0]),
        20: .init("IQ4_NL", 32, 18, halves: [0]), 21: .init("IQ3_S", 256, 110, halves: [0]),
        22: .init("IQ2_S", 256, 82, halves: [0]), 23: .init("IQ4_XS", 256, 136, halves: [0]),
        29: .init("IQ1_M", 256, 56), 34: .init("TQ1_0", 256, 54, halves: [52]),
        35: .init("TQ2_0", 256, 66, halves: [64]), 39: .init("MXFP4", 32, 17), 40: .init("NVFP4", 64, 36),
        41: .init("Q1_0", 128, 18, halves: [0]), 42: .init("Q2_0", 64, 18, halves: [0]),
        4: .init("Q4_2", 16, 10, isCurrent: false), 5: .init("Q4_3", 16, 12, isCurrent: false),
        31: .init("Q4_0_4_4", 32, 18, isCurrent: false), 32: .init("Q4_0_4_8", 32, 18, isCurrent: false),
        33: .init("Q4_0_8_8", 32, 18, isCurrent: false), 36: .init("IQ4_NL_4_4", 32, 18, isCurrent: false),
        37: .init("IQ4_NL_4_8", 32, 18, isCurrent: false), 38: .init("IQ4_NL_8_8", 32, 18, isCurrent: false),
    ]
}
