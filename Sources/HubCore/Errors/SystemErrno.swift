import Libc

/// The errno of a failed system call, kept as the cause of an ``AIError``.
package struct SystemErrno: Error, Sendable, Hashable {
    package var number: Int32
    package init(number: Int32) { self.number = number }
    /// The errno of this thread now.
    package static var current: Int32 { errno }

    /// Whether it means that a name does not exist.
    package var isAbsence: Bool { number == ENOENT || number == ENOTDIR }

    /// The system's message.
    package static func text(_ number: Int32) -> String { String(cString: strerror(number)) }

    package static func code(_ number: Int32) -> ErrorCode {
        switch number {
        case ENOSPC, EDQUOT: .diskFull
        case EACCES, EPERM, EROFS: .permissionDenied
        default: .ioError
        }
    }
}
