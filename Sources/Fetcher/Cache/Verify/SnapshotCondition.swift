/// What is known to be wrong with a cached revision. Nothing is read for it but the names and sizes of its files.
package struct SnapshotCondition: Sendable, Hashable {
    /// Whether files are missing that the pulls chose; of a tree that is not known nothing is.
    package var isIncomplete = false
    /// Whether it is incomplete because its first pull was cut off: none has completed.
    package var isFirstPullUnfinished = false
    /// A file that verifying found damaged, unless it has changed since.
    package var damagedFile: String?

    package init() {}
}
