import CKernels
import HubCore

/// The threads and the kernels that a model computes with.
final class ComputeTeam: Sendable {
    // The pool synchronises itself; it admits one caller at a time, which the model's queue guarantees.
    nonisolated(unsafe) let pool: OpaquePointer
    // Constant tables of the C target.
    nonisolated(unsafe) let kernels: UnsafePointer<hub_kernels>
    let threads: Int

    /// - Parameter threads: nil for one on each physical core.
    /// - Throws: ``ErrorCode/invalidInput`` for a count outside 1...1024, ``ErrorCode/ioError`` if threads cannot be
    ///   created.
    init(threads: Int?, variant: hub_variant? = nil) throws(AIError) {
        let count = threads ?? min(Int(hub_physical_cores()), 1024)
        guard (1...1024).contains(count) else {
            throw AIError(.invalidInput, "invalid number of threads: \(count)", advice: "use 1 to 1024")
        }
        let chosen = variant.map { hub_kernels_of($0) } ?? hub_kernels_best()
        guard let chosen else { throw AIError(.invalidInput, "this CPU does not have the kernels asked for") }
        guard let pool = hub_pool_create(count) else { throw AIError(.ioError, "cannot start \(count) threads") }
        self.pool = pool
        self.threads = count
        kernels = chosen
    }

    deinit { hub_pool_destroy(pool) }

    /// The instruction set in use: `avx512`, `avx2`, `neon`, `scalar`.
    var instructionSet: String { String(cString: kernels.pointee.name) }

    /// `y[batch][rows] = x[batch][columns] * weightsᵀ`.
    func multiply(_ weights: WeightMatrix, _ x: FloatBuffer, batch: Int, into y: FloatBuffer) {
        precondition(batch * weights.columns <= x.count && batch * weights.rows <= y.count)
        hub_matmul(
            pool, kernels, weights.element, weights.address, weights.rows, weights.columns, x.start, batch, y.start)
    }
}

/// Float32 working memory, 64-byte aligned; freed with its owner.
///
/// Not zeroed: every pass writes before it reads, and untouched pages of a long cache cost nothing.
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

    init(_ count: Int) {
        memory = Memory(count)
        self.count = count
    }

    var start: UnsafeMutablePointer<Float> {
        UnsafeMutableRawPointer(memory.bytes.baseAddress!).assumingMemoryBound(to: Float.self)
    }
}
