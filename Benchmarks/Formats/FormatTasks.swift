import Dispatch
import HubCore
import InferenceKit
import ModelFormats
import Synchronization

/// Measurements inside a separate process, to exclude the program's start.
///
///     Benchmarks headers FOLDER
///     Benchmarks scan FILE.safetensors
///     Benchmarks read FILE.safetensors
enum FormatTasks {
    /// Runs the task named by the first word; false if there is none.
    static func run(_ arguments: [String]) throws -> Bool {
        switch (arguments.first, arguments.count) {
        case ("headers", 2): try headers(arguments[1])
        case ("scan", 2): try scan(arguments[1])
        case ("read", 2): try read(arguments[1])
        default: return false
        }
        return true
    }

    private static func headers(_ folder: String) throws {
        _ = try SafetensorsFolder(folder)
        let began = Clock.seconds
        let count = try SafetensorsFolder(folder).tensors.count
        let seconds = Clock.seconds - began
        print(JSON.object(["tensors": .int(Int64(count)), "load_seconds": .double(seconds)]).text())
    }

    /// Scans the values of a file, as a full check does.
    private static func scan(_ path: String) throws {
        let header = try SafetensorsHeader(file: path)
        let file = try MappedFile(path)
        let shard = SafetensorsFolder.Shard(path: path, fileSize: Int64(file.bytes.count), header: header)
        let scan = try ValueScan(
            path, tensors: StoredWeights(safetensors: [shard]).tensors, isWhole: true, isUnchanging: true)
        try report(file) { try scan.findings().isEmpty }
    }

    /// Sums the same bytes, eight words at a time: the memory's bandwidth.
    private static func read(_ path: String) throws {
        let file = try MappedFile(path)
        let parts = 64
        let bytes = file.bytes.count / parts / 128 * 128
        try report(file) {
            let total = Atomic<UInt64>(0)
            DispatchQueue.concurrentPerform(iterations: parts) { part in
                var sums = (SIMD8<UInt64>(), SIMD8<UInt64>())
                for at in stride(from: part * bytes, to: (part + 1) * bytes, by: 128) {
                    sums.0 &+= file.bytes.loadUnaligned(fromByteOffset: at, as: SIMD8<UInt64>.self)
                    sums.1 &+= file.bytes.loadUnaligned(fromByteOffset: at + 64, as: SIMD8<UInt64>.self)
                }
                total.wrappingAdd((sums.0 &+ sums.1).wrappedSum(), ordering: .relaxed)
            }
            return total.load(ordering: .relaxed) != 0
        }
    }

    /// Runs it once to map the pages, and once timed.
    private static func report(_ file: MappedFile, _ work: () throws -> Bool) throws {
        let first = try work()
        let began = Clock.seconds
        let second = try work()
        let seconds = Clock.seconds - began
        print(
            JSON.object([
                "is_right": .bool(first && second), "bytes_per_second": .double(Double(file.bytes.count) / seconds),
            ]).text())
    }
}
