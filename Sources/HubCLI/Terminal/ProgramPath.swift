import HubCore
import Libc

/// Where this program is.
enum ProgramPath {
    /// The path of its file.
    static func own() throws(AIError) -> String {
        #if os(Linux)
        if let path = FileSystem.resolved("/proc/self/exe") { return path }
        #else
        var size: UInt32 = 4096
        var buffer = [CChar](repeating: 0, count: Int(size))
        if _NSGetExecutablePath(&buffer, &size) == 0, let path = FileSystem.resolved(String(cString: buffer)) {
            return path
        }
        #endif
        throw AIError(.ioError, "the path of this program is not known")
    }
}
