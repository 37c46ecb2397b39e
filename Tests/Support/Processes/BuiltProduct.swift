import HubCore
import Libc

/// The programs built beside the tests.
package enum BuiltProduct {
    /// The path of an executable of this package, as `hub`.
    ///
    /// - Throws: if it was not built.
    package static func path(_ name: String = "hub") throws -> String {
        // The tests are one bundle in the build's folder, on macOS some levels further down.
        var place = try image()
        while Path.parent(place) != place {
            place = Path.parent(place)
            let candidate = Path.join(place, name)
            if try FileSystem.status(candidate)?.kind == .file, access(candidate, X_OK) == 0 { return candidate }
        }
        throw AIError(.fileNotFound, "\(name) is not built beside the tests")
    }

    /// The file that this code was loaded from.
    private static func image() throws -> String {
        #if os(Linux)
        if let path = FileSystem.resolved("/proc/self/exe") { return path }
        #else
        var info = Dl_info()
        if dladdr(#dsohandle, &info) != 0, let name = info.dli_fname,
            let path = FileSystem.resolved(String(cString: name))
        {
            return path
        }
        #endif
        throw AIError(.fileNotFound, "the tests' own file cannot be found")
    }
}
