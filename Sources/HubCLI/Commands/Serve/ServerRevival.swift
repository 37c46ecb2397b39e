import CPlatform
import HubCore
import Libc

/// A server that crashes starts again, in the same process and on the same socket: clients connect anew, and to systemd
/// and the like it is still the same process.
enum ServerRevival {
    /// The socket that a crashed server left; nil if this start follows no crash.
    static var socket: Int32? {
        let descriptor = hub_started_again_with()
        return descriptor < 0 ? nil : descriptor
    }

    /// How often it crashed within the last minute: the variable has the process, the socket and the times.
    static var crashes: Int {
        let values = (HubEnvironment.process["HUB_STARTED_AGAIN"] ?? "").split(separator: " ").compactMap {
            Double($0)
        }
        return values.dropFirst(2).count { $0 > 0 && Clock.seconds - $0 < 60 }
    }

    /// From now on a crash starts this program again.
    static func prepare(_ socket: Int32) throws(AIError) {
        guard hub_start_again_after_crash(try ProgramPath.own(), socket) == 0 else {
            throw .system("cannot prepare", path: "a restart", errno: ENOMEM)
        }
    }

    /// Prepares again right after a crash: the program may crash once more before it serves.
    static func goOn() throws(AIError) {
        if let socket { try prepare(socket) }
    }
}
