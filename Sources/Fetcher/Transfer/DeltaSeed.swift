import HubCore
import ModelFormats

/// Fills the partial of a file with what an older revision of it has, so that only the rest is fetched.
///
/// Tensors of equal name, type and shape are compared by a few ranges of each. Those that agree are copied; header and
/// small tensors are fetched. That is a guess: the digest of the whole decides, and after a wrong guess the copied
/// parts are fetched.
struct DeltaSeed: Sendable {
    let file: RepositoryFile
    let base: DeltaBase
    let repository: Repository
    let commit: Commit
    let places: TransferPlaces
    let client: HubClient

    /// What the partial got.
    struct Outcome: Sendable {
        /// Copied from the older revision.
        var copied = IntervalSet()
        /// Bytes that came from the Hub.
        var receivedBytes: Int64 = 0
    }

    /// Files with more tensors are fetched whole: each takes up to three requests.
    private static let mostTensors = 4096
    /// The largest header, in bytes.
    private static let headerLimit = 100 << 20
    /// Tensors up to this many bytes are fetched instead of compared.
    private static let smallTensor: Int64 = 8 << 10
    /// Requests at once.
    private static let width = 16

    /// The older file, open.
    private final class Older: Sendable {
        let file: FileDescriptor
        let spans: TensorSpans

        init(_ path: String, like name: String) throws(AIError) {
            let opened = try FileDescriptor(unnoticed: path)
            spans = try TensorSpans(file: opened, path: name)
            file = opened
        }

        func bytes(_ range: Range<Int64>) throws(AIError) -> [UInt8] {
            var bytes = [UInt8](repeating: 0, count: range.count)
            let fill = bytes.withUnsafeMutableBytes { buffer in
                Result { () throws(AIError) in try file.read(into: buffer, at: range.lowerBound) }
            }
            bytes.removeLast(range.count - (try fill.get()))
            return bytes
        }
    }

    /// What comparing one tensor has shown.
    private enum Verdict: Sendable {
        case equal
        case different
        /// Fetched whole.
        case fetched([UInt8])
    }

    private typealias Pair = (new: TensorSpans.Span, old: TensorSpans.Span)

    /// nil if nothing can be copied.
    ///
    /// - Throws: errors of requests, of the headers and of the disk. The file is then fetched as usual.
    func run() async throws -> Outcome? {
        let older = try await Blocking.run { [base, file] in try Older(base.path, like: file.path) }
        let (header, spans, location) = try await newHeader()
        let pairs = spans.alike(in: older.spans)
        guard !pairs.isEmpty, spans.spans.count <= Self.mostTensors else { return nil }
        var outcome = Outcome()
        outcome.receivedBytes = Int64(header.count)
        let verdicts = try await compare(pairs, older, location, &outcome)
        guard verdicts.contains(where: { if case .equal = $0 { true } else { false } }) else { return nil }
        return try await Blocking.run { [outcome] in
            try fill(zip(pairs, verdicts).map { ($0, $1) }, header, older, outcome)
        }
    }

    // MARK: Requests

    private func fetch(_ range: Range<Int64>, from location: String?) async throws -> (
        bytes: [UInt8], address: String
    ) {
        try await client.located(
            file, Int(range.lowerBound)..<Int(range.upperBound), in: repository, at: commit, from: location)
    }

    /// The new file's header and where its bytes are served.
    private func newHeader() async throws -> ([UInt8], TensorSpans, String) {
        var bytes: [UInt8] = []
        var location: String?
        var wanted = Int(min(Int64(TensorSpans.usualHeader), file.size))
        while true {
            let more = try await fetch(Int64(bytes.count)..<Int64(wanted), from: location)
            bytes += more.bytes
            location = more.address
            let reading = bytes.withUnsafeBytes { buffer in
                Result { () throws(AIError) in
                    try TensorSpans.read(buffer, fileSize: file.size, path: file.path)
                }
            }
            switch try reading.get() {
            case .spans(let spans): return (Array(bytes.prefix(Int(spans.dataStart))), spans, more.address)
            case .needs(let count):
                wanted = Int(min(file.size, Int64(max(count, 2 * bytes.count))))
                guard wanted > bytes.count, wanted <= Self.headerLimit else {
                    throw AIError.malformed(file.path, "its header is too long to compare")
                }
            }
        }
    }

    private func compare(_ pairs: [Pair], _ older: Older, _ location: String, _ outcome: inout Outcome) async throws
        -> [Verdict]
    {
        let results = try await withThrowingTaskGroup(of: (Int, Verdict, Int64).self) { group in
            var results: [Int: (Verdict, Int64)] = [:]
            for (index, pair) in pairs.enumerated() {
                if index >= Self.width, let (done, verdict, bytes) = try await group.next() {
                    results[done] = (verdict, bytes)
                }
                group.addTask {
                    let (verdict, bytes) = try await compare(pair, older, location)
                    return (index, verdict, bytes)
                }
            }
            for try await (done, verdict, bytes) in group { results[done] = (verdict, bytes) }
            return results
        }
        outcome.receivedBytes += results.values.reduce(0) { $0 + $1.1 }
        return pairs.indices.map { results[$0]!.0 }
    }

    /// Compares one tensor; the first difference ends it.
    private func compare(_ pair: Pair, _ older: Older, _ location: String) async throws -> (Verdict, Int64) {
        let size = Int64(pair.new.range.count)
        guard size > Self.smallTensor else {
            let bytes = size == 0 ? [] : try await fetch(pair.new.range, from: location).bytes
            return (.fetched(bytes), size)
        }
        var received: Int64 = 0
        for range in Self.samples(size) {
            @Sendable func moved(_ start: Int64) -> Range<Int64> {
                start + range.lowerBound..<start + range.upperBound
            }
            let new = try await fetch(moved(pair.new.range.lowerBound), from: location).bytes
            received += Int64(new.count)
            let old = try await Blocking.run { try older.bytes(moved(pair.old.range.lowerBound)) }
            guard new == old else { return (.different, received) }
        }
        return (.equal, received)
    }

