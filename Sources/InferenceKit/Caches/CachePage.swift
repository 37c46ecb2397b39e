import CKernels
import Libc

/// Keys and values of ``HUB_PAGE`` positions in one layer. Conversations with a common beginning share it.
final class CachePage: @unchecked Sendable {
    // Written by the one session that refers to it; read by all.
    let keys: UnsafeMutableRawPointer
    let values: UnsafeMutableRawPointer
    private let bytes: Int

    init(_ format: hub_cache_format, kvHeads: Int, headSize: Int) {
        bytes = hub_page_bytes(format, kvHeads, headSize)
        (keys, values) = (Self.zeroed(bytes), Self.zeroed(bytes))
    }

    /// A copy, to be written to while others read the original.
    init(copying other: CachePage) {
        bytes = other.bytes
        (keys, values) = (Self.zeroed(bytes), Self.zeroed(bytes))
        keys.copyMemory(from: other.keys, byteCount: bytes)
        values.copyMemory(from: other.values, byteCount: bytes)
    }

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
