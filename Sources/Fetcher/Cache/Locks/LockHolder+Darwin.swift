#if !os(Linux)
/// Finds the process that holds a flock.
enum LockHolder {
    /// nil: the system does not report it.
    static func process(of path: String) -> Int32? { nil }
}
#endif
