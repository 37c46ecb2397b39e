import CPlatform
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// What this process has run out of, where a library only says that it failed.
package enum Shortage {
    /// What the program itself, its libraries and a few threads take.
    private static let leastAddressSpace: Int64 = 256 << 20

    /// Makes do with a limited address space (ulimit -v). To be called before there are threads.
    ///
    /// - Throws: ``ErrorCode/insufficientMemory`` where it is too small: nothing survives an allocation that fails.
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

    /// The error of a library that could not begin.
    package static func error(_ what: String) -> AIError {
        descriptors(what) ?? AIError(.insufficientMemory, "\(what): out of memory")
    }

    /// The error where no further file can be opened now; nil where one can.
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
