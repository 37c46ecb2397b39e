/// The files of a cache that other processes have open or mapped.
package struct OpenFiles: Sendable {
    /// By file, one of the processes: `python3 (4711)`.
    package internal(set) var users: [PhysicalFile.Identity: String] = [:]
    /// A remark about what could not be checked.
    package internal(set) var remark: String?

    /// A warning that nothing could be checked.
    package internal(set) var warning: String?

    package init() {}
}
