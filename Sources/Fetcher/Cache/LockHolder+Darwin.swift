#if !os(Linux)
/// Which process holds a flock.
enum LockHolder {
    /// nil: the system does not say.
    static func process(of path: String) -> Int32? { nil }
}
#endif
