#if canImport(Darwin)
import Libc

/// Platform differences of posix_spawn(2) and getrusage(2).
enum Spawning {
    /// A pointer that posix_spawn_file_actions_init fills.
    typealias FileActions = posix_spawn_file_actions_t?

    static func emptyActions() -> FileActions { nil }
    /// getrusage(2): "ru_maxrss … (in bytes)"
    static let residentUnit: Int64 = 1
}
#endif
