import HubCore
import Libc

extension ServerMetrics {
    /// The values about a process that every exporter has.
    /// https://prometheus.io/docs/instrumenting/writing_clientlibs/#process-metrics
    func declareProcess() {
        let startedAt = Timestamp.now
        declare("process_start_time_seconds", "When the process started, in seconds since 1970.") { startedAt }
        declare("process_cpu_seconds_total", type: "counter", "CPU time used.") {
            var used = timespec()
            clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used)
            return Double(used.tv_sec) + Double(used.tv_nsec) / 1e9
        }
        declare("process_resident_memory_bytes", "Memory in use.") { Self.memoryPages(1) }
        declare("process_virtual_memory_bytes", "Memory that is mapped.") { Self.memoryPages(0) }
        declare("process_open_fds", "Open files and connections.") {
            // The folder's own descriptor is one of them.
            ((try? FileSystem.entries("/proc/self/fd")) ?? nil).map { Double($0.count - 1) }
        }
        declare("process_max_fds", "The limit of open files and connections.") { Double(Machine.openFileLimit) }
    }

    /// A field of statm in bytes; nil where the system has no /proc.
    private static func memoryPages(_ field: Int) -> Double? {
        // It has no size that could be asked for.
        var bytes = [UInt8](repeating: 0, count: 256)
        guard let file = try? FileDescriptor("/proc/self/statm"),
            let count = try? bytes.withUnsafeMutableBytes({ try file.read(into: $0, at: 0) })
        else { return nil }
        let fields = String(decoding: bytes[..<count], as: UTF8.self).split { $0 == " " || $0 == "\n" }
        return fields.count > field ? Double(fields[field]).map { $0 * Double(sysconf(Int32(_SC_PAGESIZE))) } : nil
    }
}
