#if os(Linux)
#if canImport(Glibc)
import Glibc
#else
import Musl
#endif

/// What posix_spawn(3) and getrusage(2) leave to the system.
enum Spawning {
    typealias FileActions = posix_spawn_file_actions_t

    static func emptyActions() -> FileActions { posix_spawn_file_actions_t() }
    /// getrusage(2): "ru_maxrss … in kilobytes"
    static let residentUnit: Int64 = 1024
}
#endif
