import Catalog
import Dispatch
import Fetcher
import HubCore

/// Measurements inside a separate process, to exclude the program's start.
///
///     Benchmarks take-in MODELS.ndjson CATALOG
///     Benchmarks search CATALOG QUERY...
enum CatalogTasks {
    /// Runs the task named by the first word; false if there is none.
    static func run(_ arguments: [String]) throws -> Bool {
        switch (arguments.first, arguments.count) {
        case ("take-in", 3): try takeIn(arguments[1], into: arguments[2])
        case ("search", 3...): try search(arguments[1], Array(arguments[2...]))
        default: return false
        }
        return true
    }

    /// The models of a page of the Hub's list.
    private static let page = 1000
    /// The pages of a transaction: as many as a sync gathers where the network is no bound.
    private static let gathered = 32

    /// Takes in pages as the Hub sends them. The next are parsed concurrently, because parsing is not the catalog's
    /// work.
    private static func takeIn(_ source: String, into path: String) throws {
        let pages = try pages(of: source)
        let began = Clock.seconds
        let count = try takeIn(pages, into: path)
        let seconds = Clock.seconds - began
        // Closed by now, so that nothing is left in its log.
        let bytes = try FileSystem.status(path)?.size ?? 0
        print(
            JSON.object([
                "models": .int(Int64(count)), "seconds": .double(seconds),
                "models_per_second": .double(Double(count) / seconds),
                "bytes_per_model": .double(Double(bytes) / Double(max(count, 1))),
            ]).text())
    }

    private static func takeIn(_ pages: [[UInt8]], into path: String) throws -> Int {
        let catalog = try Catalog(path: path)
        let total = Lock<Result<Int, any Error>>(.success(0))
        let writer = DispatchQueue(label: "catalog")
        let room = DispatchSemaphore(value: 2)
        for first in stride(from: 0, to: pages.count, by: Self.gathered) {
            let records = try pages[first..<min(first + Self.gathered, pages.count)].flatMap { page in
                (try JSON.parse(page).array ?? []).compactMap { ModelRecord(json: $0, kind: .model) }
            }
            room.wait()
            writer.async {
                let result = Result {
                    try catalog.write { try Catalog.write(records, detailed: false, now: 1_780_000_000, $0) }
                }
                total.withLock { total in total = total.flatMap { count in result.map { count + $0.rows.count } } }
                room.signal()
            }
        }
        let count = try writer.sync { try total.withLock { try $0.get() } }
        try catalog.tidySearch()
        return count
    }

    /// The file's lines as documents of a list each.
    private static func pages(of path: String) throws -> [[UInt8]] {
        let file = try MappedFile(path)
        var pages: [[UInt8]] = []
        var current: [UInt8] = []
        var count = 0
        for line in file.bytes.split(separator: UInt8(ascii: "\n")) {
            current.append(count == 0 ? UInt8(ascii: "[") : UInt8(ascii: ","))
            current += line
            count += 1
            guard count == page else { continue }
            pages.append(current + [UInt8(ascii: "]")])
            (current, count) = ([], 0)
        }
        return count > 0 ? pages + [current + [UInt8(ascii: "]")]] : pages
    }

    /// Runs each query once to warm up and then ten times; the times of all, in milliseconds.
    private static func search(_ path: String, _ queries: [String]) throws {
        let catalog = try Catalog(path: path)
        var all: [Double] = []
        var slowest: [JSON] = []
        for text in queries {
            var query = ModelQuery()
            query.text = text
            _ = try catalog.search(query)
            var times: [Double] = []
            var found = 0
            for _ in 0..<10 {
                let began = Clock.seconds
                found = try catalog.search(query).count
                times.append((Clock.seconds - began) * 1000)
            }
            all += times
            slowest.append(
                .object([
                    "query": .string(text), "found": .int(Int64(found)), "median_ms": .double(times.sorted()[5]),
                ]))
        }
        all.sort()
        print(
            JSON.object([
                "median_ms": .double(all[all.count / 2]), "p95_ms": .double(all[all.count * 95 / 100]),
                "queries": .array(slowest),
            ]).text())
    }
}
