import CPlatform
import Libc

/// Finds the exhausted resource when a library only reports failure.
package enum Shortage {
    /// The address space of the program, its libraries and a few threads.
    private static let leastAddressSpace: Int64 = 256 << 20

    /// Adapts to a limited address space (ulimit -v). Call before starting threads.
    ///
    /// - Throws: ``ErrorCode/insufficientMemory`` if it is too small: a failed allocation aborts the process.
    package static func prepare() throws(AIError) {
        guard let limit = Machine.addressSpaceLimit else { return }
        guard limit >= leastAddressSpace else {
            throw AIError(
                .insufficientMemory,
                "the limit on address space is \(ByteCount(limit)), and hub needs \(ByteCount(leastAddressSpace))",
                advice: "raise it: ulimit -v unlimited")
        }
        hub_share_heap()
    }

    /// The error of a library that failed to start.
    package static func error(_ what: String) -> AIError {
        descriptors(what) ?? AIError(.insufficientMemory, "\(what): out of memory")
    }

    /// The error if no further file can be opened now; else nil.
    package static func descriptors(_ what: String) -> AIError? {
        do throws(AIError) {
            _ = try FileDescriptor("/")
            return nil
        } catch {
            guard let number = error.errno, number == EMFILE || number == ENFILE else { return nil }
            return AIError(
                .ioError, "\(what): \(SystemErrno.text(number))",
                advice: "raise the limit on open files (ulimit -n)", cause: SystemErrno(number: number))
        }
    }
}
