import CKernels
import Libc

/// Keys and values of ``HUB_PAGE`` positions in one layer. Conversations with a common beginning share it.
final class CachePage: @unchecked Sendable {
    // Written by the one session that refers to it; read by all.
    let keys: UnsafeMutableRawPointer
    let values: UnsafeMutableRawPointer
    private let keyBytes: Int
    private let valueBytes: Int

    init(_ format: hub_cache_format, _ shape: KeyValueCache.LayerShape) {
        (keyBytes, valueBytes) = shape.pageBytes(format)
        (keys, values) = (Self.zeroed(keyBytes), Self.zeroed(valueBytes))
    }

    /// A copy, to be written to while others read the original.
    init(copying other: CachePage) {
        (keyBytes, valueBytes) = (other.keyBytes, other.valueBytes)
        (keys, values) = (Self.zeroed(keyBytes), Self.zeroed(valueBytes))
        keys.copyMemory(from: other.keys, byteCount: keyBytes)
        values.copyMemory(from: other.values, byteCount: valueBytes)
    }

    /// Bytes of keys and values.
    var bytes: Int { keyBytes + valueBytes }

    deinit {
        free(keys)
        free(values)
    }

    private static func zeroed(_ bytes: Int) -> UnsafeMutableRawPointer {
        guard let memory = calloc(1, max(bytes, 1)) else {
            // As Swift's own allocations do.
            preconditionFailure("no memory for the KV cache")
        }
        return memory
    }
}
