/// Float32 memory, 64-byte aligned; freed with its owner.
struct FloatBuffer: Sendable {
    private final class Memory: Sendable {
        // Owned by this object alone.
        nonisolated(unsafe) let bytes: UnsafeMutableRawBufferPointer
        init(_ count: Int) {
            bytes = .allocate(byteCount: max(count, 1) * MemoryLayout<Float>.stride, alignment: 64)
            bytes.bindMemory(to: Float.self)
        }
        deinit { bytes.deallocate() }
    }

    private let memory: Memory
    let count: Int

    /// Not zeroed: whoever asks for it writes before it reads, and untouched pages cost nothing.
    init(_ count: Int) {
        memory = Memory(count)
        self.count = count
    }

    init(_ values: some Collection<Float>) {
        self.init(values.count)
        _ = UnsafeMutableBufferPointer(start: start, count: count).update(fromContentsOf: values)
    }

    /// Valid as long as this buffer lives.
    var start: UnsafeMutablePointer<Float> {
        UnsafeMutableRawPointer(memory.bytes.baseAddress!).assumingMemoryBound(to: Float.self)
    }

    /// A copy.
    var array: [Float] {
        withExtendedLifetime(memory) { Array(UnsafeBufferPointer(start: start, count: count)) }
    }
}
