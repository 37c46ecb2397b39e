import CKernels
import HubCore
import Libc

/// The threads and the kernels that a model computes with.
final class ComputeTeam: Sendable {
    // The team synchronises itself; it admits one caller at a time, which the model's queue guarantees.
    nonisolated(unsafe) let team: OpaquePointer
    let threads: Int
    /// The instruction set in use: `avx512`, `avx2`, `neon`, `scalar`.
    let instructionSet: String

    /// - Parameters:
    ///   - threads: nil for `HUB_THREADS`, or one on each physical core.
    ///   - kernels: an instruction set; nil for `HUB_KERNELS`, or the fastest one.
    /// - Throws: ``ErrorCode/invalidInput`` for a count outside 1...1024 or kernels that this CPU does not have,
    ///   ``ErrorCode/ioError`` if threads cannot be created.
    init(threads: Int?, kernels: String? = nil) throws(AIError) {
        let count: Int
        if let threads { count = threads } else { count = try Self.usualThreads() }
        guard (1...1024).contains(count) else {
            throw AIError(.invalidInput, "invalid number of threads: \(count)", advice: "use 1 to 1024")
        }
        let chosen = try Self.kernels(kernels ?? Self.variable("HUB_KERNELS"))
        guard let team = hub_team_create(count, chosen) else {
            throw AIError(.ioError, "cannot start \(count) threads")
        }
        self.team = team
        self.threads = count
        instructionSet = String(cString: hub_kernels_name(chosen))
    }

    deinit { hub_team_destroy(team) }

    private static func variable(_ name: String) -> String? {
        getenv(name).map { String(cString: $0) }.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// `HUB_THREADS`, or one on each physical core.
    static func usualThreads() throws(AIError) -> Int {
        guard let value = variable("HUB_THREADS") else { return min(Int(hub_physical_cores()), 1024) }
        guard let count = Int(value) else {
            throw AIError(.invalidInput, "HUB_THREADS is \(value.printable), not a number", advice: "use 1 to 1024")
        }
        return count
    }

    private static var all: [(name: String, kernels: OpaquePointer)] {
        (0..<HUB_VARIANT_COUNT.rawValue).compactMap { hub_kernels_of(hub_variant($0)) }.map {
            (String(cString: hub_kernels_name($0)), $0)
        }
    }

    /// The instruction sets that this CPU has kernels for.
    static var available: [String] { all.map(\.name) }

    private static func kernels(_ name: String?) throws(AIError) -> OpaquePointer {
        guard let name else { return hub_kernels_best() }
        if let found = all.first(where: { $0.name == name }) { return found.kernels }
        throw AIError(
            .invalidInput, "this CPU has no kernels \"\(name.printable)\"",
            advice: "HUB_KERNELS is one of \(available.joined(separator: ", "))")
    }
}
