/// Which files of a cache other processes hold open or have mapped.
package struct OpenFiles: Sendable {
    /// By file, one of the processes, as people know it: `python3 (4711)`.
    package internal(set) var users: [PhysicalFile.Identity: String] = [:]
    /// What could not be looked at, for a person to read.
    package internal(set) var remark: String?

    /// What everybody should hear: that nothing could be looked at.
    package internal(set) var warning: String?

    package init() {}
}
