#if os(Linux)
import Libc

/// Platform differences of posix_spawn(3) and getrusage(2).
enum Spawning {
    typealias FileActions = posix_spawn_file_actions_t

    static func emptyActions() -> FileActions { posix_spawn_file_actions_t() }
    /// getrusage(2): "ru_maxrss … in kilobytes"
    static let residentUnit: Int64 = 1024
}
#endif
