/// The element types of the safetensors format, spelled as in its headers
/// (https://github.com/huggingface/safetensors/blob/main/safetensors/src/tensor.rs, `Dtype`).
public enum TensorDataType: String, Sendable, Hashable, CaseIterable {
    case bool = "BOOL"
    case f4 = "F4"
    case f6E2M3 = "F6_E2M3"
    case f6E3M2 = "F6_E3M2"
    case u8 = "U8"
    case i8 = "I8"
    case f8E5M2 = "F8_E5M2"
    case f8E4M3 = "F8_E4M3"
    case f8E5M2FNUZ = "F8_E5M2FNUZ"
    case f8E4M3FNUZ = "F8_E4M3FNUZ"
    case f8E8M0 = "F8_E8M0"
    case i16 = "I16"
    case u16 = "U16"
    case f16 = "F16"
    case bf16 = "BF16"
    case i32 = "I32"
    case u32 = "U32"
    case f32 = "F32"
    case c64 = "C64"
    case f64 = "F64"
    case i64 = "I64"
    case u64 = "U64"

    /// The size of one element in bits; below a byte, elements are packed.
    public var bits: Int {
        switch self {
        case .f4: 4
        case .f6E2M3, .f6E3M2: 6
        case .bool, .u8, .i8, .f8E5M2, .f8E4M3, .f8E5M2FNUZ, .f8E4M3FNUZ, .f8E8M0: 8
        case .i16, .u16, .f16, .bf16: 16
        case .i32, .u32, .f32: 32
        case .c64, .f64, .i64, .u64: 64
        }
    }
}
