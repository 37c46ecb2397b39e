import CPlatform
import HubCore
import HubServer
import Libc

/// A server that crashes starts again, in the same process and on the same socket: clients connect anew, and what watches
/// the process sees one that goes on.
enum ServerRevival {
    /// The socket that a crashed server left; nil for a server that was started by somebody.
    static var socket: Int32? {
        let descriptor = hub_started_again_with()
        return descriptor < 0 ? nil : descriptor
    }

    /// From now on a crash starts this program again.
    static func prepare(_ server: HubServer) throws(AIError) {
        guard hub_start_again_after_crash(try ProgramPath.own(), server.descriptor) == 0 else {
            throw .system("cannot prepare", path: "a restart", errno: ENOMEM)
        }
    }

    /// A server that is stopping ends, whatever happens.
    static func stop() { hub_start_again_no_more() }
}
