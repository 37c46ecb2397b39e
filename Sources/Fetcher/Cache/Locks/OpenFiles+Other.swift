#if !os(Linux)
import HubCore

extension OpenFiles {
    /// Unsupported on this platform; a warning says so.
    static func look(for wanted: Set<PhysicalFile.Identity>) throws(AIError) -> OpenFiles {
        var found = OpenFiles()
        found.remark = wanted.isEmpty ? nil : "cannot check files opened by other programs on this system"
        return found
    }
}
#endif
