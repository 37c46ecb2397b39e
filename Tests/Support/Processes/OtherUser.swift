import HubCore
import Libc

/// Another user for programs that a test starts, because root ignores file modes.
package struct OtherUser: Sendable {
    package let user: UInt32
    package let group: UInt32
    /// Groups beside that one.
    package let groups: [UInt32]

    private static let program = "/usr/bin/setpriv"

    /// nil if the tests do not run as root, or the system has no setpriv(1).
    package init?(_ user: UInt32, group: UInt32, groups: [UInt32] = []) {
        guard geteuid() == 0, access(Self.program, X_OK) == 0 else { return nil }
        self.user = user
        self.group = group
        self.groups = groups
    }

    /// The words that run a program as this user: the first is the path of what is to be started.
    package func words(_ program: String, _ arguments: [String]) -> [String] {
        let list = groups.map(String.init).joined(separator: ",")
        return [Self.program, "--reuid=\(user)", "--regid=\(group)"]
            + [list.isEmpty ? "--clear-groups" : "--groups=\(list)", program] + arguments
    }

    /// Whether this user can run a program: the checkout may be accessible only to its owner.
    package func canRun(_ program: String) async throws -> Bool {
        let words = words("/usr/bin/test", ["-x", program])
        return try await RunningProcess.run(words[0], Array(words.dropFirst())).status == 0
    }

    /// Makes a folder of this user, or of root for this group where `shared`, as a shared cache is set up: mode 2775.
    package static func makeShared(_ path: String, group: UInt32) throws {
        try FileSystem.createDirectories(path)
        guard chown(path, 0, group) == 0, chmod(path, 0o2775) == 0 else {
            throw AIError.system("cannot give to the group", path: path, errno: errno)
        }
    }

    /// Gives a folder to this user.
    package func own(_ path: String) throws {
        try FileSystem.createDirectories(path)
        guard chown(path, user, group) == 0 else {
            throw AIError.system("cannot give to another user", path: path, errno: errno)
        }
    }
}