    /// Three ranges of a tensor, a two-hundredth of it together but for very small and very large ones: the middle
    /// first, for paddings are at the ends.
    static func samples(_ size: Int64) -> [Range<Int64>] {
        let length = min(max(size / 600, 256), 16 << 10)
        return [(size - length) / 2, 0, size - length].map { $0..<$0 + length }
    }

    // MARK: The partial

    private func fill(_ pairs: [(Pair, Verdict)], _ header: [UInt8], _ older: Older, _ outcome: Outcome) throws
        -> Outcome?
    {
        let disk = PartialFile(file, at: places)
        guard case .ready(var safe, _) = try disk.open(restart: false) else {
            // The content is there by now, or another process fetches it.
            disk.close(isUnused: false)
            return nil
        }
        var outcome = outcome
        do throws(AIError) {
            func put(_ bytes: [UInt8], at offset: Int64) throws(AIError) {
                for gap in safe.gaps(in: offset..<offset + Int64(bytes.count)) {
                    let piece = bytes[Int(gap.lowerBound - offset)..<Int(gap.upperBound - offset)]
                    let written = piece.withUnsafeBytes { buffer in
                        Result { () throws(AIError) in try disk.write(buffer, at: gap.lowerBound) }
                    }
                    try written.get()
                    safe.insert(gap)
                }
            }
            try put(header, at: 0)
            for (pair, verdict) in pairs {
                if case .fetched(let bytes) = verdict { try put(bytes, at: pair.new.range.lowerBound) }
            }
            for (new, shift) in Self.runs(pairs) {
                for gap in safe.gaps(in: new) {
                    try copy(gap, shift, older, to: disk)
                    outcome.copied.insert(gap)
                    safe.insert(gap)
                }
            }
            try disk.flush(safe)
            disk.close(isUnused: false)
            return outcome
        } catch {
            disk.close(isUnused: safe.isEmpty)
            throw error
        }
    }

    /// The ranges of equal tensors, and how far the same bytes are from there in the older file. Between two that follow
    /// each other in both files the padding is taken too.
    private static func runs(_ pairs: [(Pair, Verdict)]) -> [(Range<Int64>, shift: Int64)] {
        var out: [(Range<Int64>, shift: Int64)] = []
        for (pair, verdict) in pairs {
            guard case .equal = verdict else { continue }
            let shift = pair.old.range.lowerBound - pair.new.range.lowerBound
            if let last = out.last, last.shift == shift, pair.new.range.lowerBound - last.0.upperBound < 4096,
                pair.new.range.lowerBound >= last.0.upperBound
            {
                out[out.count - 1].0 = last.0.lowerBound..<pair.new.range.upperBound
            } else {
                out.append((pair.new.range, shift))
            }
        }
        return out
    }

    private func copy(_ range: Range<Int64>, _ shift: Int64, _ older: Older, to disk: PartialFile) throws(AIError) {
        var at = range.lowerBound
        while at < range.upperBound {
            let end = min(range.upperBound, at + (1 << 20))
            let bytes = try older.bytes(at + shift..<end + shift)
            guard bytes.count == Int(end - at) else {
                throw AIError(
                    .ioError, "\(base.path) became shorter while it was read", context: .init(path: base.path))
            }
            let written = bytes.withUnsafeBytes { buffer in
                Result { () throws(AIError) in try disk.write(buffer, at: at) }
            }
            try written.get()
            at = end
        }
    }
}

extension Puller {
    /// Begins the files of which an older revision is here, four at a time. What goes wrong is only noted: the file is then
    /// fetched as usual, and what is wrong for good shows there.
    func seed(_ plans: [PullPlan]) async -> [Int: [String: DeltaSeed.Outcome]] {
        var seeds: [(index: Int, seed: DeltaSeed)] = []
        for (index, plan) in plans.enumerated() {
            for (file, state) in plan.files {
                guard let base = (try? plan.deltaBase(of: file, state)) ?? nil,
                    !seeds.contains(where: { $0.seed.file.digest == file.digest })
                else { continue }
                let seed = DeltaSeed(
                    file: file, base: base, repository: plan.repository, commit: plan.commit,
                    places: plan.places(file), client: client)
                seeds.append((index, seed))
            }
        }
        return await withTaskGroup(of: (Int, String, DeltaSeed.Outcome?).self) { group in
            var out: [Int: [String: DeltaSeed.Outcome]] = [:]
            func take(_ result: (Int, String, DeltaSeed.Outcome?)) {
                if let outcome = result.2 { out[result.0, default: [:]][result.1] = outcome }
            }
            for (count, (index, seed)) in seeds.enumerated() {
                if count >= 4, let result = await group.next() { take(result) }
                group.addTask {
                    do {
                        let outcome = try await seed.run()
                        client.log(
                            "\(seed.file.path): \(ByteCount(outcome?.copied.count ?? 0)) taken from an older revision"
                        )
                        return (index, seed.file.digest.hex, outcome)
                    } catch {
                        client.log(
                            "\(seed.file.path): not begun with an older revision: \(AIError.wrapping(error))")
                        return (index, seed.file.digest.hex, nil)
                    }
                }
            }
            for await result in group { take(result) }
            return out
        }
    }
}
