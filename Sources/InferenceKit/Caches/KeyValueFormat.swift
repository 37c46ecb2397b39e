import CKernels

/// How keys and values are cached.
public enum KeyValueFormat: String, Sendable, Hashable, CaseIterable {
    /// 4 bytes a number, exact.
    case f32
    /// 2 bytes a number.
    case f16
    /// 1 byte a number, and a scale for each head and position.
    case q8

    /// Bits of a number, the scales of usual heads included.
    var bits: Int {
        switch self {
        case .f32: 32
        case .f16: 16
        case .q8: 9
        }
    }

    var kernel: hub_cache_format {
        switch self {
        case .f32: HUB_CACHE_F32
        case .f16: HUB_CACHE_F16
        case .q8: HUB_CACHE_Q8
        }
    }
}
