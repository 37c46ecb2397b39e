import CPlatform
import Libc

/// Facts about this machine and process from the operating system.
package enum Machine {
    /// Physical memory in bytes, and the part available without swapping.
    package static func memory() throws(AIError) -> (total: Int64, available: Int64) {
        var total: UInt64 = 0
        var available: UInt64 = 0
        guard hub_memory(&total, &available) == 0 else {
            throw .system("cannot measure the", path: "memory", errno: SystemErrno.current)
        }
        return (Int64(clamping: total), Int64(clamping: available))
    }

    /// The host name, without spaces.
    package static var hostName: String {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return "?" }
        return String(decoding: name.prefix { $0 != 0 }.map(UInt8.init(bitPattern:)), as: UTF8.self).filter {
            $0 != " "
        }
    }

    /// The maximum number of open files of this process.
    package static var openFileLimit: Int { Int(clamping: hub_open_file_limit()) }
    /// Raises that limit, as far as this process may.
    package static func raiseOpenFileLimit(to wanted: Int) { hub_raise_open_file_limit(UInt64(wanted)) }

    /// The limit of this process's address space in bytes; nil if unlimited.
    package static var addressSpaceLimit: Int64? {
        let limit = hub_address_space_limit()
        return limit == .max ? nil : Int64(clamping: limit)
    }

    /// The number of processors this process may use.
    package static var processors: Int { max(1, Int(hub_processors())) }

    /// The peak resident memory of this process in bytes.
    package static var peakResidentBytes: Int64 { Int64(clamping: hub_peak_resident_bytes()) }

    /// Whether Apple's MLX runs here.
    package static var runsMLX: Bool {
        #if os(macOS) && arch(arm64)
        true
        #else
        false
        #endif
    }
}
